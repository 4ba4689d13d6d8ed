//! `headstart analyze`: what packet captures say of a server's transfers.

mod json;
mod summary;

use crate::failure::{Failure, remark};
use capture::{CaptureFiles, SegmentSource};
use json::JsonSink;
use std::path::PathBuf;
use summary::SummarySink;
use trace::{EngineConfig, EngineTally, SenderModel, SenderProfile, TraceEngine, TraceSink};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Captures: pcap or pcapng, also compressed by gzip or zstd; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What TCP the senders run: linux, newreno, reno, bbr, or a scheme that `headstart schemes` lists
    #[arg(long, value_name = "NAME", default_value = "linux")]
    sender: String,
    /// Ignore what servers send, and predict it from the ACKs of their clients
    #[arg(long)]
    acks_only: bool,
    /// Print one JSON object per connection, in an array
    #[arg(long)]
    json: bool,
}

/// Segments handed over at once.
const BATCH: usize = 4096;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = match SenderProfile::named(&args.sender) {
        Some(profile) => SenderModel::of(profile),
        None => SenderModel::of_scheme(&args.sender).map_err(Failure::input)?,
    };
    let config = EngineConfig { model, acks_only: args.acks_only, ..EngineConfig::default() };
    if args.json {
        let (sink, _) = feed(&args.files, config, JsonSink::begin())?;
        return sink.end();
    }
    let (sink, tally) = feed(&args.files, config, SummarySink::default())?;
    sink.print(&tally)
}

/// Has an engine read all files; what cannot be read is said, and is a failure if nothing else could.
fn feed<S: TraceSink>(
    files: &[PathBuf],
    config: EngineConfig,
    sink: S,
) -> Result<(S, EngineTally), Failure> {
    let mut source = CaptureFiles::new(files);
    let mut engine = TraceEngine::new(config, sink);
    let mut batch = Vec::with_capacity(BATCH);
    let mut failures = 0;
    loop {
        match source.next_batch(&mut batch) {
            Ok(true) => batch.iter().for_each(|segment| engine.on_segment(segment)),
            Ok(false) => break,
            Err(error) => {
                failures += 1;
                remark(&format!("headstart: {error}"));
            }
        }
    }
    if failures > 0 && source.tally().packets == 0 {
        return Err(Failure::Input("no packet could be read".to_owned()));
    }
    Ok(engine.finish_all())
}
