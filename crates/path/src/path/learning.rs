//! The exchange of a path with its memory.
//!
//! A path asks when it is created (round trip, permission for early data) and with its first data
//! (the window). A path with a gateway also asks after an idle time. It reports the share that one
//! connection got, when a loss shows it or a transfer ends without one (Zhang, Qiu & Keshav 2000
//! §5.1). It also reports its state when its connections end.

use super::Path;
use super::observed::TransferNotes;
use memory::site::Bound;
use memory::{
    Cold, GatewayReport, PathState, Remembered, ReuseGate, Sample, SegmentedWindow, ShareNotes,
    ShareRule, Shared,
};
use policy::ack::{AckSample, RttEstimator};
use policy::config::MemoryKind;
use policy::startup::{Beginning, SeedTerms};
use policy::window::{Cause, Window};
use std::net::IpAddr;
use units::{Duration, Instant};

/// The way of senders' reports to a gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reporting {
    /// The report is sent at once, like a message of the application.
    #[default]
    Direct,
    /// The report is in an option of the next segment with data, for a gateway on the way to read.
    InSegments,
}

/// The rules by which a path uses its memory.
#[derive(Clone, Copy, Debug)]
pub struct LearningTerms {
    /// The checks that a remembered state must pass before it is used.
    pub gate: ReuseGate,
    /// The kind of reports to a gateway.
    pub reporting: Reporting,
    /// The rule for shares in reports to a gateway.
    pub rule: ShareRule,
}

/// A path's side of its memory.
pub struct Learning {
    kind: MemoryKind,
    memory: Shared,
    remote: IpAddr,
    gate: ReuseGate,
    reporting: Reporting,
    /// A report that waits for a segment.
    waiting: Option<GatewayReport>,
    /// Notes from which a share for a gateway is derived.
    shares: ShareNotes,
    /// True if its rule needs flights.
    watches_flights: bool,
    /// True if the peer is known to accept data in a SYN.
    early_data: bool,
    /// True if the memory had an entry when the path began.
    knew: bool,
    /// True if that entry was not used.
    withheld: bool,
    /// Bytes acknowledged when the path's state was last reported.
    reported_at: Option<u64>,
    /// Notes about the current transfer, for a site's memory.
    notes: TransferNotes,
}

impl Learning {
    /// Creates a side that asks `memory`, of this kind, for `remote`, and has reported nothing.
    pub fn new(kind: MemoryKind, memory: Shared, remote: IpAddr, terms: LearningTerms) -> Self {
        let LearningTerms { gate, reporting, rule } = terms;
        Self {
            kind,
            memory,
            remote,
            gate,
            reporting,
            waiting: None,
            shares: ShareNotes::new(rule),
            watches_flights: kind == MemoryKind::Gateway && rule.watches_flights(),
            early_data: false,
            knew: false,
            withheld: false,
            reported_at: None,
            notes: TransferNotes::default(),
        }
    }

    fn recall(&self, now: Instant, cold: &Cold) -> Option<Remembered> {
        let remembered = self.memory.borrow_mut().recall(now, self.remote)?;
        self.gate.admit(&remembered, cold)
    }

    fn report(&mut self, now: Instant, share: u64, rtt: &RttEstimator) {
        let rtt = Some(rtt.srtt()).filter(|rtt| !rtt.is_zero());
        let report = GatewayReport { share, rtt };
        match self.reporting {
            Reporting::Direct => self.record(now, &Sample::Report(report)),
            Reporting::InSegments => self.waiting = Some(report),
        }
    }

    fn record(&self, now: Instant, sample: &Sample) {
        self.memory.borrow_mut().record(now, self.remote, sample);
    }
}

fn segmented_window(window: &Window) -> SegmentedWindow {
    SegmentedWindow { cwnd: window.cwnd(), mss: window.mss() }
}

impl Path {
    /// Starts with the memory of `learning`, and reports to it from now on.
    pub fn remember_by(&mut self, now: Instant, mut learning: Learning) {
        if let Some(known) = learning.recall(now, &self.cold()) {
            learning.knew = true;
            self.rtt.seed(known.srtt, known.rttvar);
            learning.early_data = known.early_data;
        }
        self.is_observed = learning.kind == MemoryKind::Site;
        self.notes_flights = learning.watches_flights;
        self.capabilities.shows_acks |= self.notes_flights;
        if self.is_observed {
            self.meter.get_or_insert_default();
        }
        self.learning = Some(Box::new(learning));
    }

    fn cold(&self) -> Cold {
        Cold { window: self.restart_window, mss: self.window.mss() }
    }

    /// Returns the memory's current knowledge of the destination for the start-up. After an idle
    /// time only a gateway is asked: other hosts may have reported something new, but this path's
    /// own state is known.
    pub(super) fn recall(&self, after_idle: bool) -> Option<Remembered> {
        let learning = self.learning.as_deref()?;
        if after_idle && !matches!(learning.kind, MemoryKind::Gateway | MemoryKind::Site) {
            return None;
        }
        learning.recall(self.window.now(), &self.cold())
    }

    /// Notes whether a remembered state is not used.
    pub(super) fn note_withheld(&mut self, withheld: bool) {
        if let Some(learning) = self.learning.as_deref_mut() {
            learning.withheld = withheld;
        }
    }

    /// Returns how long, and by how many connections, the state just remembered may be used.
    #[cold]
    pub(super) fn terms_of(&self, seed: &Remembered) -> Option<SeedTerms> {
        let learning = self.learning.as_deref()?;
        let until = self.window.now() + learning.gate.max_age.saturating_sub(seed.age);
        let sole_use = learning.memory.borrow_mut().sole_use(learning.remote);
        Some(SeedTerms { until, sole_use })
    }

    /// Bounds the window by the gate, whatever a start-up has done with a memory.
    pub(super) fn bound_first_window(&mut self) {
        let Some(learning) = &self.learning else { return };
        let cwnd = self.window.cwnd();
        let bounded = arith::reuse::first_window(cwnd, self.restart_window, learning.gate.cap);
        if bounded != cwnd {
            self.window.set_cwnd(bounded, Cause::Seed);
        }
    }

    /// Notes a congestion event, while the window is unchanged.
    pub(super) fn learn_of_congestion(&mut self) {
        let Some(learning) = self.learning.as_deref_mut() else { return };
        if learning.kind == MemoryKind::Gateway {
            let (window, early) = (segmented_window(&self.window), self.window.below_ssthresh());
            if let Some(share) = learning.shares.on_loss(window, !early) {
                learning.report(self.window.now(), share, &self.rtt);
            }
        }
        if self.is_observed {
            learning.notes.on_congestion(self.in_flight, self.window.cwnd(), self.sent_total);
        }
    }

    /// Notes that the last congestion event was spurious. A gateway was notified at once, and gets
    /// no correction.
    pub(super) fn unlearn_congestion(&mut self) {
        if let Some(learning) = self.learning.as_deref_mut() {
            learning.notes.on_undo();
        }
    }

    /// Notes for a gateway the data in flight at an ACK. The window has not grown since the last
    /// segment was sent.
    #[cold]
    pub(super) fn note_flight(&mut self, sample: &AckSample) {
        if let Some(learning) = self.learning.as_deref_mut() {
            let (sent, cwnd) = (self.sent_total, self.window.cwnd());
            learning.shares.on_flight(sent, cwnd, sample.prior_in_flight);
        }
    }

    /// Notes for a site's memory the effect of an ACK on the current transfer.
    #[cold]
    pub(super) fn observe_ack(&mut self, sample: &AckSample) {
        let (window, mss) = (self.window.cwnd(), self.window.mss());
        if let Some(learning) = self.learning.as_deref_mut() {
            let repaired = learning.notes.on_ack(sample, window, mss);
            if repaired {
                let met = learning.notes.take(&self.rtt, mss);
                learning.record(sample.now, &Sample::Transfer(met));
            }
        }
    }

    /// Notes for a site's memory that a segment is retransmitted.
    #[cold]
    pub(super) fn observe_resent(&mut self) {
        if let Some(learning) = self.learning.as_deref_mut() {
            learning.notes.on_resent();
        }
    }

    /// Notes that all data of a member is acknowledged. If it was too little to be the transfer,
    /// like a TLS handshake, it shows nothing about the path: its window was not used.
    pub fn on_transfer_acked(&mut self) {
        let Some(learning) = self.learning.as_deref_mut() else { return };
        let counts = self.beginning == Beginning::Whole;
        if learning.kind == MemoryKind::Gateway {
            let share = learning.shares.on_end(segmented_window(&self.window));
            if let Some(share) = share.filter(|_| counts) {
                learning.report(self.window.now(), share, &self.rtt);
            }
        }
        if self.is_observed {
            let sample = learning.notes.end(&self.rtt, self.window.mss());
            if let Some(sample) = sample.filter(|s| counts || s.bound == Bound::Loss) {
                learning.record(self.window.now(), &Sample::Transfer(sample));
            }
        }
    }

    /// Reports the path's state, as of the last ACK, when a member has sent its last data, or the
    /// last has left.
    pub fn learn_of_end(&mut self) {
        self.on_end();
        let acked = self.acked_total;
        let Some(learning) = self.learning.as_deref_mut() else { return };
        if learning.kind != MemoryKind::Temporal || learning.reported_at == Some(acked) {
            return;
        }
        if learning.withheld || acked == 0 && learning.knew {
            // The path has not used the memory, or has sent nothing: the known state is better.
            return;
        }
        let at = self.last_acked.unwrap_or(self.window.now());
        learning.reported_at = Some(acked);
        let mut state = PathState {
            cwnd: self.window.cwnd(),
            ssthresh: Some(self.window.ssthresh()).filter(|bytes| *bytes != u64::MAX),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: Some(self.rtt.min_rtt()).filter(|rtt| *rtt != Duration::MAX),
            mss: self.window.mss(),
            rate: None,
            early_data: learning.early_data,
        };
        self.startup.leave(&mut state);
        learning.record(at, &Sample::Ended(state));
    }

    /// Returns true if the memory had a state of the destination when the path began, and it was
    /// used.
    pub fn began_remembering(&self) -> bool {
        self.learning.as_deref().is_some_and(|learning| learning.knew)
    }

    /// Returns true if the memory has noted that the peer accepts data in a SYN.
    pub fn remembers_early_data(&self) -> bool {
        self.learning.as_deref().is_some_and(|learning| learning.early_data)
    }

    /// Notes whether the peer accepts data in a SYN, or would, by the handshake.
    pub fn learn_of_early_data(&mut self, taken: bool) {
        if let Some(learning) = self.learning.as_deref_mut() {
            learning.early_data = taken;
        }
    }

    /// Takes the report that waits for a segment.
    pub fn take_report(&mut self) -> Option<GatewayReport> {
        self.learning.as_deref_mut()?.waiting.take()
    }
}
