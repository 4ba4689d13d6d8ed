//! Walks along the words before the one that is being typed, as clap will read them.

use super::Candidate;
use clap::{Arg, ArgAction, Command, Id};

/// Position of the walk along the words.
pub(super) struct Walk<'a> {
    command: &'a Command,
    given: Vec<&'a Id>,
    /// An option that has yet to get its value.
    waiting: Option<&'a Arg>,
    /// Words so far that are neither options nor their values.
    words: usize,
    is_behind_dashes: bool,
}

/// Kind of the word that is being typed.
#[derive(Debug)]
pub(super) enum CompletionPlace<'a> {
    /// The name of an option.
    Options,
    /// The value of an option, behind `settled` bytes of the word.
    Value { of: &'a Arg, settled: usize },
    /// A subcommand, or this argument.
    Word(Option<&'a Arg>),
    /// This argument, behind `--`.
    Argument(&'a Arg),
}

impl<'a> Walk<'a> {
    pub(super) fn over(program: &'a Command, words: &[String]) -> Self {
        let start = Self {
            command: program,
            given: Vec::new(),
            waiting: None,
            words: 0,
            is_behind_dashes: false,
        };
        words.iter().fold(start, |walk, word| walk.step(word))
    }

    fn step(mut self, word: &str) -> Self {
        if self.waiting.take().is_some() {
            return self;
        }
        if self.is_behind_dashes {
            self.words += 1;
        } else if word == "--" {
            (self.is_behind_dashes, self.words) = (true, 0);
        } else if let Some(option) = self.option(word) {
            self.given.push(option.get_id());
            self.waiting = takes_next_word(option, word).then_some(option);
        } else if let Some(sub) = self.subcommand(word) {
            return Self { command: sub, given: self.given, ..Self::over(sub, &[]) };
        } else if !word.starts_with('-') {
            self.words += 1;
        }
        self
    }

    /// The option that a word names, the last one of `-qj`.
    fn option(&self, word: &str) -> Option<&'a Arg> {
        let mut options = self.command.get_arguments();
        match word.strip_prefix("--") {
            Some(long) => {
                let name = long.split('=').next();
                options.find(|option| option.get_long() == name)
            }
            None => {
                let letters = word.strip_prefix('-')?;
                let of =
                    |letter| self.command.get_arguments().find(|o| o.get_short() == Some(letter));
                let mut named = letters.chars().map_while(of);
                let mut last = named.next()?;
                while !takes_value(last) {
                    match named.next() {
                        Some(option) => last = option,
                        None => break,
                    }
                }
                Some(last)
            }
        }
    }

    fn subcommand(&self, word: &str) -> Option<&'a Command> {
        (self.words == 0).then(|| self.command.find_subcommand(word)).flatten()
    }

    pub(super) const fn command(&self) -> &'a Command {
        self.command
    }

    pub(super) fn completion_place(&self, typed: &str) -> CompletionPlace<'a> {
        if let Some(of) = self.waiting {
            return CompletionPlace::Value { of, settled: 0 };
        }
        if self.is_behind_dashes {
            let last = self.command.get_positionals().find(|argument| argument.is_last_set());
            return last
                .map_or(CompletionPlace::Word(self.next_argument()), CompletionPlace::Argument);
        }
        match (typed.starts_with('-'), typed.find('=')) {
            (true, Some(equals)) if typed.starts_with("--") => match self.option(typed) {
                Some(of) if takes_value(of) => CompletionPlace::Value { of, settled: equals + 1 },
                _ => CompletionPlace::Options,
            },
            (true, _) => CompletionPlace::Options,
            _ => CompletionPlace::Word(self.next_argument()),
        }
    }

    /// The argument that the next word is.
    fn next_argument(&self) -> Option<&'a Arg> {
        let is_many = |argument: &&Arg| argument.get_num_args().is_some_and(|n| n.max_values() > 1);
        let arguments: Vec<&Arg> =
            self.command.get_positionals().filter(|argument| !argument.is_last_set()).collect();
        let next = arguments.get(self.words).copied();
        next.or_else(|| arguments.into_iter().find(is_many))
    }

    /// Nothing stands behind `--` yet.
    pub(super) const fn is_first(&self) -> bool {
        self.words == 0
    }

    /// The options that may still be given.
    pub(super) fn options(&self) -> Vec<Candidate> {
        let may_come = |option: &&&Arg| {
            let is_new = !self.given.contains(&option.get_id());
            !option.is_hide_set() && (is_new || matches!(option.get_action(), ArgAction::Append))
        };
        let all: Vec<&Arg> = self.command.get_opts().chain(self.options_without_values()).collect();
        all.iter().filter(may_come).flat_map(|option| names(option)).collect()
    }

    /// Options without values.
    fn options_without_values(&self) -> impl Iterator<Item = &'a Arg> {
        let is_flag = |option: &&Arg| !option.is_positional() && !takes_value(option);
        self.command.get_arguments().filter(is_flag)
    }

    /// The subcommands, where one may come.
    pub(super) fn subcommands(&self) -> Vec<Candidate> {
        let all =
            self.command.get_subcommands().filter(|sub| self.words == 0 && !sub.is_hide_set());
        let about = |sub: &Command| sub.get_about().map(ToString::to_string).unwrap_or_default();
        all.map(|sub| Candidate::whole(sub.get_name().to_owned(), about(sub))).collect()
    }
}

/// Names of an option, also with the sign behind it if it may have a value there alone.
fn names(option: &Arg) -> Vec<Candidate> {
    let Some(long) = option.get_long() else { return Vec::new() };
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let about = help.lines().next().unwrap_or_default().to_owned();
    let mut names = vec![Candidate::whole(format!("--{long}"), about.clone())];
    if option.is_require_equals_set() {
        names.push(Candidate::open(format!("--{long}="), about));
    }
    names
}

fn takes_value(option: &Arg) -> bool {
    option.get_num_args().is_some_and(|n| n.takes_values()) && option.get_action().takes_values()
}

/// Whether the value of the option that `word` names, or ends with, is the next word.
fn takes_next_word(option: &Arg, word: &str) -> bool {
    let has_own = match word.starts_with("--") {
        true => word.contains('='),
        false => option.get_short().is_some_and(|letter| !word.ends_with(letter)),
    };
    takes_value(option) && !option.is_require_equals_set() && !has_own
}
