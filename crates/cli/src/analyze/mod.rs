//! `headstart analyze`: what packet captures say of a server's transfers.

mod access_log;
mod account;
mod args;
mod beside;
mod causes;
mod clock;
mod ended;
mod json;
mod outputs;
mod packets;
mod page;
mod reading;
mod rebuilt;
mod reply;
mod request;
mod summary;
mod sums;
mod tables;
mod words;

pub(crate) use args::{AnalyzeArgs, SendersArgs, appendix};
pub use request::AnalyzeRequest;
pub use tables::{BeginMemory, MemoryRows, TableName};

use crate::anonymity::anonymizer;
use cmdline::captures::{Feed, LiveStep};
use cmdline::{Failure, FirstFailure, jobs};
use outputs::Outputs;
use reading::{LeftOut, ReadCapture, SurveyedServer};
use summary::SummarySink;
use trace::{
    EngineConfig, EngineCounters, NamedClients, OnlyServers, ShardedTraceEngine, TraceEngine,
    Undivided,
};
use units::{Duration, Instant};

pub(crate) fn run(args: &AnalyzeArgs) -> Result<(), Failure> {
    args.check()?;
    if let Some(log) = &args.access_log {
        return access_log::run(log, args);
    }
    if !args.merge.is_empty() {
        return sums::print_merged(args);
    }
    let Prepared { config, clients, feed } = prepare_analysis(args)?;
    let mut outputs = Outputs::begin(args)?;
    let feed = feed.attended()?;
    let mut feed = if args.follow { feed.without_progress() } else { feed };
    let models = feed.models(args.sender(), &config, jobs::threads(args.jobs))?;
    outputs.rebuilt_as(&models);
    let config = EngineConfig { models, ..config };
    let outputs = OnlyServers::new(config.servers.clone(), outputs).with_clients(clients);
    let mut ended = match args.follow {
        true => report_as_ended(&mut feed, config, outputs),
        false => analyse(args, &mut feed, &config, outputs)?,
    };
    ended.note(feed.verdict());
    ended.end()
}

/// The captures of a command line, and how they are analysed.
struct Prepared {
    config: EngineConfig,
    /// Clients whose connections are wanted.
    clients: NamedClients,
    feed: Feed,
}

fn prepare_analysis(args: &AnalyzeArgs) -> Result<Prepared, Failure> {
    let mut anonymizer = anonymizer(args.anonymize.as_ref())?;
    let mut servers = args.senders.servers();
    let mut choice = args.senders.segment_choice()?;
    if let Some(anonymizer) = &mut anonymizer {
        // Neighbouring addresses stay neighbours: a network becomes a network.
        servers = servers.rename_addresses(|ip| anonymizer.address(ip));
        choice.clients = choice.clients.rename_addresses(|ip| anonymizer.address(ip));
    }
    let config = EngineConfig {
        acks_only: args.senders.acks_only,
        vantage: args.senders.vantage()?,
        servers,
        ..EngineConfig::default()
    };
    let clients = choice.clients.clone();
    let feed = Feed::open(&args.files).anonymized(anonymizer).choosing(choice);
    Ok(Prepared { config, clients, feed })
}

/// Between two looks for connections that have ended, on the clock of the packets.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// If a source is quiet for that time, no packets of a closed connection follow that matter.
const QUIET: Duration = Duration::from_secs(2);

/// Reports each connection as soon as it has ended. Other threads would report in rounds, so this
/// one does all the work.
fn report_as_ended(
    feed: &mut Feed,
    config: EngineConfig,
    outputs: OnlyServers<Outputs>,
) -> FirstFailure {
    feed.until(outputs.inner.has_no_reader());
    let mut engine = TraceEngine::new(config, outputs);
    let (mut looked, mut was_quiet) = (Instant::ZERO, false);
    feed.each_live(|step| match step {
        LiveStep::Segment(segment) => {
            engine.on_segment(segment);
            was_quiet = false;
            if segment.at.saturating_since(looked) >= LOOK_EVERY {
                looked = segment.at;
                engine.pass_time(segment.at);
            }
        }
        LiveStep::Quiet(passed) if passed >= QUIET && !was_quiet => {
            was_quiet = true;
            engine.finish_over();
        }
        LiveStep::Quiet(_) => {}
    });
    let (found, counters) = engine.finish_all();
    end(feed, found, &counters).1
}

fn analyse(
    args: &AnalyzeArgs,
    feed: &mut Feed,
    config: &EngineConfig,
    outputs: OnlyServers<Outputs>,
) -> Result<FirstFailure, Failure> {
    let predicting = EngineConfig { acks_only: true, ..config.clone() };
    let predicted = Undivided(outputs.around(SummarySink::default()));
    let threads = jobs::threads(args.jobs);
    let predicted = args.error.then(|| ShardedTraceEngine::new(&predicting, predicted, threads));
    let mut predicted = predicted.transpose().map_err(Failure::failed)?;
    feed.until(outputs.inner.has_no_reader());
    let engine = ShardedTraceEngine::new(config, outputs, threads);
    let mut engine = engine.map_err(Failure::failed)?;
    feed.each(|segment| {
        engine.on_segment(segment);
        if let Some(predicted) = &mut predicted {
            predicted.on_segment(segment);
        }
    });
    let (found, counters) = engine.finish_all();
    let (summary, mut ended) = end(feed, found, &counters);
    if let (Some(summary), Some(predicted)) = (summary, predicted) {
        ended.note(summary.print_error(&predicted.finish_all().0.0.inner));
        ended.note(feed.survey().map_or(Ok(()), summary::print_charges));
    }
    Ok(ended)
}

/// Writes what was found, if there is anything to be shown; the summary then.
fn end(
    feed: &Feed,
    found: OnlyServers<Outputs>,
    counters: &EngineCounters,
) -> (Option<SummarySink>, FirstFailure) {
    if !feed.has_results() {
        return (None, FirstFailure::default());
    }
    let read = read_capture(feed, &found);
    let (summary, ended) = found.inner.end(counters, &read);
    (Some(summary), ended)
}

/// Counts of what was read, and of what is in no result.
fn read_capture(feed: &Feed, found: &OnlyServers<Outputs>) -> ReadCapture {
    let segments = feed.left_out();
    let left_out = LeftOut {
        opened_by_servers: found.left_out,
        of_other_clients: found.of_other_clients,
        segments_by_time: segments.by_time,
        segments_by_client: segments.by_client,
    };
    ReadCapture {
        counters: feed.counters(),
        surveyed: feed.survey().map(SurveyedServer::all),
        left_out,
        is_damaged: feed.verdict().is_err(),
    }
}
