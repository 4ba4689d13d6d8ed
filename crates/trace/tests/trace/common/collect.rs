//! A sink that keeps everything, and the comparison with the truth.

use super::Scenario;
use capture::Observed;
use std::collections::HashMap;
use trace::{
    ConnectionTrace, EngineConfig, EngineCounters, Retransmission, RetransmissionKind,
    SenderSnapshot, TraceEngine, TraceSink, TracedSender, TransferReport,
};
use units::{Duration, Instant};

#[derive(Clone, Debug, Default)]
pub struct Collected {
    pub connections: Vec<ConnectionTrace>,
    pub again: Vec<(TracedSender, Retransmission)>,
    pub windows: Vec<(TracedSender, SenderSnapshot)>,
    pub transfers: Vec<(TracedSender, TransferReport)>,
    /// Times at which requests began at the server.
    pub requests: Vec<Instant>,
}

impl TraceSink for Collected {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.connections.push(*summary);
    }

    fn on_request(&mut self, _: &TracedSender, at: Instant, _: u64) {
        self.requests.push(at);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        self.again.push((*sender, *again));
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.transfers.push((*sender, *report));
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        self.windows.push((*sender, *point));
    }
}

pub fn collect(config: EngineConfig, scenario: &Scenario) -> (Collected, EngineCounters) {
    let mut engine = TraceEngine::new(config, Collected::default());
    for segment in &scenario.segments {
        engine.on_segment(segment);
    }
    engine.finish_all()
}

const TOLERANCE: Duration = Duration::from_millis(1);

fn apart(a: Instant, b: Instant) -> Duration {
    a.saturating_since(b).max(b.saturating_since(a))
}

/// The engine's results beside the truth.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Counts by true kind, then by the kind found; the last column is for those not found.
    pub kinds: [[u64; RetransmissionKind::COUNT + 1]; RetransmissionKind::COUNT],
    /// Number of retransmissions found that are not true.
    pub invented: u64,
    /// Number of all found, by kind.
    pub found: [u64; RetransmissionKind::COUNT],
    pub windows: u64,
    pub close_windows: u64,
    /// Number of those found that the engine expected.
    pub expected: u64,
}

impl Agreement {
    pub fn total(&self) -> u64 {
        self.kinds.iter().flatten().sum()
    }

    pub fn right(&self) -> u64 {
        (0..RetransmissionKind::COUNT).map(|kind| self.kinds[kind][kind]).sum()
    }

    /// Returns the true number of retransmissions of a kind, and the number found.
    pub fn counts(&self, kind: RetransmissionKind) -> (u64, u64) {
        let truth = self.kinds[kind as usize].iter().sum();
        (truth, self.found[kind as usize])
    }

    pub fn compare(&mut self, scenario: &Scenario, found: &Collected) {
        let mut by_seq: HashMap<u32, Vec<&Retransmission>> = HashMap::new();
        for (sender, again) in &found.again {
            if sender.is_server && again.len > 0 {
                by_seq.entry(again.seq).or_default().push(again);
                self.expected += u64::from(again.expected);
                self.found[again.kind as usize] += 1;
            }
        }
        for truth in &scenario.again {
            let candidates = by_seq.entry(truth.seq).or_default();
            // An inferred sender's round trips may differ by its clock's microseconds.
            let same = |again: &&Retransmission| apart(again.at, truth.at) <= TOLERANCE;
            let place = match candidates.iter().position(same) {
                Some(index) => candidates.swap_remove(index).kind as usize,
                None => RetransmissionKind::COUNT,
            };
            self.kinds[truth.kind as usize][place] += 1;
            if place != truth.kind as usize && std::env::var_os("SHOW").is_some() {
                let seq = truth.seq.wrapping_sub(scenario.segments[1].seq.0);
                eprintln!(
                    "{:.6}: {seq} is {:?}, found {place}",
                    truth.at.as_secs_f64(),
                    truth.kind
                );
            }
        }
        self.invented += by_seq.values().map(|left| left.len() as u64).sum::<u64>();
        self.compare_windows(scenario, found);
    }

    fn compare_windows(&mut self, scenario: &Scenario, found: &Collected) {
        let mut points = found.windows.iter().filter(|(sender, _)| sender.is_server).peekable();
        let mut last = None;
        for truth in &scenario.windows {
            while let Some((_, point)) = points.peek()
                && point.at <= truth.at
                && point.una <= truth.acked + 2
            {
                last = Some(*point);
                points.next();
            }
            let Some(point) = last.filter(|point| point.at == truth.at) else { continue };
            self.windows += 1;
            let close = point.cwnd.abs_diff(truth.cwnd) <= truth.mss;
            self.close_windows += u64::from(close);
            if !close && std::env::var_os("SHOW_WINDOWS").is_some() {
                eprintln!(
                    "{:.6}: acked {} cwnd {} found {} {:?}",
                    truth.at.as_secs_f64(),
                    truth.acked,
                    truth.cwnd,
                    point.cwnd,
                    point.phase
                );
            }
        }
    }
}

/// Returns the results of a capture with the engine's default settings.
pub fn found_in(segments: &[Observed]) -> Collected {
    let mut engine = TraceEngine::new(EngineConfig::default(), Collected::default());
    segments.iter().for_each(|segment| engine.on_segment(segment));
    engine.finish_all().0
}
