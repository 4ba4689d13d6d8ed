//! `headstart-gateway observe` beside a gateway, each a process of its own. The gateway answers by
//! what the observer's packets have shown.

use crate::gateway::{Gateway, replace};
use crate::run::{command, folder, headstart, refused, stdout};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use test_support::Need;

/// An observer that ends with the test.
struct ObserverProcess {
    child: Child,
    said: Receiver<String>,
}

impl Drop for ObserverProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ObserverProcess {
    /// Starts it. Returns once it reads packets; from then on a signal ends it.
    fn start(config: &Path) -> Self {
        let mut child = command(&["observe", "--config", config.to_str().unwrap()])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (tell, said) = channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || errors.lines().for_each(|line| drop(tell.send(line.unwrap()))));
        let observer = Self { child, said };
        observer.wait_for("reads packets");
        observer
    }

    fn wait_for(&self, words: &str) {
        let patience = Duration::from_secs(20);
        while !self.said.recv_timeout(patience).expect(words).contains(words) {}
    }

    /// Ends it by a signal; by then it has reported all.
    fn end(mut self) {
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// Makes a visitor of `server` ask with a byte and receive 100,000, all on the loopback device.
fn transfer(server: &TcpListener) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut client, _) = server.accept().unwrap();
            client.read_exact(&mut [0]).unwrap();
            client.write_all(&vec![7; 100_000]).unwrap();
        });
        let mut visitor = TcpStream::connect(server.local_addr().unwrap()).unwrap();
        visitor.write_all(&[1]).unwrap();
        assert_eq!(visitor.read_to_end(&mut Vec::new()).unwrap(), 100_000);
    });
}

/// Returns the metrics of an observer, as Prometheus reads them.
fn metrics(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Only the observer reports. A host's question is answered from the observer's packets.
#[test]
fn what_an_observer_sees_is_answered_to_a_host_that_asks() {
    if !test_support::has(&[Need::PacketSockets]) {
        return;
    }
    let server = listen();
    let port = server.local_addr().unwrap().port().to_string();
    let gateway = Gateway::start_with("observe-answers", &["--observe", "lo"]);
    let config = gateway.folder.join("observe/observe.toml");
    let address = listen().local_addr().unwrap();
    let keys = format!("[{port}]\nmetrics = \"{address}\"\n");
    replace(&config, &[("[80, 443]", &keys)]);
    assert!(stdout(&["observe", "--config", config.to_str().unwrap(), "--check"]).contains("good"));
    let asked = || stdout(&["ask", "--json", "--config", &gateway.agent(), "127.0.0.1"]);
    assert!(asked().contains("unknown"), "{}", asked());
    let observer = ObserverProcess::start(&config);
    transfer(&server);
    // The transfer is over once its sender has been silent for two seconds.
    let mut found = metrics(address);
    for _ in 0..200 {
        if found.contains("headstart_observer_reports_total 1\n") {
            break;
        }
        thread::sleep(Duration::from_millis(50));
        found = metrics(address);
    }
    for line in
        ["reports_total 1", "refused_reports_total 0", "missing_interfaces 0", "connected 1"]
    {
        assert!(found.contains(&format!("headstart_observer_{line}\n")), "{line}: {found}");
    }
    assert!(!found.contains("127.0.0"), "metrics name no network: {found}");
    observer.end();
    let answered = asked();
    assert!(answered.contains("\"network\": \"127.0.0.0/24\""), "{answered}");
    assert!(answered.contains("\"source\": \"network\""), "{answered}");
    let status = gateway.get("/api/v1/status");
    assert!(status.contains("{\"name\":\"observer\",\"role\":\"observer\","), "{status}");
    assert!(status.contains("\"passive\":1"), "{status}");
}

/// Packets of a file need no permission. The observer ends with its file, and has reported all by
/// then.
#[test]
fn an_observer_ends_with_its_file_and_says_so() {
    let gateway = Gateway::start_with("observe-file", &["--observe", "lo"]);
    let config = gateway.folder.join("observe/observe.toml");
    let capture = crate::run::root().join("crates/capture/tests/tcprs/fast001.pcap");
    let file = format!("file = {capture:?}");
    replace(&config, &[("interfaces = [\"lo\"]", &file), ("[80, 443]", "[80]")]);
    let output = headstart(&["observe", "--config", config.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("fast001.pcap has ended; start the observer again"), "{said}");
    // The capture is of 1998: its three transfers are reported, and refused for their age.
    let status = gateway.get("/api/v1/status");
    assert!(status.contains("\"too-old\":3"), "{status}");
}

/// A pipe into which nothing is written keeps a thread in a read. A signal ends the observer
/// nevertheless.
#[test]
fn an_observer_of_a_silent_pipe_ends_by_a_signal() {
    let gateway = Gateway::start_with("observe-pipe", &["--observe", "lo"]);
    let config = gateway.folder.join("observe/observe.toml");
    let pipe = gateway.folder.join("packets");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    replace(&config, &[("interfaces = [\"lo\"]", &format!("file = {pipe:?}"))]);
    ObserverProcess::start(&config).end();
}

/// The daemon holds the keys, so it refuses to read packets, and names the solution.
#[test]
fn a_gateway_with_a_capture_does_not_start_and_names_the_observer() {
    let folder = folder("observe-moved");
    let _ = fs::remove_dir_all(&folder);
    stdout(&["init", folder.to_str().unwrap()]);
    assert!(!folder.join("observe").exists(), "nobody asked for an observer");
    let config = folder.join("gateway.toml");
    let text = fs::read_to_string(&config).unwrap();
    let line = text.lines().count() + 1;
    fs::write(&config, format!("{text}[capture]\ninterfaces = [\"lo\"]\n")).unwrap();
    let at = format!("gateway.toml:{line}: [capture]: the gateway reads no packets");
    let words = [at.as_str(), "observe.toml", "`headstart gateway observe --config observe.toml`"];
    let config = config.to_str().unwrap();
    refused(&["--config", config, "--check"], &words);
    refused(&["--config", config], &words);
}

/// The folder of the observer has no key of the site, and may move elsewhere.
#[test]
fn the_observers_files_are_in_a_folder_of_their_own() {
    let folder = folder("observe-files");
    let _ = fs::remove_dir_all(&folder);
    let said = stdout(&["init", folder.to_str().unwrap(), "--observe", "lo", "--observe", "eth0"]);
    assert!(said.contains("headstart gateway observe --config "), "{said}");
    let of = folder.join("observe");
    let mut files: Vec<_> = fs::read_dir(&of)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["ca.pem", "observe.toml", "observer.key", "observer.pem"]);
    assert_eq!(fs::metadata(&of).unwrap().permissions().mode() & 0o777, 0o700);
    let moved = crate::run::folder("observe-moved-away").join("o");
    fs::rename(&of, &moved).unwrap();
    let config = moved.join("observe.toml");
    let check = |words: &[&str]| {
        refused(&["observe", "--config", config.to_str().unwrap(), "--check"], words);
    };
    stdout(&["observe", "--config", config.to_str().unwrap(), "--check"]);
    assert!(fs::read_to_string(&config).unwrap().contains("interfaces = [\"lo\", \"eth0\"]"));
    replace(&config, &[("ports =", "port =")]);
    check(&["observe.toml:9: unknown key \"port\" (did you mean \"ports\"?)"]);
    replace(&config, &[("port = [80, 443]", "")]);
    replace(&config, &[("interfaces = [\"lo\", \"eth0\"]", "")]);
    check(&["observe.toml: interfaces: name some"]);
}

/// The certificate that the command makes has the role: the gateway answers it nothing.
#[test]
fn certificates_are_issued_to_observers() {
    let gateway = Gateway::start_with("observe-certificates", &["--observe", "lo"]);
    let shown = gateway.folder.to_str().unwrap();
    stdout(&["certificate", shown, "eye-2", "--observer"]);
    for other in ["--operator", "--gateway"] {
        refused(&["certificate", shown, "eye-3", "--observer", other], &[other]);
    }
    let agent = gateway.agent();
    assert!(stdout(&["ask", "--config", &agent, "192.0.2.7"]).contains("nothing is known"));
    replace(Path::new(&agent), &[("agent.pem", "eye-2.pem"), ("agent.key", "eye-2.key")]);
    let asked = headstart(&["ask", "--config", &agent, "192.0.2.7"]);
    assert_eq!(asked.status.code(), Some(1), "{asked:?}");
    let said = String::from_utf8(asked.stderr).unwrap();
    assert!(said.contains("an observer's certificate may only report"), "{said}");
}
