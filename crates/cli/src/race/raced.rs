//! The race itself, in the worlds that were asked for, as far as this machine lets it.

use super::RaceArgs;
use cmdline::field::RaceField;
use cmdline::progress::CountBar;
use cmdline::{Failure, remark};
use race::{Race, RaceOutcome, RaceResult, Setting, World};
use std::io;
use testbed::{AgentScheme, ContestOptions, ServerChoice, ServerProgram, cannot_be_had};
use workload::{ClientModel, ServerModel};

/// What was run, and what came of it.
pub(super) struct Raced {
    pub(super) race: Race,
    pub(super) outcome: RaceOutcome,
    pub(super) result: RaceResult,
}

/// If real worlds cannot be had, what remains is simulated all the same.
pub(super) fn as_far_as_possible(args: &RaceArgs, race: &Race) -> Result<Raced, Failure> {
    let server = server(args, race)?;
    let worlds = args.on.as_slice();
    match raced(args, race, &server, worlds) {
        Err(error) if cannot_be_had(&error) && worlds.contains(&World::Sim) => {
            remark(&format!("note: simulated only: {error}"));
            raced(args, race, &server, &[World::Sim]).map_err(Failure::failed)
        }
        Err(error) if cannot_be_had(&error) => Err(Failure::input(error)),
        raced => raced.map_err(Failure::failed),
    }
}

fn raced(
    args: &RaceArgs,
    race: &Race,
    server: &ServerProgram,
    worlds: &[World],
) -> io::Result<Raced> {
    let RaceField { contenders, agent } = RaceField::in_worlds(args.contenders(), worlds)?;
    let perfect = if worlds.contains(&World::Sim) { u64::from(race.repeats) } else { 0 };
    let loads = testbed::load_count(race, &contenders, worlds) + perfect;
    let progress = CountBar::begin(loads, "loads");
    let how = ContestOptions {
        worlds,
        contenders: &contenders,
        client: args.client(),
        browser: &args.browser,
        server,
        agent: agent.as_ref(),
        captures: args.pcap.as_deref(),
        record: args.report.is_some(),
        threads: args.threads.map_or(0, usize::from),
        on_run: &|| progress.step(),
    };
    let outcome = testbed::run(race, how);
    let perfect = worlds.contains(&World::Sim).then(|| race.perfect_start(how.of_simulations()));
    progress.end();
    let mut outcome = outcome?;
    outcome.contestants.extend(perfect);
    let (server, client) = (args.server_model, args.client_model);
    let setting = Setting {
        sim_server: (server != ServerModel::default()).then(|| server.to_string()),
        client_model: (client != ClientModel::default()).then(|| client.to_string()),
        ..how.setting()
    };
    let result = RaceResult { setting, ..RaceResult::new(race, &outcome) };
    Ok(Raced { race: race.clone(), outcome, result })
}

/// What serves in the kernel's world, if that is asked for.
fn server(args: &RaceArgs, race: &Race) -> Result<ServerProgram, Failure> {
    if !args.on.contains(&World::Kernel) {
        return Ok(ServerProgram::Builtin);
    }
    let sized =
        args.contenders().iter().find(|one| one.agent().is_some_and(AgentScheme::says_size));
    if let Some(sized) = sized.filter(|_| args.server != ServerChoice::Builtin) {
        let why = format!("{}: nginx says nothing of sizes", sized.name());
        if args.server != ServerChoice::Auto {
            return Err(Failure::input(format!("--server: {why}")));
        }
        remark(&format!("note: served on kernel by the built-in server: {why}"));
        return Ok(ServerProgram::Builtin);
    }
    let (server, why) = args
        .server
        .serve(&race.page, &race.loader)
        .map_err(|why| Failure::input(format!("--server: {why}")))?;
    if let Some(why) = why {
        remark(&format!("note: served on kernel by the built-in server: {why}"));
    }
    Ok(server)
}
