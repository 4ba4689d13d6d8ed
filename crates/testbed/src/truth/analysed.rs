//! Analyses a capture in this process: by the analyser's engine, its survey and its sums.

use capture::{CaptureError, CaptureFiles, Observed, SegmentSource};
use findings::FindingsSink;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Cursor;
use trace::{ConnectionTrace, EngineConfig, ProfileSurvey, TraceEngine, TraceSink, Vantage};

/// The analyser's account of a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnalysedCapture {
    /// The cause that took most of the time, as the analyser ranks them; `None` if there was no
    /// transfer.
    pub first: Option<&'static str>,
    /// Time of all transfers together, seconds.
    pub total_s: f64,
    /// Transfers.
    pub transfers: u64,
    /// Causes and their parts of the time, in `0..=1`.
    pub shares: BTreeMap<&'static str, f64>,
    /// Retransmissions of both ends.
    pub retransmissions: u64,
    /// Where the capture was made, as the engine takes it.
    pub vantage: &'static str,
    /// The TCP that the server was rebuilt as.
    pub profile: Option<&'static str>,
}

/// Retransmissions and vantage of all connections.
#[derive(Default)]
struct EndsSink {
    retransmissions: u64,
    vantage: Vantage,
}

impl TraceSink for EndsSink {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let again = |of: &trace::SenderCounters| of.retransmission_count() + of.control_again;
        self.retransmissions += again(&summary.client_sent) + again(&summary.server_sent);
        self.vantage = summary.vantage;
    }
}

impl AnalysedCapture {
    /// Analyses a capture as `headstart analyze` does by default.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn of(capture: Vec<u8>) -> Result<Self, CaptureError> {
        let segments = segments(capture)?;
        let config = EngineConfig::default();
        let survey = ProfileSurvey::of(&config, &segments, 1);
        let profile = survey.hosts.first().map(|host| host.profile.name());
        let config = EngineConfig { models: survey.models, ..config };
        let mut engine = TraceEngine::new(config, (FindingsSink::default(), EndsSink::default()));
        segments.iter().for_each(|segment| engine.on_segment(segment));
        let ((found, ends), _) = engine.finish_all();
        let all = found.finish().time.all;
        let total = all.total_nanos() as f64 / 1e9;
        let causes = all.causes();
        Ok(Self {
            first: all.main_cause().map(|cause| cause.share.name()),
            total_s: total,
            transfers: all.transfers,
            shares: causes.iter().map(|cause| (cause.share.name(), cause.part)).collect(),
            retransmissions: ends.retransmissions,
            vantage: ends.vantage.name(),
            profile,
        })
    }

    /// The part of the time that a cause took, by its name.
    pub fn share(&self, cause: &str) -> f64 {
        self.shares.get(cause).copied().unwrap_or_default()
    }
}

fn segments(capture: Vec<u8>) -> Result<Vec<Observed>, CaptureError> {
    let reader = Box::new(Cursor::new(capture));
    let mut source = CaptureFiles::from_reader("the capture", reader)?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while source.next_batch(&mut batch)? {
        all.extend_from_slice(&batch);
    }
    Ok(all)
}
