//! The race itself, in the worlds that were asked for, as far as this machine lets it.

use super::RaceArgs;
use super::races::RaceOfRun;
use cmdline::Failure;
use cmdline::field::RaceField;
use cmdline::progress::CommandWatch;
use race::{Race, RaceOutcome, RaceResult, Setting, World};
use std::io;
use testbed::{AgentScheme, Contender, ContestOptions, ServerChoice, ServerProgram, cannot_be_had};
use workload::{ClientModel, ServerModel};

/// The races of all runs of a page, and their result.
pub(super) struct Raced {
    /// The race of the first run, which figures and captures show.
    pub(super) race: Race,
    /// Its outcome.
    pub(super) outcome: RaceOutcome,
    /// The outcomes of later runs.
    pub(super) later: Vec<RaceOutcome>,
    /// Medians over the runs.
    pub(super) result: RaceResult,
    /// Says which servers the worlds have, if these differ.
    pub(super) other_servers: Option<String>,
}

impl Raced {
    /// The outcome of each run.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = &RaceOutcome> {
        [&self.outcome].into_iter().chain(&self.later)
    }
}

/// If real worlds cannot be had, what remains is simulated all the same.
pub(super) fn as_far_as_possible(
    args: &RaceArgs,
    races: &[RaceOfRun],
    watch: &dyn CommandWatch,
) -> Result<Raced, Failure> {
    let server = server(args, &races[0].race, watch)?;
    let worlds = args.on.as_slice();
    let how = RacingOptions { args, server: &server, watch };
    match raced(how, &served_alike(args, races, &server), worlds) {
        Err(error) if cannot_be_had(&error) && worlds.contains(&World::Sim) => {
            watch.note(&format!("simulated only: {error}"));
            raced(how, races, &[World::Sim]).map_err(Failure::failed)
        }
        Err(error) if cannot_be_had(&error) => Err(Failure::input(error)),
        raced => raced.map_err(Failure::failed),
    }
}

/// The races, with simulated servers that write as the kernel's server if a model of it exists.
/// Servers of the world `wire` are built in, so a race there keeps the model that it has.
fn served_alike(args: &RaceArgs, races: &[RaceOfRun], server: &ServerProgram) -> Vec<RaceOfRun> {
    let mut races = races.to_vec();
    let may_follow = args.server_model.is_none() && !args.on.contains(&World::Wire);
    let is_clear = races.iter().all(|run| !run.race.loader.speaks_tls(&run.race.page));
    if may_follow && is_clear {
        races.iter_mut().for_each(|run| run.race.loader.server = model_of(server));
    }
    races
}

/// The model of a server in the kernel's world.
const fn model_of(server: &ServerProgram) -> ServerModel {
    match server {
        ServerProgram::Builtin => ServerModel::Builtin,
        ServerProgram::Nginx(_) => ServerModel::Nginx,
    }
}

/// Says so if the simulated servers are not those of the kernel's world.
fn other_servers(worlds: &[World], race: &Race, server: &ServerProgram) -> Option<String> {
    let are_compared = worlds.contains(&World::Sim) && worlds.contains(&World::Kernel);
    let simulated = race.loader.server;
    (are_compared && simulated != model_of(server)).then(|| {
        let why = match server {
            ServerProgram::Nginx(_) if race.loader.speaks_tls(&race.page) => " nginx behind TLS is not modelled.",
            _ => "",
        };
        format!(
            "The worlds have different servers: kernel {}, sim a model of {simulated}.{why} Times differ for that too; \
             --server builtin and --server-model builtin compare like with like.",
            server.name(),
        )
    })
}

/// Options that the races of all runs share.
#[derive(Clone, Copy)]
struct RacingOptions<'a> {
    args: &'a RaceArgs,
    server: &'a ServerProgram,
    watch: &'a dyn CommandWatch,
}

/// Races the runs one after another. Captures and figures are those of the first.
fn raced(how: RacingOptions<'_>, races: &[RaceOfRun], worlds: &[World]) -> io::Result<Raced> {
    let (mut outcomes, mut results) = (Vec::new(), Vec::new());
    for (n, RaceOfRun { id, race }) in races.iter().enumerate() {
        let (outcome, result) = raced_run(how, race, worlds, n == 0)?;
        outcomes.push(outcome);
        results.push(result.with_run_id(id.clone()));
    }
    let later = outcomes.split_off(1);
    let outcome = outcomes.remove(0);
    let race = races[0].race.clone();
    let other_servers = other_servers(worlds, &race, how.server);
    Ok(Raced { race, outcome, later, result: RaceResult::over_runs(results), other_servers })
}

/// Loads of a race, with those that are simulated beside it.
pub(super) fn load_count(race: &Race, contenders: &[Contender], worlds: &[World]) -> u64 {
    let is_simulated = worlds.contains(&World::Sim);
    let beside = if is_simulated { u64::from(race.repeats) + race.what_if_count() } else { 0 };
    testbed::load_count(race, contenders, worlds) + beside
}

fn raced_run(
    RacingOptions { args, server, watch }: RacingOptions<'_>,
    race: &Race,
    worlds: &[World],
    is_shown: bool,
) -> io::Result<(RaceOutcome, RaceResult)> {
    let RaceField { contenders, agent } = RaceField::in_worlds(args.contenders(), worlds)?;
    watch.begin(load_count(race, &contenders, worlds), "loads");
    let how = ContestOptions {
        worlds,
        contenders: &contenders,
        client: args.client(),
        browser: &args.browser,
        server,
        agent: agent.as_ref(),
        captures: args.pcap.as_deref().filter(|_| is_shown),
        record: args.report.is_some() && is_shown,
        threads: args.threads.map_or(0, usize::from),
        on_run: &|| watch.step(),
    };
    let loaded = load(race, how, is_shown);
    watch.end();
    let (outcome, result) = loaded?;
    let (server, client) = (race.loader.server, args.client_model);
    let setting = Setting {
        sim_server: (server != ServerModel::default()).then(|| server.to_string()),
        client_model: (client != ClientModel::default()).then(|| client.to_string()),
        ..how.setting()
    };
    Ok((outcome, RaceResult { setting, ..result }))
}

/// All loads: those of the contenders, and what is simulated beside them. If a page has several
/// runs, the critical path of the one that is shown is enough.
fn load(
    race: &Race,
    how: ContestOptions<'_>,
    is_shown: bool,
) -> io::Result<(RaceOutcome, RaceResult)> {
    let mut outcome = testbed::run(race, how)?;
    let simulated = how.of_simulations();
    let linux = outcome.baseline(World::Sim);
    let what_if = linux.map_or_else(Vec::new, |linux| race.what_if(linux, simulated));
    if how.worlds.contains(&World::Sim) {
        outcome.contestants.push(race.perfect_start(simulated));
    }
    let mut result = RaceResult { what_if, ..RaceResult::new(race, &outcome) };
    if let Some(path) = result.critical.as_mut().filter(|_| is_shown) {
        race.save_without(path, simulated);
    }
    Ok((outcome, result))
}

/// The web server of the world `kernel`, if that is asked for.
fn server(
    args: &RaceArgs,
    race: &Race,
    watch: &dyn CommandWatch,
) -> Result<ServerProgram, Failure> {
    if !args.on.contains(&World::Kernel) {
        return Ok(ServerProgram::Builtin);
    }
    let sized =
        args.contenders().iter().find(|one| one.agent().is_some_and(AgentScheme::announces_size));
    if let Some(sized) = sized.filter(|_| args.server != ServerChoice::Builtin) {
        let why = format!("{}: nginx says nothing of sizes", sized.name());
        if args.server != ServerChoice::Auto {
            return Err(Failure::input(format!("--server: {why}")));
        }
        watch.note(&format!("served on kernel by the built-in server: {why}"));
        return Ok(ServerProgram::Builtin);
    }
    let (server, why) = args
        .server
        .serve(&race.page, &race.loader)
        .map_err(|why| Failure::input(format!("--server: {why}")))?;
    if let Some(why) = why {
        watch.note(&format!("served on kernel by the built-in server: {why}"));
    }
    Ok(server)
}
