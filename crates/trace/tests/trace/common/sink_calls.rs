//! A sink that records all calls, in order, as text.

use capture::Observed;
use trace::{
    ConnectionTrace, EngineConfig, EngineCounters, Retransmission, SenderSnapshot, SentData,
    TraceEngine, TraceSink, TracedSender, TransferReport,
};
use units::{Duration, Instant};

/// All calls of a sink, in order, as text.
#[derive(Default)]
pub struct SinkCalls(pub Vec<String>);

impl TraceSink for SinkCalls {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.0.push(format!("{summary:?}"));
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        self.0.push(format!("{sender:?} {at:?}"));
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.0.push(format!("{sender:?} over {at:?}"));
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        self.0.push(format!("{sender:?} {at:?} {bytes}"));
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        self.0.push(format!("{sender:?} {sent:?}"));
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        self.0.push(format!("{sender:?} {again:?}"));
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        self.0.push(format!("{sender:?} {at:?} {rtt:?}"));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.0.push(format!("{sender:?} {report:?}"));
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        self.0.push(format!("{sender:?} {point:?}"));
    }
}

/// Returns all results of one engine for these segments.
pub fn sink_calls(config: &EngineConfig, segments: &[Observed]) -> (Vec<String>, EngineCounters) {
    let mut engine = TraceEngine::new(config.clone(), SinkCalls::default());
    segments.iter().for_each(|segment| engine.on_segment(segment));
    let (sink_calls, counters) = engine.finish_all();
    (sink_calls.0, counters)
}
