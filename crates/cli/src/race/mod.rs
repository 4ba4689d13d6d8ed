//! `headstart race`: runs a race, in whatever worlds, and shows it.
//!
//! `variants` is the command line: one race, or several that differ in one option or in the page.
//! `args` has the options of a race, `values` reads them, and `appendix` ends `--help`. `races`
//! says what is raced: `page` finds what it loads, and `distances` puts its hosts where they are.
//! `refusals` says what cannot be had together. `raced` is the race itself on this machine.
//! `request` is the same for programs that embed it.
//!
//! One result then goes to `table`, `files`, `remarks` (what else a reader has to know) and `view`
//! (the report). Parts of the report are `critical`, `glossary`, `waterfall` and `side_by_side`.
//! Several results go to `comparison`, and `page_changes` says how their pages differ.

mod appendix;
mod args;
mod budget;
mod comparison;
mod critical;
mod diagnosis;
mod distances;
mod files;
mod glossary;
pub(crate) mod page;
mod page_changes;
mod phases;
mod raced;
mod races;
mod refusals;
mod remarks;
mod request;
mod side_by_side;
mod table;
mod values;
mod variants;
mod view;
mod waterfall;

pub(crate) use appendix::appendix;
pub(crate) use args::RaceArgs;
pub use request::{AnsweredRace, RaceReply, RaceRequest};
pub(crate) use variants::RaceCommand;

use cmdline::progress::{CommandWatch, TerminalWatch};
use cmdline::{Failure, note, remark, stdout};
use raced::Raced;
use races::RaceOfRun;

/// JSON Schema of the output of `--json`.
const JSON_SCHEMA: &str = include_str!("../../../../docs/race-schema.json");

pub(crate) fn run(command: &RaceCommand) -> Result<(), Failure> {
    let args = command.args();
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    let races = command.races()?;
    files::check(args)?;
    if command.varied.is_some() {
        return comparison::run(command, &races);
    }
    let raced = race_alone(args, &races[0], &TerminalWatch::default())?;
    // A report that cannot be written is no reason to keep the results back.
    let written = files::write_files(args, &raced, &remark);
    match args.json {
        true => stdout::print_json(&raced.result)?,
        false => print(&raced)?,
    }
    remarks::remarks_after_run(args, &raced).iter().for_each(|fact| remark(fact));
    remarks::on_result(&raced).iter().for_each(|one| note(one));
    written?;
    remarks::fail_if_incomplete(&raced)?;
    args.judge(&raced.result)
}

/// Runs one race. Its result has all notes, and `watch` gets those on the race before it starts.
fn race_alone(
    args: &RaceArgs,
    races: &[RaceOfRun],
    watch: &dyn CommandWatch,
) -> Result<Raced, Failure> {
    args.check_alone()?;
    let mut notes = announced(args, races)?;
    notes.extend(remarks::on_runs(args, races));
    notes.iter().for_each(|one| watch.note(one));
    let mut raced = raced::as_far_as_possible(args, races, watch)?;
    let servers: Vec<String> = raced.other_servers.iter().cloned().collect();
    raced.result.notes = [notes, servers, remarks::on_result(&raced)].concat();
    Ok(raced)
}

/// The notes on a race that can be run; refuses any other.
fn announced(args: &RaceArgs, races: &[RaceOfRun]) -> Result<Vec<String>, Failure> {
    args.check_budget(races)?;
    let first = &races[0].race;
    refusals::check(args, first)?;
    Ok([remarks::of_pages(races), remarks::remarks_before_run(args, first)].concat())
}

/// The result in words, and its tables.
fn print(raced: &Raced) -> Result<(), Failure> {
    if let Some(sentence) = &raced.other_servers {
        stdout::print(&format!("{sentence}\n\n"))?;
    }
    for sentence in diagnosis::first_load_summary(&raced.result) {
        stdout::print(&format!("{sentence}\n"))?;
    }
    stdout::print("\n")?;
    stdout::print_table(&table::of(&raced.result))?;
    if let Some(milestones) = table::milestones(&raced.result, raced.race.page.objects().len()) {
        stdout::print("\n")?;
        stdout::print_table(&milestones)?;
    }
    let Some(path) = &raced.result.critical else { return Ok(()) };
    stdout::print(&format!("\n{}\n\n", diagnosis::path(path)))?;
    stdout::print_table(&diagnosis::wait_table(path, false))
}
