//! The shells: a script for each, and the answer in the form that its script reads.
//!
//! An answer has a line that says whether a space follows, one that names files, and a line for
//! each word.

use super::{Candidate, Completion, FilesOffered, Source, complete};
use clap::Command;
use std::fmt::Write;

/// A shell that can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// Its arguments are the line up to the cursor and the characters that end a word for it.
    Bash,
    /// Its arguments are the words up to the cursor.
    Zsh,
    /// Fish, with the form of zsh.
    Fish,
}

/// Script that a user's shell reads once, and that asks the programs from then on.
pub const fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("headstart.bash"),
        Shell::Zsh => include_str!("_headstart"),
        Shell::Fish => include_str!("headstart.fish"),
    }
}

/// The answer to `PROGRAM complete SHELL ARGUMENTS`.
pub fn answer(shell: Shell, program: Command, arguments: &[String], source: Source<'_>) -> String {
    let mut words = typed_words(shell, arguments);
    // `headstart agent` hands over a line on which it has its own two words.
    if words.len() > 1 && program.get_name().split_once(' ').is_some_and(|(_, own)| words[0] == own)
    {
        words.remove(0);
    }
    let typed = words.last().cloned().unwrap_or_default();
    let completion = complete(program, &words, source);
    match shell {
        Shell::Bash => for_bash(&completion, &typed, arguments.get(1).map_or("", String::as_str)),
        Shell::Zsh => for_zsh(&completion),
        Shell::Fish => for_fish(&completion, &typed),
    }
}

/// The words behind the program's name, from the arguments of `PROGRAM complete SHELL`; the last
/// one is being typed.
pub(super) fn typed_words(shell: Shell, arguments: &[String]) -> Vec<String> {
    match shell {
        Shell::Bash => words_of(arguments.first().map_or("", String::as_str)).split_off(1),
        Shell::Zsh | Shell::Fish => arguments.to_vec(),
    }
}

/// The words of a line as a shell splits it, quotes and backslashes taken away: at least one.
fn words_of(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut letters) = (None, line.trim_start().chars());
    while let Some(letter) = letters.next() {
        let word = words.last_mut().expect("there is always one");
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None | Some('"'), '\\') => word.extend(letters.next()),
            (None, _) if letter.is_whitespace() => {
                if !word.is_empty() {
                    words.push(String::new());
                }
            }
            _ => word.push(letter),
        }
    }
    words
}

/// bash replaces what stands behind the last of its `breaks`, and does not say how much that is.
fn for_bash(completion: &Completion, typed: &str, breaks: &str) -> String {
    let broken = typed.rfind(|letter| breaks.contains(letter)).map_or(0, |at| at + 1);
    let goes_on = completion.candidates.iter().any(|candidate| candidate.goes_on);
    let mut out = String::from(if goes_on { "nospace\n" } else { "space\n" });
    out += &(files(completion.files) + "\n");
    for Candidate { text, .. } in &completion.candidates {
        let whole = format!("{}{text}", &typed[..completion.settled]);
        _ = writeln!(out, "{}", whole.get(broken..).unwrap_or_default());
    }
    out
}

fn for_zsh(completion: &Completion) -> String {
    let mut out = format!("{}\n{}\n", completion.settled, files(completion.files));
    for Candidate { text, about, goes_on } in &completion.candidates {
        let kind = if *goes_on { "open" } else { "whole" };
        let text = text.replace('\\', r"\\").replace(':', r"\:");
        _ = writeln!(out, "{kind} {text}:{}", one_line(about));
    }
    out
}

fn for_fish(completion: &Completion, typed: &str) -> String {
    let settled = &typed[..completion.settled];
    let mut out = format!("{settled}\n{}\n", files(completion.files));
    for Candidate { text, about, .. } in &completion.candidates {
        _ = writeln!(out, "{settled}{text}\t{}", one_line(about));
    }
    out
}

/// Names of kinds of files in the scripts.
fn files(files: Option<FilesOffered>) -> String {
    match files {
        None => "none".to_owned(),
        Some(FilesOffered::Folders) => "folders".to_owned(),
        Some(FilesOffered::Programs) => "programs".to_owned(),
        Some(FilesOffered::Ending(endings)) => {
            std::iter::once("files").chain(endings.iter().copied()).collect::<Vec<_>>().join(" ")
        }
    }
}

fn one_line(about: &str) -> String {
    about.split_whitespace().collect::<Vec<_>>().join(" ")
}
