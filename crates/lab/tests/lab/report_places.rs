//! `--report` writes never over what a command reads, nor over a file that is no page, and only
//! where it can.

use crate::run::{folder, headstart, refused, root};
use std::fs;
use std::path::Path;

fn capture() -> Vec<u8> {
    fs::read(root().join("crates/capture/tests/tcprs/rto005.pcap")).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Each command that reads files refuses to replace one of them, also under another name, and
/// leaves it as it was.
#[test]
fn a_report_never_replaces_what_the_command_reads() {
    let folder = folder("report-inputs");
    let [file, link] = ["a.pcap", "link.pcap"].map(|name| folder.join(name));
    fs::write(&file, capture()).unwrap();
    fs::hard_link(&file, &link).unwrap();
    let [name, link] = [text(&file), text(&link)];
    for report in [name, link] {
        for arguments in [
            vec!["papers", "BS-5", "--capture", name],
            vec!["papers", "SP-9", "--access-log", name],
            vec!["sim", name],
            vec!["scoreboard", "--against", name],
        ] {
            let arguments = [&arguments[..], &["--report", report]].concat();
            let output = headstart(&arguments);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            assert!(fs::read(&file).unwrap() == capture(), "{arguments:?} has changed its input");
        }
    }
}

/// A capture is no page, so a command that does not read it does not replace it either.
#[test]
fn a_file_that_is_no_page_is_not_replaced() {
    let folder = folder("report-others");
    let file = folder.join("a.pcap");
    fs::write(&file, capture()).unwrap();
    let name = text(&file);
    for arguments in [
        vec!["papers", "BS-5"],
        vec!["sim", "plans/examples/dumbbell.toml", "--out", text(&folder.join("out"))],
        vec!["scoreboard", "--quick"],
        vec!["theory"],
    ] {
        refused(&[&arguments[..], &["--report", name]].concat(), &["--report", "no HTML page"]);
        assert!(fs::read(&file).unwrap() == capture(), "{arguments:?}");
    }
    assert!(!folder.join("out").exists(), "refused before a folder of results is made");
    // An empty file and a page are.
    for before in ["", "\n<!DOCTYPE html><title>mine</title>"] {
        let page = folder.join("page.html");
        fs::write(&page, before).unwrap();
        let output = headstart(&["theory", "--report", text(&page)]);
        assert_eq!(output.status.code(), Some(0), "{before:?}");
        assert!(fs::read_to_string(&page).unwrap().contains("</html>"));
    }
}

/// Nothing is run for a page that cannot be written.
#[test]
fn places_that_cannot_be_written_are_refused_by_all_commands() {
    let folder = folder("report-places");
    let missing = folder.join("missing/page.html");
    let slash = format!("{}/new/", text(&folder));
    for arguments in [vec!["papers", "BS-5"], vec!["scoreboard", "--quick"], vec!["theory"]] {
        for place in [text(&missing), &slash, text(&folder), "/proc/page.html"] {
            refused(
                &[&arguments[..], &["--report", place]].concat(),
                &["--report", "name a file in a folder"],
            );
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// `sim --force` throws results of another plan away: not before it is sure that it can go on.
#[test]
fn a_refused_report_costs_no_results() {
    let folder = folder("report-force");
    let (plan, out) = (folder.join("plan.toml"), folder.join("out"));
    let example = fs::read_to_string(root().join("plans/examples/graph.toml")).unwrap();
    fs::write(&plan, &example).unwrap();
    let sim = ["sim", text(&plan), "--out", text(&out)];
    assert!(headstart(&sim).status.success());
    fs::write(&plan, format!("{example}\n# another plan\n")).unwrap();
    let missing = folder.join("missing/page.html");
    refused(
        &[&sim[..], &["--force", "--report", text(&missing)]].concat(),
        &["--report", "name a file"],
    );
    let runs = fs::read_dir(out.join("runs")).unwrap().count();
    assert!(runs > 0, "the old runs are there");
    // A page within a folder of results that is yet to be made.
    let new = folder.join("new");
    let page = new.join("page.html");
    let output = headstart(&["sim", text(&plan), "--out", text(&new), "--report", text(&page)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(page.exists());
}
