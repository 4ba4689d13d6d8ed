//! Captures that another program has analysed, in the words of the command line.

use super::args::AnalyzeArgs;
use super::outputs::Outputs;
use super::tables::BeginMemory;
use super::{Prepared, prepare_analysis, read_capture, sums};
use clap::Command;
use clap::builder::Resettable;
use cmdline::captures::ReadingWatch;
use cmdline::request::{self, CommandReply};
use cmdline::{Failure, jobs};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trace::{EngineConfig, OnlyServers, ShardedTraceEngine};

/// Captures that another program has analysed.
#[derive(Debug)]
pub struct AnalyzeRequest(AnalyzeArgs);

impl AnalyzeRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        // Tables are in memory where no folder is named.
        request::command::<AnalyzeArgs>("headstart analyze")
            .mut_arg("tables", |tables| tables.requires(Resettable::Reset))
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        request::parse(Self::command(), arguments).map(Self)
    }

    /// Analyses the captures. `begin` keeps the tables in memory, unless the request names a
    /// folder. Once `stop` is set, reading ends.
    ///
    /// # Errors
    /// Fails if nothing can be read, or nothing can be written where the request says.
    pub fn run(
        &self,
        watch: Box<dyn ReadingWatch>,
        stop: Arc<AtomicBool>,
        begin: &mut BeginMemory<'_>,
    ) -> Result<CommandReply, Failure> {
        let Self(args) = self;
        if !args.merge.is_empty() {
            return sums::merged(&args.merge)?.answer();
        }
        let Prepared { config, clients, feed } = prepare_analysis(args)?;
        let mut outputs = Outputs::of_request(args, begin)?;
        let mut feed = feed.watched(watch, stop)?;
        let models = feed.models(args.sender(), &config, jobs::threads(args.jobs))?;
        outputs.rebuilt_as(&models);
        let config = EngineConfig { models, ..config };
        let outputs = OnlyServers::new(config.servers.clone(), outputs).with_clients(clients);
        let engine = ShardedTraceEngine::new(&config, outputs, jobs::threads(args.jobs));
        let mut engine = engine.map_err(Failure::failed)?;
        feed.each(|segment| engine.on_segment(segment));
        let (found, counters) = engine.finish_all();
        let verdict = feed.verdict();
        if !feed.has_results() {
            return Err(verdict.err().unwrap_or_else(|| Failure::failed("nothing could be read")));
        }
        let read = read_capture(&feed, &found);
        let reply = found.inner.finish_request(&counters, &read)?;
        Ok(CommandReply { failure: verdict.and(reply.failure), ..reply })
    }
}
