//! The README does not promise what the program does not do.

use crate::run::{root, stdout};
use std::fs;

#[test]
fn its_table_is_what_its_command_prints() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, after) = readme.split_once("$ headstart ").expect("a command with its output");
    let (command, rest) = after.split_once('\n').unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    let arguments: Vec<&str> = command.split_whitespace().collect();
    let printed = stdout(&arguments);
    assert_eq!(shown, printed, "README shows another table; this is today's:\n{printed}");
}

/// A heading that is linked to as `place`: in lower case, with hyphens for spaces.
fn is_heading(line: &str, place: &str) -> bool {
    line.starts_with('#')
        && line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-") == place
}

#[test]
fn its_files_exist() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    for link in links.filter(|link| !link.contains("://")) {
        let (file, place) = link.split_once('#').unwrap_or((link, ""));
        assert!(root().join(file).exists(), "{link}");
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(place.is_empty() || text.lines().any(|line| is_heading(line, place)), "{link}");
    }
}
