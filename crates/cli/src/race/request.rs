//! A race that another program asks for, in the words of the command line.

use super::variants::RaceCommand;
use super::{
    RaceArgs, RaceOfRun, Raced, comparison, diagnosis, files, race_alone, raced, refusals, remarks,
    table,
};
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
        let whole = WholeWatch(watch);
        watch.begin(loads(command, &races), "loads");
        let answered = match command.varied {
            None => run_single_race(command, &races[0], &whole),
            Some(_) => compared(command, &races, &whole),
        };
        watch.end();
        answered
    }
}

/// Loads of all races of a command.
fn loads(command: &RaceCommand, races: &[Vec<RaceOfRun>]) -> u64 {
    let variants = command.variants.iter().map(|variant| &variant.args);
    let of_variant = |(args, runs): (&RaceArgs, &Vec<RaceOfRun>)| {
        let of_run =
            |run: &RaceOfRun| raced::load_count(&run.race, args.contenders(), args.on.as_slice());
        runs.iter().map(of_run).sum::<u64>()
    };
    variants.zip(races).map(of_variant).sum()
}

/// Several races as one computation, whose count is known from the start.
struct WholeWatch<'a>(&'a dyn CommandWatch);

impl CommandWatch for WholeWatch<'_> {
    fn begin(&self, _count: u64, _noun: &str) {}

    fn step(&self) {
        self.0.step();
    }

    fn end(&self) {}

    fn note(&self, text: &str) {
        self.0.note(text);
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

fn run_single_race(
    command: &RaceCommand,
    races: &[RaceOfRun],
    watch: &dyn CommandWatch,
) -> Result<AnsweredRace, Failure> {
    let args = command.args();
    let raced = race_alone(args, races, watch)?;
    let remarks =
        remarks::remarks_after_run(args, &raced).into_iter().chain(remarks::on_result(&raced));
    remarks.for_each(|remark| watch.note(&remark));
    let mut ended = FirstFailure::default();
    ended.note(files::write_files(args, &raced, &|place| watch.note(place)));
    ended.note(remarks::fail_if_incomplete(&raced));
    ended.note(args.judge(&raced.result));
    let Raced { race, result, other_servers, .. } = raced;
    let sentences =
        other_servers.into_iter().chain(diagnosis::first_load_summary(&result)).collect();
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
    let comparison::Remarks { facts, notes } = comparison::remarks_on(command, &raced);
    facts.iter().chain(&notes).for_each(|remark| watch.note(remark));
    let compared = comparison::comparison(command, races, &raced);
    Ok(AnsweredRace {
        sentences: comparison::linux_summary(&compared).into_iter().collect(),
        tables: vec![comparison::table_of(&compared)],
        failure: comparison::check_loads(command, &raced, &compared),
        reply: RaceReply::Comparison(compared),
    })
}
