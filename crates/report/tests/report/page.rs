//! The page: complete, closed to the network, well formed whatever the input, bounded in size,
//! equal for equal input, and true to the extremes of what it thins.

use crate::scan;
use crate::scan::Page;
use crate::schemes::{COMPARED, two_schemes};
use report::{
    BoundPoint, ConnectionView, CriticalSpan, LevelPoint, LimitView, Links, MAX_HTML_BYTES,
    MilestoneView, ObjectSpan, OpeningView, QueueCapacity, QueuePoint, QueueView, RaceReport,
    RaceRow, SchemeView, Section, SenderBound, SequenceKind, SequencePoint, Table, WindowPoint,
};
use units::Instant;

pub(crate) fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// A race with every kind of content, all its strings the same.
pub(crate) fn race_of(word: &str) -> RaceReport {
    let object = ObjectSpan {
        index: 0,
        opening: Some(OpeningView {
            lookup: None,
            opened: ms(2),
            connected: Some(ms(5)),
            ready: Some(ms(8)),
        }),
        label: word.to_owned(),
        host: word.to_owned(),
        kind: word.to_owned(),
        connection: word.to_owned(),
        bytes: 1000,
        revealed_by: None,
        server_wait: units::Duration::from_millis(4),
        critical: Some(CriticalSpan { from: ms(0), to: ms(30) }),
        revealed: Some(ms(0)),
        discovered: ms(0),
        requested: Some(ms(10)),
        first_byte: Some(ms(20)),
        done: Some(ms(30)),
    };
    let kinds = [
        SequenceKind::Sent,
        SequenceKind::Dropped,
        SequenceKind::Sacked,
        SequenceKind::Retransmitted,
        SequenceKind::Acked,
    ];
    let sequence = kinds.map(|kind| SequencePoint { at: ms(12), from: 0, to: 1000, kind });
    let window = WindowPoint {
        at: ms(12),
        cwnd: 14_480,
        ssthresh: Some(7_240),
        cause: word.to_owned().into(),
    };
    let scheme = SchemeView {
        name: word.to_owned(),
        place: String::new(),
        description: word.to_owned(),
        milestones: vec![
            MilestoneView { name: word.to_owned(), at: Some(ms(30)) },
            MilestoneView { name: "load".to_owned(), at: Some(ms(30)) },
        ],
        page_done: Some(ms(30)),
        objects: vec![object.clone()],
        connections: vec![ConnectionView {
            label: word.to_owned(),
            sequence: sequence.into(),
            window: vec![window],
            flight: vec![LevelPoint { at: ms(12), bytes: 1000 }],
            offered: vec![LevelPoint { at: ms(12), bytes: 64_000 }],
            bounds: vec![
                BoundPoint { at: ms(0), bound: Some(SenderBound::Rounds) },
                BoundPoint { at: ms(12), bound: Some(SenderBound::Path) },
                BoundPoint { at: ms(30), bound: None },
            ],
        }],
        queues: vec![QueueView {
            label: word.to_owned(),
            capacity: Some(QueueCapacity::Packets(3)),
            points: vec![QueuePoint { at: ms(11), packets: 2, bytes: 3000 }],
            drops: vec![ms(12)],
        }],
        limit: None,
    };
    let row = RaceRow { scheme: word.to_owned(), ..RaceRow::default() };
    RaceReport {
        lead: vec![Section { heading: word.to_owned(), blocks: Vec::new() }],
        leading: 0,
        sections: Vec::new(),
        glossary: vec![word.to_owned()],
        compared: None,
        links: Links::default(),
        title: word.to_owned(),
        assumptions: vec![word.to_owned()],
        words: vec![word.to_owned()],
        table: Table::race(&[row], "page done"),
        schemes: vec![scheme],
        which_loads: word.to_owned(),
        limit: LimitView { document: Some(ms(25)), page: Some(ms(25)), objects: vec![object] },
    }
}

/// Headings, one figure of each sort, and the limit's lines are there.
#[test]
fn a_race_is_shown_in_full() {
    let html = race_of("linux").to_html();
    let page = Page::of(&html);
    for heading in ["Results", "Progress of the page", "Page load", "Connections", "Queues"] {
        assert!(html.contains(heading), "{heading}");
    }
    // Progress, waterfall, time-sequence, window, queue.
    assert_eq!(page.attributes("data-x").len(), 5);
    assert_eq!(page.tags("table"), 1);
    assert!(html.contains("limit of the load 25.0 ms"));
    // Every figure says in words what it shows.
    let labels = page.attributes("aria-label");
    assert!(labels.iter().any(|l| l.contains("Waterfall of 1 object under linux")));
}

/// The result in words, the critical path, its load, the tables, two loads, the progress, and each
/// scheme. Words and assumptions are closed, and open without a script.
#[test]
fn parts_of_a_race_stand_in_the_order_of_a_readers_questions() {
    let mut report = two_schemes();
    report.words = vec!["in words".to_owned()];
    report.glossary = vec!["limit: a word".to_owned()];
    report.assumptions = vec!["Seed 1".to_owned()];
    report.lead[0].heading = "Critical path".to_owned();
    report.sections = vec![Section { heading: "Milestones".to_owned(), blocks: Vec::new() }];
    report.compared = Some((0, 1));
    let html = report.to_html();
    let order = [
        "in words",
        "<details class=\"about-it\"><summary>Words</summary><ul class=\"facts\"><li><bdi>limit: a word",
        "<details class=\"about-it\"><summary>Assumptions</summary><ul class=\"facts\"><li><bdi>Seed 1",
        "<h2 id=\"part0\"><bdi>Critical path",
        "<h2>Page load under <bdi>linux",
        "id=\"s0o0\"",
        "<h2 id=\"results\">",
        "<h2 id=\"part1\"><bdi>Milestones",
        COMPARED,
        "<h2 id=\"progress\">",
        "<h2 id=\"schemes\">",
        "<a href=\"#load\">page load</a> stands above",
        "id=\"s1o0\"",
    ];
    let places = order.map(|part| html.find(part).unwrap_or_else(|| panic!("no {part}")));
    assert!(places.is_sorted(), "{places:?}");
    // The load of another scheme may lead, or none.
    report.leading = 1;
    assert!(report.to_html().contains("<h2>Page load under <bdi>fs"));
    report.leading = 2;
    let html = report.to_html();
    assert!(!html.contains("Page load under") && html.matches(">Page load<").count() == 2);
}

/// The plot is 240 pixels high, and a line of a label 11. Labels of the two limits stand in lines
/// at its top. The lower one is 1.1 + 1.15 lines down and has a descender of 3 pixels, so it ends
/// at 28 pixels. Curves end at 100 %, which is lower. If the axis is cut behind a load of 30 ms,
/// the limit at 25 ms is far right.
#[test]
fn curves_of_progress_stay_below_the_labels_of_limits() {
    let progress = |report: &RaceReport| {
        let html = report.to_html();
        html.split("<h2 id=\"progress\">")
            .nth(1)
            .unwrap()
            .split("</section>")
            .next()
            .unwrap()
            .to_owned()
    };
    let mut report = race_of("linux");
    let whole = progress(&report);
    let axis = whole.split("data-y=\"").nth(1).unwrap().split('"').next().unwrap();
    let top: f64 = axis.split(' ').nth(2).unwrap().parse().unwrap();
    assert!((1.0 - 1.0 / top) * 240.0 > 28.0, "{axis}");
    let last = report.schemes[0].objects[0].clone();
    report.schemes[0].objects.push(ObjectSpan { index: 1, done: Some(ms(300)), ..last });
    let cut = progress(&report);
    assert!(cut.contains("data-home=\"0.111650\""), "{cut}");
    let marks = cut.split("class=\"marks\"").nth(1).unwrap();
    assert_eq!(marks.matches("text-anchor=\"end\"").count(), 2, "{marks}");
}

/// Nothing but links to the page's own parts; no source, no inline style, no handler.
#[test]
fn the_page_refers_to_nothing_outside_itself() {
    let html = race_of("https://example.org/?a=1&b=2").to_html();
    let page = Page::of(&html);
    assert!(page.attributes("href").iter().all(|href| href.starts_with('#')));
    for forbidden in ["src", "srcset", "style", "action", "data", "poster", "xlink:href", "xmlns"] {
        assert!(page.attributes(forbidden).is_empty(), "{forbidden}");
    }
    assert!(page.names().all(|name| !name.starts_with("on")));
    assert!(!html.contains("url(") && !html.contains("@import"));
    assert!(html.contains("default-src 'none'"));
}

pub(crate) const HOSTILE: &str = "</script></style></title></svg><script>alert(1)</script>\"'`><img src=x \
    onerror=alert(1)>&lt;<!--]]>\0\x1b[31m\r\u{202e}\u{2028}\u{feff}שלום\u{fffe}";

#[test]
fn strings_from_outside_stay_text() {
    let html = race_of(HOSTILE).to_html();
    let page = Page::of(&html);
    assert_eq!((page.tags("script"), page.tags("style"), page.tags("img")), (3, 2, 0));
    assert!(page.names().all(|name| !name.starts_with("on")));
    let strange =
        |c: char| c.is_control() && c != '\n' || "\u{202e}\u{2028}\u{feff}\u{fffe}".contains(c);
    assert!(!html.contains(strange));
    // Text for people is still readable.
    assert!(html.contains("שלום") && html.contains("&lt;img src=x"));
}

#[test]
fn equal_reports_give_equal_bytes() {
    let report = race_of("linux");
    let elsewhere = report.clone();
    let other = std::thread::spawn(move || elsewhere.to_html()).join().unwrap();
    assert_eq!(report.to_html(), other);
}

#[test]
fn an_empty_report_is_a_page() {
    Page::of(&RaceReport::default().to_html());
}

/// The absolute points of the first path whose `data-n` is `name`.
fn drawn(html: &str, name: &str) -> Vec<(i64, i64)> {
    let path = html.split("<path ").find(|p| p.contains(&format!("data-n=\"{name}\""))).unwrap();
    let d = path.split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
    scan::points(d)
}

fn sawtooth(len: u64, peak_at: u64) -> Vec<WindowPoint> {
    let cwnd = |i| {
        if i == peak_at { 1_000_000 } else { 10_000 + i % 50 }
    };
    let point = |i| WindowPoint {
        at: Instant::from_nanos(i * 10_000),
        cwnd: cwnd(i),
        ssthresh: None,
        cause: "slow start".into(),
    };
    (0..len).map(point).collect()
}

/// One change in 200,000 is a peak. The axis ends 4 % above it, so it lies 1 − 1/1.04 = 3.846 %
/// from the top, at step 3846 of 100,000. All others, at most 10,049 of 1,040,000, lie below step
/// 99,033.
#[test]
fn a_lone_peak_of_the_window_is_drawn() {
    let mut report = race_of("linux");
    report.schemes[0].connections[0].window = sawtooth(200_000, 123_456);
    let html = report.to_html();
    let points = drawn(&html, "cwnd");
    assert!(points.len() < 20_000, "thinned to {}", points.len());
    let (peak, base): (Vec<_>, Vec<_>) = points.iter().map(|p| p.1).partition(|y| *y < 99_033);
    assert!(peak.iter().all(|y| *y == 3846) && !peak.is_empty());
    assert!(base.len() > 1000, "{} points besides the peak", base.len());
}

/// A load of 30 ms, drawn to 30.9: 12 ms of rounds are 12/30.9 = 0.38835 of the axis, 18 ms of path
/// 0.58252. Each is a box over the whole height, and has its share of the time in the legend, and
/// one colour.
#[test]
fn what_bounds_a_sender_is_shaded_behind_its_windows() {
    let html = race_of("linux").to_html();
    let shade = |class: &str| {
        let path = html.split(&format!("class=\"shade {class}\"")).nth(1).expect(class);
        path.split(" d=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    assert_eq!(shade("b-rounds"), "M0 100000v-100000h38835v100000");
    assert_eq!(shade("b-path"), "M38835 100000v-100000h58252v100000");
    assert!(html.contains("data-s=\"bound by path\""));
    assert!(html.contains("bound by rounds (40 %)") && html.contains("bound by path (60 %)"));
    // The windows' curves have the colours of what they do when they bound the sender.
    assert!(html.contains("class=\"step b-cwnd\"") && html.contains("class=\"step b-rwnd\""));
    // 64 kB are more than three times the 14.48 kB of cwnd: the axis ends at these.
    assert!(html.contains("lin 0 43440 B"), "the axis of windows");
    assert!(html.contains("offered receive window (to 64.0 kB)"));
}

/// Up to the budget every drop, retransmission and change of cause is drawn, among however many
/// points of other kinds.
#[test]
fn events_are_all_drawn_within_the_budget() {
    let mut report = race_of("linux");
    let connection = &mut report.schemes[0].connections[0];
    let point = |i: u64| {
        let (at, from) = (Instant::from_nanos(i * 100_000), i * 1000);
        let kind = match i % 1000 {
            7 => SequenceKind::Dropped,
            9 => SequenceKind::Retransmitted,
            _ => SequenceKind::Sent,
        };
        SequencePoint { at, from, to: from + 1000, kind }
    };
    connection.sequence = (0..100_000).map(point).collect();
    connection.window = sawtooth(100_000, 5);
    for i in (500..100_000).step_by(1000) {
        connection.window[i].cause = "timeout".into();
    }
    report.schemes[0].queues.clear();
    let html = report.to_html();
    // 100 of each, and one in the legend.
    assert_eq!(html.matches("href=\"#m-cross\"").count(), 101);
    assert_eq!(html.matches("href=\"#m-triangle\"").count(), 101);
    assert_eq!(drawn(&html, "timeout").len(), 100);
    assert!(html.contains("dropped (100)"));
}

/// Above the budget the legend shows how many of how many are drawn.
#[test]
fn thinned_events_are_said_to_be_thinned() {
    let mut report = race_of("linux");
    report.schemes[0].queues[0].drops = (0..10_000).map(ms).collect();
    let html = report.to_html();
    assert!(html.contains("dropped (500 of 10000 drawn)"));
}

fn fits(report: &RaceReport) -> String {
    let html = report.to_html();
    assert!(html.len() <= MAX_HTML_BYTES, "{} bytes", html.len());
    Page::of(&html);
    html
}

#[test]
fn many_points_fit() {
    let mut report = race_of("linux");
    let scheme = &mut report.schemes[0];
    let mut connection = scheme.connections[0].clone();
    let point = |i: u64| SequencePoint {
        at: Instant::from_nanos(i * 1_000),
        from: i * 1448,
        to: (i + 1) * 1448,
        kind: [SequenceKind::Sent, SequenceKind::Retransmitted, SequenceKind::Dropped]
            [i as usize % 3],
    };
    connection.sequence = (0..200_000).map(point).collect();
    scheme.connections = vec![connection; 5];
    let html = fits(&report);
    // Progress, waterfall, two for each of five connections, queue.
    assert_eq!(Page::of(&html).attributes("data-x").len(), 13);
}

#[test]
fn many_schemes_objects_and_connections_fit() {
    let mut report = race_of("a.example");
    let scheme = &mut report.schemes[0];
    scheme.objects = vec![scheme.objects[0].clone(); 500];
    scheme.connections = vec![scheme.connections[0].clone(); 100];
    report.schemes = vec![report.schemes[0].clone(); 100];
    report.table.rows = vec![report.table.rows[0].clone(); 100];
    let html = fits(&report);
    assert!(html.contains("Waterfall of 500 objects"));
    assert!(html.contains("limited in size"));
}

/// Every string a megabyte, everything many times: a page remains, and its table.
#[test]
fn endless_strings_fit() {
    let mut report = race_of(&"<&\u{1f600}\"".repeat(50_000));
    report.assumptions = vec![report.title.clone(); 100];
    report.schemes = vec![report.schemes[0].clone(); 10];
    report.table.rows = vec![report.table.rows[0].clone(); 2_000];
    report.table.columns = vec![report.table.columns[0].clone(); 1_000];
    let html = fits(&report);
    assert!(html.contains("<table"));
    assert!(html.contains("more rows left out"));
}

/// A number is sorted by itself, not by how it is written; an undefined value has no sort key.
#[test]
fn cells_carry_what_they_are_sorted_by() {
    let mut report = race_of("linux");
    let row = |page_s: Option<f64>| RaceRow {
        scheme: "linux".to_owned(),
        page_s: page_s.map(Into::into),
        ..RaceRow::default()
    };
    report.table = Table::race(&[row(Some(0.0995)), row(Some(1.5)), row(None)], "page done");
    let html = report.to_html();
    assert!(html.contains(r#"<table class="sortable">"#));
    assert!(html.contains(r#"<td data-v="0.0995">99.5 ms</td>"#));
    assert!(html.contains(r#"<td data-v="1.5">1.500 s</td>"#));
    assert!(html.contains("<td>–</td>"));
}
