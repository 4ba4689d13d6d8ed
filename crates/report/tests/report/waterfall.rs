//! The waterfall: where its bars and lines stand, what its rows say, and which objects have one.

use crate::page::{ms, race_of};
use crate::scan;
use report::{CriticalSpan, MAX_HTML_BYTES, MilestoneView, ObjectSpan, RaceReport};
use units::Duration;

/// The classes and horizontal ends of all parts of a bar.
fn parts(html: &str, bar: &str) -> Vec<(String, i64, i64)> {
    let bar = html.split(&format!("id=\"{bar}\"")).nth(1).unwrap().split("</g>").next().unwrap();
    let part = |path: &str| {
        let value = |name: &str| path.split(name).nth(1).unwrap().split('"').next().unwrap();
        let corners = value("d=\"").split('z').next().unwrap();
        let points = scan::points(corners);
        (value("class=\"").to_owned(), points[0].0, points[1].0)
    };
    bar.split("<path ").skip(1).map(part).collect()
}

/// The object waits from 0 to 2 ms. Its TCP handshake ends at 5 ms, and TLS's at 8. It is requested
/// at 10 ms, and received from 20 to 30. The load waits for it from 4 to 25 ms. The axis ends 3 %
/// behind 30 ms: a millisecond is 100,000 / 30.9 = 3236 steps of it.
#[test]
fn a_bar_shows_phases_and_what_the_load_waits_for() {
    let mut report = race_of("linux");
    report.schemes[0].objects[0].critical = Some(CriticalSpan { from: ms(4), to: ms(25) });
    let steps = |ms: f64| (ms * 100_000.0 / 30.9).round() as i64;
    let expected = [
        ("p-blocked", 0.0, 2.0),
        ("p-connect", 2.0, 5.0),
        ("p-secure", 5.0, 8.0),
        ("p-blocked", 8.0, 10.0),
        ("p-wait", 10.0, 20.0),
        ("p-receive", 20.0, 30.0),
        ("critical ink", 4.0, 25.0),
    ];
    let expected = expected.map(|(class, from, to)| (class.to_owned(), steps(from), steps(to)));
    assert_eq!(parts(&report.to_html(), "s0o0"), expected);
}

/// A document from 0 to 30 ms on one host, and an image on another that it reveals at 20 ms. Both
/// are on the critical path.
fn document_and_image() -> RaceReport {
    let mut report = race_of("linux");
    let document = ObjectSpan {
        label: "https://a.example/".to_owned(),
        host: "a.example".to_owned(),
        kind: "html".to_owned(),
        connection: "a.example #1".to_owned(),
        critical: Some(CriticalSpan { from: ms(0), to: ms(20) }),
        ..report.schemes[0].objects[0].clone()
    };
    let image = ObjectSpan {
        index: 1,
        label: "https://b.example/photos/1.png?width=1400".to_owned(),
        host: "b.example".to_owned(),
        kind: "image".to_owned(),
        connection: "b.example #2".to_owned(),
        opening: None,
        bytes: 38_690,
        revealed_by: Some(0),
        server_wait: Duration::from_micros(9_651),
        critical: Some(CriticalSpan { from: ms(12), to: ms(61) }),
        revealed: Some(ms(12)),
        discovered: ms(20),
        requested: Some(ms(23)),
        first_byte: Some(ms(44)),
        done: Some(ms(61)),
    };
    report.schemes[0].objects = vec![document, image];
    report.schemes[0].page_done = Some(ms(61));
    report
}

/// Each moment from the byte that reveals it at 12 ms to the end at 61 ms is in one phase:
/// 8 + 3 + 21 + 17 ms.
#[test]
fn a_row_says_all_that_is_known_of_its_object() {
    let html = document_and_image().to_html();
    let says = "title=\"https://b.example/photos/1.png?width=1400\n\
        image · b.example · 38\u{202f}690 B with header\n\
        on b.example #2\n\
        revealed by / of a.example at 12.0 ms\n\
        discovered at 20.0 ms\n\
        browser's own time: 8.0 ms\n\
        waiting for a connection: 3.0 ms\n\
        request to first byte: 21.0 ms (server time 9.7 ms)\n\
        receiving: 17.0 ms\n\
        done at 61.0 ms\n\
        the load waits for it from 12.0 ms to 61.0 ms\"";
    assert!(html.contains(says), "{}", row(&html, "/photos/1.png"));
    // The host is not in the name; of the query, seven characters are left.
    let cells =
        "<b><bdi>/photos/1.png?width=1…</bdi></b> <i>b.example</i> <i>image</i> <i>38.7 kB</i>";
    assert!(row(&html, "/photos/1.png").ends_with(&cells.replace("> <i", "><i")));
    // The document waits for nothing, and its connection is named.
    let document = row(&html, "<bdi>/</bdi>");
    assert!(!document.contains("revealed") && document.contains("on a.example #1"));
}

/// The markup of the row that contains a text.
fn row<'h>(html: &'h str, text: &str) -> &'h str {
    let rows = html.split("<div class=\"r").skip(1);
    let mut rows = rows.map(|row| row.split("</div>").next().unwrap());
    rows.find(|row| row.contains(text)).expect(text)
}

/// An object whose parent has no row, and one that is revealed on its own host.
#[test]
fn only_a_known_parent_is_named() {
    let mut report = document_and_image();
    report.schemes[0].objects[1].revealed_by = Some(7);
    assert!(!row(&report.to_html(), "photos").contains("revealed"));
    report.schemes[0].objects[1].revealed_by = Some(0);
    report.schemes[0].objects[1].host = "a.example".to_owned();
    assert!(row(&report.to_html(), "photos").contains("\nrevealed by / at 12.0 ms\n"));
}

/// The name of the earliest line stands on top, names of later ones 13 pixels lower each. Lines of
/// one colour at one instant share a name. A milestone that the page does not know has no line.
#[test]
fn milestones_have_names_at_the_axis() {
    let mut report = document_and_image();
    let at = |name: &str, at| MilestoneView { name: name.to_owned(), at };
    report.schemes[0].milestones = vec![
        at("document", Some(ms(30))),
        at("DOMContentLoaded", None),
        at("load", Some(ms(61))),
        at("last byte", Some(ms(61))),
    ];
    let html = report.to_html();
    let names = html.split("class=\"names\"").nth(1).unwrap().split("</div>").next().unwrap();
    let texts = names.split("<svg class=\"ref").skip(1).map(|line| {
        let value = |name: &str| line.split(name).nth(1).unwrap().split('"').next().unwrap();
        let y: u32 = value(" y=\"").parse().unwrap();
        (
            y,
            line.split("<text")
                .nth(1)
                .unwrap()
                .split('>')
                .nth(1)
                .unwrap()
                .split('<')
                .next()
                .unwrap()
                .trim(),
        )
    });
    let expected = [
        (10, "limit of the document 25.0 ms"),
        (23, "limit of the load 25.0 ms"),
        (36, "document 30.0 ms"),
        (49, "load, last byte 61.0 ms"),
    ];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
    // Four names of 13 pixels, and 3 below them.
    assert!(names.starts_with(" height=\"55\""), "{names}");
    // Each line stands beside the rows, too: 61 ms of 61 · 1.03 are 97.087 %.
    let marks = html.split("class=\"marks\"").nth(1).unwrap();
    assert!(marks.split("</div>").next().unwrap().contains("x=\"97.087%\""));
}

/// A load of 61 ms and an object that ends at 620 ms. The axis ends 3 % behind 620 ms, at 638.6.
/// At first it shows 61 · 1.15 = 70.15 ms, 10.985 % of it, so the load's line stands at 1 / 1.15,
/// 86.957 %, of that part. The last byte's line is out of sight.
#[test]
fn objects_long_after_the_load_do_not_stretch_its_axis() {
    let mut report = document_and_image();
    let scheme = &mut report.schemes[0];
    let at = |name: &str, at| MilestoneView { name: name.to_owned(), at: Some(ms(at)) };
    scheme.milestones = vec![at("load", 61), at("last byte", 620)];
    let late = ObjectSpan {
        index: 2,
        label: "https://a.example/poll".to_owned(),
        critical: None,
        revealed: None,
        discovered: ms(600),
        requested: Some(ms(600)),
        first_byte: Some(ms(610)),
        done: Some(ms(620)),
        ..scheme.objects[0].clone()
    };
    scheme.objects.push(late);
    let html = report.to_html();
    let load = html.split("id=\"load\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(load.contains("data-home=\"0.109850\""), "{load}");
    assert!(load.contains("viewBox=\"0 0 10985 100000\""), "{load}");
    let [load_event, last_byte] = ["0.095521", "0.970874"].map(|whole| {
        let line = load.split("<svg class=\"ref ink\"").find(|line| line.contains(whole));
        line.unwrap_or_else(|| panic!("no line at {whole} in {load}")).split('>').next().unwrap()
    });
    assert!(load_event.contains("86.957%") && !load_event.contains("hidden"), "{load_event}");
    assert!(last_byte.contains("hidden"), "{last_byte}");
    assert!(load.contains("<p class=\"rest\">1 later object until 620 ms →</p>"));
    assert_eq!(load.matches("class=\"r later\"").count(), 1);
    // A load that never ends has everything in sight.
    report.schemes[0].page_done = None;
    assert!(!report.to_html().contains("data-home="));
    report.schemes[0].page_done = Some(ms(61));
    // Up to twice the load the axis has everything.
    report.schemes[0].objects[2].done = Some(ms(121));
    report.schemes[0].objects[2].first_byte = Some(ms(120));
    report.schemes[0].objects[2].requested = Some(ms(120));
    report.schemes[0].objects[2].discovered = ms(120);
    report.schemes[0].milestones.pop();
    let html = report.to_html();
    assert!(!html.contains("data-home=") && !html.contains("later object"));
}

/// A page of 1,500 objects has 1,000 rows: the last object, which is critical, and the first 999.
#[test]
fn a_critical_object_always_has_a_row() {
    let mut report = race_of("linux");
    let first = report.schemes[0].objects[0].clone();
    let object = |index: usize| ObjectSpan {
        index,
        label: format!("/{index}."),
        critical: first.critical.filter(|_| index == 1_499),
        ..first.clone()
    };
    report.schemes[0].objects = (0..1_500).map(object).collect();
    let html = report.to_html();
    assert_eq!(html.matches("<i>1.0 kB</i>").count(), 1_000);
    assert!(html.contains("<bdi>/998.</bdi>") && !html.contains("<bdi>/999.</bdi>"));
    assert_eq!(html.matches("class=\"r critical\"").count(), 1);
    assert!(row(&html, "<bdi>/1499.</bdi>").starts_with(" critical"));
    assert!(html.contains("1000 of 1500 objects: the critical path"));
}

/// Five schemes race over a page of 700 objects with long addresses and 60 connections. Every
/// object has a row under every scheme, however many connections have to be left out.
#[test]
fn objects_are_not_left_out_for_connections() {
    let mut report = race_of("a.example");
    let scheme = &mut report.schemes[0];
    let first = scheme.objects[0].clone();
    let object = |index: usize| ObjectSpan {
        index,
        label: format!("https://a.example/{}/{index}.png", "assets/".repeat(9)),
        ..first.clone()
    };
    scheme.objects = (0..700).map(object).collect();
    let mut connection = scheme.connections[0].clone();
    connection.sequence = (0..3_000)
        .map(|i| report::SequencePoint { at: ms(i), ..connection.sequence[i as usize % 5] })
        .collect();
    scheme.connections = vec![connection; 60];
    report.schemes = vec![report.schemes[0].clone(); 5];
    let html = report.to_html();
    assert!(html.len() <= MAX_HTML_BYTES);
    assert!(html.contains("more connections not drawn"), "connections are what is too much");
    assert_eq!(html.matches("/699.png</bdi>").count(), 5);
}
