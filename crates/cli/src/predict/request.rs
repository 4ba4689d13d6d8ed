//! A forecast that another program asks for, in the words of the command line.

use super::args::PredictArgs;
use super::running::ServerScheme;
use super::{ForecastOutcome, forecasted, nothing, read, remarks_on, shown};
use clap::Command;
use cmdline::captures::{Feed, ReadingWatch};
use cmdline::progress::CommandWatch;
use cmdline::request::{self, CommandReply, NamedTable};
use cmdline::{Failure, report_file, stdout};
use forecast::Forecast;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A forecast that another program asks for.
#[derive(Debug)]
pub struct PredictRequest(PredictArgs);

/// Receivers of the progress of a forecast, and what stops its reading.
pub struct PredictWatch<'a> {
    /// Receives what cannot be read.
    pub reading: Box<dyn ReadingWatch>,
    /// Receives notes, and the replays that are done.
    pub replays: &'a dyn CommandWatch,
    /// Once it is set, reading ends.
    pub stop: Arc<AtomicBool>,
}

impl PredictRequest {
    /// The options that a request takes.
    pub fn command() -> Command {
        request::command::<PredictArgs>("headstart predict")
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Fails if an argument is wrong, in the words of the command line.
    pub fn parse(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        request::parse(Self::command(), arguments).map(Self)
    }

    /// Reads the captures, replays them, and writes the page that the request asks for.
    ///
    /// # Errors
    /// Fails if nothing can be read or replayed.
    pub fn run(&self, watch: PredictWatch<'_>) -> Result<CommandReply, Failure> {
        let Self(args) = self;
        if let Some(path) = &args.report {
            report_file::check(path, args.files.iter().map(PathBuf::as_path))?;
        }
        let choice = args.senders.segment_choice()?;
        let clients = choice.clients.clone();
        let feed = Feed::open(&args.files).choosing(choice);
        let mut feed = feed.watched(watch.reading, watch.stop)?;
        let (visitors, models) = read(args, &mut feed, clients)?;
        let verdict = feed.verdict();
        if !feed.has_results() {
            return Err(verdict.err().unwrap_or_else(|| Failure::failed("nothing could be read")));
        }
        let Some(now) = ServerScheme::of(&visitors, &models, &args.senders.sender) else {
            return Err(Failure::input(nothing::why_no_prediction(&visitors)));
        };
        remarks_on(&visitors, args.most_transfers, &|text| watch.replays.note(text));
        let forecast = Forecast::of(visitors, args.queue);
        let forecast = forecasted(args, &now, forecast, watch.replays)?;
        let written = forecast.write_page(args);
        Ok(CommandReply {
            json: stdout::json(&forecast.json())?,
            sentences: sentences(&forecast),
            tables: vec![
                NamedTable::new("times", shown::times(&forecast.result)),
                NamedTable::new("gains", shown::by_group(&forecast.result, now.name())),
            ],
            failure: verdict.and(written).and(forecast.verdict()),
        })
    }
}

/// The words that the command prints.
fn sentences(ForecastOutcome { evidence, now, result }: &ForecastOutcome<'_>) -> Vec<String> {
    let name = now.name();
    let first = evidence.sentence().lines().map(str::to_owned).collect::<Vec<_>>();
    let others = [
        Some(now.sentence()),
        shown::queue_warning(result),
        Some(shown::fit_summary(result, name)),
    ];
    let last =
        shown::refusal_text(result, name).unwrap_or_else(|| shown::how_computed(result, name));
    first.into_iter().chain(others.into_iter().flatten()).chain([last]).collect()
}
