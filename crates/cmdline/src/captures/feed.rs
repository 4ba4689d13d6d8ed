//! Captures on their way to an engine, with errors for unreadable ones, and the progress of
//! reading.

use super::choice::{LeftOutSegments, SegmentChoice, SegmentChooser};
use super::reading::{ReadingProgress, ReadingWatch, now};
use crate::failure::Failure;
use crate::input::unreadable;
use crate::interrupt::{self, Stop};
use capture::{
    Anonymizer, CaptureCounters, CaptureError, CaptureFiles, CaptureTrouble, Observed, ReadAhead,
    SegmentSource,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tcp::scheme::scheme_meant;
use trace::{
    EngineConfig, ProfileSurvey, SenderModel, SenderModels, SenderProfile, TraceEngine, TraceSink,
};
use units::{Duration, counted};

/// Segments that a survey of senders takes.
const SURVEYED: usize = 35_000;

/// Captures on their way to an engine.
pub struct Feed {
    files: Vec<PathBuf>,
    source: Box<dyn SegmentSource>,
    /// Read already, for the survey.
    ahead: Vec<Observed>,
    /// Findings of the survey, if there was one.
    survey: Option<ProfileSurvey>,
    anonymizer: Option<Anonymizer>,
    choice: SegmentChooser,
    progress: ReadingProgress,
    /// The signals that stop it, if it obeys them.
    stop: Option<&'static Stop>,
    /// A signal has stopped it before the end.
    is_cut_short: bool,
    /// The output has no reader any more.
    unheard: Arc<AtomicBool>,
    troubles: Troubles,
}

/// A step of a live source.
#[derive(Clone, Copy, Debug)]
pub enum LiveStep<'a> {
    /// The next segment.
    Segment(&'a Observed),
    /// None has come for so long.
    Quiet(Duration),
}

/// Numbers of unreadable files and packets.
#[derive(Clone, Copy, Debug, Default)]
struct Troubles {
    /// Files that are not there, or may not be read.
    unopened: u64,
    damaged: u64,
}

impl Feed {
    /// Opens captures, which are merged in the order of their times.
    pub fn open(files: &[PathBuf]) -> Self {
        Self {
            files: files.to_vec(),
            source: Box::new(CaptureFiles::new(files)),
            ahead: Vec::new(),
            survey: None,
            anonymizer: None,
            choice: SegmentChooser::of(SegmentChoice::default()),
            progress: ReadingProgress::Silent,
            stop: None,
            is_cut_short: false,
            unheard: Arc::default(),
            troubles: Troubles::default(),
        }
    }

    /// Feeds a user who waits: it shows its progress, and stops at Ctrl-C. A pipe stops at SIGTERM
    /// alone, even while nothing is written to it. At Ctrl-C its writer stops, too, and the rest of
    /// the pipe is part of the capture.
    pub fn attended(mut self) -> Result<Self, Failure> {
        let total = self.source.progress().total;
        self.progress = ReadingProgress::begin(total, "packets");
        let stop = interrupt::watch()?;
        self.end_pipes_at(stop.terminated())?;
        self.stop = Some(stop);
        Ok(self)
    }

    /// Ends the source once `stop` is set, even while a pipe is silent.
    fn end_pipes_at(&mut self, stop: Arc<AtomicBool>) -> Result<(), Failure> {
        if self.source.progress().total.is_none() {
            let ahead = ReadAhead::new(CaptureFiles::new(&self.files));
            self.source = Box::new(ahead.map_err(Failure::failed)?.ending_on(stop));
        }
        Ok(())
    }

    /// Replaces addresses: everything behind it does not know the real ones.
    pub fn anonymized(self, anonymizer: Option<Anonymizer>) -> Self {
        Self { anonymizer, ..self }
    }

    /// Takes only the chosen segments. If addresses are replaced, the choice names the replaced
    /// ones.
    pub fn choosing(self, choice: SegmentChoice) -> Self {
        Self { choice: SegmentChooser::of(choice), ..self }
    }

    /// Counts the segments that were read and not chosen.
    pub const fn left_out(&self) -> LeftOutSegments {
        self.choice.left_out()
    }

    /// Shows no progress: the results themselves appear while it reads.
    pub fn without_progress(self) -> Self {
        Self { progress: ReadingProgress::Silent, ..self }
    }

    /// Reports progress and what cannot be read to a program. Reading ends once `stop` is set.
    ///
    /// # Errors
    /// Fails if the system gives no thread to read a pipe.
    pub fn watched(
        mut self,
        watch: Box<dyn ReadingWatch>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        self.end_pipes_at(Arc::clone(&stop))?;
        self.until(Some(stop));
        Ok(Self { progress: ReadingProgress::Watched(watch), ..self })
    }

    /// Stops once this is set: the output has no reader.
    pub fn until(&mut self, unheard: Option<Arc<AtomicBool>>) {
        self.unheard = unheard.unwrap_or_default();
    }

    /// The models of senders by name; `auto` surveys the first segments, on `threads` threads.
    pub fn models(
        &mut self,
        name: &str,
        config: &EngineConfig,
        threads: usize,
    ) -> Result<SenderModels, Failure> {
        if name != "auto" {
            return Ok(SenderModels::all(model_named(name)?));
        }
        let mut batch = Vec::new();
        while self.ahead.len() < SURVEYED && self.next(&mut batch) {
            self.ahead.extend_from_slice(&batch);
        }
        let survey = ProfileSurvey::of(config, &self.ahead, threads);
        Ok(self.survey.insert(survey).models.clone())
    }

    /// Findings of the survey that chose the models, if there was one.
    pub const fn survey(&self) -> Option<&ProfileSurvey> {
        self.survey.as_ref()
    }

    /// The next segments; false if there are no more. Unreadable input is reported.
    fn next(&mut self, batch: &mut Vec<Observed>) -> bool {
        if self.unheard.load(Ordering::Relaxed) || self.is_cut_short {
            return false;
        }
        loop {
            match self.source.next_batch(batch) {
                Ok(more) => {
                    // A file may be cut short behind this batch: the segments read so far are part
                    // of the results.
                    self.is_cut_short = if more { self.is_stopped() } else { self.stops_pipes() };
                    self.anonymize(batch);
                    self.choice.retain(batch);
                    self.progress.at(self.source.counters().packets, self.source.progress());
                    return more;
                }
                Err(error) => self.note_error(&error),
            }
        }
    }

    fn note_error(&mut self, error: &CaptureError) {
        let text = match &error.trouble {
            CaptureTrouble::Io(why) if error.offset == 0 => {
                self.troubles.unopened += 1;
                unreadable(&error.input, why)
            }
            _ => {
                self.troubles.damaged += 1;
                error.to_string()
            }
        };
        self.progress.refuse(&text);
    }

    fn anonymize(&mut self, batch: &mut [Observed]) {
        let Some(anonymizer) = &mut self.anonymizer else { return };
        for segment in batch {
            segment.source.ip = anonymizer.address(segment.source.ip);
            segment.destination.ip = anonymizer.address(segment.destination.ip);
        }
    }

    /// Has an engine read all; what was found, and whether all could be read.
    ///
    /// # Errors
    /// If nothing can be read.
    pub fn run<S: TraceSink>(
        mut self,
        config: EngineConfig,
        sink: S,
    ) -> Result<(S, Result<(), Failure>), Failure> {
        let mut engine = TraceEngine::new(config, sink);
        self.each(|segment| engine.on_segment(segment));
        let verdict = self.verdict();
        match self.has_results() {
            true => Ok((engine.finish_all().0, verdict)),
            false => Err(verdict.err().unwrap_or_else(|| Failure::failed("nothing could be read"))),
        }
    }

    /// Hands over all segments.
    pub fn each(&mut self, mut take: impl FnMut(&Observed)) {
        let mut batch = std::mem::take(&mut self.ahead);
        batch.iter().for_each(&mut take);
        while self.next(&mut batch) {
            batch.iter().for_each(&mut take);
        }
        self.progress.end();
    }

    /// Hands over all segments, and says while a pipe has none for how long. It may have kept
    /// packets back meanwhile, as `tcpdump` does without -U.
    pub fn each_live(&mut self, mut take: impl FnMut(LiveStep<'_>)) {
        let mut batch = std::mem::take(&mut self.ahead);
        let mut last = now();
        loop {
            batch.iter().for_each(|segment| take(LiveStep::Segment(segment)));
            if batch.is_empty() {
                let passed = now().duration_since(last).as_nanos();
                let passed = u64::try_from(passed).unwrap_or(u64::MAX);
                take(LiveStep::Quiet(Duration::from_nanos(passed)));
            } else {
                last = now();
            }
            if !self.next(&mut batch) {
                break;
            }
        }
        self.progress.end();
    }

    /// True if it makes sense to show results: something was read, or what there was held nothing.
    pub fn has_results(&self) -> bool {
        let Troubles { unopened, damaged } = self.troubles;
        self.source.counters().packets > 0 || unopened + damaged == 0
    }

    /// Counts of what has been read.
    pub fn counters(&self) -> CaptureCounters {
        self.source.counters()
    }

    /// Whether all was read.
    pub fn verdict(&self) -> Result<(), Failure> {
        let packets = self.source.counters().packets;
        let read = if packets == 0 {
            "no packet could be read".to_owned()
        } else {
            format!("the results are of {} that could be read", counted(packets, "packet"))
        };
        match self.troubles {
            Troubles { unopened: 0, damaged: 0 } if self.is_cut_short => {
                Err(Failure::Interrupted(format!("stopped: {read}")))
            }
            Troubles { unopened: 0, damaged: 0 } => Ok(()),
            Troubles { unopened: 1.., damaged: 0 } if packets == 0 => Err(Failure::input(read)),
            _ => Err(Failure::failed(read)),
        }
    }

    /// Whether it ended at a signal: a file was cut short, or the writer of a pipe has ended.
    pub fn has_ended_as_asked(&self) -> bool {
        let is_pipe = self.source.progress().total.is_none();
        self.is_cut_short || (is_pipe && self.stop.is_some_and(Stop::is_asked))
    }

    /// Whether a signal stops it; for a pipe, SIGTERM.
    fn is_stopped(&self) -> bool {
        let is_file = self.source.progress().total.is_some();
        self.stops_pipes() || (is_file && self.stop.is_some_and(Stop::is_asked))
    }

    /// SIGTERM has come while a pipe is read.
    fn stops_pipes(&self) -> bool {
        let is_pipe = self.source.progress().total.is_none();
        is_pipe && self.stop.is_some_and(Stop::is_terminated)
    }
}

/// Returns the model of a name for all senders.
fn model_named(name: &str) -> Result<SenderModel, Failure> {
    match SenderProfile::named(name) {
        Some(profile) => Ok(SenderModel::of(profile)),
        None => SenderModel::of_scheme(name).map_err(|error| {
            let profiles = SenderProfile::ALL.map(SenderProfile::name).join(", ");
            let why = scheme_meant(name).unwrap_or_else(|| error.to_string());
            Failure::input(format!("--sender: {why}; profiles are auto, {profiles}"))
        }),
    }
}
