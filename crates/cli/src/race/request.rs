//! A race that another program asks for, in the words of the command line.

use super::variants::RaceCommand;
use super::{RaceOfRun, Raced, comparison, diagnosis, files, race_alone, refusals, remarks, table};
use clap::Command;
use cmdline::progress::CommandWatch;
use cmdline::{Failure, FirstFailure, request};
use race::{RaceComparison, RaceResult};
use report::Table;
use serde::Serialize;
use std::ffi::OsString;

/// A race that another program asks for.
#[derive(Debug)]
pub struct RaceRequest(RaceCommand);

/// Results of a request; serialises as `headstart race --json` prints them.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum RaceReply {
    /// One race.
    Race(Box<RaceResult>),
    /// Races that differ in one option or in the page.
    Comparison(RaceComparison),
}

impl RaceRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        request::command::<RaceCommand>("headstart race")
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        request::parse(Self::command(), arguments).map(Self)
    }

    /// Runs the race and writes the files that it asks for.
    ///
    /// # Errors
    /// Fails if the request cannot be run.
    pub fn run(&self, watch: &dyn CommandWatch) -> Result<AnsweredRace, Failure> {
        let Self(command) = self;
        let args = command.args();
        refusals::check_embedded(args)?;
        let races = command.races()?;
        files::check(args)?;
        match command.varied {
            None => alone(command, &races[0], watch),
            Some(_) => compared(command, &races, watch),
        }
    }
}

/// A reply, as a reader of the command's output sees it.
#[derive(Debug)]
pub struct AnsweredRace {
    /// The results.
    pub reply: RaceReply,
    /// The results in words.
    pub sentences: Vec<String>,
    /// The results as tables.
    pub tables: Vec<Table>,
    /// The reason why the command would fail although there are results: a load that did not
    /// complete, a budget that was exceeded, or a file that could not be written.
    pub failure: Result<(), Failure>,
}

fn alone(
    command: &RaceCommand,
    races: &[RaceOfRun],
    watch: &dyn CommandWatch,
) -> Result<AnsweredRace, Failure> {
    let args = command.args();
    let raced = race_alone(args, races, watch)?;
    let mut ended = FirstFailure::default();
    ended.note(files::write(args, &raced, &|place| watch.note(place)));
    ended.note(remarks::complain(&raced));
    ended.note(args.judge(&raced.result));
    let Raced { race, result, other_servers, .. } = raced;
    let sentences = other_servers.into_iter().chain(diagnosis::sentences(&result)).collect();
    let milestones = table::milestones(&result, race.page.objects().len());
    Ok(AnsweredRace {
        sentences,
        tables: [table::of(&result)].into_iter().chain(milestones).collect(),
        reply: RaceReply::Race(Box::new(result)),
        failure: ended.end(),
    })
}

fn compared(
    command: &RaceCommand,
    races: &[Vec<RaceOfRun>],
    watch: &dyn CommandWatch,
) -> Result<AnsweredRace, Failure> {
    let raced = comparison::race_all(command, races, watch)?;
    let compared = comparison::comparison(command, races, &raced);
    Ok(AnsweredRace {
        sentences: comparison::sentence(&compared).into_iter().collect(),
        tables: vec![comparison::table_of(&compared)],
        failure: comparison::judge(command, &raced, &compared),
        reply: RaceReply::Comparison(compared),
    })
}
