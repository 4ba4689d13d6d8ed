//! `headstart predict`: the transfers of captures once more, under other schemes.

mod args;
mod nothing;
mod page;
mod request;
mod running;
mod shown;

pub(crate) use args::{PredictArgs, appendix};
pub use request::{PredictRequest, PredictWatch};

use cmdline::captures::Feed;
use cmdline::progress::{CommandWatch, TerminalWatch};
use cmdline::{Failure, FirstFailure, interrupt, jobs, remark, report_file, stdout};
use forecast::{CapturedVisitors, Forecast, ForecastOptions, ForecastResult, Visitors};
use running::ServerScheme;
use shown::{ForecastJson, PathsEvidence};
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
    let choice = args.senders.segment_choice()?;
    let clients = choice.clients.clone();
    let mut feed = Feed::open(&args.files).choosing(choice).attended()?;
    let (visitors, models) = read(args, &mut feed, clients)?;
    if !feed.has_results() {
        return feed.verdict();
    }
    let Some(now) = ServerScheme::of(&visitors, &models, &args.senders.sender) else {
        return Err(Failure::input(nothing::why_no_prediction(&visitors)));
    };
    interrupt::end_at_once(feed.has_ended_as_asked())?;
    remarks_on(&visitors, args.most_transfers, &remark);
    let mut ended = FirstFailure::default();
    let forecast = Forecast::of(visitors, args.queue);
    let forecast = forecasted(args, &now, forecast, &TerminalWatch::default());
    ended.note(feed.verdict());
    ended.note(forecast.and_then(|forecast| print_forecast(args, &forecast)));
    ended.end()
}

/// A forecast.
struct ForecastOutcome<'a> {
    evidence: PathsEvidence,
    now: &'a ServerScheme,
    result: ForecastResult,
}

impl ForecastOutcome<'_> {
    /// The forecast for programs.
    fn json(&self) -> ForecastJson<'_> {
        ForecastJson { paths: &self.evidence, running: self.now, result: &self.result }
    }

    /// Writes the page that was asked for.
    fn write_page(&self, args: &PredictArgs) -> Result<(), Failure> {
        let Some(path) = &args.report else { return Ok(()) };
        report_file::write(path, &page::document(&self.evidence, self.now, &self.result).to_html())
    }

    /// Fails if the replay explains nothing.
    fn verdict(&self) -> Result<(), Failure> {
        match self.result.refused {
            None => Ok(()),
            Some(_) => Err(Failure::failed(
                "nothing is predicted: the replay does not explain the capture",
            )),
        }
    }
}

/// Replays, first under what the servers run.
fn forecasted<'a>(
    args: &PredictArgs,
    now: &'a ServerScheme,
    forecast: Forecast,
    watch: &dyn CommandWatch,
) -> Result<ForecastOutcome<'a>, Failure> {
    let evidence = PathsEvidence::of(&forecast);
    let others = args.schemes.0.iter().filter(|scheme| scheme.name() != now.name());
    let schemes: Vec<Scheme> = std::iter::once(&now.scheme).chain(others).cloned().collect();
    watch.begin(forecast.replays(schemes.len()) as u64, "replays");
    let options = ForecastOptions {
        seed: args.seed,
        threads: jobs::threads(args.jobs),
        on_replay: &|| watch.step(),
    };
    let result = forecast.run(&schemes, options);
    watch.end();
    Ok(ForecastOutcome { evidence, now, result: result.map_err(Failure::failed)? })
}

fn print_forecast(args: &PredictArgs, forecast: &ForecastOutcome<'_>) -> Result<(), Failure> {
    forecast.write_page(args)?;
    match args.json {
        true => stdout::print_json(&forecast.json())?,
        false => shown::print(&forecast.evidence, forecast.now, &forecast.result)?,
    }
    forecast.verdict()
}

/// The visitors of the captures, as far as they can be read, and what their servers' senders were
/// rebuilt from.
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

/// Reports the parts of the captures that are not replayed.
fn remarks_on(visitors: &CapturedVisitors, most: u64, remark: &dyn Fn(&str)) {
    if visitors.incomplete > 0 {
        let transfers = counted(visitors.incomplete, "transfer");
        remark(&format!("{transfers} not acknowledged to the end: left out"));
    }
    if visitors.started_before > 0 {
        let connections = counted(visitors.started_before, "connection");
        remark(&format!("{connections} whose handshake is not in the captures: left out"));
    }
    if visitors.left_out > 0 {
        let transfers = counted(visitors.left_out, "transfer");
        remark(&format!("{transfers} behind the first {most}: left out; see --most-transfers"));
    }
}
