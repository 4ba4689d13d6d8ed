//! README and tutorial show what the program prints.

use crate::run::{command, folder, root};
use std::fs;
use std::path::Path;

/// Runs a command of a page in `folder`, and returns what it prints.
fn printed(words: &str, folder: &Path) -> String {
    let arguments: Vec<&str> = words.split_whitespace().collect();
    let output = command(&arguments).current_dir(folder).output().expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "headstart {words}: {errors}");
    String::from_utf8(output.stdout).expect("results are text")
}

/// Blocks of `page` that begin with a command behind `$` show what it prints in `folder`, whole.
#[track_caller]
fn shows_what_its_commands_print(page: &str, folder: &Path) {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let blocks: Vec<&str> = text.split("```\n$ headstart ").skip(1).collect();
    assert!(!blocks.is_empty(), "{page}: commands with their output");
    for block in blocks {
        let (words, rest) = block.split_once('\n').unwrap();
        let (shown, _) = rest.split_once("```").unwrap();
        let printed = printed(words, folder);
        assert_eq!(shown, printed, "{page} shows another table; this is today's:\n{printed}");
    }
}

#[test]
fn tables_are_what_their_commands_print() {
    for page in ["README.md", "docs/first-race.md"] {
        shows_what_its_commands_print(page, &root());
    }
}

/// A race makes the capture of the example, and `predict` reads it in the same folder.
#[test]
fn the_forecast_is_that_of_the_capture_beside_it() {
    let page = "docs/predict.md";
    let folder = folder("readme-predict");
    let text = fs::read_to_string(root().join(page)).unwrap();
    let races: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("headstart race ")).collect();
    let [race] = races[..] else { panic!("{page}: one race makes the capture, not {races:?}") };
    printed(&format!("race {race}"), &folder);
    shows_what_its_commands_print(page, &folder);
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
