//! This program reads the commands that documents and examples show.

use super::appendix_of;
use crate::GatewayCli;
use clap::CommandFactory;
use cmdline::documents::ReadCommands;
use std::fs;
use std::path::Path;

#[test]
fn documents_show_commands_that_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = ReadCommands::of_documents::<GatewayCli>(&root, Some("gateway")).unwrap();
    assert!(read.refused.is_empty(), "{}", read.refused.join("\n"));
    // A search that misses commands would miss their faults. Each of these lines is a command.
    let page = fs::read_to_string(root.join("docs/gateway/operate.md")).unwrap();
    let shown = page.lines().filter(|line| line.starts_with("sudo headstart gateway ")).count();
    assert!(shown > 0 && read.count >= shown, "{} of {shown}", read.count);
}

#[test]
fn examples_are_read() {
    let read = ReadCommands::of_examples::<GatewayCli>(&appendix_of, Some("gateway"));
    assert!(read.refused.is_empty(), "{}", read.refused.join("\n"));
    // Each command that `--help` shows has a page, and each page an example.
    let root = GatewayCli::command();
    let pages = 1 + root.get_subcommands().filter(|command| !command.is_hide_set()).count();
    assert!(read.count >= pages, "{} of {pages}", read.count);
}
