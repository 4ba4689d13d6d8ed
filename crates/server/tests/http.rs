//! The server between two endpoints back to back: no root, no kernel, nothing lost on the way.

use endpoint::{Device, Endpoint, EndpointConfig, Stream};
use serde_json::Value;
use server::{Ended, EndedResponse, HttpServer, ServerOptions, StatusAccess};
use std::fs;
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tcp::Scheme;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than anything here takes on any machine.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// A size above all buffers between server and client: 8 MB there, 6 MB here.
const LARGE: usize = 20_000_000;
/// Content of the file outside of the folder; no path contains it.
const HIDDEN: &str = "kept from all";

struct World {
    client: Endpoint,
    server: HttpServer,
    scheme: Scheme,
    ended: Arc<Mutex<Vec<EndedResponse>>>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Ended>,
}

/// A new folder with some files, a link that leads out of it, and a secret beside it.
fn folder(name: &str) -> PathBuf {
    let around = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&around);
    let root = around.join("root");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(around.join("secret.txt"), HIDDEN).unwrap();
    fs::write(root.join("index.html"), "<p>start</p>").unwrap();
    fs::write(root.join("style.css"), "p { color: red }").unwrap();
    fs::write(root.join("digits.txt"), "0123456789").unwrap();
    fs::write(root.join("large.bin"), vec![7; LARGE]).unwrap();
    std::os::unix::fs::symlink("../secret.txt", root.join("link.txt")).unwrap();
    std::os::unix::fs::symlink("..", root.join("up")).unwrap();
    std::os::unix::fs::symlink("../../secret.txt", root.join("sub/index.html")).unwrap();
    std::os::unix::fs::symlink("digits.txt", root.join("inside.txt")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(root.join("fifo")).status().unwrap();
    assert!(fifo.success());
    std::os::unix::fs::symlink("fifo", root.join("fifo-link")).unwrap();
    std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    root
}

impl World {
    async fn new(name: &str, scheme: &str, grace: Duration) -> Self {
        Self::with_status(name, scheme, grace, StatusAccess::Everybody).await
    }

    async fn with_status(name: &str, scheme: &str, grace: Duration, status: StatusAccess) -> Self {
        let (a, b) = Device::pair(1500).unwrap();
        let client = Endpoint::open(a, EndpointConfig::new(Some(CLIENT), None)).unwrap();
        let endpoint = Endpoint::open(b, EndpointConfig::new(Some(SERVER), None)).unwrap();
        let scheme = Scheme::parse(scheme).unwrap();
        let ended: Arc<Mutex<Vec<EndedResponse>>> = Arc::default();
        let log = Arc::clone(&ended);
        let options = ServerOptions {
            root: folder(name),
            scheme: scheme.clone(),
            weights: None,
            status,
            idle: TEST_TIMEOUT,
            on_response: Box::new(move |response| log.lock().unwrap().push(response.clone())),
        };
        let listener = endpoint.listen(80, &scheme).await.unwrap();
        let server = HttpServer::new(endpoint, options).unwrap();
        let (stop, stopped) = oneshot::channel();
        let running = server.clone();
        let running = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap() };
            running.run(listener, stopped, grace).await.unwrap()
        });
        Self { client, server, scheme, ended, stop, running }
    }

    async fn connect(&self) -> Stream {
        self.client.connect((SERVER, 80).into(), &self.scheme).await.unwrap()
    }

    async fn status(&self) -> Value {
        let answer = ask(&mut self.connect().await, "GET /.headstart/status.json", "").await;
        serde_json::from_slice(&answer.body).unwrap()
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields
            .into_iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

async fn send(stream: &mut Stream, request: &str, fields: &str) {
    let request = format!("{request} HTTP/1.1\r\nhost: here\r\n{fields}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
}

async fn head(stream: &mut Stream) -> Answer {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(TEST_TIMEOUT, stream.read_u8()).await.expect("an answer").unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body: Vec::new() }
}

async fn ask(stream: &mut Stream, request: &str, fields: &str) -> Answer {
    send(stream, request, fields).await;
    let mut answer = head(stream).await;
    if !request.starts_with("HEAD") {
        let length = answer.field("content-length").map_or(0, |length| length.parse().unwrap());
        answer.body = vec![0; length];
        timeout(TEST_TIMEOUT, stream.read_exact(&mut answer.body)).await.expect("a body").unwrap();
    }
    answer
}

#[tokio::test]
async fn one_connection_gets_files_parts_of_them_and_no_others() {
    let world = World::new("files", "linux", TEST_TIMEOUT).await;
    let stream = &mut world.connect().await;
    let start = ask(stream, "GET /", "").await;
    assert_eq!((start.status, &start.body[..]), (200, &b"<p>start</p>"[..]));
    assert_eq!(start.field("content-type"), Some("text/html"));
    let timing = start.field("server-timing").expect("what the transport knew");
    // IW10 of 1460 bytes less 12 of timestamps; a lone connection of a scheme without memory.
    for metric in
        ["scheme;desc=\"linux\"", "cwnd;desc=\"14480\"", "memory;desc=\"none\"", "srtt;dur="]
    {
        assert!(timing.contains(metric), "{timing}");
    }
    let style = ask(stream, "HEAD /style.css", "").await;
    assert_eq!((style.status, style.field("content-length")), (200, Some("16")));
    assert_eq!(style.field("content-type"), Some("text/css"));
    let part = ask(stream, "GET /digits.txt", "range: bytes=2-4\r\n").await;
    assert_eq!((part.status, &part.body[..]), (206, &b"234"[..]));
    assert_eq!(part.field("content-range"), Some("bytes 2-4/10"));
    assert_eq!(ask(stream, "GET /digits.txt", "range: bytes=-3\r\n").await.body, b"789");
    let beyond = ask(stream, "GET /digits.txt", "range: bytes=10-\r\n").await;
    assert_eq!((beyond.status, beyond.field("content-range")), (416, Some("bytes */10")));
    assert_eq!(ask(stream, "GET /inside.txt", "").await.body, b"0123456789");
    for elsewhere in [
        "/nothing",
        "/inside.txt/x",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/sub/%2e%2e%2f..%2fsecret.txt",
        "/link.txt",
        "/up/secret.txt",
        "/sub/",
        "/%00",
        "/.headstart/nothing",
        "/fifo",
        "/fifo-link",
        "/socket",
    ] {
        let answer = ask(stream, &format!("GET {elsewhere}"), "").await;
        assert_eq!(answer.status, 404, "{elsewhere}: {}", String::from_utf8_lossy(&answer.body));
        assert!(!String::from_utf8_lossy(&answer.body).contains(HIDDEN), "{elsewhere}");
    }
    assert_eq!(ask(stream, "POST /", "").await.status, 405);
    let lines: Vec<_> = world.ended.lock().unwrap().iter().map(EndedResponse::to_string).collect();
    assert!(lines[0].ends_with(" GET / 200 12 bytes html"), "{lines:?}");
    assert!(lines[1].ends_with(" HEAD /style.css 200 0 bytes css"), "{lines:?}");
}

/// To a client at another address than those allowed, the page is a file that does not exist.
#[tokio::test]
async fn the_status_page_is_shown_to_the_addresses_that_may_see_it() {
    let shown = |addresses: &[Ipv4Addr]| {
        StatusAccess::Only(addresses.iter().copied().map(Into::into).collect())
    };
    for (access, code) in [
        (shown(&[SERVER, CLIENT]), 200),
        (shown(&[SERVER]), 404),
        (StatusAccess::Nobody, 404),
        (StatusAccess::Everybody, 200),
    ] {
        let world = World::with_status("access", "linux", TEST_TIMEOUT, access.clone()).await;
        let stream = &mut world.connect().await;
        for path in ["/.headstart/", "/.headstart/status.json"] {
            let answer = ask(stream, &format!("GET {path}"), "").await;
            assert_eq!(answer.status, code, "{access:?}");
        }
    }
}

/// A client that names the file's entity tag gets 304 without the file (RFC 9110 §13.1.2).
#[tokio::test]
async fn a_cached_file_is_answered_by_304() {
    let world = World::new("etag", "linux", TEST_TIMEOUT).await;
    let stream = &mut world.connect().await;
    let first = ask(stream, "GET /digits.txt", "").await;
    let tag = first.field("etag").expect("an entity tag").to_owned();
    let again = ask(stream, "GET /digits.txt", &format!("if-none-match: {tag}\r\n")).await;
    assert_eq!((again.status, again.field("etag")), (304, Some(&*tag)));
    let other = ask(stream, "GET /digits.txt", "if-none-match: \"other\"\r\n").await;
    assert_eq!((other.status, &other.body[..]), (200, &b"0123456789"[..]));
}

/// A client that shuts down its side behind its request has its answer, and then the server closes.
#[tokio::test]
async fn a_client_that_half_closes_gets_its_answer() {
    let world = World::new("half", "linux", TEST_TIMEOUT).await;
    let mut stream = world.connect().await;
    send(&mut stream, "GET /large.bin", "").await;
    stream.shutdown().await.unwrap();
    assert_eq!(head(&mut stream).await.status, 200);
    let mut body = Vec::new();
    timeout(TEST_TIMEOUT, stream.read_to_end(&mut body)).await.expect("an end").unwrap();
    assert!(body == vec![7; LARGE], "{} bytes", body.len());
}

/// A scheme whose connections share a path: the status page has one path with both connections, and
/// new weights reach a connection that is open.
#[tokio::test]
async fn the_status_page_shows_paths_and_weights() {
    let world = World::new("status", "etcp-fair", TEST_TIMEOUT).await;
    let (page, style) = (&mut world.connect().await, &mut world.connect().await);
    ask(page, "GET /", "").await;
    ask(style, "GET /style.css", "").await;
    let of = |status: &Value, content: &str| {
        let all = status["connections"].as_array().unwrap();
        all.iter().find(|c| c["content"] == content).expect("a connection")["weight"].clone()
    };
    let status = world.status().await;
    assert_eq!((of(&status, "html"), of(&status, "css")), (12.into(), 6.into()), "{status:#}");
    let paths = status["paths"].as_array().unwrap();
    assert_eq!(paths.len(), 1, "{status:#}");
    // The connections of page and style, and the one that asks.
    assert_eq!(paths[0]["connections"], serde_json::json!([0, 1, 2]), "{status:#}");
    assert_eq!(paths[0]["is_shared"], true);
    assert_eq!(status["server"]["requests"], 3);
    assert!(status["memory"]["buffer_bytes"].as_u64().unwrap() > 0);

    world.server.set_weights("html=2,css=5".parse().unwrap());
    let status = world.status().await;
    assert_eq!((of(&status, "html"), of(&status, "css")), (2.into(), 5.into()));

    let html = ask(page, "GET /.headstart/", "").await;
    assert_eq!(html.field("content-type"), Some("text/html; charset=utf-8"));
    let html = String::from_utf8(html.body).unwrap();
    for shown in ["etcp-fair", "html=2,css=5", "10.0.0.1:", "shared by"] {
        assert!(html.contains(shown), "{shown}");
    }
}

#[tokio::test]
async fn what_is_under_way_when_the_server_stops_arrives() {
    let world = World::new("graceful", "linux", TEST_TIMEOUT).await;
    let (mut idle, mut busy) = (world.connect().await, world.connect().await);
    ask(&mut idle, "GET /", "").await;
    send(&mut busy, "GET /large.bin", "").await;
    head(&mut busy).await;
    world.stop.send(()).unwrap();
    let mut body = vec![0; LARGE];
    timeout(TEST_TIMEOUT, busy.read_exact(&mut body)).await.expect("in time").unwrap();
    assert!(body.iter().all(|byte| *byte == 7));
    assert_eq!(timeout(TEST_TIMEOUT, idle.read(&mut [0; 1])).await.unwrap().unwrap(), 0, "closed");
    assert_eq!(busy.read(&mut [0; 1]).await.unwrap(), 0, "closed after its answer");
    let late = world.client.connect((SERVER, 80).into(), &world.scheme).await;
    assert!(late.is_err(), "nobody listens any more");
    drop((idle, busy));
    assert_eq!(world.running.await.unwrap(), Ended { reset: 0 });
}

/// The server waits for a client that does not read as long as configured, and then resets it.
#[tokio::test]
async fn who_does_not_read_is_reset_when_time_is_up() {
    let world = World::new("reset", "linux", Duration::from_millis(300)).await;
    let mut stream = world.connect().await;
    send(&mut stream, "GET /large.bin", "").await;
    head(&mut stream).await;
    world.stop.send(()).unwrap();
    assert_eq!(timeout(TEST_TIMEOUT, world.running).await.unwrap().unwrap(), Ended { reset: 1 });
    let end = timeout(TEST_TIMEOUT, stream.read_to_end(&mut Vec::new())).await.unwrap();
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_client_that_goes_away_is_told_of_and_concerns_nobody_else() {
    let world = World::new("away", "linux", TEST_TIMEOUT).await;
    let mut stream = world.connect().await;
    send(&mut stream, "GET /large.bin", "").await;
    head(&mut stream).await;
    stream.handle().abort();
    let given_up = |ended: &EndedResponse| ended.path == "/large.bin" && !ended.is_complete();
    let seen = async {
        while !world.ended.lock().unwrap().iter().any(given_up) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, seen).await.expect("it is noticed");
    let other = ask(&mut world.connect().await, "GET /", "").await;
    assert_eq!(other.status, 200);
    let status = world.status().await;
    let large = |c: &&Value| c["written_bytes"].as_u64() > Some(10_000);
    assert_eq!(status["connections"].as_array().unwrap().iter().filter(large).count(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let (a, _b) = Device::pair(1500).unwrap();
    let endpoint = Endpoint::open(a, EndpointConfig::new(Some(SERVER), None)).unwrap();
    let options = |root: &str| ServerOptions {
        root: root.into(),
        scheme: Scheme::parse("linux").unwrap(),
        weights: None,
        status: StatusAccess::Nobody,
        idle: TEST_TIMEOUT,
        on_response: Box::new(|_| ()),
    };
    for root in ["/nowhere/at/all", "/etc/passwd"] {
        let error = HttpServer::new(endpoint.clone(), options(root)).err().expect("no folder");
        assert!(error.to_string().contains(root), "{error}");
    }
}
