//! Paths that `--report` may write: never an input of the command, nor a file that is no page, and
//! only a writable path.

use crate::run::{command, folder, headstart, refused, root};
use std::fs;
use std::path::Path;
use std::process::Stdio;

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
            vec!["analyze", name],
            vec!["analyze", "--access-log", name],
            vec!["predict", name],
            vec!["race", name],
        ] {
            let arguments = [&arguments[..], &["--report", report]].concat();
            let output = headstart(&arguments);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            assert!(fs::read(&file).unwrap() == capture(), "{arguments:?} has changed its input");
        }
    }
    refused(
        &["analyze", name, "--report", link],
        &["--report", "itself, which this command reads"],
    );
    refused(
        &["predict", name, "--report", name],
        &["--report", "itself, which this command reads"],
    );
}

/// `analyze --report a.pcap b.pcap`: the first file was meant to be read.
#[test]
fn a_file_that_is_no_page_is_not_replaced() {
    let folder = folder("report-others");
    let [file, other] = ["a.pcap", "b.pcap"].map(|name| folder.join(name));
    fs::write(&file, capture()).unwrap();
    fs::write(&other, capture()).unwrap();
    let [name, other] = [&file, &other].map(|path| text(path));
    for arguments in [vec!["analyze", other], vec!["predict", other], vec!["race", "text"]] {
        refused(&[&arguments[..], &["--report", name]].concat(), &["--report", "no HTML page"]);
        assert!(fs::read(&file).unwrap() == capture(), "{arguments:?}");
    }
    // An empty file and a page are.
    for before in ["", "\n<!DOCTYPE html><title>mine</title>"] {
        let page = folder.join("page.html");
        fs::write(&page, before).unwrap();
        let race = ["race", "text", "--schemes", "linux", "--exact", "--report", text(&page)];
        let output = headstart(&race);
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
    let capture = root().join("crates/capture/tests/tcprs/rto005.pcap");
    for arguments in
        [vec!["analyze", text(&capture)], vec!["predict", text(&capture)], vec!["race", "text"]]
    {
        for place in [text(&missing), &slash, text(&folder), "/proc/page.html"] {
            refused(
                &[&arguments[..], &["--report", place]].concat(),
                &["--report", "name a file in a folder"],
            );
        }
    }
    let captures = headstart(&["race", "text", "--pcap", "/proc/captures"]);
    let errors = String::from_utf8_lossy(&captures.stderr).into_owned();
    assert!(captures.status.code() == Some(2) && errors.contains("--pcap"), "{errors}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// A check that opens and closes a pipe would end its reader. So the page arrives, whole.
#[test]
fn a_page_goes_through_a_named_pipe() {
    let pipe = folder("report-pipe").join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let capture = root().join("crates/capture/tests/tcprs/rto005.pcap");
    let child = command(&["analyze", text(&capture), "--report", text(&pipe)])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let page = fs::read_to_string(&pipe).unwrap();
    assert!(page.contains("</html>"), "{page}");
    assert!(child.wait_with_output().unwrap().status.success());
}
