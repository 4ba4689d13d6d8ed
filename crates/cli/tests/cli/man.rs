//! `PROGRAM man`: a page for each command, without anything that a typesetter complains of. The
//! tests of all programs have this file.

use crate::run::{folder, stdout};
use crate::{GROUPS, OTHERS, PROGRAM};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::Need;

pub(crate) fn pages(name: &str) -> Vec<PathBuf> {
    let folder = folder(name);
    stdout(&["man", folder.to_str().unwrap(), "--date", "2026-11-25"]);
    let mut pages: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

/// The names of the commands that `--help` lists.
fn commands(arguments: &[&str]) -> Vec<String> {
    let help = stdout(arguments);
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
    let lines = listed.lines().take_while(|line| !line.is_empty());
    // A name has two spaces before it; its description may go on in lines that begin further in.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_page_with_all_sections() {
    let pages = pages("man");
    let names: Vec<&str> =
        pages.iter().map(|page| page.file_stem().unwrap().to_str().unwrap()).collect();
    let expected = commands(&["--help"]).into_iter();
    let expected = expected.filter(|name| !OTHERS.contains(&name.as_str()));
    let below = GROUPS.iter().flat_map(|group| {
        commands(&[group, "--help"]).into_iter().map(move |name| format!("{group}-{name}"))
    });
    let program = Path::new(PROGRAM).file_name().unwrap().to_str().unwrap();
    let expected: Vec<String> =
        expected.chain(below).map(|name| format!("{program}-{name}")).collect();
    assert!(expected.len() > 7, "{expected:?}");
    for name in &expected {
        assert!(names.contains(&name.as_str()), "no page {name}");
    }
    assert_eq!(names.len(), expected.len() + 1, "{names:?}");
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXAMPLES",
            "\"EXIT STATUS\"",
            "\"SEE ALSO\"",
        ] {
            assert!(text.contains(&format!(".SH {section}\n")), "{section} in {}", page.display());
        }
        assert!(text.contains(" 1 2026-11-25 \"headstart "), "{}", page.display());
    }
}

/// Typesetting problems, such as lines that are not understood or would be torn apart, are reported
/// by these two.
#[test]
fn typesetters_have_nothing_to_complain_of() {
    let pages = pages("man-lint");
    let checks: [(&str, &[&str]); 2] = [
        ("groff", &["-K", "utf8", "-man", "-ww", "-Tutf8", "-z"]),
        ("mandoc", &["-T", "lint", "-W", "style"]),
    ];
    for (program, arguments) in checks {
        if !test_support::has(&[Need::Program(program)]) {
            continue;
        }
        for page in &pages {
            let printed = printed(program, arguments, page);
            assert!(printed.is_empty(), "{program}: {printed}");
        }
    }
}

fn printed(program: &str, arguments: &[&str], page: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(page).output().unwrap();
    [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat()
}
