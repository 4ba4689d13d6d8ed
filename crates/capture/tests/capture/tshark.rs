//! Compares segments with tshark's, field by field.

use crate::tools::{Everything, assert_same, captures, folder, text, wireshark};
use capture::{CapturedOptions, Observed, TcpEnd};
use segment::{Flags, TcpOptions, Timestamps};
use std::path::Path;
use units::{Instant, SeqNum};

/// The fields that tshark prints, in the order in which [`segment`] reads them.
const FIELDS: [&str; 24] = [
    "frame.number",
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "ip.dst",
    "ipv6.dst",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.len",
    "tcp.window_size_value",
    "tcp.flags",
    "ip.ttl",
    "ipv6.hlim",
    "ip.dsfield",
    "ipv6.tclass",
    "ip.id",
    "ipv6.flow",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.sack_perm",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
];

/// Preferences of tshark: absolute numbers, fragments as packets.
const PREFERENCES: [&str; 3] =
    ["tcp.relative_sequence_numbers:FALSE", "ip.defragment:FALSE", "ipv6.defragment:FALSE"];

/// Reads the segments of a capture with tshark; reports a skip and returns `None` without it.
pub(crate) fn tshark(path: &Path) -> Option<Vec<Observed>> {
    let mut arguments = vec!["-n", "-r", text(path), "-T", "fields", "-E", "occurrence=a"];
    for preference in PREFERENCES {
        arguments.extend(["-o", preference]);
    }
    // Segments that ICMP errors quote do not count.
    arguments.extend(["-Y", "tcp && !icmp && !icmpv6"]);
    let sack = ["tcp.options.sack_le", "tcp.options.sack_re"];
    for field in FIELDS.iter().chain(&sack) {
        arguments.extend(["-e", field]);
    }
    let output = wireshark("tshark", &arguments)?;
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| segment(&line.split('\t').collect::<Vec<_>>())).collect())
}

/// Returns a number that tshark writes, which may be hexadecimal; of several layers, that of the
/// innermost.
fn number(field: &str) -> u64 {
    let last = field.rsplit(',').next().unwrap();
    match last.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => last.parse().unwrap_or_else(|_| panic!("{field:?}")),
    }
}

fn maybe(field: &str) -> Option<u64> {
    (!field.is_empty()).then(|| number(field))
}

/// Parses `1285862332.766649000`.
fn instant(field: &str) -> Instant {
    let (seconds, nanos) = field.split_once('.').unwrap();
    assert_eq!(nanos.len(), 9);
    Instant::from_nanos(number(seconds) * 1_000_000_000 + number(nanos))
}

fn end(v4: &str, v6: &str, port: &str) -> TcpEnd {
    let ip = [v4, v6].into_iter().find(|ip| !ip.is_empty()).unwrap().rsplit(',').next().unwrap();
    TcpEnd { ip: ip.parse().unwrap(), port: number(port) as u16 }
}

fn segment(fields: &[&str]) -> Observed {
    let (fields, sack) = fields.split_at(FIELDS.len());
    let mut options = TcpOptions {
        mss: maybe(fields[19]).map(|mss| mss as u16),
        window_scale: maybe(fields[20]).map(|scale| scale as u8),
        sack_permitted: !fields[21].is_empty(),
        timestamps: maybe(fields[22])
            .map(|value| Timestamps { value: value as u32, echo: number(fields[23]) as u32 }),
        ..TcpOptions::default()
    };
    for (left, right) in
        sack[0].split(',').zip(sack[1].split(',')).filter(|(left, _)| !left.is_empty())
    {
        options.sack.push(SeqNum(number(left) as u32), SeqNum(number(right) as u32));
    }
    let either = |v4: usize, v6: usize| maybe(fields[v4]).or(maybe(fields[v6])).unwrap();
    Observed {
        number: number(fields[0]),
        at: instant(fields[1]),
        source: end(fields[2], fields[3], fields[4]),
        destination: end(fields[5], fields[6], fields[7]),
        seq: SeqNum(number(fields[8]) as u32),
        ack: SeqNum(number(fields[9]) as u32),
        payload: number(fields[10]) as u32,
        window: number(fields[11]) as u16,
        flags: Flags(number(fields[12]) as u16 & 0x1FF),
        ttl: either(13, 14) as u8,
        traffic_class: either(15, 16) as u8,
        ip_id: either(17, 18) as u32,
        options: CapturedOptions::from(&options),
        ..Observed::default()
    }
}

/// Compares a capture field by field.
pub(crate) fn assert_as_tshark_shows(path: &Path) {
    let read = Everything::of_files([path]);
    let Some(shown) = tshark(path) else { return };
    assert_same(&read.segments, &shown, text(path));
}

/// All captures in one file.
#[test]
fn every_field_of_every_segment_is_what_tshark_shows() {
    let folder = folder("tshark");
    let all = folder.join("all.pcapng");
    let captures = captures();
    let mut arguments = vec!["-a", "-w", text(&all)];
    arguments.extend(captures.iter().map(|path| text(path)));
    if wireshark("mergecap", &arguments).is_some() {
        assert_as_tshark_shows(&all);
    }
}

/// The number of packets of each file is that of capinfos; all of them are segments.
#[test]
fn every_packet_is_counted() {
    let captures = captures();
    let read: Vec<u64> = captures
        .iter()
        .map(|path| Everything::of_files([path]).counters)
        .inspect(|counters| assert_eq!(counters.segments, counters.packets))
        .map(|counters| counters.packets)
        .collect();
    assert_eq!(read.iter().sum::<u64>(), 10_219);
    let mut arguments = vec!["-TrcM"];
    arguments.extend(captures.iter().map(|path| text(path)));
    let Some(output) = wireshark("capinfos", &arguments) else { return };
    let lines = String::from_utf8(output.stdout).unwrap();
    let counted = lines.lines().map(|line| line.split('\t').nth(1).unwrap().parse().unwrap());
    assert_eq!(read, counted.collect::<Vec<u64>>());
}

/// Compares a capture of the user: `make test-capture CAPTURE=file.pcap`.
#[test]
#[ignore = "for a capture of yours: make test-capture CAPTURE=FILE"]
fn a_capture_of_yours_is_what_tshark_shows() {
    assert_as_tshark_shows(Path::new(&std::env::var_os("CAPTURE").expect("CAPTURE=FILE")));
}
