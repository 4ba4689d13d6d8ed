//! `headstart predict`: the transfers of captures once more, under other schemes.

mod args;
mod nothing;
mod page;
mod running;
mod shown;

pub(crate) use args::{PredictArgs, appendix};

use cmdline::captures::Feed;
use cmdline::progress::CountBar;
use cmdline::{Failure, FirstFailure, interrupt, jobs, remark, report_file, stdout};
use forecast::{CapturedVisitors, Forecast, ForecastOptions, Visitors};
use running::Running;
use shown::{ForecastJson, PathsTold};
use std::path::PathBuf;
use tcp::Scheme;
use trace::{EngineConfig, NamedClients, OnlyServers, SenderModels, TraceEngine};
use units::counted;

const JSON_SCHEMA: &str = include_str!("../../../../docs/predict-schema.json");

pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    if let Some(path) = &args.report {
        report_file::check(path, args.files.iter().map(PathBuf::as_path))?;
    }
    let choice = args.senders.choice()?;
    let clients = choice.clients.clone();
    let mut feed = Feed::open(&args.files).choosing(choice).attended()?;
    let (visitors, models) = read(args, &mut feed, clients)?;
    if !feed.has_results() {
        return feed.verdict();
    }
    let Some(now) = Running::of(&visitors, &models, &args.senders.sender) else {
        return Err(Failure::input(nothing::why(&visitors)));
    };
    interrupt::end_at_once(feed.has_ended_as_asked())?;
    said_of(&visitors, args.most_transfers);
    let mut ended = FirstFailure::default();
    let foretold = foretell(args, &now, Forecast::of(visitors, args.queue));
    ended.note(feed.verdict());
    ended.note(foretold);
    ended.end()
}

/// Replays, first under what the servers run, and says what came of it.
fn foretell(args: &PredictArgs, now: &Running, forecast: Forecast) -> Result<(), Failure> {
    let told = PathsTold::of(&forecast);
    let others = args.schemes.0.iter().filter(|scheme| scheme.name() != now.name());
    let schemes: Vec<Scheme> = std::iter::once(&now.scheme).chain(others).cloned().collect();
    let bar = CountBar::begin(forecast.replays(schemes.len()) as u64, "replays");
    let options = ForecastOptions {
        seed: args.seed,
        threads: jobs::threads(args.jobs),
        on_replay: &|| bar.step(),
    };
    let result = forecast.run(&schemes, options);
    bar.end();
    let result = result.map_err(Failure::failed)?;
    if let Some(path) = &args.report {
        report_file::write(path, &page::document(&told, now, &result).to_html())?;
    }
    if args.json {
        stdout::print_json(&ForecastJson { paths: &told, running: now, result: &result })?;
    } else {
        shown::print(&told, now, &result)?;
    }
    match result.refused {
        None => Ok(()),
        Some(_) => {
            Err(Failure::failed("nothing is predicted: the replay does not explain the capture"))
        }
    }
}

/// The visitors of the captures, as far as they can be read, and what their servers' senders were rebuilt from.
fn read(
    args: &PredictArgs,
    feed: &mut Feed,
    clients: NamedClients,
) -> Result<(CapturedVisitors, SenderModels), Failure> {
    let servers = args.senders.servers();
    let config = EngineConfig {
        acks_only: args.senders.acks_only,
        vantage: args.senders.vantage()?,
        servers: servers.clone(),
        ..EngineConfig::default()
    };
    let models = feed.models(&args.senders.sender, &config, jobs::threads(args.jobs))?;
    let sink =
        OnlyServers::new(servers, Visitors::up_to(args.most_transfers)).with_clients(clients);
    let mut engine = TraceEngine::new(EngineConfig { models: models.clone(), ..config }, sink);
    feed.each(|segment| engine.on_segment(segment));
    Ok((engine.finish_all().0.inner.finish(), models))
}

/// What of the captures is not replayed.
fn said_of(visitors: &CapturedVisitors, most: u64) {
    if visitors.incomplete > 0 {
        let transfers = counted(visitors.incomplete, "transfer");
        remark(&format!("{transfers} not acknowledged to the end: left out"));
    }
    if visitors.begun_before > 0 {
        let connections = counted(visitors.begun_before, "connection");
        remark(&format!("{connections} whose handshake is not in the captures: left out"));
    }
    if visitors.left_out > 0 {
        let transfers = counted(visitors.left_out, "transfer");
        remark(&format!("{transfers} behind the first {most}: left out; see --most-transfers"));
    }
}
