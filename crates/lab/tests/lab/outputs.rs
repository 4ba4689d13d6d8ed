//! An output whose reader leaves takes no other with it.

use crate::run::{command, folder, root};
use std::io::pipe;
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The reader of the table has left before the run began; the page is wanted nevertheless.
#[test]
fn a_reader_that_leaves_keeps_no_page_back() {
    let folder = folder("outputs-unheard");
    let (plan, out) = (root().join("plans/examples/graph.toml"), folder.join("out"));
    let page = folder.join("sim.html");
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let sim = ["sim", text(&plan), "--out", text(&out), "--report", text(&page)];
    let output = command(&sim).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(page.exists());
}
