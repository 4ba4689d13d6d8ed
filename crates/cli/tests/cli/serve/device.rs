//! The server on a device of its own, in a network namespace that stands for a machine.

use super::{large, possible, site};
use crate::run::root as repository;
use emulator::Namespace;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Looks, 50 ms apart, that are more than anything here takes on any machine.
const LOOKS: u32 = 800;

/// A machine with a server.
pub(super) struct Machine {
    pub(super) namespace: Namespace,
    server: Child,
    printed: BufReader<ChildStderr>,
    /// Its first line of output.
    pub(super) line: String,
}

impl Machine {
    pub(super) fn serve(root: &Path, options: &[&str]) -> Self {
        Self::serve_in(Namespace::new().unwrap(), root, options)
    }

    fn serve_in(namespace: Namespace, root: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
        command.arg("serve").arg(root).args(options).current_dir(repository());
        let mut server = namespace.command(command.stderr(Stdio::piped())).unwrap();
        let mut printed = BufReader::new(server.stderr.take().unwrap());
        let mut line = String::new();
        printed.read_line(&mut line).unwrap();
        Self { namespace, server, printed, line }
    }

    fn start(&self, program: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.namespace.command(&mut command).unwrap()
    }

    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Output {
        self.start(program, arguments).wait_with_output().unwrap()
    }

    pub(super) fn get(&self, url: &str) -> String {
        let output = self.run("curl", &["-sS", "--max-time", "30", url]);
        assert!(output.status.success(), "{url}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(super) fn signal(&self, name: &str) {
        let pid = self.server.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    fn has_device(&self) -> bool {
        let devices = || fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        self.namespace.run(devices).unwrap().contains("headstart0:")
    }

    /// Its exit code, and the rest of its output.
    pub(super) fn ended(&mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.printed.read_to_string(&mut rest).unwrap();
        (self.server.wait().unwrap().code(), rest)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub(super) fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("{what}: not after {LOOKS} looks");
}

/// Both families at the addresses that it says, ping, and an end without a trace, also when killed.
#[test]
fn it_says_where_it_is_and_leaves_nothing_behind() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-device");
    for signal in ["TERM", "INT", "KILL"] {
        let mut machine = Machine::serve(&root, &[]);
        let line = machine.line.trim().to_owned();
        assert!(
            line.contains("http://10.77.0.1/ and http://[fd00:77::1]/ on headstart0"),
            "{line}"
        );
        for url in ["http://10.77.0.1/", "http://[fd00:77::1]/"] {
            assert!(machine.get(url).contains("<title>start"), "{url}");
        }
        assert!(machine.has_device());
        machine.signal(signal);
        let (code, rest) = machine.ended();
        soon("the device is gone", || !machine.has_device());
        match signal {
            "KILL" => assert_eq!(code, None),
            _ => {
                assert_eq!(code, Some(0), "{signal}: {rest}");
                assert!(rest.contains("GET / 200") && rest.contains("were finished"), "{rest}");
            }
        }
    }
}

/// Also where sockets can be bound to addresses that the machine does not have; other addresses are
/// served at.
#[test]
fn an_address_that_the_machine_has_is_refused() {
    if !possible(&[]) {
        return;
    }
    let root = site("serve-taken");
    let namespace = Namespace::new().unwrap();
    namespace.set_sysctl("net.ipv4.ip_nonlocal_bind", "1").unwrap();
    let options = ["--address", "10.9.0.5/24", "--port", "8080"];
    let machine = Machine::serve_in(namespace, &root, &options);
    assert!(machine.line.contains("http://10.9.0.5:8080/"), "{}", machine.line);
    // The machine's own end is the first host of the network.
    for address in ["10.9.0.1/24", "10.9.0.7/24"] {
        let root = root.to_str().unwrap();
        let output =
            machine.run(env!("CARGO_BIN_EXE_headstart"), &["serve", root, "--address", address]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("10.9.0.1 already") && errors.contains("--address"), "{errors}");
    }
    // Loopback is no TUN device, and the server's own is taken.
    for device in ["lo", "headstart0"] {
        let arguments = ["serve", root.to_str().unwrap(), "--device", device];
        let output = machine.run(env!("CARGO_BIN_EXE_headstart"), &arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(device) && errors.contains("--device"), "{errors}");
    }
}

/// SIGTERM in the middle of a download: it is finished, nothing new is accepted, and the server
/// ends with success. The file is larger than all buffers on the way (8 MB in the server, 6 MB in
/// the kernel). curl reads it slowly enough to be found in the middle.
#[test]
fn what_is_under_way_is_finished() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-term");
    large(&root, 30_000_000);
    let mut machine = Machine::serve(&root, &["--grace", "60s"]);
    let arguments = ["-sS", "-o", "/dev/null", "-w", "%{size_download}", "--limit-rate", "10M"];
    let download =
        machine.start("curl", &[&arguments[..], &["http://10.77.0.1/large.bin"]].concat());
    soon("the download is under way", || {
        let status = machine.get("http://10.77.0.1/.headstart/status.json");
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        let connections = status["connections"].as_array().unwrap();
        connections.iter().any(|c| c["acked_bytes"].as_u64() > Some(100_000))
    });
    machine.signal("TERM");
    let download = download.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&download.stdout), "30000000");
    let (code, rest) = machine.ended();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.contains("ending: transfers may take 60s"), "{rest}");
    assert!(rest.contains("/large.bin 200 30000000 bytes"), "{rest}");
}

/// The server waits for a client that does not read for as long as `--grace` allows.
#[test]
fn what_takes_too_long_is_reset() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-grace");
    large(&root, 100_000_000);
    let mut machine = Machine::serve(&root, &["--grace", "300ms"]);
    let arguments =
        ["-sS", "-o", "/dev/null", "--limit-rate", "100k", "http://10.77.0.1/large.bin"];
    let mut download = machine.start("curl", &arguments);
    soon("the download is under way", || {
        machine.get("http://10.77.0.1/.headstart/status.json").contains("\"content\": \"other\"")
    });
    machine.signal("TERM");
    let (code, rest) = machine.ended();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.contains("were reset: 1"), "{rest}");
    download.kill().unwrap();
    download.wait().unwrap();
}

/// New weights at SIGHUP; a file that cannot be read changes nothing, and says so.
#[test]
fn weights_are_read_again() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-hup");
    let file = root.with_file_name("weights");
    fs::write(&file, "html=12 # first\ncss=6\n").unwrap();
    let weights = format!("@{}", file.display());
    let mut machine = Machine::serve(&root, &["--scheme", "etcp-fair", "--weights", &weights]);
    let shown = |machine: &Machine| {
        let status = machine.get("http://10.77.0.1/.headstart/status.json");
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        status["server"]["weights"].as_str().unwrap().to_owned()
    };
    assert!(shown(&machine).starts_with("html=12,css=6,js=1"));
    fs::write(&file, "html=5").unwrap();
    machine.signal("HUP");
    soon("the new weights hold", || shown(&machine).starts_with("html=5,css=1"));
    fs::write(&file, "html=many").unwrap();
    machine.signal("HUP");
    let mut complaint = String::new();
    while !complaint.contains("stay as they were") {
        complaint.clear();
        assert!(machine.printed.read_line(&mut complaint).unwrap() > 0, "it is still running");
    }
    assert!(complaint.contains("html=many") && complaint.contains("1 to 1000"), "{complaint}");
    assert!(shown(&machine).starts_with("html=5,css=1"));
}
