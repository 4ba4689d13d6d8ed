//! `headstart race`: runs a race, in whatever worlds, and shows it.
//!
//! `args` is the command line, `refusals` what of it cannot be had together, `raced` the race itself on this machine
//! (`page` finds what it loads). One result then goes to `table`, `view` and `side_by_side` (the report), `files`, and
//! `remarks` (what else a reader has to know).

mod args;
mod files;
pub(crate) mod page;
mod raced;
mod refusals;
mod remarks;
mod side_by_side;
mod table;
mod view;

pub(crate) use args::{RaceArgs, appendix};

use cmdline::{Failure, remark, stdout};

/// What `--json` prints, as JSON Schema.
const JSON_SCHEMA: &str = include_str!("../../../../docs/race-schema.json");

pub(crate) fn run(args: RaceArgs) -> Result<(), Failure> {
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    let race = args.race()?;
    files::check(&args)?;
    race.page.notes().iter().for_each(|note| remark(&format!("note: {note}")));
    refusals::check(&args, &race)?;
    remarks::before(&args, &race);
    let raced = raced::as_far_as_possible(&args, &race)?;
    // A report that cannot be written is no reason to keep the results back.
    let written = files::write(&args, &raced);
    match args.json {
        true => stdout::print_json(&raced.result)?,
        false => stdout::print_table(&table::of(&raced.result))?,
    }
    remarks::after(&args, &raced);
    written?;
    remarks::complain(&raced)
}
