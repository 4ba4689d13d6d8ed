//! What documents and examples show are commands that this program reads.

use super::{Told, told};
use crate::Cli;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, Parser};
use cmdline::documents::{ShownCommand, commands_of};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents of the repository.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    folders.extend(["docs", "pages", "plans", "scripts"].map(|folder| root().join(folder)));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && folder != root() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// Why the program does not read a command.
fn refusal(shown: &ShownCommand) -> Option<String> {
    match Cli::try_parse_from(&shown.words) {
        Ok(_) => None,
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => None,
            // A trace is read with the command line; that of an example is the user's.
            _ if error.to_string().contains("down.trace: No such file") => None,
            _ => Some(format!("{}: {error}", shown.words.join(" "))),
        },
    }
}

#[test]
fn documents_show_commands_that_are_read() {
    let mut count = 0;
    let mut refused = Vec::new();
    for path in documents() {
        let commands = commands_of("headstart", &fs::read_to_string(&path).unwrap());
        count += commands.len();
        let of_file = |shown: &ShownCommand| {
            Some(format!("{}:{}: {}", path.display(), shown.line, refusal(shown)?))
        };
        refused.extend(commands.iter().filter_map(of_file));
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    // A search that finds nothing would find nothing wrong.
    assert!(count > 60, "{count}");
}

fn examples(command: &Command, path: &str, found: &mut Vec<ShownCommand>) {
    if let Told::OnOwnPage(appendix) = told(path) {
        assert!(!appendix.examples.is_empty(), "{path}");
        for (example, _) in appendix.examples {
            let commands = commands_of("headstart", &format!("```\n{example}\n"));
            assert!(commands.len() == 1 || example.contains('$'), "{example} is no command");
            found.extend(commands);
        }
    }
    for sub in command.get_subcommands() {
        examples(sub, format!("{path} {}", sub.get_name()).trim_start(), found);
    }
}

#[test]
fn examples_are_read() {
    let mut found = Vec::new();
    examples(&Cli::command(), "", &mut found);
    let refused: Vec<String> = found.iter().filter_map(refusal).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(found.len() > 50, "{}", found.len());
}
