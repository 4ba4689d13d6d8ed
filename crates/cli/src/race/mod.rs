//! `headstart race`: runs a race and shows it.

mod args;
pub(crate) mod field;
mod files;
mod table;
mod view;
mod worlds;
mod worlds_view;

pub(crate) use args::Args;

use crate::failure::{Failure, remark};
use crate::progress::Progress;
use crate::stdout;
use ::worlds::World;
use race::{Outcome, Race, RaceResult, RunOptions, TIME_LIMIT};

/// What `--json` prints, as JSON Schema.
const JSON_SCHEMA: &str = include_str!("../../../../docs/race-schema.json");

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    let race = args.race()?;
    files::check(&args)?;
    race.page.notes().iter().for_each(|note| remark(&format!("note: {note}")));
    if args.on != [World::Sim] {
        return worlds::run(&args, &race);
    }
    refuse_without_a_kernel(&args)?;
    if race.repeats > 1 && race.background == 0 && race.path.loss() == 0.0 {
        remark("note: nothing here depends on chance (no loss, no background): repeats are alike");
    }
    let progress = Progress::begin(race.run_count(), "loads");
    let outcome = race.run(RunOptions {
        threads: args.threads.map_or(0, usize::from),
        record: args.report.is_some(),
        capture: args.pcap.is_some(),
        on_run: &|| progress.step(),
    });
    progress.end();
    let result = RaceResult::new(&race, &outcome);
    // A report that cannot be written is no reason to keep the results back.
    let written = files::write(&args, (&race, &outcome, &result));
    match args.json {
        true => stdout::print_json(&result)?,
        false => stdout::print_table(&table::of(&result))?,
    }
    written?;
    complain(&outcome, &race)
}

/// The simulator has neither these schemes nor, but by a scheme, another client than its servers.
fn refuse_without_a_kernel(args: &Args) -> Result<(), Failure> {
    if args.client().window.is_some() {
        return Err(Failure::input(
            "--client-window is for --on; simulated hosts have what their scheme says: linux+rwnd=1MB",
        ));
    }
    if !args.browser.is_loader() {
        return Err(Failure::input(
            "--client curl is for --on wire or kernel; in simulation there is the loader",
        ));
    }
    let agents: Vec<&str> = args
        .contenders()
        .iter()
        .filter(|one| one.agent().is_some())
        .map(|one| one.name())
        .collect();
    match agents.is_empty() {
        true => Ok(()),
        false => Err(Failure::input(format!(
            "{}: the simulator has no such scheme, the kernel has with an agent: --on kernel",
            agents.join(", ")
        ))),
    }
}

/// Which of several repeats and visits.
fn place(race: &Race, repeat: usize, visit: usize) -> String {
    let mut place = String::new();
    if race.repeats > 1 {
        place += &format!(", repeat {}", repeat + 1);
    }
    if race.visits.count > 1 {
        place += &format!(", visit {}", visit + 1);
    }
    place
}

/// Fails if a load did not complete; says which and why.
fn complain(outcome: &Outcome, race: &Race) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for contestant in &outcome.contestants {
        let again = contestant.again.iter().map(|visit| &visit.loads);
        for (visit, loads) in [&contestant.loads].into_iter().chain(again).enumerate() {
            let failed = loads.iter().enumerate();
            let failed = failed.filter_map(|(n, load)| Some((n, load.failure.as_ref()?)));
            lines.extend(failed.map(|(repeat, why)| {
                format!("{}{}: {why}", contestant.name, place(race, repeat, visit))
            }));
        }
    }
    if outcome.limit.page > TIME_LIMIT && !lines.is_empty() {
        let needed = outcome.limit.page.as_secs_f64();
        lines.push(format!(
            "no TCP could: the limit itself is {needed:.0} s, and a race gives up after {TIME_LIMIT}; \
             take a faster path or a smaller page"
        ));
    }
    match lines.is_empty() {
        true => Ok(()),
        false => {
            Err(Failure::failed(format!("not every load completed\n  {}", lines.join("\n  "))))
        }
    }
}
