//! TCP options that report paths: the agent writes them, and a gateway reads them off the wire. The
//! agent knows no gateway here.

use super::running::Gateway;
use crate::bed::{Agent, Bed, until};
use crate::peers::Peers;
use agent::programs::telemetry::option_counts::OptionCounts;
use gateway::config::options::CollectorName;
use socket2::Domain;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs};
use test_support::retry_on_stall;

fn counts(agent: &Agent) -> OptionCounts {
    agent.status().tcp_option.expect("it writes options")
}

#[test]
fn a_gateway_reads_off_the_wire_what_an_agent_without_a_gateway_has_learnt() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let server = bed.serve(Domain::IPV4, None);
        let gateway = Gateway::believing(bed.server.namespace(), server.address());
        let agent = bed.agent(&["--tcp-option"]);
        bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        let read = || gateway.site.counts.taken.get(CollectorName::Option as usize);
        until("the gateway has read the option", || read() == 1);
        let expected = OptionCounts { written: 1, passed: 1, ..OptionCounts::default() };
        assert_eq!(counts(&agent), expected);
        let visitor = bed.client.addresses().v4.into();
        let known =
            gateway.tenant.memory().estimate(gateway.site.clock.now(), visitor, None).unwrap();
        eprintln!("{known:?}");
        // Slow start from ten segments: the third flight has 40, and 69 of 139 segments are left
        // for it.
        assert!(known.window >= 20 * 1448, "{known:?}");
        let min_rtt = known.min_rtt.expect("measured").as_micros();
        assert!((80_000..95_000).contains(&min_rtt), "{known:?}");
        let known = gateway.tenant.known();
        let reporters: Vec<_> = known.reporters.iter().map(|(name, _)| name).collect();
        assert_eq!(reporters, ["observer"]);
    });
}

#[test]
fn an_agent_that_is_not_asked_for_it_writes_no_option() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let server = bed.serve(Domain::IPV4, None);
        for arguments in [&[][..], &["--tcp-option", "--dry-run"]] {
            let agent = bed.agent(arguments);
            let (_, options) = captured(&bed, "option", || {
                bed.visit(&server, 30_000);
                agent.wait_for_closed(1);
            });
            assert_eq!(agent.status().tcp_option, None);
            assert!(options.is_none_or(|options| options.is_empty()));
        }
    });
}

/// Segments with an option of kind 254 that tshark shows while `job` is done: flags, length of
/// payload, the option's bytes.
fn captured<T>(bed: &Bed, name: &str, job: impl FnOnce() -> T) -> (T, Option<Vec<String>>) {
    let file = env::temp_dir().join(format!("headstart-{name}-{}.pcap", std::process::id()));
    let mut command = Command::new("tcpdump");
    command.args(["-i", "any", "-Z", "root", "--immediate-mode", "-U", "-w"]).arg(&file).arg("tcp");
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let Ok(mut dump) = bed.server.namespace().command(&mut command) else {
        test_support::skipped("no tcpdump");
        return (job(), None);
    };
    let mut option = [0; 16];
    // It says so when it listens.
    dump.stderr.as_mut().unwrap().read_exact(&mut option).unwrap();
    let done = job();
    std::thread::sleep(Duration::from_millis(300));
    end(&mut dump);
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&file).args(["-Y", "tcp.option_kind == 254", "-T", "fields"]);
    let shown = tshark.args(["-e", "tcp.flags", "-e", "tcp.len", "-e", "tcp.options"]).output();
    let _ = fs::remove_file(&file);
    let Ok(shown) = shown else {
        test_support::skipped("no tshark");
        return (done, None);
    };
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    let text = String::from_utf8(shown.stdout).unwrap();
    (done, Some(text.lines().map(str::to_owned).collect()))
}

fn end(child: &mut Child) {
    let id = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
    child.wait().unwrap();
}

#[test]
fn the_option_is_in_one_fin_and_in_no_syn_as_tshark_shows() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let server = bed.serve(Domain::IPV4, None);
        let agent = bed.agent(&["--tcp-option"]);
        let ((), options) = captured(&bed, "fin", || {
            bed.visit(&server, 200_000);
            agent.wait_for_closed(1);
        });
        let Some(options) = options else { return };
        eprintln!("{options:?}");
        let [only] = &options[..] else { panic!("one segment has it: {options:?}") };
        let fields: Vec<_> = only.split('\t').collect();
        // FIN and ACK; no payload; kind 254, 16 bytes, "HS", version 1.
        assert_eq!(fields[..2], ["0x0011", "0"], "{only}");
        assert!(fields[2].contains("fe1048531"), "{only}");
    });
}

/// One of two networks loses each first FIN, like a middlebox that drops unknown options.
#[test]
fn a_network_that_chokes_on_options_is_left_alone_and_no_other() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--tcp-option"]);
        let server = bed.serve(Domain::IPV4, None);
        let peers = Peers::of(&bed, server.address());
        let visit = |number: u64, address: &str, loses_fin| {
            peers.visit_and_close(address.parse().unwrap(), 30_000, loses_fin);
            agent.wait_for_closed(number);
        };
        for number in 1..=3 {
            visit(number, &format!("203.0.113.{number}:40000"), true);
        }
        let three = OptionCounts { written: 3, choked: 3, ..OptionCounts::default() };
        assert_eq!(counts(&agent), three);
        // Nothing is written there, so no option can be lost. A FIN is lost all the same, but that
        // proves nothing.
        visit(4, "203.0.113.4:40000", true);
        assert_eq!(counts(&agent), OptionCounts { spared: 1, ..three });
        visit(5, "198.51.100.7:40000", false);
        assert_eq!(counts(&agent), OptionCounts { written: 4, passed: 1, spared: 1, ..three });
        // One that arrives speaks for a network again.
        for number in 6..=7 {
            visit(number, "198.51.100.7:40001", true);
        }
        visit(8, "198.51.100.7:40002", false);
        visit(9, "198.51.100.7:40003", true);
        visit(10, "198.51.100.7:40004", false);
        let all = OptionCounts { written: 9, passed: 3, choked: 6, spared: 1, no_room: 0 };
        assert_eq!(counts(&agent), all);
    });
}

/// curl closes first, so the server's FIN goes by itself.
#[test]
fn curl_gets_its_object_from_a_server_whose_fin_has_the_option() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--tcp-option"]);
        let folder = env::temp_dir().join(format!("headstart-curl-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("object"), vec![b'x'; 100_000]).unwrap();
        let address = bed.server.addresses().v4.to_string();
        let serve =
            "echo $$ >\"$0\" && exec python3 -m http.server -p HTTP/1.1 -b \"$1\" -d \"$2\" 8081";
        let mut server = Command::new("sh");
        server
            .args(["-c", serve])
            .arg(bed.cgroup().join("cgroup.procs"))
            .arg(&address)
            .arg(&folder);
        server.stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = bed.server.namespace().command(&mut server).unwrap();
        let mut curl = Command::new("curl");
        // Python takes a while to listen.
        curl.args(["--silent", "--retry", "20", "--retry-connrefused", "--retry-delay", "1"]);
        curl.args(["--output", "/dev/null", "--write-out", "%{http_code} %{size_download}"]);
        curl.arg(format!("http://{address}:8081/object")).stdout(Stdio::piped());
        let option = bed.client.namespace().command(&mut curl).map(Child::wait_with_output);
        let Ok(option) = option else {
            test_support::skipped("no curl");
            return end(&mut server);
        };
        assert_eq!(String::from_utf8(option.unwrap().stdout).unwrap(), "200 100000");
        until("the connection has closed", || counts(&agent).passed >= 1);
        assert_eq!(
            counts(&agent),
            OptionCounts { written: 1, passed: 1, ..OptionCounts::default() }
        );
        end(&mut server);
        fs::remove_dir_all(&folder).unwrap();
    });
}
