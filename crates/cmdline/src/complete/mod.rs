//! Answers a shell that asks which words may come next.
//!
//! `walk` finds out what is being typed: an option's name, an option's value, a subcommand or
//! another word. clap knows names, and values of which there are few. All other values come from
//! the program, as a function of the option's name and of what is typed of the value ([`Source`]).
//! `shells` has the scripts that ask, and writes each its answer.

#[cfg(feature = "races")]
pub mod schemes;
mod shells;
mod walk;

pub use shells::{Shell, answer, script};

use clap::{Arg, Command, ValueHint};
use std::borrow::Cow;
use walk::{CompletionPlace, Walk};

/// A word, or a part of one, that may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Text of the word.
    pub text: Cow<'static, str>,
    /// Description of the word, in one line.
    pub about: Cow<'static, str>,
    /// The word may go on behind it, so that no space follows.
    pub goes_on: bool,
}

/// Files that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesOffered {
    /// Files with one of these endings first, if there are any: `.toml`; then all.
    Ending(&'static [&'static str]),
    /// Folders.
    Folders,
    /// Programs that can be run by name.
    Programs,
}

/// Possible continuations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Bytes of what is typed that stay whatever is chosen: the elements of a list before the last
    /// one.
    pub settled: usize,
    /// Words that go on behind these bytes.
    pub candidates: Vec<Candidate>,
    /// Files, at the same position.
    pub files: Option<FilesOffered>,
}

/// A shell's question: the arguments of `PROGRAM complete`.
#[derive(Clone, Debug, clap::Args)]
pub struct ShellQuestion {
    /// Shell that asks
    shell: Shell,
    /// Words or line that it hands over
    #[arg(last = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl ShellQuestion {
    /// Returns the answer of `program`, whose values `source` lists.
    pub fn answer(&self, program: Command, source: Source<'_>) -> String {
        answer(self.shell, program, &self.arguments, source)
    }

    /// The subcommand behind which the user types.
    pub fn subcommand(&self) -> Option<String> {
        let words = shells::typed_words(self.shell, &self.arguments);
        (words.len() > 1).then(|| words.into_iter().next()).flatten()
    }
}

/// A value that is being typed.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Name of the command that it is for: `race`.
    pub command: &'a str,
    /// clap's id of the option or argument: `schemes`.
    pub argument: &'a str,
    /// So much of it is typed, in a list of its last element.
    pub typed: &'a str,
}

/// Values of an option. `None`: clap knows them, or they cannot be listed.
pub type Source<'a> = &'a dyn Fn(&Asked<'_>) -> Option<Completion>;

impl Candidate {
    /// A word that ends here.
    pub fn whole(text: impl Into<Cow<'static, str>>, about: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), about: about.into(), goes_on: false }
    }

    /// A word that may go on.
    pub fn open(text: impl Into<Cow<'static, str>>, about: impl Into<Cow<'static, str>>) -> Self {
        Self { goes_on: true, ..Self::whole(text, about) }
    }
}

impl Completion {
    /// These candidates, and nothing else.
    pub fn of(candidates: impl IntoIterator<Item = Candidate>) -> Self {
        Self { candidates: candidates.into_iter().collect(), ..Self::default() }
    }

    /// Whole words, each with what it is, and nothing else.
    pub fn named(all: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        Self::of(all.into_iter().map(|(name, about)| Candidate::whole(name, about)))
    }

    /// Network interfaces of this machine; none where the kernel does not list them.
    pub fn interfaces() -> Self {
        let listed = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
        let names = listed.filter_map(|entry| entry.file_name().into_string().ok());
        let any = Candidate::whole("any", "all of them");
        Self::of([any].into_iter().chain(names.map(|name| Candidate::whole(name, ""))))
    }

    /// Files with these endings first, and nothing else.
    pub fn ending(endings: &'static [&'static str]) -> Self {
        Self::files(FilesOffered::Ending(endings))
    }

    /// Files, and nothing else.
    pub fn files(files: FilesOffered) -> Self {
        Self { files: Some(files), ..Self::default() }
    }

    /// The completion of a list's last element, behind `bytes` of the list.
    #[must_use]
    pub fn behind(self, bytes: usize) -> Self {
        Self { settled: self.settled + bytes, ..self }
    }

    fn is_empty(&self) -> bool {
        self.candidates.is_empty() && self.files.is_none()
    }

    /// Only what goes on from `typed`.
    fn continuing(mut self, typed: &str) -> Self {
        let part = typed.get(self.settled..).unwrap_or_default();
        self.candidates.retain(|candidate| candidate.text.starts_with(part));
        self
    }
}

/// Continuations of a command line whose last word is being typed.
///
/// `words` are those behind the program's name.
pub fn complete(mut program: Command, words: &[String], source: Source<'_>) -> Completion {
    program.build();
    let Some((typed, before)) = words.split_last() else { return Completion::default() };
    let walk = Walk::over(&program, before);
    let values = |of: &Arg, typed: &str| argument_values(walk.command(), of, typed, source);
    let completion = match walk.completion_place(typed) {
        CompletionPlace::Options => Completion::of(walk.options()),
        CompletionPlace::Value { of, settled } => values(of, &typed[settled..]).behind(settled),
        CompletionPlace::Word(argument) => {
            let mut here = argument.map_or_else(Completion::default, |of| values(of, typed));
            here.candidates.extend(walk.subcommands());
            if here.is_empty() { Completion::of(walk.options()) } else { here }
        }
        CompletionPlace::Argument(of) => match walk.is_first() {
            true => values(of, typed),
            false => Completion::files(FilesOffered::Ending(&[])),
        },
    };
    completion.continuing(typed)
}

/// Ids of the options and arguments of all commands whose values neither clap nor `source` lists,
/// each once, in alphabetical order: for tests.
pub fn unlisted(mut program: Command, source: Source<'_>) -> Vec<String> {
    program.build();
    let mut found = Vec::new();
    add_unlisted(&program, source, &mut found);
    found.sort();
    found.dedup();
    found
}

fn add_unlisted(command: &Command, source: Source<'_>, found: &mut Vec<String>) {
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let asked = Asked { command: command.get_name(), argument: id, typed: "" };
        let is_listed = !argument.get_num_args().is_some_and(|n| n.takes_values())
            || source(&asked).is_some()
            || !argument.get_possible_values().is_empty()
            || argument.get_value_hint() != ValueHint::Unknown;
        if !is_listed {
            found.push(id.to_owned());
        }
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        add_unlisted(sub, source, found);
    }
}

/// The values of an option or argument.
fn argument_values(command: &Command, of: &Arg, typed: &str, source: Source<'_>) -> Completion {
    let settled =
        of.get_value_delimiter().and_then(|comma| typed.rfind(comma)).map_or(0, |at| at + 1);
    let (command, argument) = (command.get_name(), of.get_id().as_str());
    let completion = source(&Asked { command, argument, typed: &typed[settled..] });
    let mut completion = completion.unwrap_or_else(|| known_to_clap(of));
    if let Some(comma) = of.get_value_delimiter() {
        let given: Vec<&str> = typed[..settled].split(comma).collect();
        completion.candidates.retain(|candidate| !given.contains(&candidate.text.as_ref()));
    }
    completion.behind(settled)
}

fn known_to_clap(of: &Arg) -> Completion {
    let is_list = of.get_value_delimiter().is_some();
    let candidate = |value: &clap::builder::PossibleValue| {
        let about = value.get_help().map(ToString::to_string).unwrap_or_default();
        Candidate { goes_on: is_list, ..Candidate::whole(value.get_name().to_owned(), about) }
    };
    let known = of.get_possible_values();
    let known = known.iter().filter(|value| !value.is_hide_set()).map(candidate);
    let files = match of.get_value_hint() {
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::ExecutablePath => {
            Some(FilesOffered::Ending(&[]))
        }
        ValueHint::DirPath => Some(FilesOffered::Folders),
        ValueHint::CommandName | ValueHint::CommandString | ValueHint::CommandWithArguments => {
            Some(FilesOffered::Programs)
        }
        _ => None,
    };
    Completion { files, ..Completion::of(known) }
}

#[cfg(test)]
mod tests;
