//! Writes a report of an invented race, to look at the page without running one:
//! `cargo run -p headstart-report --example sample_report -- report.html`.
//!
//! A toy model (a window, a round trip, a drop-tail queue) makes the numbers plausible in shape;
//! they mean nothing.

use report::{
    ConnectionView, LimitView, Median, MilestoneView, ObjectSpan, OpeningView, QueueCapacity,
    QueuePoint, QueueView, RaceReport, RaceRow, SchemeView, SequenceKind, SequencePoint, Table,
    Terminal, WindowPoint, write_atomically,
};
use std::path::Path;
use std::process::ExitCode;
use units::{Duration, Instant};

const MSS: u64 = 1448;
const RTT: Duration = Duration::from_millis(60);
const CONNECTIONS: usize = 6;
const OBJECTS: usize = 40;
/// Segments the toy's bottleneck holds before it drops.
const PIPE: u64 = 90;

#[derive(Clone, Copy)]
struct Sender {
    name: &'static str,
    description: &'static str,
    /// Segments.
    first_window: u64,
}

const fn sender(name: &'static str, description: &'static str, first_window: u64) -> Sender {
    Sender { name, description, first_window }
}

const SCHEMES: [Sender; 6] = [
    sender("linux", "CUBIC, IW10, SACK with RACK-TLP and PRR, HyStart", 10),
    sender("newreno", "RFC 6582 recovery, slow start from two segments", 2),
    sender("sack", "RFC 6675 recovery, slow start from three segments", 3),
    sender("tahoe-ssr", "Fast retransmit, then slow start; restart after idle", 1),
    sender("linux+iw=32", "The same as linux, with a first window of 32 segments", 32),
    sender("phttp", "One persistent connection per host", 4),
];

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "report.html".to_owned());
    let report = sample();
    print!("{}", report.table.to_text(Terminal::default()));
    match write_atomically(Path::new(&path), report.to_html().as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn sample() -> RaceReport {
    let schemes: Vec<SchemeView> = SCHEMES.iter().enumerate().map(|(i, s)| scheme(i, *s)).collect();
    let limit = limit();
    RaceReport {
        title: "news.example over a cable line".to_owned(),
        assumptions: [
            "Page: 40 objects, 1.4 MB, from 3 hosts (news.har)",
            "Path: 20 mbit/s down, 4 mbit/s up, RTT 60 ms, queue 1 BDP",
            "HTTP/1.1, TLS 1.3",
            "Seed 1, 10 repeats; figures show the first",
            "DNS is excluded",
            "2 entries skipped: served from the cache",
        ]
        .map(str::to_owned)
        .into(),
        words: vec!["This page needs 1.2 s; a perfect start would save 0.2 s of it.".to_owned()],
        table: Table::race(&rows(&schemes, &limit), "last byte"),
        compared: Some((0, 4)),
        schemes,
        limit,
        ..RaceReport::default()
    }
}

fn rows(schemes: &[SchemeView], limit: &LimitView) -> Vec<RaceRow> {
    let seconds = |at: Option<Instant>| at.map_or(0.0, Instant::as_secs_f64);
    let bound = seconds(limit.page);
    let linux = seconds(schemes[0].page_done);
    let row = |scheme: &SchemeView| {
        let page = seconds(scheme.page_done);
        let count = |kind| {
            let points = scheme.connections.iter().flat_map(|c| &c.sequence);
            points.filter(|p| p.kind == kind).count() as f64
        };
        RaceRow {
            scheme: scheme.name.clone(),
            page_s: with_interval(page),
            ratio_to_limit: with_interval(page / bound),
            gain: with_interval(1.0 - page / linux).filter(|_| scheme.name != "linux"),
            retransmissions: with_interval(count(SequenceKind::Retransmitted)),
            timeouts: Some(0.4.into()),
            drops: with_interval(count(SequenceKind::Dropped)),
            harm: Some(0.013.into()),
            ..RaceRow::default()
        }
    };
    let last = RaceRow {
        scheme: "limit".to_owned(),
        is_limit: true,
        page_s: Some(bound.into()),
        ratio_to_limit: Some(1.0.into()),
        gain: Some((1.0 - bound / linux).into()),
        ..RaceRow::default()
    };
    schemes.iter().map(row).chain([last]).collect()
}

fn with_interval(value: f64) -> Option<Median> {
    Some(Median { value, interval: Some((value - value.abs() * 0.02, value + value.abs() * 0.02)) })
}

fn limit() -> LimitView {
    let objects: Vec<ObjectSpan> = (0..OBJECTS)
        .map(|i| {
            let discovered = if i == 0 { ms(0) } else { ms(150 + 4 * i as u64) };
            let first_byte = Some(discovered + RTT);
            let done = Some(ms(180 + 15 * i as u64));
            ObjectSpan { discovered, first_byte, done, ..object(i) }
        })
        .collect();
    let done = |i: usize| objects[i].done;
    LimitView { document: done(0), page: done(OBJECTS - 1), objects: objects.clone() }
}

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// Everything about an object but its times.
fn object(i: usize) -> ObjectSpan {
    const KINDS: [(&str, &str, u64); 5] = [
        ("stylesheet", "css", 18_000),
        ("script", "js", 52_000),
        ("image", "webp", 41_000),
        ("image", "jpg", 33_000),
        ("font", "woff2", 27_000),
    ];
    let (kind, suffix, size) = KINDS[i % KINDS.len()];
    let hosts = ["news.example", "static.news.example", "cdn.example.net"];
    let (kind, label, bytes) = match i {
        0 => ("html", "/2024/05/front-page.html".to_owned(), 64_000),
        _ => (
            kind,
            format!("/assets/v17/section-{i:02}/{kind}-{i:02}.{suffix}"),
            size + 977 * i as u64,
        ),
    };
    ObjectSpan {
        index: i,
        label,
        host: hosts[i % hosts.len()].to_owned(),
        kind: kind.to_owned(),
        connection: connection_label(i % CONNECTIONS),
        bytes,
        ..ObjectSpan::default()
    }
}

fn connection_label(i: usize) -> String {
    format!("{} #{}", ["news.example", "static.news.example", "cdn.example.net"][i % 3], i / 3 + 1)
}

fn scheme(at: usize, sender: Sender) -> SchemeView {
    let Sender { name, description, first_window } = sender;
    let mut toy = Toy { random: 12_345 + at as u64, queue: Vec::new(), drops: Vec::new() };
    let mut objects = Vec::new();
    let mut connections = Vec::new();
    for i in 0..CONNECTIONS {
        let mut load = Load::new(i, first_window);
        for mut object in (i..OBJECTS).step_by(CONNECTIONS).map(object) {
            toy.fetch(&mut load, &mut object);
            objects.push(object);
        }
        connections.push(load.view);
    }
    objects.sort_by_key(|o| (o.discovered, o.label.clone()));
    let page_done = objects.iter().filter_map(|o| o.done).max();
    let document_done = objects.iter().find(|o| o.kind == "html").and_then(|o| o.done);
    SchemeView {
        name: name.to_owned(),
        place: String::new(),
        description: description.to_owned(),
        milestones: vec![
            MilestoneView { name: "document".to_owned(), at: document_done },
            MilestoneView { name: "last byte".to_owned(), at: page_done },
        ],
        page_done,
        objects,
        connections,
        queues: vec![toy.into_queue()],
        limit: None,
    }
}

/// State that all connections of a scheme share: random numbers, and the bottleneck's history.
struct Toy {
    random: u64,
    queue: Vec<(Instant, i64)>,
    drops: Vec<Instant>,
}

/// One connection's progress.
struct Load {
    start: Instant,
    now: Instant,
    offset: u64,
    cwnd: u64,
    ssthresh: Option<u64>,
    view: ConnectionView,
}

impl Load {
    fn new(i: usize, first_window: u64) -> Self {
        let start = if i == 0 { ms(0) } else { ms(230 + 9 * i as u64) };
        let label = connection_label(i);
        let view = ConnectionView { label, ..ConnectionView::default() };
        Self { start, now: start + RTT + RTT, offset: 0, cwnd: first_window, ssthresh: None, view }
    }

    fn record(&mut self, at: Instant, kind: SequenceKind, (from, to): (u64, u64)) {
        self.view.sequence.push(SequencePoint { at, from, to, kind });
    }

    fn set_window(&mut self, at: Instant, cwnd: u64, cause: &'static str) {
        self.cwnd = cwnd.max(1);
        let (cwnd, ssthresh) = (self.cwnd * MSS, self.ssthresh.map(|s| s * MSS));
        self.view.window.push(WindowPoint { at, cwnd, ssthresh, cause: cause.into() });
    }

    fn grow(&mut self, at: Instant, i: u64) {
        match self.ssthresh {
            Some(ssthresh) if self.cwnd >= ssthresh => {
                if i == 0 {
                    self.set_window(at, self.cwnd + 1, "congestion avoidance");
                }
            }
            _ => self.set_window(at, self.cwnd + 1, "slow start"),
        }
    }
}

impl Toy {
    fn chance(&mut self, of: u64) -> bool {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33).is_multiple_of(of)
    }

    fn fetch(&mut self, load: &mut Load, object: &mut ObjectSpan) {
        object.discovered =
            if object.kind == "html" { ms(0) } else { ms(190).max(ms(190 + object.bytes / 2000)) };
        object.requested = Some(load.now.max(object.discovered));
        object.opening = Some(OpeningView {
            lookup: None,
            opened: load.start,
            connected: Some(load.start + RTT),
            ready: Some(load.start + RTT + RTT),
        });
        load.now = load.now.max(object.discovered) + RTT + Duration::from_millis(12);
        object.first_byte = Some(load.now);
        let mut left = object.bytes;
        while left > 0 {
            left -= self.round(load, left);
        }
        object.done = Some(load.now);
    }

    /// Sends up to a window, and gets the ACKs a round trip later. Returns the bytes sent.
    fn round(&mut self, load: &mut Load, left: u64) -> u64 {
        let (window, start, first) = (load.cwnd, load.now, load.offset);
        let segments = window.min(left.div_ceil(MSS));
        let mut lost = None;
        for i in 0..segments {
            let at = start + Duration::from_micros(290 * i);
            let range = (first + i * MSS, (first + (i + 1) * MSS).min(first + left));
            load.record(at, SequenceKind::Sent, range);
            self.queue.push((at, 1));
            self.queue.push((at + Duration::from_micros(580 * (i + 1)), -1));
            if lost.is_none() && (i > PIPE || self.chance(220)) {
                lost = Some(range);
                let at = at + Duration::from_millis(2);
                self.drops.push(at);
                load.record(at, SequenceKind::Dropped, range);
                continue;
            }
            let kind = if lost.is_some() { SequenceKind::Sacked } else { SequenceKind::Acked };
            load.record(at + RTT, kind, range);
            if lost.is_none() {
                load.grow(at + RTT, i);
            }
        }
        load.now = start + RTT + Duration::from_micros(290 * segments);
        let sent = (segments * MSS).min(left);
        load.offset += sent;
        if let Some(range) = lost {
            self.recover(load, range);
        }
        sent
    }

    fn recover(&mut self, load: &mut Load, range: (u64, u64)) {
        load.ssthresh = Some((load.cwnd * 7 / 10).max(2));
        let timeout = self.chance(6);
        let (wait, cwnd, cause) = match timeout {
            true => (Duration::from_millis(200), 1, "retransmission timeout"),
            false => (Duration::from_millis(1), load.cwnd * 7 / 10, "fast recovery"),
        };
        load.now += wait;
        load.set_window(load.now, cwnd, cause);
        load.record(load.now, SequenceKind::Retransmitted, range);
        load.now += RTT;
        let end = load.offset;
        load.record(load.now, SequenceKind::Acked, (range.0, end));
        if !timeout {
            load.set_window(load.now, load.cwnd, "recovery done");
        }
    }

    fn into_queue(mut self) -> QueueView {
        self.queue.sort_unstable();
        self.drops.sort_unstable();
        let mut packets = 0;
        let points = self.queue.iter().map(|(at, change)| {
            packets += change;
            let packets = packets as u64;
            QueuePoint { at: *at, packets, bytes: packets * 1500 }
        });
        QueueView {
            label: "access link, down".to_owned(),
            capacity: Some(QueueCapacity::Packets(100)),
            points: points.collect(),
            drops: self.drops,
        }
    }
}
