//! The page of `headstart analyze --report`.

use crate::run::{folder, headstart, root};
use std::fs;
use std::path::PathBuf;

fn capture(name: &str) -> String {
    let path = root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap");
    path.to_str().unwrap().to_owned()
}

fn page(name: &str, more: &[&str]) -> (String, PathBuf) {
    let report = folder(name).join("report.html");
    let files = [capture("rto003"), capture("fast019")];
    let arguments = ["analyze", &files[0], &files[1], "--sender", "linux", "--report"];
    let output = headstart(&[&arguments[..], &[report.to_str().unwrap()], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (fs::read_to_string(&report).unwrap(), report)
}

/// Both connections lost data, so each has a row that leads to its plot, and the plot has data,
/// ACKs, windows and retransmissions. The page loads nothing.
#[test]
fn a_row_leads_to_the_plot_of_its_connection() {
    let (page, _) = page("analyze-report", &[]);
    for heading in ["In words", "Where the time went", "Worst connections", "Losses"] {
        assert!(page.contains(&format!("{heading}</bdi></h2>")), "{heading}");
    }
    for name in ["C0", "C1"] {
        let section = page.split(&format!("<bdi>{name}</bdi></h2>")).next().unwrap();
        let id = section.rsplit("id=\"").next().unwrap().split('"').next().unwrap();
        assert!(page.contains(&format!("<a href=\"#{id}\">{name}</a>")), "{name} at {id}");
        assert!(page.contains(&format!("{name}: bytes of the stream over time")));
    }
    for curve in ["end of the receive window", "acknowledged", "sent", "retransmission by timeout"]
    {
        assert!(page.contains(&format!("<bdi>{curve}</bdi>")), "{curve}");
    }
    let loads = ["src=", "<link", "@import", "url(", "<iframe", "fetch("];
    assert!(loads.iter().all(|load| !page.contains(load)));
}

/// The same capture gives the same bytes, also beside JSON and tables; hidden addresses are nowhere
/// on the page.
#[test]
fn a_page_is_the_same_each_time_and_hides_addresses() {
    let (first, _) = page("analyze-report-first", &[]);
    assert!(first.contains("192.168.0.16"), "the address of a server");
    let (again, report) = page("analyze-report-again", &["--json"]);
    assert!(first == again);
    let tables = report.with_file_name("tables");
    let (hidden, _) =
        page("analyze-report-hidden", &["--anonymize", "--out", tables.to_str().unwrap()]);
    assert!(!hidden.contains("192.168.0.") && !hidden.contains("10.0.195.228"), "a real address");
    assert!(hidden.contains("time-sequence plot"));
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_reading() {
    for place in ["/nonexistent/report.html", "/"] {
        let output = headstart(&["analyze", &capture("rto003"), "--report", place]);
        assert_eq!(output.status.code(), Some(2), "{place}");
        assert!(output.stdout.is_empty());
    }
}
