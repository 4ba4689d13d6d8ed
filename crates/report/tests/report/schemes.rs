//! Several schemes on one page: their colours, their figures, and two of them side by side.

use crate::page::{ms, race_of};
use crate::scan::Page;
use report::{RaceReport, RaceRow, Table};

/// The classes of the first element that shows `text`, going back to the nearest `class` before it.
fn class_before<'h>(html: &'h str, text: &str) -> &'h str {
    let before = html.split(text).next().unwrap();
    before.rsplit("class=\"").next().unwrap().split('"').next().unwrap()
}

pub(crate) fn two_schemes() -> RaceReport {
    let mut report = race_of("linux");
    let mut other = report.schemes[0].clone();
    other.name = "fs".to_owned();
    other.page_done = Some(ms(26));
    other.objects[0].done = Some(ms(26));
    let row = |scheme: &str| RaceRow { scheme: scheme.to_owned(), ..RaceRow::default() };
    report.table = Table::race(&[row("linux"), row("fs"), row("limit")], "page done");
    report.schemes.push(other);
    report
}

/// In the table, on its tab, above its panel, in the progress of the page: everywhere `fs` has the
/// second hue, which no cause and no phase has.
#[test]
fn a_scheme_has_one_colour_everywhere() {
    let html = two_schemes().to_html();
    assert_eq!(class_before(&html, "<bdi>fs</bdi></span></th>"), "key c1");
    assert_eq!(class_before(&html, "<bdi>fs</bdi></a>"), "key c1");
    assert_eq!(class_before(&html, "<bdi>fs</bdi></h3>"), "key c1");
    assert_eq!(html.matches(r#"class="step c1""#).count(), 1, "the curve");
    // The limit is no scheme.
    assert!(html.contains("<bdi>limit</bdi></th>") && !html.contains("<bdi>limit</bdi></span>"));
    assert_eq!(html.matches(r#"class="dots k0""#).count(), 2, "the one cause of both");
}

/// Loads of a scheme in several worlds keep its colour. Each world has its own figure of progress.
#[test]
fn places_have_figures_and_schemes_colours() {
    let mut report = two_schemes();
    report.schemes[1].name = "linux".to_owned();
    report.schemes[1].place = "kernel".to_owned();
    let html = report.to_html();
    assert_eq!(html.matches(r#"class="step c0""#).count(), 2);
    assert_eq!(class_before(&html, "<bdi>linux · kernel</bdi></a>"), "key c0");
    assert!(!html.contains(r#"class="step c1""#));
}

/// The heading of the section that holds two schemes against each other.
pub(crate) const COMPARED: &str = r#"<h2 id="compare">"#;

/// Two lanes refer to the bars of the two schemes' panels, so nothing is drawn twice. Without two
/// schemes there is no section.
#[test]
fn two_schemes_stand_side_by_side() {
    let mut report = two_schemes();
    assert!(!report.to_html().contains(COMPARED));
    report.compared = Some((0, 1));
    let html = report.to_html();
    let page = Page::of(&html);
    assert!(html.contains(COMPARED));
    for bar in ["s0o0", "s1o0"] {
        assert_eq!(page.attributes("id").iter().filter(|id| **id == bar).count(), 1, "{bar}");
        let lanes =
            page.attributes("href").iter().filter(|href| **href == format!("#{bar}")).count();
        assert_eq!(lanes, 1, "{bar}");
    }
    // When the page was done under each, in its colour.
    assert!(html.contains("above 30.0 ms") && html.contains("below 26.0 ms"));
    assert!(html.contains(r#"class="ref c0 upper""#) && html.contains(r#"class="ref c1 lower""#));
    for none in [(0, 0), (0, 2), (7, 8)] {
        report.compared = Some(none);
        assert!(!report.to_html().contains(COMPARED), "{none:?}");
    }
}
