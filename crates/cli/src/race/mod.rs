//! `headstart race`: runs a race, in whatever worlds, and shows it.
//!
//! `args` is the command line, `refusals` what of it cannot be had together, `raced` the race itself on this machine
//! (`page` finds what it loads). One result then goes to `table`, `view` and `side_by_side` (the report), `files`, and
//! `remarks` (what else a reader has to know).

mod args;
mod budget;
mod diagnosis;
mod files;
pub(crate) mod page;
mod raced;
mod refusals;
mod remarks;
mod side_by_side;
mod table;
mod view;
mod waterfall;

pub(crate) use args::{RaceArgs, appendix};

use cmdline::{Failure, remark, stdout};
use raced::Raced;

/// What `--json` prints, as JSON Schema.
const JSON_SCHEMA: &str = include_str!("../../../../docs/race-schema.json");

pub(crate) fn run(args: RaceArgs) -> Result<(), Failure> {
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    let races = args.races()?;
    files::check(&args)?;
    args.check_budget(&races)?;
    let notes = remarks::of_pages(&args, &races);
    notes.iter().for_each(|note| remark(&format!("note: {note}")));
    let first = &races[0].race;
    refusals::check(&args, first)?;
    let before = remarks::before(&args, first);
    before.iter().for_each(|note| remark(&format!("note: {note}")));
    let mut raced = raced::as_far_as_possible(&args, &races)?;
    raced.result.notes = [notes, before, remarks::on_result(&raced)].concat();
    // A report that cannot be written is no reason to keep the results back.
    let written = files::write(&args, &raced);
    match args.json {
        true => stdout::print_json(&raced.result)?,
        false => print(&raced)?,
    }
    remarks::after(&args, &raced);
    written?;
    remarks::complain(&raced)?;
    args.judge(&raced.result)
}

/// The result in words, and its tables.
fn print(raced: &Raced) -> Result<(), Failure> {
    for sentence in diagnosis::sentences(&raced.result) {
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
    stdout::print_table(&diagnosis::table(path, false))
}
