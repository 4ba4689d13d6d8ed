//! Writes recordings of one page over lines of any rate: a document of 8 kB, and 40 images of 20 kB
//! that it names. The round trip is 20 ms. Only the line and the servers' times differ between two
//! recordings.

use std::fmt::Write;

/// Milliseconds.
const RTT: f64 = 20.0;
const PACKET: f64 = 1500.0;
const IMAGES: usize = 40;
const IMAGE_BYTES: f64 = 20_000.0;
const DOCUMENT_BYTES: f64 = 8_000.0;
/// The first flight of a connection: ten segments.
const FLIGHT: f64 = 14_480.0;
/// The server's time of the document.
const DOCUMENT_MS: f64 = 5.0;

/// The order of responses on connections and on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// Six connections to a host, one response at a time on each; a flight, and the rest a round
    /// trip later.
    Http11,
    /// HTTP/2: one response after another, in the order in which they are ready.
    Serial,
    /// HTTP/2: a packet of each ready response in turn.
    Interleaved,
}

/// The source of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) host: usize,
    pub(crate) server_ms: f64,
}

/// An image as recorded, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    sent: f64,
    first: f64,
    done: f64,
    connection: usize,
    /// Opened a connection for it.
    opened: bool,
}

/// The HAR file of the page over a line of `mbit` Mbit/s.
pub(crate) fn har(mbit: f64, sending: Sending, source: &dyn Fn(usize) -> Source) -> String {
    let bytes_per_ms = mbit * 125.0;
    let first = 2.0 * RTT + 0.1 + RTT + DOCUMENT_MS;
    let asked = first + DOCUMENT_BYTES / bytes_per_ms + 1.0;
    let images = match sending {
        Sending::Http11 => http11(bytes_per_ms, asked, source),
        Sending::Serial | Sending::Interleaved => http2(bytes_per_ms, asked, sending, source),
    };
    let version = if sending == Sending::Http11 { "http/1.1" } else { "h2" };
    let document = Recorded {
        sent: 2.0 * RTT + 0.1,
        first,
        done: first + DOCUMENT_BYTES / bytes_per_ms,
        connection: 0,
        opened: true,
    };
    let mut entries = vec![entry("https://h0.example/", 0.0, &document, version, DOCUMENT_BYTES)];
    for (index, image) in images.iter().enumerate() {
        let url = format!("https://h{}.example/i{index}.jpg", source(index).host);
        entries.push(entry(&url, asked, image, version, IMAGE_BYTES));
    }
    format!("{{\"log\":{{\"version\":\"1.2\",\"entries\":[{}]}}}}", entries.join(","))
}

fn entry(url: &str, asked: f64, of: &Recorded, version: &str, bytes: f64) -> String {
    let connect = if of.opened { 2.0 * RTT } else { 0.0 };
    let (connecting, ssl) = if of.opened { (connect, RTT) } else { (-1.0, -1.0) };
    let blocked = of.sent - 0.1 - asked - connect;
    let (kind, mime) = match url.ends_with(".jpg") {
        true => ("image", "image/jpeg"),
        false => ("document", "text/html"),
    };
    let mut text = String::new();
    write!(
        text,
        r#"{{"startedDateTime":"2026-01-01T00:00:00.{:09}Z","connection":"{}","_resourceType":"{kind}","#,
        (asked * 1e6).round() as u64,
        of.connection
    )
    .unwrap();
    write!(
        text,
        r#""request":{{"method":"GET","url":"{url}","httpVersion":"{version}","headers":[]}},
        "response":{{"status":200,"httpVersion":"{version}","content":{{"size":{bytes},"mimeType":"{mime}"}},"_transferSize":{bytes}}},
        "timings":{{"blocked":{blocked:.3},"connect":{connecting},"ssl":{ssl},"send":0.1,"wait":{:.3},"receive":{:.3}}}}}"#,
        of.first - of.sent,
        of.done - of.first
    )
    .unwrap();
    text
}

/// One connection for each host: the document's is open, and others open when their images are
/// requested.
fn http2(
    rate: f64,
    asked: f64,
    sending: Sending,
    source: &dyn Fn(usize) -> Source,
) -> Vec<Recorded> {
    let hosts = (0..IMAGES).map(|i| source(i).host).max().unwrap() + 1;
    let mut images = vec![Recorded::default(); IMAGES];
    // By host: the images that are not sent, with the time at which each is ready, and the bytes
    // that are left.
    let mut waiting: Vec<Vec<(f64, usize, f64)>> = vec![Vec::new(); hosts];
    for (index, image) in images.iter_mut().enumerate() {
        let Source { host, server_ms } = source(index);
        image.connection = host;
        image.opened = host > 0 && waiting[host].is_empty();
        image.sent = asked + 0.1 + if host > 0 { 2.0 * RTT } else { 0.0 };
        waiting[host].push((image.sent + RTT / 2.0 + server_ms, index, IMAGE_BYTES));
    }
    let (mut now, mut turn) = (0.0, 0);
    while waiting.iter().any(|host| !host.is_empty()) {
        let earliest = waiting.iter().flatten().map(|(ready, ..)| *ready).fold(f64::MAX, f64::min);
        now = f64::max(now, earliest);
        let has_ready =
            |host: &Vec<(f64, usize, f64)>| host.iter().any(|(ready, ..)| *ready <= now);
        let host =
            (0..hosts).map(|i| (turn + i) % hosts).find(|h| has_ready(&waiting[*h])).unwrap();
        turn = host + 1;
        let queue = &mut waiting[host];
        let started = |(_, _, left): &(f64, usize, f64)| *left < IMAGE_BYTES;
        let under_way = queue.iter().position(started).filter(|_| sending == Sending::Serial);
        let first_ready = queue.iter().position(|(ready, ..)| *ready <= now);
        let (ready, index, left) = queue.remove(under_way.or(first_ready).unwrap());
        if left == IMAGE_BYTES {
            images[index].first = now + RTT / 2.0;
        }
        now += left.min(PACKET) / rate;
        match left > PACKET {
            // Behind the others, so that they take turns.
            true => queue.push((ready, index, left - PACKET)),
            false => images[index].done = now + RTT / 2.0,
        }
    }
    images
}

/// Six connections for each host, of which the first to the document's host is open. The line
/// serves flights in the order of their arrival.
fn http11(rate: f64, asked: f64, source: &dyn Fn(usize) -> Source) -> Vec<Recorded> {
    let hosts = (0..IMAGES).map(|i| source(i).host).max().unwrap() + 1;
    let mut images = vec![Recorded::default(); IMAGES];
    let mut todo: Vec<Vec<usize>> = (0..hosts)
        .map(|host| (0..IMAGES).rev().filter(|i| source(*i).host == host).collect())
        .collect();
    // Flights on their way to the line: when they reach it, their image, and whether they are the
    // first.
    let mut flights: Vec<(f64, usize, bool)> = Vec::new();
    let mut used = vec![false; 6 * hosts];
    used[0] = true;
    let mut ask = |at: f64,
                   connection: usize,
                   images: &mut Vec<Recorded>,
                   flights: &mut Vec<(f64, usize, bool)>| {
        let Some(index) = todo[connection / 6].pop() else { return };
        let opened = !std::mem::replace(&mut used[connection], true);
        images[index] = Recorded { sent: at + 0.1, connection, opened, ..Recorded::default() };
        flights.push((at + 0.1 + RTT / 2.0 + source(index).server_ms, index, true));
    };
    for connection in 0..6 * hosts {
        let at = if connection == 0 { asked } else { asked + 2.0 * RTT };
        ask(at, connection, &mut images, &mut flights);
    }
    let mut line: f64 = 0.0;
    while !flights.is_empty() {
        let next =
            (0..flights.len()).min_by(|a, b| flights[*a].0.total_cmp(&flights[*b].0)).unwrap();
        let (at, index, is_first) = flights.remove(next);
        let start = line.max(at);
        let bytes = if is_first { FLIGHT } else { IMAGE_BYTES - FLIGHT };
        line = start + bytes / rate;
        if is_first {
            images[index].first = start + PACKET / rate + RTT / 2.0;
            flights.push(((start + PACKET / rate + RTT).max(at), index, false));
        } else {
            images[index].done = line + RTT / 2.0;
            let (done, connection) = (images[index].done, images[index].connection);
            ask(done, connection, &mut images, &mut flights);
        }
    }
    images
}
