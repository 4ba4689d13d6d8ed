//! The variants of a race: each value of an option that has several makes a race, and so does each
//! of several pages.

use super::args::RaceArgs;
use super::races::RaceOfRun;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use cmdline::Failure;
use std::ffi::OsString;
use workload::RecordedRun;

/// The id of the page among the arguments.
pub(super) const PAGE: &str = "page";
/// The id of `--har-page`.
const HAR_PAGE: &str = "har_page";

/// An argument that may have several values.
struct Variable {
    /// Its id in clap.
    id: &'static str,
    /// Commas separate its values. A value with commas of its own is repeated instead.
    has_list: bool,
}

const fn list(id: &'static str) -> Variable {
    Variable { id, has_list: true }
}

const fn repeated(id: &'static str) -> Variable {
    Variable { id, has_list: false }
}

/// The arguments that may have several values.
const VARIABLE: [Variable; 16] = [
    repeated(PAGE),
    repeated(HAR_PAGE),
    repeated("path"),
    list("path_preset"),
    list("linux"),
    list("upload"),
    list("http"),
    list("connections"),
    list("tls"),
    list("tls_flight"),
    list("dns"),
    list("background"),
    list("idle"),
    list("server_model"),
    list("client_model"),
    list("client_window"),
];

/// The paragraph of `--help` on options with several values.
pub(super) fn variants_help() -> String {
    let command = RaceArgs::augment_args(Command::new("race"));
    let names = |has_list: bool| {
        let some = VARIABLE.iter().filter(move |one| one.has_list == has_list);
        let arguments =
            some.filter_map(|one| command.get_arguments().find(|a| a.get_id() == one.id));
        arguments.filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
    };
    format!(
        "To see what a condition changes, give one option several values: the page is raced with each of them, over the same \
         path, seeds and schemes. Gains are then over the first value. Commas separate the values of {}. Repeat {} for each \
         value. Several pages are compared in the same way.",
        names(true).collect::<Vec<_>>().join(", "),
        names(false).collect::<Vec<_>>().join(", ")
    )
}

/// The command line of `headstart race`: a race, or the variants of one.
#[derive(Debug)]
pub(crate) struct RaceCommand {
    /// Name of what differs between the variants; `None` if there is one.
    pub(super) varied: Option<String>,
    /// At least one.
    pub(super) variants: Vec<Variant>,
}

/// A race, and its value of the option that is varied.
#[derive(Debug)]
pub(super) struct Variant {
    /// The value as it was typed; empty if nothing is varied.
    pub(super) value: String,
    pub(super) args: RaceArgs,
}

impl Args for RaceCommand {
    fn augment_args(command: Command) -> Command {
        VARIABLE.iter().fold(RaceArgs::augment_args(command), |command, variable| {
            command.mut_arg(variable.id, |argument| variable.taking_several(argument))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl Variable {
    fn taking_several(&self, argument: Arg) -> Arg {
        let argument = argument.action(ArgAction::Append);
        match (argument.is_positional(), self.has_list) {
            (true, _) => argument.num_args(1..),
            (false, true) => {
                let names = argument.get_value_names().into_iter().flatten();
                let names: Vec<String> = names.map(|name| format!("{name},…")).collect();
                argument.value_delimiter(',').value_names(names)
            }
            (false, false) => argument,
        }
    }
}

impl FromArgMatches for RaceCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let values = |id: &str| matches.get_raw(id).map_or(0, Iterator::count);
        let mut varied = VARIABLE.iter().filter(|one| values(one.id) > 1);
        let Some(Variable { id, .. }) = varied.next() else {
            let args = RaceArgs::from_arg_matches(matches)?;
            let variants = vec![Variant { value: String::new(), args }];
            return Ok(Self { varied: None, variants });
        };
        if let Some(other) = varied.next() {
            let (one, other) = (option_name(id), option_name(other.id));
            let why =
                format!("{one} and {other} have several values each: vary one of them at a time");
            return Err(Error::raw(ErrorKind::ArgumentConflict, why));
        }
        let variant = |nth: usize| {
            let value = matches.get_raw(id).and_then(|mut raw| raw.nth(nth)).unwrap_or_default();
            let value = value.to_string_lossy().into_owned();
            let one = RaceArgs::augment_args(Command::new("race").no_binary_name(true));
            let line = command_line(&one, matches, id, nth);
            let args = RaceArgs::from_arg_matches(&one.try_get_matches_from(line)?)?;
            Ok(Variant { value, args })
        };
        let variants = (0..values(id)).map(variant).collect::<Result<_, Error>>()?;
        Ok(Self { varied: Some(option_name(id).trim_start_matches('-').to_owned()), variants })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The name of an argument, as a user types it.
fn option_name(id: &str) -> String {
    match id {
        PAGE => PAGE.to_owned(),
        option => format!("--{}", option.replace('_', "-")),
    }
}

/// The arguments as they were typed, with one value of `varied`: the `nth`.
fn command_line(
    command: &Command,
    matches: &ArgMatches,
    varied: &str,
    nth: usize,
) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut positional = vec![OsString::from("--")];
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if matches.value_source(id) != Some(clap::parser::ValueSource::CommandLine) {
            continue;
        }
        let Some(long) = argument.get_long() else {
            let values = matches.get_raw(id).into_iter().flatten().enumerate();
            let wanted = values.filter(|(at, _)| id != varied || *at == nth);
            positional.extend(wanted.map(|(_, value)| value.to_owned()));
            continue;
        };
        if !argument.get_action().takes_values() {
            options.push(OsString::from(format!("--{long}")));
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten().enumerate();
        for (_, value) in values.filter(|(at, _)| id != varied || *at == nth) {
            let mut option = OsString::from(format!("--{long}="));
            option.push(value);
            options.push(option);
        }
    }
    options.extend(positional);
    options
}

impl RaceCommand {
    /// The options that all variants share: those of the first.
    pub(super) fn args(&self) -> &RaceArgs {
        &self.variants[0].args
    }

    /// The races of each variant. All end their loads with the same milestone, and have the same
    /// repeats: gains are paired by repeat.
    pub(super) fn races(&self) -> Result<Vec<Vec<RaceOfRun>>, Failure> {
        let pages = self.pages()?;
        let all: Vec<RecordedRun> = pages.concat();
        self.args().check_distances(&all)?;
        self.variants.iter().zip(&pages).try_for_each(|(one, own)| one.args.check_lookups(own))?;
        let until = self.args().until(&all)?;
        let races =
            self.variants.iter().zip(pages).map(|(one, pages)| one.args.races(pages, until));
        let mut races = races.collect::<Result<Vec<_>, Failure>>()?;
        let repeats = races.iter().flatten().map(|run| run.race.repeats).max().unwrap_or(1);
        races.iter_mut().flatten().for_each(|run| run.race.repeats = repeats);
        Ok(races)
    }

    /// The runs of each variant's page. One page is read once: standard input has it only once.
    fn pages(&self) -> Result<Vec<Vec<RecordedRun>>, Failure> {
        if !self.compares_pages() {
            return Ok(vec![self.args().pages()?; self.variants.len()]);
        }
        self.variants.iter().map(|one| one.args.pages()).collect()
    }

    /// True if the variants differ in their page.
    pub(super) fn compares_pages(&self) -> bool {
        let varied = self.varied.as_deref();
        varied == Some(PAGE) || varied == Some(option_name(HAR_PAGE).trim_start_matches('-'))
    }
}
