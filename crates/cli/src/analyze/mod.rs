//! `headstart analyze`: what packet captures say of a server's transfers.

mod access_log;
mod account;
mod args;
mod beside;
mod json;
mod outputs;
mod packets;
mod page;
mod rebuilt;
mod summary;
mod tables;
mod words;

pub(crate) use args::{AnalyzeArgs, SendersArgs, appendix};

use crate::anonymity::anonymizer;
use cmdline::captures::Feed;
use cmdline::{Failure, FirstFailure, jobs};
use outputs::{Outputs, ReadCapture};
use summary::SummarySink;
use trace::{EngineConfig, OnlyServers, ShardedTraceEngine, Undivided};

pub(crate) fn run(args: &AnalyzeArgs) -> Result<(), Failure> {
    args.check()?;
    if let Some(log) = &args.access_log {
        return access_log::run(log, args.json().is_some(), args.report.as_deref());
    }
    let mut anonymizer = anonymizer(args.anonymize.as_ref())?;
    let mut servers = args.senders.servers();
    if let Some(anonymizer) = &mut anonymizer {
        // What is near each other stays so: a network becomes a network.
        servers = servers.renamed(|ip| anonymizer.address(ip));
    }
    let config = EngineConfig {
        acks_only: args.senders.acks_only,
        vantage: args.senders.vantage()?,
        servers,
        ..EngineConfig::default()
    };
    let mut outputs = Outputs::begin(args)?;
    let mut feed = Feed::open(&args.files).anonymized(anonymizer).attended()?;
    let models = feed.models(&args.senders.sender, &config, jobs::threads(args.jobs))?;
    outputs.rebuilt_as(&models);
    let config = EngineConfig { models, ..config };
    let mut ended = analyse(args, &mut feed, &config, outputs)?;
    ended.note(feed.verdict());
    ended.end()
}

fn analyse(
    args: &AnalyzeArgs,
    feed: &mut Feed,
    config: &EngineConfig,
    outputs: Outputs,
) -> Result<FirstFailure, Failure> {
    let predicting = EngineConfig { acks_only: true, ..config.clone() };
    let servers = || config.servers.clone();
    let predicted = Undivided(OnlyServers::new(servers(), SummarySink::default()));
    let threads = jobs::threads(args.jobs);
    let predicted = args.error.then(|| ShardedTraceEngine::new(&predicting, predicted, threads));
    let mut predicted = predicted.transpose().map_err(Failure::failed)?;
    let unheard = outputs.unheard();
    let outputs = OnlyServers::new(servers(), outputs);
    let engine = ShardedTraceEngine::new(config, outputs, threads);
    let mut engine = engine.map_err(Failure::failed)?;
    feed.until(unheard);
    feed.each(|segment| {
        engine.on_segment(segment);
        if let Some(predicted) = &mut predicted {
            predicted.on_segment(segment);
        }
    });
    if !feed.has_results() {
        return Ok(FirstFailure::default());
    }
    let (found, tally) = engine.finish_all();
    let read = ReadCapture { tally: feed.tally(), survey: feed.survey() };
    let (summary, mut ended) = found.inner.end(&tally, found.left_out, &read);
    if let Some(predicted) = predicted {
        ended.note(summary.print_error(&predicted.finish_all().0.0.inner));
        ended.note(feed.survey().map_or(Ok(()), summary::print_charges));
    }
    Ok(ended)
}
