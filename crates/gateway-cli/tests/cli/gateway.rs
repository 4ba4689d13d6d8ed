//! `headstart-gateway` and `headstart report`: two commands run a gateway, a third reports to it,
//! and all end properly. Tests that need both programs report a skip and pass if only this one is
//! built.

use crate::run::{command, folder, headstart, other, refused, root, stdout};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A gateway on free ports, which ends with the test.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) folder: PathBuf,
    http: String,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Gateway {
    fn start(name: &str) -> Self {
        Self::start_with(name, &[])
    }

    /// Starts a gateway with more arguments of `init`.
    pub(crate) fn start_with(name: &str, more: &[&str]) -> Self {
        let folder = folder(name);
        let _ = fs::remove_dir_all(&folder);
        stdout(&[&["init", folder.to_str().unwrap()][..], more].concat());
        replace(
            &folder.join("gateway.toml"),
            &[("127.0.0.1:9466", "127.0.0.1:0"), ("127.0.0.1:9465", "127.0.0.1:0")],
        );
        let config = folder.join("gateway.toml");
        let mut child = command(&["--config", config.to_str().unwrap()])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        // headstart gateway: agents at ADDRESS; dashboard at http://ADDRESS
        let line = lines
            .into_iter()
            .find(|line| line.contains("dashboard at"))
            .expect("it says where it is");
        let word =
            |behind: &str| line.split(behind).nth(1).unwrap().split(';').next().unwrap().to_owned();
        let (grpc, http) = (word("agents at "), word("http://"));
        replace(&folder.join("agent.toml"), &[("127.0.0.1:9466", &grpc)]);
        if !more.is_empty() {
            replace(&folder.join("observe/observe.toml"), &[("127.0.0.1:9466", &grpc)]);
        }
        Self { child, folder, http }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.http).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.http)
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) fn agent(&self) -> String {
        self.folder.join("agent.toml").to_str().unwrap().to_owned()
    }
}

pub(crate) fn replace(file: &Path, pairs: &[(&str, &str)]) {
    let text = fs::read_to_string(file).unwrap();
    let text = pairs.iter().fold(text, |text, (from, to)| text.replace(from, to));
    fs::write(file, text).unwrap();
}

#[test]
fn help_teaches_by_example() {
    for arguments in [&["--help"][..], &["init", "--help"]] {
        let help = stdout(arguments);
        assert!(help.contains("Examples:"), "{arguments:?}: {help}");
        assert!(help.contains("headstart gateway "), "{arguments:?}");
    }
}

#[test]
fn two_commands_run_a_gateway_and_a_third_tells_it() {
    let Some(program) = other("headstart") else { return };
    let mut gateway = Gateway::start("gateway");
    assert!(gateway.get("/readyz").starts_with("HTTP/1.1 200"));
    let figures = "--network 192.0.2.0/24 --window 200kB --bound loss --sent 300 --lost 2 --rate 20mbit --rtt 80ms";
    let mut arguments = vec!["report", "--config"];
    let agent = gateway.agent();
    arguments.push(&agent);
    arguments.extend(figures.split(' '));
    let report = || Command::new(&program).args(&arguments).output().unwrap();
    assert_eq!(report().stdout, b"1 report acknowledged\n");
    let told = gateway.get("/api/v1/network?prefix=192.0.2.0/24");
    assert!(told.contains("\"reports\":1"), "{told}");
    let status = stdout(&["status", "--http", &gateway.http]);
    assert!(status.contains(": ready\nreports that count      1: 1 application\n"), "{status}");
    assert!(status.contains(" (this one)  alive  never "), "{status}");
    assert!(status.contains("\nagent  alive  "), "{status}");
    let asked = stdout(&["ask", "--config", &agent, "192.0.2.77"]);
    assert!(asked.starts_with("192.0.2.0/24 (network): window "), "{asked}");
    assert!(asked.ends_with(" old, 1 sample of 1 host\n"), "{asked}");
    let file = |name: &str| gateway.folder.join(name).to_str().unwrap().to_owned();
    let forget = |holder: &str| {
        let (certificate, key) = (file(&format!("{holder}.pem")), file(&format!("{holder}.key")));
        let as_holder = ["--certificate", &certificate, "--key", &key, "192.0.2.0/24"];
        headstart(&[&["forget", "--config", &agent][..], &as_holder].concat())
    };
    let refused = forget("agent");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(String::from_utf8(refused.stderr).unwrap().contains("only an operator's certificate"));
    let forgotten = String::from_utf8(forget("authority/operator").stdout).unwrap();
    assert!(forgotten.ends_with(": 1 network forgotten, 0 agents notified\n"), "{forgotten}");
    let asked = stdout(&["ask", "--json", "--config", &agent, "192.0.2.0/24"]);
    assert!(asked.contains("\"none\""), "{asked}");
    let pid = Pid::from_raw(gateway.child.id().cast_signed());
    kill(pid, Signal::SIGTERM).unwrap();
    assert!(gateway.child.wait().unwrap().success());
    assert!(gateway.folder.join("gateway.redb").exists());
    // No gateway runs now: commands that ask or report fail within their patience, with a message.
    let output = headstart(&["status", "--http", &gateway.http]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("/api/v1/status: ") && said.contains("refused"), "{said}");
    let output = report();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no gateway has taken all reports"), "{said}");
}

/// A first gateway refuses replayed logs: a command that reports one prints that, and the exit code
/// shows it, too.
#[test]
fn reports_that_are_all_refused_are_a_failure() {
    let gateway = Gateway::start("gateway-refused");
    let now = stdout(&["load", "--for", "2s"]);
    let log = gateway.folder.join("access.log");
    fs::write(&log, now).unwrap();
    let agent = gateway.agent();
    let output = headstart(&["replay", log.to_str().unwrap(), "--to", &agent]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the gateway took none of ") && said.contains(" collector ("), "{said}");
    assert!(!String::from_utf8(output.stdout).unwrap().contains("acknowledged"));
    // One of the two is no network of visitors: an IPv4 prefix has 16 bits at least.
    let lines = gateway.folder.join("lines.jsonl");
    let line = |network| format!("{{\"network\": \"{network}\", \"window\": 5000}}\n");
    fs::write(&lines, line("192.0.2.0/24") + &line("10.0.0.0/8")).unwrap();
    let Some(program) = other("headstart") else { return };
    let mut report = Command::new(program);
    let output = report.args(["report", "--config", &agent]).arg(&lines).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("1 of 2 reports taken, 1 refused: 1 network ("), "{said}");
}

#[test]
fn what_is_there_already_is_not_written_over() {
    let folder = folder("gateway-init");
    let _ = fs::remove_dir_all(&folder);
    let shown = folder.to_str().unwrap();
    stdout(&["init", shown]);
    let before = fs::read(folder.join("ca.pem")).unwrap();
    let nowhere = folder.join("nowhere");
    for host in ["", "bad host"] {
        let output = headstart(&["init", nowhere.to_str().unwrap(), "--host", host]);
        assert_eq!(output.status.code(), Some(2), "{host:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("is neither an address nor a name"), "{said}");
        assert!(!nowhere.exists());
    }
    let output = headstart(&["init", shown]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--force"));
    assert_eq!(fs::read(folder.join("ca.pem")).unwrap(), before);
    let config = folder.join("gateway.toml");
    let shown = config.to_str().unwrap();
    assert!(stdout(&["--config", shown, "--check"]).contains("good"));
    replace(&config, &[("retention", "retension")]);
    let output = headstart(&["--config", shown, "--check"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("gateway.toml:10: unknown key \"retension\" (did you mean \"retention\"?)"),
        "{said}"
    );
}

/// The test does the whole renewal before a gateway's certificate ends, and checks the messages.
#[test]
fn the_gateways_certificate_is_made_anew_for_the_same_hosts() {
    let folder = folder("gateway-renewed");
    let _ = fs::remove_dir_all(&folder);
    let shown = folder.to_str().unwrap();
    stdout(&["init", shown, "--host", "127.0.0.1", "--host", "gateway.example"]);
    let file = |name: &str| folder.join(name);
    fs::set_permissions(file("server.pem"), fs::Permissions::from_mode(0o640)).unwrap();
    let (before, key) =
        (fs::read(file("server.pem")).unwrap(), fs::read(file("server.key")).unwrap());
    let certificate = |more: &[&str]| headstart(&[&["certificate", shown][..], more].concat());
    let said = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    let refused = certificate(&["server", "--gateway"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("server.pem: is there already"), "{}", said(&refused));
    assert_eq!(fs::read(file("server.pem")).unwrap(), before);
    let made = certificate(&["server", "--gateway", "--replace", "--days", "20"]);
    assert!(made.status.success(), "{made:?}");
    assert!(said(&made).contains("as 127.0.0.1, gateway.example\n"), "{}", said(&made));
    assert_ne!(fs::read(file("server.pem")).unwrap(), before);
    assert_ne!(fs::read(file("server.key")).unwrap(), key);
    let mode = |name: &str| fs::metadata(file(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("server.pem"), mode("server.key")), (0o640, 0o600));
    let hosts = gateway::pki::hosts_of_file(&file("server.pem")).unwrap();
    assert_eq!(hosts, ["127.0.0.1", "gateway.example"]);
    // A certificate under another name has the hosts of server.pem, unless others are named.
    certificate(&["second", "--gateway", "--host", "192.0.2.7"]);
    assert_eq!(gateway::pki::hosts_of_file(&file("second.pem")).unwrap(), ["192.0.2.7"]);
    certificate(&["third", "--gateway"]);
    assert_eq!(gateway::pki::hosts_of_file(&file("third.pem")).unwrap(), hosts);
    for (wrong, why) in [
        (&["agent", "--gateway", "--replace"][..], "agent.pem: names no host; name with --host"),
        (&["ca", "--replace"][..], "ca.pem and ca.key are the authority's"),
        (&["web", "--host", "192.0.2.7"][..], "--gateway"),
        (&["web", "--gateway", "--operator"][..], "--operator"),
    ] {
        let refused = certificate(wrong);
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}");
        assert!(said(&refused).contains(why), "{wrong:?}: {}", said(&refused));
    }
    let config = file("gateway.toml");
    let checked = headstart(&["--config", config.to_str().unwrap(), "--check"]);
    // 20 days less the time of this test, in whole days: 20 within the first second.
    let is_told = |line: &str| {
        let said = |days| format!("the gateway's certificate ends in {days} days; `");
        line.contains(&said(19)) || line.contains(&said(20))
    };
    assert!(is_told(&said(&checked)) && checked.status.success(), "{checked:?}");
    replace(&config, &[("127.0.0.1:9466", "127.0.0.1:0"), ("127.0.0.1:9465", "127.0.0.1:0")]);
    let mut child =
        command(&["--config", config.to_str().unwrap()]).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let lines: Vec<String> = lines.take_while(|line| !line.contains("dashboard at")).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lines.iter().filter(|line| is_told(line)).count(), 1, "{lines:?}");
}

#[test]
fn a_simulated_log_is_like_the_papers() {
    let log = folder("gateway-load").join("busy.log");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, stdout(&["load", "--for", "5min"])).unwrap();
    let text = stdout(&["replay", log.to_str().unwrap(), "--json"]);
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    // 330 requests per second for 300 s, within two per cent.
    let asked = told["answers"]["asked"].as_u64().unwrap();
    assert!((97_000..=101_000).contains(&asked), "{asked}");
    assert_eq!(told["answers"]["reported"], told["answers"]["asked"]);
    assert_eq!(told["sharing"]["requests"], told["answers"]["asked"]);
}

/// The part before the damage is replayed and printed, as the message says; the exit code shows
/// that something is missing.
#[test]
fn a_damaged_capture_is_replayed_up_to_there() {
    let folder = folder("gateway-cut");
    let whole = fs::read(root().join("crates/capture/tests/tcprs/rto003.pcap")).unwrap();
    let cut = folder.join("cut.pcap");
    fs::write(&cut, &whole[..whole.len() - 7]).unwrap();
    let output = headstart(&["replay", cut.to_str().unwrap(), "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the results are of "), "{said}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    assert!(found["answers"]["asked"].as_u64() > Some(0), "{found}");
    fs::write(&cut, "no capture").unwrap();
    let output = headstart(&["replay", cut.to_str().unwrap(), "--json"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

/// Tables have microseconds and the engine nanoseconds; the difference changes no answer for these
/// captures.
#[test]
fn tables_of_an_analysis_replay_as_the_capture_does() {
    let Some(program) = other("headstart") else { return };
    let folder = folder("gateway-tables");
    let _ = fs::remove_dir_all(&folder);
    let mut losses = 0;
    for name in ["rto003", "fast019"] {
        let capture = root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap");
        let (capture, tables) = (capture.to_str().unwrap(), folder.join(name));
        let out = tables.to_str().unwrap();
        let tables_of = ["analyze", capture, "--tables", "transfers,retransmissions", "--out", out];
        assert!(Command::new(&program).args(tables_of).output().unwrap().status.success());
        let of_capture = stdout(&["replay", capture, "--json"]);
        let mut found: serde_json::Value = serde_json::from_str(&of_capture).unwrap();
        let of_tables = stdout(&["replay", out, "--json"]);
        // Tables keep no hosts.
        for key in ["soon_after_host", "since_host"] {
            assert!(!found["sharing"][key].is_null(), "{key}: {of_capture}");
            found["sharing"][key] = serde_json::Value::Null;
        }
        assert_eq!(serde_json::from_str::<serde_json::Value>(&of_tables).unwrap(), found);
        assert_eq!(found["sharing"]["requests"], found["answers"]["asked"]);
        let words = stdout(&["replay", out]);
        assert!(
            words.contains("(Figure 6; MSNBC") && words.contains("(Figure 7; MSNBC"),
            "{words}"
        );
        assert!(found["answers"]["reported"].as_u64() > Some(0), "{of_capture}");
        losses += found["answers"]["with_loss"].as_u64().unwrap();
        fs::remove_file(tables.join("retransmissions.parquet")).unwrap();
        refused(&["replay", out], &["retransmissions.parquet is not there"]);
    }
    assert!(losses > 0, "no capture has met a loss, so nothing was tried");
}
