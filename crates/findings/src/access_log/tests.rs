//! Lines of real servers.

use super::*;
use proptest::prelude::*;

/// 10 October 2000, 13:55:36 seven hours west of Greenwich: 20:55:36 UTC, 971,211,336 s since 1970
/// (`date -u -d`).
const SECONDS: u64 = 971_211_336;

fn parse(line: &str) -> Result<LogRequest<'_>, LogFault> {
    LogReader::default().read(line)
}

fn at(line: &str) -> f64 {
    parse(line).unwrap().at.as_secs_f64()
}

#[test]
fn lines_of_servers_are_read() {
    let line =
        r#"192.0.2.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#;
    let expected = LogRequest {
        at: Instant::from_nanos(SECONDS * 1_000_000_000),
        client: "192.0.2.1".parse().unwrap(),
        name: None,
        is_image: true,
    };
    assert_eq!(parse(line), Ok(expected.clone()), "common");
    let line = r#"2001:db8::1 - - [10/Oct/2000:20:55:36 +0000] "GET /a.html?x=.png HTTP/1.1" 200 5 "https://e.org/a.gif" "Mozilla \"5\"""#;
    let read = parse(line).unwrap();
    assert_eq!((read.at, read.is_image), (expected.at, false), "combined");
    let line =
        r#"www.example.org:443 192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#;
    let read = parse(line).unwrap();
    assert_eq!((read.client, read.name), (expected.client, None), "virtual host");
    for host in ["127.0.1.1:80", "[2001:db8::1]:443"] {
        let line =
            format!(r#"{host} 192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#);
        assert_eq!(parse(&line).unwrap().client, expected.client, "{host}");
    }
    let line = r#"192.0.2.1:50000 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#;
    assert_eq!(parse(line).unwrap().client, expected.client, "a client's port");
    let line =
        r#"192.0.2.1 h7.isp.example.net - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#;
    assert_eq!(parse(line).unwrap().name.as_deref(), Some("h7.isp.example.net"));
    let line = r#"203.0.113.7, 10.0.0.1 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#;
    assert_eq!(parse(line).unwrap().client.to_string(), "203.0.113.7", "proxies");
    let line = r#"203.0.113.7,10.0.0.1 proxy.example.net - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#;
    let read = parse(line).unwrap();
    assert_eq!((read.client.to_string().as_str(), read.name), ("203.0.113.7", None), "no blank");
    let line = r#"www.example.org:443 2001:db8::7, 10.0.0.1 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#;
    assert_eq!(parse(line).unwrap().client.to_string(), "2001:db8::7", "both");
    let line = r#"192.0.2.1 - a b [10/Oct/2000:20:55:36 +0000] "\x16\x03\x01" 400 0"#;
    assert!(parse(line).is_ok(), "a user with a space, and no HTTP");
}

#[test]
fn json_is_read_by_the_keys_of_many_servers() {
    for line in [
        r#"{"remote_addr":"192.0.2.1","time_local":"10/Oct/2000:13:55:36 -0700","request":"GET /x.PNG HTTP/1.1"}"#,
        r#"{"time":"2000-10-10T20:55:36Z","remote_ip":"192.0.2.1","uri":"/x.png"}"#,
        r#"{"time":"2000-10-10 20:55:36","remote_ip":"192.0.2.1, 10.0.0.1","uri":"/x.png"}"#,
        r#"{"time":"2000-10-10 22:55:36+02:00","remote_ip":"192.0.2.1","uri":"/x.png"}"#,
        r#"{"time":"2000-10-10T20:55:36","remote_ip":"192.0.2.1","uri":"/x.png"}"#,
        r#"{"time":null,"ts":971211336,"remote_ip":"192.0.2.1","uri":"/x.png"}"#,
        r#"{"ts":971211336.0,"request":{"remote_ip":"192.0.2.1","uri":"/x.png"}}"#,
        r#"{"@timestamp":"2000-10-10T22:55:36+02:00","client":"192.0.2.1:50000","path":"/a/x.png"}"#,
        r#"{"msec":"971211336.000","client_ip":"192.0.2.1","url":"/x.png"}"#,
        r#"{"timestamp":971211336000,"httpRequest":{"remoteIp":"192.0.2.1","uri":"/x.png"}}"#,
    ] {
        let read = parse(line).unwrap_or_else(|why| panic!("{line}: {why}"));
        assert_eq!(read.at.as_nanos(), SECONDS * 1_000_000_000, "{line}");
        assert_eq!(read.client.to_string(), "192.0.2.1");
        assert!(read.is_image, "{line}");
    }
    // The server's own name is the same for all of its clients.
    let own = r#"{"ts":1,"ip":"192.0.2.1","hostname":"www.example.org"}"#;
    assert_eq!(parse(own).unwrap().name, None);
    let named = r#"{"ts":1,"ip":"192.0.2.1","remote_host":"a.example.org"}"#;
    assert_eq!(parse(named).unwrap().name.as_deref(), Some("a.example.org"));
    assert_eq!(at(r#"{"ts":971211336.25,"ip":"192.0.2.1"}"#), SECONDS as f64 + 0.25);
    assert_eq!(at(r#"{"ts":971211336250000,"ip":"192.0.2.1"}"#), SECONDS as f64 + 0.25);
}

#[test]
fn what_is_wrong_is_said_with_the_way_out() {
    for (line, why) in [
        ("", "an empty line"),
        ("hello", "--log-format client=1,time=4,request=5 names the columns"),
        (r#"{"ts":1"#, "begins as JSON, and is none"),
        (r#"{"ts":1}"#, "without a client, as remoteaddr"),
        (r#"{"ip":"192.0.2.1"}"#, "without a time, as time"),
        (r#"{"ip":"192.0.2.1","ts":true}"#, "\"true\" is no time"),
        (r#"{"ip":"192.0.2.1","ts":null}"#, "without a time, as time"),
        (r#"{"ip":"192.0.2.1","ts":"2000-10-10"}"#, "\"2000-10-10\" is no time"),
        (r#"{"ip":"192.0.2.1","ts":-5}"#, "\"-5\" is no time"),
        (r#"{"ip":"a.example.org","ts":1}"#, "HostnameLookups Off"),
        (
            r#"a.example.org - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#,
            "HostnameLookups Off",
        ),
        (r#"- - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#, "\"-\" is no address"),
        (
            r#"unknown, 10.0.0.1 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#,
            "\"unknown\" is no address",
        ),
        (r#"192.0.2.1 - - [10/Okt/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#, "is no time"),
        (r#"192.0.2.1 - - [01/Jan/1950:00:00:00 +0000] "GET / HTTP/1.1" 200 5"#, "is no time"),
    ] {
        let message = parse(line).unwrap_err().to_string();
        assert!(message.contains(why), "{line}: {message}");
    }
}

proptest! {
    /// Any line is read or refused.
    #[test]
    fn any_line_is_survived(line in ".{0,200}", json: bool) {
        let line = if json { format!("{{{line}") } else { line };
        let _ = parse(&line).map_err(|why| why.to_string());
    }

    /// Nearly valid lines with changed bytes.
    #[test]
    fn damaged_lines_are_survived(
        at in any::<prop::sample::Index>(),
        instead in any::<char>(),
        json: bool,
    ) {
        let line = match json {
            true => r#"{"remote_addr":"192.0.2.1","time":"2000-10-10T20:55:36Z"}"#,
            false => r#"192.0.2.1 - - [10/Oct/2000:20:55:36 +0000] "GET / HTTP/1.1" 200 5"#,
        };
        let mut chars: Vec<char> = line.chars().collect();
        let at = at.index(chars.len());
        chars[at] = instead;
        let line: String = chars.into_iter().collect();
        let _ = parse(&line).map_err(|why| why.to_string());
    }
}

/// Lines of AWS's documentation, with other addresses.
#[test]
fn lines_of_load_balancers_are_read() {
    for line in [
        r#"2000-10-10T20:55:36.000000Z my-loadbalancer 192.0.2.1:2817 198.51.100.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/x.png HTTP/1.1" "curl/7.38.0" - -"#,
        r#"tls 2.0 2000-10-10T20:55:36 net/my-balancer/c6e77e28c25b2234 g3d4b5e8bb8464cd 192.0.2.1:51341 198.51.100.1:443 5 2 98 246 - arn:aws:acm:x "/x.png""#,
        r#"h2 2000-10-10T20:55:36.000000Z app/my-loadbalancer/50dc6c495c0c9188 [2001:db8::1]:2817 198.51.100.1:80 0.000 0.001 0.000 200 200 0 29 "GET https://e.org:443/a\" b.png HTTP/2.0" "c""#,
    ] {
        let read = parse(line).unwrap_or_else(|why| panic!("{line}: {why}"));
        assert_eq!(read.at.as_nanos(), SECONDS * 1_000_000_000, "{line}");
        assert!(["192.0.2.1", "2001:db8::1"].contains(&&*read.client.to_string()), "{line}");
    }
}

/// A quote after a backslash ends no column, also before a blank.
#[test]
fn escaped_quotes_end_no_column() {
    let texts: Vec<_> = columns::columns(r#"a "b\" c" [d e] f"#).map(|one| one.text).collect();
    assert_eq!(texts, ["a", r#"b\" c"#, "d e", "f"]);
}

/// `c-ip` is the proxy in front of the server, if another column has the visitor.
#[test]
fn a_w3c_log_has_the_visitor_behind_a_proxy() {
    let mut reader = LogReader::default();
    let fields = "\u{feff}#Fields: date time c-ip x-forwarded-for cs-uri-stem";
    assert_eq!(reader.read(fields), Err(LogFault::Empty));
    for (listed, client) in [("192.0.2.1,10.0.0.2", "192.0.2.1"), ("-", "198.51.100.9")] {
        let line = format!("2000-10-10\t20:55:36\t198.51.100.9\t{listed}\t/x.png");
        let read = reader.read(&line).unwrap();
        assert_eq!((read.client.to_string().as_str(), read.is_image), (client, true));
        assert_eq!(read.at.as_nanos(), SECONDS * 1_000_000_000);
    }
    // The columns change in the middle of a file.
    assert_eq!(reader.read("#Fields: time date c-ip"), Err(LogFault::Empty));
    assert!(reader.read("20:55:36 2000-10-10 192.0.2.1").is_ok());
    assert_eq!(reader.read("20:55:36 2000-10-10"), Err(LogFault::NoColumn(3)));
}
