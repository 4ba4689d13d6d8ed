//! `headstart analyze`: what packet captures say of a server's transfers.

mod json;
mod summary;
mod words;

use crate::failure::{Failure, remark};
use crate::stdout;
use capture::{CaptureFiles, Observed, SegmentSource};
use cmdline::Appendix;
use findings::FindingsSink;
use json::JsonSink;
use std::path::PathBuf;
use summary::SummarySink;
use trace::{
    EngineConfig, EngineTally, ProfileSurvey, SenderModel, SenderModels, SenderProfile,
    TraceEngine, TraceSink, Vantage,
};

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart analyze server.pcap",
                "Says why data was retransmitted, and where the time of transfers went.",
            ),
            (
                "headstart analyze a.pcap b.pcap.gz --json",
                "Prints each connection with its retransmissions.",
            ),
            (
                "headstart analyze server.pcap --json=findings",
                "Prints all that was found as one object.",
            ),
            (
                "headstart analyze --acks-only --sender bbr server.pcap",
                "Uses nothing but the ACKs of clients.",
            ),
        ],
        exit: &[
            ("0", "done"),
            ("1", "a capture is damaged; everything before the damage is analysed"),
            ("2", "the input is wrong"),
        ],
        see_also: &["headstart-capture", "headstart-check-traces"],
        ..Appendix::default()
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct AnalyzeArgs {
    /// Captures: pcap or pcapng, also compressed by gzip or zstd; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What TCP the servers run: linux, linux-sack, newreno, reno, bbr, or a scheme that `headstart schemes` lists;
    /// auto: for each server the one that explains its first packets best
    #[arg(long, value_name = "NAME", default_value = "auto")]
    sender: String,
    /// Where the captures were made: server, client or middle [default: as each handshake tells]
    #[arg(long, value_name = "PLACE")]
    vantage: Option<String>,
    /// Ignore what servers send, and predict it from the ACKs of their clients
    #[arg(long)]
    acks_only: bool,
    /// Predict what servers send from the ACKs of their clients, too, and print how far that is from what was captured
    #[arg(long, conflicts_with_all = ["acks_only", "json"])]
    error: bool,
    /// Print JSON instead of words and tables
    ///
    /// `--json` prints one object per connection, in an array: its ends, retransmissions and transfers.
    /// `--json=findings` prints one object with all that was found: where the time went, warm starts, losses, ACK
    /// compression and parallel connections.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "connections")]
    json: Option<AnalyzeJson>,
}

/// What `--json` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnalyzeJson {
    /// One object per connection
    Connections,
    /// One object with all that was found
    Findings,
}

/// Segments handed over at once.
const BATCH: usize = 4096;
/// Segments that a survey of senders takes.
const SURVEYED: usize = 100_000;

pub(crate) fn run(args: &AnalyzeArgs) -> Result<(), Failure> {
    let vantage = args.vantage.as_deref().map(vantage_named).transpose()?;
    let config = EngineConfig { acks_only: args.acks_only, vantage, ..EngineConfig::default() };
    let mut feed = Feed::open(&args.files);
    let models = feed.models(&args.sender, &config)?;
    let config = EngineConfig { models, ..config };
    match args.json {
        Some(AnalyzeJson::Connections) => return feed.run(config, JsonSink::begin())?.0.end(),
        Some(AnalyzeJson::Findings) => {
            let (sink, _) = feed.run(config, FindingsSink::default())?;
            return stdout::print_json(&sink.finish());
        }
        None => {}
    }
    let predicting = EngineConfig { acks_only: true, ..config.clone() };
    let mut predicted = args.error.then(|| TraceEngine::new(predicting, SummarySink::default()));
    let sinks = (SummarySink::default(), FindingsSink::default());
    let mut engine = TraceEngine::new(config, sinks);
    feed.each(|segment| {
        engine.on_segment(segment);
        if let Some(predicted) = &mut predicted {
            predicted.on_segment(segment);
        }
    })?;
    let ((sink, found), tally) = engine.finish_all();
    stdout::print(&words::words(&found.finish()))?;
    stdout::print("\n")?;
    sink.print(&tally)?;
    match predicted {
        Some(predicted) => sink.print_error(&predicted.finish_all().0),
        None => Ok(()),
    }
}

fn vantage_named(name: &str) -> Result<Vantage, Failure> {
    let all = [Vantage::Server, Vantage::Client, Vantage::Middle];
    let found = all.into_iter().find(|vantage| vantage.name() == name);
    found.ok_or_else(|| Failure::Input(format!("--vantage {name}: server, client or middle")))
}

/// What all senders run, by a name.
pub(crate) fn model_named(name: &str) -> Result<SenderModel, Failure> {
    match SenderProfile::named(name) {
        Some(profile) => Ok(SenderModel::of(profile)),
        None => SenderModel::of_scheme(name).map_err(Failure::input),
    }
}

/// Captures on their way to an engine.
pub(crate) struct Feed {
    source: CaptureFiles,
    /// Read already, for the survey.
    ahead: Vec<Observed>,
    failures: u32,
}

impl Feed {
    pub(crate) fn open(files: &[PathBuf]) -> Self {
        Self { source: CaptureFiles::new(files), ahead: Vec::new(), failures: 0 }
    }

    /// What senders run, by its name; `auto` surveys the first segments.
    pub(crate) fn models(
        &mut self,
        name: &str,
        config: &EngineConfig,
    ) -> Result<SenderModels, Failure> {
        if name != "auto" {
            return Ok(SenderModels::all(model_named(name)?));
        }
        let mut batch = Vec::with_capacity(BATCH);
        while self.ahead.len() < SURVEYED && self.next(&mut batch) {
            self.ahead.extend_from_slice(&batch);
        }
        let mut survey = ProfileSurvey::new(config);
        self.ahead.iter().for_each(|segment| survey.on_segment(segment));
        Ok(survey.finish().1)
    }

    /// The next segments; false if there are no more. What cannot be read is said.
    fn next(&mut self, batch: &mut Vec<Observed>) -> bool {
        loop {
            match self.source.next_batch(batch) {
                Ok(more) => return more,
                Err(error) => {
                    self.failures += 1;
                    remark(&format!("headstart: {error}"));
                }
            }
        }
    }

    /// Has an engine read all.
    pub(crate) fn run<S: TraceSink>(
        self,
        config: EngineConfig,
        sink: S,
    ) -> Result<(S, EngineTally), Failure> {
        let mut engine = TraceEngine::new(config, sink);
        self.each(|segment| engine.on_segment(segment))?;
        Ok(engine.finish_all())
    }

    /// Hands over all segments; a failure if nothing could be read.
    fn each(mut self, mut take: impl FnMut(&Observed)) -> Result<(), Failure> {
        let mut batch = std::mem::take(&mut self.ahead);
        batch.iter().for_each(&mut take);
        while self.next(&mut batch) {
            batch.iter().for_each(&mut take);
        }
        if self.failures > 0 && self.source.tally().packets == 0 {
            return Err(Failure::Input("no packet could be read".to_owned()));
        }
        Ok(())
    }
}
