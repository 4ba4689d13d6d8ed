//! `headstart analyze --access-log`, by a log small enough to count by hand.

use crate::run::{folder, headstart};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Four requests of two networks and an image, which does not count. 192.0.2.0/24 asks at 0, 60 and
/// 400 s: after 60 and 340 s, once by the same host. Its addresses have names of two domains, the
/// other network's of one.
const LOG: &str = r#"192.0.2.1 a.example.org - [10/Oct/2000:20:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "curl"
192.0.2.1 a.example.org - [10/Oct/2000:20:00:01 +0000] "GET /logo.png HTTP/1.1" 200 5 "-" "curl"
192.0.2.2 b.example.com - [10/Oct/2000:20:01:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl"
{"time":"2000-10-10T20:02:00Z","remote_addr":"198.51.100.7","remote_host":"c.example.net"}
192.0.2.1 - - [10/Oct/2000:20:06:40 +0000] "GET /b HTTP/1.1" 200 5

"#;

fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder(&format!("analyze-log-{name}")).join("access.log");
    fs::write(&path, bytes).unwrap();
    path
}

fn json(path: &str) -> Value {
    let output = headstart(&["analyze", "--access-log", path, "--json"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_log_says_how_soon_networks_ask_again() {
    let path = written("plain", LOG.as_bytes());
    let found = json(path.to_str().unwrap());
    assert_eq!((found["lines"].as_u64(), found["images"].as_u64()), (Some(6), Some(1)));
    assert_eq!(found["requests"], 4);
    assert_eq!(found["soon_after_network"], 1, "the one after 60 s; 340 s are too many");
    assert_eq!(found["soon_after_host"], 0, "400 s");
    assert_eq!(found["since_network"]["count"], 2);
    // 20:00:00 UTC and 400 s later (`date -u -d`).
    assert_eq!(
        (found["begin"].as_f64(), found["end"].as_f64()),
        (Some(971_208_000.0), Some(971_208_400.0))
    );
    let domains = &found["domains"];
    assert_eq!((&domains["addresses"], &domains["named_addresses"]), (&3.into(), &3.into()));
    assert_eq!((&domains["named_networks"], &domains["several_domains"]), (&2.into(), &1.into()));

    let mut gzip = GzEncoder::new(vec![], Compression::fast());
    gzip.write_all(LOG.as_bytes()).unwrap();
    let packed = written("gzip", &gzip.finish().unwrap());
    assert_eq!(json(packed.to_str().unwrap()), found);

    let text = headstart(&["analyze", "--access-log", path.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("25.0 % of requests follow another of the same network"), "{text}");
    assert!(
        text.contains("1 (50.0 %) of 2 networks with names have addresses of several domains"),
        "{text}"
    );
    assert!(!text.contains("192.0.2."), "no address is printed: {text}");
}

/// A gap of exactly five minutes is within five minutes, in the words and in the table. At most
/// 1001 of 1001 networks are to be remembered: the first of them asks last, as each of the others
/// has within five minutes.
#[test]
fn limits_and_maxima_are_exact() {
    let line = |client: String, time: &str| {
        format!("{client} - - [10/Oct/2000:{time} +0000] \"GET / HTTP/1.1\" 200 5\n")
    };
    let log: String =
        ["20:00:00", "20:05:00"].map(|time| line("192.0.2.1".to_owned(), time)).concat();
    let path = written("limits", log.as_bytes());
    let text = crate::run::stdout(&["analyze", "--access-log", path.to_str().unwrap()]);
    let row = text.lines().find(|line| line.starts_with("5 min")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["5", "min", "100.0", "%", "100.0", "%"]
    );
    let before = text.lines().find(|line| line.starts_with("1 min")).unwrap();
    assert_eq!(before.split_whitespace().collect::<Vec<_>>(), ["1", "min", "0.0", "%", "0.0", "%"]);

    let networks = (0..=1000).map(|n| format!("10.{}.{}.1", n / 250, n % 250));
    let log: String = networks.map(|client| line(client, "20:00:00")).collect();
    let found = json(written("maximum", log.as_bytes()).to_str().unwrap());
    let last = found["networks_within"]["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(last["value"].as_f64(), Some(1001.0));
}

/// A line of exactly 65,536 bytes, its end included, is a whole one: the next line is read. A
/// longer one is cut, and costs itself alone.
#[test]
fn a_line_as_long_as_may_be_costs_no_other() {
    let before = "192.0.2.1 - - [10/Oct/2000:20:00:00 +0000] \"GET /";
    let behind = " HTTP/1.1\" 200 5\n";
    for (length, requests) in [(65_535, 2), (65_536, 2)] {
        let long = "x".repeat(length - before.len() - behind.len());
        let log = format!("{before}{long}{behind}{before}{behind}");
        let path = written("long", log.as_bytes());
        assert_eq!(json(path.to_str().unwrap())["requests"], requests, "{length}");
    }
}

/// An access log has no connections, and its analysis uses no threads: options for these are
/// refused, not ignored.
#[test]
fn options_for_captures_are_refused() {
    let path = written("options", LOG.as_bytes());
    let log = ["analyze", "--access-log", path.to_str().unwrap()];
    for option in [&["--jobs", "2"][..], &["--json=connections"]] {
        let output = headstart(&[&log[..], option].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{option:?}");
    }
    assert!(headstart(&[&log[..], &["--json=findings"]].concat()).status.success());
}

/// Keys of the JSON: others build on them.
#[test]
fn the_keys_of_the_json_stay() {
    let path = written("keys", LOG.as_bytes());
    let found = json(path.to_str().unwrap());
    let mut keys: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected = [
        "begin",
        "domains",
        "end",
        "images",
        "lines",
        "networks_within",
        "requests",
        "since_host",
        "since_network",
        "soon_after_host",
        "soon_after_network",
        "unread_lines",
    ];
    assert_eq!(keys, expected);
}

/// A wrong line is skipped, is named with file and line, and makes the exit code 1. So does a file
/// of wrong lines, as a damaged capture does; the message has the way out.
#[test]
fn wrong_lines_are_told_with_file_and_line() {
    let path =
        written("wrong", LOG.replace("192.0.2.2 b.example.com", "b.example.com -").as_bytes());
    let output = headstart(&["analyze", "--access-log", path.to_str().unwrap(), "--json"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("access.log: line 3: the client is the name \"b.example.com\""),
        "{printed}"
    );
    assert!(
        printed.contains("HostnameLookups Off") && printed.contains("1 line of 6"),
        "{printed}"
    );
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["unread_lines"], &found["requests"]), (&1.into(), &3.into()));

    for (name, text, why) in [
        ("none", "hello\n".repeat(300), "names the columns"),
        ("few", "hello\n".to_owned(), "no line of 1 could be read"),
    ] {
        let path = written(name, text.as_bytes());
        let output = headstart(&["analyze", "--access-log", path.to_str().unwrap()]);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains(why) && output.stdout.is_empty(), "{printed}");
    }
    let long =
        written("long", [&b"x".repeat(200_000)[..], b"\n", LOG.as_bytes()].concat().as_slice());
    let output = headstart(&["analyze", "--access-log", long.to_str().unwrap(), "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["unread_lines"], &found["requests"], &found["lines"]),
        (&1.into(), &4.into(), &7.into())
    );
    let missing = headstart(&["analyze", "--access-log", "/nonexistent.log"]);
    assert_eq!(missing.status.code(), Some(2));
    let both = headstart(&["analyze", "--access-log", "a.log", "b.pcap"]);
    assert_eq!(both.status.code(), Some(2));
}

/// The page has the words, the tables and both figures of the paper, prints no address and loads
/// nothing.
#[test]
fn a_log_gives_a_page_with_the_figures_of_the_paper() {
    let path = written("page", LOG.as_bytes());
    let report = path.with_file_name("log.html");
    let (log, page) = (path.to_str().unwrap(), report.to_str().unwrap());
    let text = crate::run::stdout(&["analyze", "--access-log", log, "--report", page]);
    // 971,208,000 and 400 s later (`date -u -d`).
    assert!(text.contains("from 2000-10-10 20:00:00 to 2000-10-10 20:06:40 UTC"), "{text}");
    let page = fs::read_to_string(&report).unwrap();
    for shown in [
        "In words</bdi></h2>",
        "25.0 % of requests follow another of the same network",
        "TCP/SPAND Figure 6: time between requests of one network or host",
        "TCP/SPAND Figure 7: networks that asked within five minutes",
        "6 lines",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("192.0.2.") && !page.contains("198.51.100."), "an address");
    let loads = ["src=", "<link", "@import", "url(", "<iframe", "fetch("];
    assert!(loads.iter().all(|load| !page.contains(load)));
    let nowhere = headstart(&["analyze", "--access-log", log, "--report", "/nonexistent/x.html"]);
    assert_eq!((nowhere.status.code(), nowhere.stdout.len()), (Some(2), 0));
}

/// A log of these that the program has to know.
fn given(name: &str) -> String {
    format!("{}/tests/data/logs/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The numbers of a log in which four clients of three networks ask ten times, once for an image,
/// from 12:00:00 to 12:10:01 on 1 January 2026. Four requests follow one of the same network within
/// five minutes, and three one of the same host.
#[track_caller]
fn is_the_known_log(found: &Value, name: &str) {
    assert_eq!((&found["requests"], &found["images"]), (&9.into(), &1.into()), "{name}");
    let span = (found["begin"].as_f64(), found["end"].as_f64());
    assert_eq!(span, (Some(1_767_268_800.0), Some(1_767_269_401.0)), "{name}");
    let domains = &found["domains"];
    assert_eq!((&domains["addresses"], &domains["networks"]), (&4.into(), &3.into()), "{name}");
    let soon = (&found["soon_after_network"], &found["soon_after_host"]);
    assert_eq!(soon, (&4.into(), &3.into()), "{name}");
    assert_eq!(found["unread_lines"], 0, "{name}");
}

#[test]
fn formats_of_many_servers_are_known() {
    for name in [
        "alb.log",
        "apache-vhost-combined.log",
        "caddy.json",
        "cloudfront.log",
        "combined.log",
        "envoy.log",
        "haproxy.log",
        "iis.log",
        "nginx-forwarded-list.log",
        "nginx-odd-keys.json",
        "s3.log",
        "traefik.json",
    ] {
        is_the_known_log(&json(&given(name)), name);
    }
}

/// The same logs by their columns and keys. Column 13 of `alb.log` is the request.
#[test]
fn columns_and_keys_can_be_named() {
    for (name, format) in [
        ("combined.log", "client=1,time=4,request=5"),
        ("alb.log", "client=4,time=2,request=13"),
        ("iis.log", "client=9,time=1+2,request=5"),
        ("caddy.json", "client=request.remote_ip,time=ts,request=request.uri"),
        ("nginx-odd-keys.json", "time=@ts,request=uri_path,client=clientip"),
    ] {
        let path = given(name);
        let args = ["analyze", "--access-log", &path, "--json", "--log-format", format];
        let output = headstart(&args);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name}: {printed}");
        is_the_known_log(&serde_json::from_slice(&output.stdout).unwrap(), name);
    }
}

#[test]
fn wrong_formats_and_packed_logs_say_the_way_out() {
    let packed = given("combined.log.bz2");
    let plain = given("combined.log");
    for (args, printed) in [
        (vec![&*packed], "compressed by bzip2: try `bzip2 -dc FILE | headstart … -`"),
        (vec![&*plain, "--log-format", "client=1"], "without a time: add time="),
        (vec![&*plain, "--log-format", "client=0,time=4"], "names no column (from 1) and no key"),
        (vec![&*plain, "--log-format", "clients=1,time=4"], "none of client, time and request"),
        (vec![&*plain, "--log-format", "client=99,time=4"], "has no column 99, which --log-format"),
        (vec![&*plain, "--log-format", "client=ip,time=4"], "has no key ip, which --log-format"),
        (vec![&*plain, "--log-format", "client=2,time=4"], "\"-\" is no address"),
    ] {
        let output = headstart(&[vec!["analyze", "--access-log"], args].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{printed}");
        assert!(stderr.contains(printed), "{printed}: {stderr}");
    }
}
