//! Socket options of applications, in C, Python and Go, with an agent and without.

use crate::bed::Bed;
use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::retry_on_stall;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

/// The example in each language that there is a compiler or an interpreter of; it notes which are
/// left out.
fn examples() -> Vec<Vec<String>> {
    let built = |name: &str, build: fn(&Path) -> Command| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        match build(&program).status() {
            Ok(status) => {
                assert!(status.success(), "example {name} does not compile");
                Some(vec![program.to_str().unwrap().to_owned()])
            }
            Err(error) => {
                test_support::skipped(format!("{name}: {error}"));
                None
            }
        }
    };
    [built("size-c", in_c), in_python(), built("size-go", in_go)].into_iter().flatten().collect()
}

fn in_c(program: &Path) -> Command {
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror"]).arg(format!("-I{EXAMPLES}/../include"));
    cc.arg(format!("{EXAMPLES}/size.c")).arg("-o").arg(program);
    cc
}

fn in_go(program: &Path) -> Command {
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(program).arg(format!("{EXAMPLES}/size.go"));
    // Its own library has all that it needs; it looks for nothing elsewhere.
    go.env("GO111MODULE", "off").env("GOFLAGS", "").env("GOTOOLCHAIN", "local");
    if env::var_os("HOME").is_none() {
        go.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"));
    }
    go
}

fn in_python() -> Option<Vec<String>> {
    match Command::new("python3").arg("--version").output() {
        Ok(_) => Some(vec!["python3".to_owned(), format!("{EXAMPLES}/size.py")]),
        Err(error) => {
            test_support::skipped(format!("size-python: {error}"));
            None
        }
    }
}

/// Output of a program that sends `bytes` to a sink, after a hint of that size.
fn sent_by(program: &[String], (bed, sink): (&Bed, SocketAddr), bytes: u64) -> String {
    let to = [sink.ip().to_string(), sink.port().to_string(), bytes.to_string()];
    bed.run(&[program, &to].concat()).unwrap()
}

/// A transfer one and a half times the remembered window takes two round trips, whether it starts
/// with all of that window or with half of the transfer. TCP/SPAND starts with the fewest segments
/// that suffice for two.
#[test]
fn a_size_may_end_an_epoch() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let sink = bed.sink();
        let Some(python) = in_python() else { return };
        let send = |bytes| sent_by(&python, (&bed, sink), bytes);
        let agent = bed.agent(&["--sized", "epoch"]);
        send(300_000);
        agent.wait_for_closed(1);
        let window = u64::from(agent.paths()[0].window);
        let segments = window + window / 2;
        // w + w + 1 = segments or one more: half of it, rounded up, less the growth between them.
        let least = segments / 2;
        let sent = send(segments * 1448);
        let began = |window: u64| sent.starts_with(&format!("began with {window}, "));
        assert!(began(least) || began(least - 1), "{window} remembered, {least} wanted: {sent}");
    });
}

/// Sets a size and sends as much, twice over one connection. It prints the time until the second
/// transfer is delivered and closed.
const TWICE: &str = "
import socket, sys, time
sink = socket.create_connection((sys.argv[1], int(sys.argv[2])))
for size in map(int, sys.argv[3:5]):
    sink.setsockopt(socket.IPPROTO_TCP, 0x7e00, size)
    begun = time.monotonic()
    sink.sendall(b'x' * size)
    # It has arrived, and a retransmission timeout has not gone by.
    if size < 1000: time.sleep(0.12)
sink.shutdown(socket.SHUT_WR)
sink.recv(1)
print(time.monotonic() - begun)
";

/// A redirect of 154 bytes goes before a page: the hint of the first does not apply to the second.
#[test]
fn a_small_transfer_does_not_narrow_the_next() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let sink = bed.sink();
        if in_python().is_none() {
            return;
        }
        let send = || {
            let (ip, port) = (sink.ip().to_string(), sink.port().to_string());
            let command = ["python3", "-c", TWICE, &ip, &port, "154", "200000"];
            let took = bed.run(&command.map(str::to_owned)).unwrap();
            took.trim().parse::<f64>().unwrap()
        };
        let agent = bed.agent(&[]);
        let cold = send();
        agent.wait_for_closed(1);
        let warm = send();
        agent.wait_for_closed(2);
        eprintln!("200 kB after 154 bytes: cold {cold} s, warm {warm}");
        // Windows of 10, 20, 40, 80: three round trips before the last, and one for its ACK. One
        // flight: 83 ms and that round trip.
        assert!(cold > 0.32, "{cold}");
        assert!(warm > 0.16 && warm < 0.24, "{warm}");
        assert_eq!(agent.status().connections.warm.restarts, 0);
    });
}

/// The first to send of a session says how much: the others have more to send.
#[test]
fn a_size_does_not_narrow_what_a_session_shares() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let sink = bed.sink();
        let Some(python) = in_python() else { return };
        let send = |bytes| sent_by(&python, (&bed, sink), bytes);
        let agent = bed.agent_giving("session", &[]);
        send(300_000);
        agent.wait_for_closed(1);
        let window = u64::from(agent.paths()[0].window);
        assert!(window > 42, "{window}");
        send(60_000);
        agent.wait_for_closed(2);
        let warm = agent.status().connections.warm;
        assert!(warm.closed == 1 && warm.first_windows > window * 9 / 10, "{warm:?} of {window}");
    });
}

#[test]
fn a_size_bounds_the_first_window_and_without_an_agent_nothing_changes() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let sink = bed.sink();
        let examples = examples();
        let send = |example: &[String], bytes| sent_by(example, (&bed, sink), bytes);
        for example in &examples {
            assert_eq!(send(example, 60_000), "no agent\n");
        }
        for example in &examples {
            let agent = bed.agent(&[]);
            // 208 segments of 1448 bytes, from 10 on: nothing is known yet.
            let sent = send(example, 300_000);
            assert!(sent.starts_with("began with 10, "), "{sent}");
            agent.wait_for_closed(1);
            let window = agent.paths()[0].window;
            assert!(window > 42, "{window}");
            // 60,000 / 1448 = 41.4: 42 segments, whatever is remembered.
            let sent = send(example, 60_000);
            assert_eq!(sent, format!("began with 42, remembered {window}, weight 3\n"));
            agent.wait_for_closed(2);
            // A transfer smaller than the stock window begins as stock.
            assert!(send(example, 3000).starts_with("began with 10, "));
            // A hint larger than the memory is bounded by the memory.
            let sent = send(example, 3_000_000);
            assert!(!sent.starts_with("began with 10, "), "{sent}");
            agent.wait_for_closed(4);
            let warm = agent.status().connections.warm;
            assert!(warm.first_windows <= 42 + 10 + u64::from(window), "{warm:?}");
            assert_eq!(warm.fallbacks, 0, "{warm:?}");
        }
    });
}

#[test]
fn nonsense_is_refused_and_harmless() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let _agent = bed.agent(&[]);
        let script: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nonsense.py");
        std::fs::write(&script, NONSENSE).unwrap();
        bed.run(&["python3".to_owned(), script.to_str().unwrap().to_owned()]);
    });
}

const NONSENSE: &str = r#"
import errno, socket, struct
TCP, SIZE, WEIGHT = socket.IPPROTO_TCP, 0x7E00, 0x7E01
s = socket.socket()
def refused(option, value, why):
    try:
        s.setsockopt(TCP, option, value)
    except OSError as error:
        assert error.errno == why, (option, value, error)
        return
    raise AssertionError((option, value))
refused(SIZE, b"", errno.EINVAL)
refused(SIZE, b"abc", errno.EINVAL)
refused(WEIGHT, struct.pack("=I", 0), errno.EINVAL)
refused(WEIGHT, struct.pack("=I", 257), errno.EINVAL)
# Options that are not ours are the kernel's, as are its errors.
refused(0x7E02, struct.pack("=I", 1), errno.ENOPROTOOPT)
s.setsockopt(TCP, socket.TCP_NODELAY, 1)
assert s.getsockopt(TCP, socket.TCP_NODELAY) == 1
# What was said comes back; as much of the answer as there is room for.
s.setsockopt(TCP, WEIGHT, struct.pack("=I", 256))
s.setsockopt(TCP, SIZE, struct.pack("=I", 0xFFFFFFFF))
assert struct.unpack("=I", s.getsockopt(TCP, WEIGHT, 4)) == (256,)
path = struct.unpack("=9I", s.getsockopt(TCP, SIZE, 1000))
assert path == (0, 0, 0, 0, 0, 0, 0, 0xFFFFFFFF, 256), path
assert s.getsockopt(TCP, SIZE, 6) == bytes(4)
# Sockets that are accepted begin with what was said of the one that listens.
s.bind(("127.0.0.1", 0)); s.listen()
c = socket.create_connection(s.getsockname()); a, _ = s.accept()
assert struct.unpack("=I", a.getsockopt(TCP, WEIGHT, 4)) == (256,)
# A socket that is no TCP has no such option.
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    u.setsockopt(TCP, SIZE, struct.pack("=I", 1)); raise AssertionError("UDP")
except OSError:
    pass
"#;
