//! This program reads the commands that documents and examples show.

use super::appendix_of;
use crate::GatewayCli;
use cmdline::documents::ReadCommands;
use std::path::Path;

#[test]
fn documents_show_commands_that_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = ReadCommands::of_documents::<GatewayCli>(&root, Some("gateway")).unwrap();
    assert!(read.refused.is_empty(), "{}", read.refused.join("\n"));
    // A search that finds nothing would find nothing wrong.
    assert!(read.count > 5, "{}", read.count);
}

#[test]
fn examples_are_read() {
    let read = ReadCommands::of_examples::<GatewayCli>(&appendix_of, Some("gateway"));
    assert!(read.refused.is_empty(), "{}", read.refused.join("\n"));
    assert!(read.count > 10, "{}", read.count);
}
