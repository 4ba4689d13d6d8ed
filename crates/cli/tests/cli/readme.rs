//! README and tutorial show what the program prints.

use crate::run::{root, stdout};
use std::fs;

/// Blocks that begin with a command behind `$` show what it prints, whole.
#[test]
fn tables_are_what_their_commands_print() {
    for (page, least) in [("README.md", 1), ("docs/first-race.md", 2)] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let blocks: Vec<&str> = text.split("```\n$ headstart ").skip(1).collect();
        assert!(blocks.len() >= least, "{page}: commands with their output");
        for block in blocks {
            let (command, rest) = block.split_once('\n').unwrap();
            let (shown, _) = rest.split_once("```").unwrap();
            let arguments: Vec<&str> = command.split_whitespace().collect();
            let printed = stdout(&arguments);
            assert_eq!(shown, printed, "{page} shows another table; this is today's:\n{printed}");
        }
    }
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
