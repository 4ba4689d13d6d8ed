//! `headstart analyze` chooses packets, shows the worst connections, and follows a pipe.

use crate::run::{command, headstart, refused, root, stdout};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

fn capture(name: &str) -> String {
    let path = root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap");
    path.to_str().unwrap().to_owned()
}

/// The connections of two captures, with more arguments.
fn connections(more: &[&str]) -> Vec<Value> {
    let files = [capture("rto003"), capture("fast019")];
    let arguments = ["analyze", &files[0], &files[1], "--sender", "linux", "--json"];
    serde_json::from_str(&stdout(&[&arguments[..], more].concat())).unwrap()
}

fn clients(connections: &[Value]) -> Vec<&str> {
    connections.iter().map(|one| one["client"].as_str().unwrap()).collect()
}

/// The captures have a client each, 10.0.195.228 and 10.0.194.180. A network of one of them leaves
/// the other out. The server's own network names no client.
#[test]
fn clients_are_chosen_by_network() {
    let one = ["10.0.195.228:2848"];
    assert_eq!(clients(&connections(&["--client", "10.0.195.0/24"])), one);
    assert_eq!(clients(&connections(&["--client", "10.0.195.228,2001:db8::/48"])), one);
    assert_eq!(connections(&["--client", "10.0.0.0/8"]).len(), 2);
    assert_eq!(connections(&["--client", "192.168.0.0/16"]).len(), 0);
    let words = stdout(&["analyze", &capture("rto003"), "--client", "192.168.0.0/16"]);
    assert!(words.contains("1 connection of other clients"), "{words}");
    let words = stdout(&["analyze", &capture("rto003"), "--client", "192.0.2.0/24"]);
    assert!(words.contains("36 segments of other clients"), "{words}");
    // Networks stay networks when addresses are replaced.
    let hidden = connections(&["--client", "10.0.195.0/24", "--anonymize"]);
    assert!(hidden.len() == 1 && !clients(&hidden)[0].starts_with("10.0.195.228"), "{hidden:?}");
    refused(&["analyze", "x.pcap", "--client", "example.org"], &["like 192.0.2.0/24"]);
}

/// The first capture begins at 16:25:04.949, the second 11.636 s later: either way to say so
/// divides them.
#[test]
fn times_are_chosen_by_clock_or_from_the_first_segment() {
    let (first, second) = (["10.0.194.180:46432"], ["10.0.195.228:2848"]);
    assert_eq!(clients(&connections(&["--from", "11.6s"])).last(), Some(&second[0]));
    assert_eq!(clients(&connections(&["--to", "11.6s"])), first);
    assert_eq!(clients(&connections(&["--to", "2010-09-30T18:25:16.5+02:00"])), first);
    // Earlier packets do not exist: the rest of a connection begins in the middle.
    let rest = connections(&["--from", "2010-09-30T16:25:06Z", "--to", "11.6s"]);
    assert_eq!((clients(&rest), &rest[0]["vantage"]), (first.to_vec(), &Value::from("unknown")));
    assert!(rest[0]["begin"].as_f64().unwrap() >= 1_285_863_906.0, "{rest:?}");
    let words = stdout(&["analyze", &capture("rto003"), "--to", "100ms"]);
    // SYN and SYN-ACK are within the first 100 ms.
    assert!(words.contains("34 segments before --from or after --to"), "{words}");
    let wrong = ["analyze", "x.pcap", "--from", "2010-09-30T16:25:06"];
    refused(&wrong, &["a time with its zone", "like 12.5s"]);
    refused(&["analyze", "x.pcap", "--from", "2s", "--to", "1s"], &["--to is no later"]);
    // An access log has no connections.
    refused(&["analyze", "--access-log", "x", "--follow"], &["cannot be used with"]);
}

/// The words of the table and the page's table name the same connections in the same order.
#[test]
fn the_worst_are_the_same_in_words_and_on_the_page() {
    let report = crate::run::folder("analyze-worst").join("report.html");
    let files = [capture("rto003"), capture("fast019")];
    let arguments = ["analyze", &files[0], &files[1], "--sender", "linux", "--report"];
    let words = stdout(&[&arguments[..], &[report.to_str().unwrap()]].concat());
    let rows = |head: &str| -> Vec<String> {
        let table = words.split(head).nth(1).expect(head).lines().skip(2);
        let rows = table.take_while(|line| !line.is_empty());
        rows.map(str::to_owned).collect()
    };
    let (transfers, connections) = (rows("\nworst transfers"), rows("\nworst connections"));
    assert_eq!((transfers.len(), connections.len()), (2, 2), "{words}");
    // It waited 10.7 of 12.8 s for timeouts, and all of it was acknowledged.
    for part in ["C1.0", "10.0.195.228:2848", "8.4 kB", "12.779 s", "timeout 84 %", "complete"] {
        assert!(transfers[0].contains(part), "{part}: {words}");
    }
    assert!(connections[0].starts_with("C1 ") && connections[0].ends_with("closed"), "{words}");
    let page = fs::read_to_string(report).unwrap();
    let place = |name: &str| page.find(&format!("\">{name}</a>")).expect(name);
    assert!(place("C1") < place("C0"), "the order of the page");
}

/// A writer sends a connection up to its last packet, and then waits. The line of it comes before
/// the pipe is closed, and the summary afterwards.
#[test]
fn a_connection_is_told_of_while_the_pipe_is_open() {
    let mut child = command(&["analyze", "--follow", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (to, lines) = channel();
    let reader = thread::spawn(move || {
        let mut line = String::new();
        out.read_line(&mut line).expect("it is text");
        to.send(line).expect("somebody waits");
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("it is text");
        rest
    });
    let mut writer = child.stdin.take().unwrap();
    writer.write_all(&fs::read(capture("fast019")).unwrap()).unwrap();
    writer.flush().unwrap();
    let line = lines.recv_timeout(Duration::from_secs(60)).expect("the pipe is still open");
    for part in ["2010-09-30T16:25:04.949Z", "10.0.194.180:46432", "517.9 kB in", "; closed\n"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    drop(writer);
    let rest = reader.join().unwrap();
    assert!(rest.contains("time of transfers") && !rest.contains("; closed"), "{rest}");
    assert!(child.wait().unwrap().success());
    let file = headstart(&["analyze", "--follow", &capture("fast019")]);
    assert!(String::from_utf8_lossy(&file.stdout).starts_with(&line), "a file, too");
}
