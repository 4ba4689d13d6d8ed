//! Inputs of `headstart analyze`: several files, pipes, damaged files, named servers, hidden
//! addresses.
//!
//! The captures are those of crate `capture`: pcap files of tcpdump on Intel, so 24 bytes of header
//! and records of 16 bytes and a packet.

use crate::run::{command, folder, headstart, root};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

pub(crate) fn original(name: &str) -> PathBuf {
    root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap")
}

/// The header of a capture, and its records.
fn records(bytes: &[u8]) -> (&[u8], Vec<&[u8]>) {
    let (header, mut rest) = bytes.split_at(24);
    let mut records = Vec::new();
    while !rest.is_empty() {
        let captured = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (record, behind) = rest.split_at(16 + captured);
        records.push(record);
        rest = behind;
    }
    (header, records)
}

pub(crate) fn written(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn connections(output: &Output) -> Vec<Value> {
    let printed = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {printed}"))
}

pub(crate) fn json(arguments: &[&str]) -> Output {
    headstart(&[&["analyze", "--json", "--sender", "linux"], arguments].concat())
}

/// A capture is damaged behind its 20th packet. The packets before are analysed as if there were
/// nothing else, the message names the file and the byte, and the exit code is 1.
#[test]
fn what_is_before_the_damage_is_analysed() {
    let folder = folder("analyze-damaged");
    let bytes = fs::read(original("rto005")).unwrap();
    let (header, all) = records(&bytes);
    let whole = [header, &all[..20].concat()].concat();
    let expected = connections(&json(&[&written(&folder, "whole.pcap", &whole)]));
    let place = whole.len();
    let record = |seconds: u32, micros: u32, captured: u32| -> Vec<u8> {
        [seconds, micros, captured, captured].iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    let damages = [
        ("truncated", all[20][..30].to_vec(), "ends within a packet, at byte"),
        ("zeros", [vec![0; 16], all[21].to_vec()].concat(), "zeros where a packet should be"),
        ("long", record(1_285_862_420, 0, u32::MAX), "a packet of 4294967295 bytes"),
    ];
    for (name, damage, why) in damages {
        let file = written(&folder, name, &[&whole[..], &damage].concat());
        let output = json(&[&file]);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {printed}");
        assert!(printed.contains(why) && printed.contains(&file), "{name}: {printed}");
        assert!(printed.contains(&format!("byte {place}")), "{name}: {printed}");
        assert!(printed.contains("the results are of 20 packets"), "{name}: {printed}");
        assert_eq!(connections(&output), expected, "{name}");
    }
}

/// A packet of the year 2106 costs its own time alone: all packets are analysed, the 20th at the
/// time of the 19th.
#[test]
fn a_time_that_cannot_be_is_told_and_what_follows_is_analysed() {
    let folder = folder("analyze-leap");
    let mut bytes = fs::read(original("rto005")).unwrap();
    let (_, all) = records(&bytes);
    let place = 24 + all[..19].concat().len();
    let before = place - all[18].len();
    let mut expected = bytes.clone();
    expected.copy_within(before..before + 8, place);
    bytes[place..place + 4].fill(0xff);
    let expected = connections(&json(&[&written(&folder, "whole.pcap", &expected)]));
    let output = json(&[&written(&folder, "leap.pcap", &bytes)]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains(&format!("leap.pcap: byte {place}: a time of 2106-02-07T")),
        "{printed}"
    );
    assert_eq!(connections(&output), expected);
}

#[test]
fn files_that_are_no_captures_are_told_by_name() {
    let folder = folder("analyze-none");
    let cases = [
        ("empty.pcap", vec![], "empty.pcap: empty"),
        ("text.pcap", b"12:34 IP 10.0.0.1.80 > ".to_vec(), "text.pcap: not a capture but text"),
        ("magic.pcap", [0xde, 0xad, 0xbe, 0xef].repeat(9), "magic.pcap: neither pcap nor pcapng"),
    ];
    let good = original("rto005");
    let good = good.to_str().unwrap();
    let expected = connections(&json(&[good]));
    for (name, bytes, why) in cases {
        let file = written(&folder, name, &bytes);
        let output = json(&[&file]);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains(why) && printed.contains("no packet could be read"), "{printed}");
        // A file beside it is analysed nevertheless.
        let output = json(&[&file, good]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(connections(&output), expected);
    }
}

/// A profile that is misspelt is no scheme either: the message names the option and all profiles.
#[test]
fn an_unknown_sender_is_told_with_those_that_there_are() {
    let file = original("rto007");
    let output = headstart(&["analyze", "--sender", "bbrr", file.to_str().unwrap()]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("--sender: scheme \"bbrr\""), "{printed}");
    assert!(printed.contains("auto, linux, linux-sack, newreno, reno, bbr"), "{printed}");
    let output = headstart(&["analyze", "--sender", "cubic", file.to_str().unwrap()]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("\"cubic\" is called linux here"), "{printed}");
}

/// In whatever order files are named, compressed or not, and by standard input: the same
/// connections.
#[test]
fn many_files_are_one_capture() {
    let folder = folder("analyze-files");
    let bytes = fs::read(original("rto001")).unwrap();
    let (header, all) = records(&bytes);
    let part = |range: std::ops::Range<usize>| [header, &all[range].concat()].concat();
    let third = all.len() / 3;
    let first = written(&folder, "b.pcap", &part(0..third));
    let mut gzip = GzEncoder::new(vec![], Compression::fast());
    gzip.write_all(&part(third..2 * third)).unwrap();
    let second = written(&folder, "c.pcap.gz", &gzip.finish().unwrap());
    let third = written(&folder, "a.pcap", &part(2 * third..all.len()));
    let whole = original("rto001");
    let expected = json(&[whole.to_str().unwrap()]);
    assert_eq!(expected.status.code(), Some(0));
    for files in [[&first, &second, &third], [&third, &first, &second]] {
        let output = json(&files.map(String::as_str));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == expected.stdout, "{files:?}");
    }
    let piped = command(&["analyze", "--json", "--sender", "linux", "-"])
        .stdin(fs::File::open(whole).unwrap())
        .output()
        .unwrap();
    assert!(piped.stdout == expected.stdout);
}

/// Files that overlap in time are open at once. Above the system's limit each file is named with
/// the way out, and the others are analysed.
#[test]
fn too_many_open_files_are_told_with_the_way_out() {
    let folder = folder("analyze-open");
    let bytes = fs::read(original("rto005")).unwrap();
    let files: Vec<String> =
        (0..60).map(|n| written(&folder, &format!("{n}.pcap"), &bytes)).collect();
    let script = "ulimit -n 40; exec \"$0\" analyze --sender linux -j 1 \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_headstart")]).args(&files);
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("too many files are open at once; `ulimit -n"), "{printed}");
    assert!(printed.contains("the results are of ") && !output.stdout.is_empty(), "{printed}");
}

/// Ethernet frames labelled with an unknown link type, and a datagram: nothing is analysed, and the
/// output names what there was.
#[test]
fn what_is_no_segment_is_told() {
    let folder = folder("analyze-beside");
    let mut bytes = fs::read(original("rto005")).unwrap();
    let packets = records(&bytes).1.len();
    bytes[20..24].copy_from_slice(&147_u32.to_le_bytes());
    let output = headstart(&["analyze", &written(&folder, "link.pcap", &bytes)]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("No transfers: "), "{text}");
    let printed = format!("{packets} packets not analysed: {packets} of unknown link types.");
    assert!(text.contains(&printed) && text.contains("Link type 147 is not understood"), "{text}");

    // Protocol 17 instead of 6: byte 9 of the IP header, behind 14 bytes of Ethernet.
    let mut bytes = fs::read(original("rto005")).unwrap();
    bytes[24 + 16 + 14 + 9] = 17;
    let output = headstart(&["analyze", &written(&folder, "udp.pcap", &bytes)]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("1 packet not analysed: 1 UDP."), "{text}");
}

/// The output of `analyze` for a capture of `crates/capture/tests/cases`, which has to succeed.
fn of_case(name: &str) -> String {
    let file = root().join("crates/capture/tests/cases").join(format!("{name}.pcap.zst"));
    let output = headstart(&["analyze", file.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    text
}

/// QUIC is named by its handshakes, and other UDP by nothing but its bytes: here they are changed
/// to those of WireGuard, and to zeros.
#[test]
fn udp_is_named_by_what_it_shows() {
    let quic = of_case("udp-443");
    assert!(quic.contains("12 UDP. Most is UDP, with handshakes of QUIC (HTTP/3)"), "{quic}");
    let folder = folder("analyze-udp");
    let ethernet = [&[2; 12][..], &[8, 0]].concat();
    let named = |name: &str, content: &[u8]| {
        let length = (8 + content.len()) as u16;
        let udp = [&[0xc3, 0x50, 0x01, 0xbb], &length.to_be_bytes()[..], &[0; 2], content].concat();
        let total = (20 + length).to_be_bytes();
        let ip =
            [0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
        let frame = [&ethernet[..], &ip, &udp].concat();
        let words = [
            0xa1b2_c3d4,
            0x0004_0002,
            0,
            0,
            65_535,
            1,
            1,
            1,
            frame.len() as u32,
            frame.len() as u32,
        ];
        let file: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let output =
            headstart(&["analyze", &written(&folder, name, &[&file[..], &frame].concat())]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let wire_guard = named("wireguard.pcap", &[&[4, 0, 0, 0][..], &[7; 28]].concat());
    assert!(wire_guard.contains("1 UDP. Most is UDP: WireGuard.\n"), "{wire_guard}");
    let other = named("other.pcap", &[0; 40]);
    assert!(other.contains("1 UDP. Most is UDP.\n"), "{other}");
}

/// The sixth of 23 packets has 8,915,240 microseconds: the others are analysed, and it is named.
#[test]
fn a_packet_with_an_impossible_time_is_left_out_and_named() {
    let text = of_case("impossible-time");
    assert!(text.contains("1 transfer of 14.5 kB"), "{text}");
    assert!(text.contains("22 segments of 1 connection"), "{text}");
    assert!(
        text.contains("1 packet not analysed: 1 with an impossible time. Packet 6 is"),
        "{text}"
    );
}

/// A capture that begins amid a connection does not show which end is the server. Its ports are
/// exchanged, so the guess by the lower port is wrong. `--server` names the server, by port or
/// address, and leaves out connections of other servers.
#[test]
fn a_named_server_is_the_server() {
    let folder = folder("analyze-server");
    let bytes = fs::read(original("rto005")).unwrap();
    let (header, all) = records(&bytes);
    // Behind the handshake; port 80 becomes port 60000, above the client's 49328.
    let mut late: Vec<Vec<u8>> = all[3..].iter().map(|record| record.to_vec()).collect();
    for record in &mut late {
        for port in [16 + 14 + 20, 16 + 14 + 22] {
            if record[port..port + 2] == 80_u16.to_be_bytes() {
                record[port..port + 2].copy_from_slice(&60_000_u16.to_be_bytes());
            }
        }
    }
    let late = written(&folder, "late.pcap", &[header, &late.concat()].concat());
    let servers = |arguments: &[&str]| -> Vec<String> {
        let found = connections(&json(arguments));
        found.iter().map(|found| found["server"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(servers(&[&late]), ["10.0.34.69:49328"], "the lower port");
    for server in ["60000", "192.168.0.9", "192.168.0.0/24", "192.168.0.9:60000", "7,60000"] {
        assert_eq!(servers(&[&late, "--server", server]), ["192.168.0.9:60000"], "{server}");
    }
    let other = original("rto003");
    let other = other.to_str().unwrap();
    assert_eq!(servers(&[&late, other]).len(), 2);
    assert_eq!(servers(&[&late, other, "--server", "80"]), ["192.168.0.16:80"]);
    // The address of a client names connections that it serves: none.
    assert!(servers(&[other, "--server", "10.0.195.228"]).is_empty());
    let output =
        headstart(&["analyze", &late, other, "--server", "80,10.0.34.69", "--sender", "linux"]);
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains(" of 2 connections"), "{output}");
    let wrong = headstart(&["analyze", other, "--server", "example.org"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("neither a port, like 443"));
}

/// With addresses replaced all else is as it was, no output has a real one, and each network still
/// is one. `--server` names real addresses.
#[test]
fn hidden_addresses_change_nothing_else() {
    let folder = folder("analyze-hidden");
    let secret = written(&folder, "secret", b"nobody knows");
    let hide = format!("--anonymize={secret}");
    // Clients 10.0.34.69 and 10.0.195.228, servers 192.168.0.9 and 192.168.0.16.
    let files = [original("rto005"), original("rto003")];
    let files = files.each_ref().map(|file| file.to_str().unwrap());
    let open = connections(&json(&files));
    let hidden = json(&[&files[..], &[&hide]].concat());
    let text = String::from_utf8_lossy(&hidden.stdout).into_owned();
    assert!(!text.contains("192.168.0.") && !text.contains("10.0."), "{text}");
    let mut replaced = connections(&hidden);
    let networks: Vec<String> = replaced
        .iter()
        .map(|found| found["server"].as_str().unwrap().rsplit_once('.').unwrap().0.to_owned())
        .collect();
    assert_eq!(networks[0], networks[1], "both servers are in one /24");
    for (replaced, open) in replaced.iter_mut().zip(&open) {
        for end in ["client", "server"] {
            let port =
                |found: &Value| found[end].as_str().unwrap().rsplit_once(':').unwrap().1.to_owned();
            assert_eq!(port(replaced), port(open), "ports stay");
            replaced[end] = open[end].clone();
        }
    }
    assert_eq!(replaced, open);
    let one = connections(&json(&[&files[..], &[&hide, "--server", "192.168.0.9"]].concat()));
    assert_eq!(one.len(), 1);
    let again = json(&[&files[..], &[&hide]].concat());
    assert!(again.stdout == hidden.stdout, "the same secret");
}
