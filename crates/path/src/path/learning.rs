//! What a path asks its memory and tells it.
//!
//! Asked when the path is made (round trip, permission for early data) and with its first data (the
//! window), of a gateway also after idle. Told what one connection got of the path when a loss shows
//! it or a transfer ends without (Zhang, Qiu & Keshav 2000 §5.1), and how the path was when its
//! connections ended.

use super::Path;
use super::observed::TransferNotes;
use memory::site::Bound;
use memory::{
    Cold, CountedWindow, GatewayReport, PathState, Remembered, ReuseGate, Sample, ShareNotes,
    ShareRule, Shared,
};
use policy::ack::{AckSample, RttEstimator};
use policy::config::MemoryKind;
use policy::startup::{Beginning, SeedTerms};
use policy::window::{Cause, Window};
use std::net::IpAddr;
use units::{Duration, Instant};

/// How senders' reports reach a gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reporting {
    /// At once, as by a message of the application's.
    #[default]
    Direct,
    /// In an option of the next segment with data, for a gateway on the way to read.
    InSegments,
}

/// The rules by which a path uses its memory.
#[derive(Clone, Copy, Debug)]
pub struct LearningTerms {
    /// The gate that a remembered state passes before it is used.
    pub gate: ReuseGate,
    /// The way of reports to a gateway.
    pub reporting: Reporting,
    /// The rule for shares that a gateway is sent.
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
    /// For a gateway: what tells it of the share.
    shares: ShareNotes,
    /// Its rule needs to know of flights.
    watches_flights: bool,
    /// The peer takes data in a SYN, as far as is known.
    early_data: bool,
    /// Something was remembered when the path began.
    knew: bool,
    /// That was not begun with.
    withheld: bool,
    /// Bytes acknowledged when the path's state was told last.
    told_at: Option<u64>,
    /// For a site's memory: what the transfer under way has met.
    notes: TransferNotes,
}

impl Learning {
    /// A side that asks `memory`, of this kind, for `remote`, and has reported nothing.
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
            told_at: None,
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

fn counted(window: &Window) -> CountedWindow {
    CountedWindow { cwnd: window.cwnd(), mss: window.mss() }
}

impl Path {
    /// Begins with what `learning` remembers, and tells it from now on.
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

    /// What the memory knows of the destination now, as the start-up sees it; after idle only a
    /// gateway is asked: what others have learnt is news, what this path has is not.
    pub(super) fn recall(&self, after_idle: bool) -> Option<Remembered> {
        let learning = self.learning.as_deref()?;
        if after_idle && !matches!(learning.kind, MemoryKind::Gateway | MemoryKind::Site) {
            return None;
        }
        learning.recall(self.window.now(), &self.cold())
    }

    /// Whether something is remembered that is not begun with.
    pub(super) fn note_withheld(&mut self, withheld: bool) {
        if let Some(learning) = self.learning.as_deref_mut() {
            learning.withheld = withheld;
        }
    }

    /// How long, and by how many, what was remembered just now may be used.
    #[cold]
    pub(super) fn terms_of(&self, seed: &Remembered) -> Option<SeedTerms> {
        let learning = self.learning.as_deref()?;
        let until = self.window.now() + learning.gate.max_age.saturating_sub(seed.age);
        let sole_use = learning.memory.borrow_mut().sole_use(learning.remote);
        Some(SeedTerms { until, sole_use })
    }

    /// Whatever a start-up made of a memory, the window keeps the gate's bounds.
    pub(super) fn bound_first_window(&mut self) {
        let Some(learning) = &self.learning else { return };
        let cwnd = self.window.cwnd();
        let bounded = arith::reuse::first_window(cwnd, self.restart_window, learning.gate.cap);
        if bounded != cwnd {
            self.window.set_cwnd(bounded, Cause::Seed);
        }
    }

    /// Congestion was met; the window is still what it was.
    pub(super) fn learn_of_congestion(&mut self) {
        let Some(learning) = self.learning.as_deref_mut() else { return };
        if learning.kind == MemoryKind::Gateway {
            let (window, early) = (counted(&self.window), self.window.below_ssthresh());
            if let Some(share) = learning.shares.on_loss(window, !early) {
                learning.report(self.window.now(), share, &self.rtt);
            }
        }
        if self.is_observed {
            learning.notes.on_congestion(self.in_flight, self.window.cwnd(), self.sent_total);
        }
    }

    /// The congestion met last was none. A gateway was told at once, and is not told otherwise.
    pub(super) fn unlearn_congestion(&mut self) {
        if let Some(learning) = self.learning.as_deref_mut() {
            learning.notes.on_undo();
        }
    }

    /// Notes for a gateway what was in flight when an ACK came. The window has not grown since anything left.
    #[cold]
    pub(super) fn note_flight(&mut self, sample: &AckSample) {
        if let Some(learning) = self.learning.as_deref_mut() {
            let (sent, cwnd) = (self.sent_total, self.window.cwnd());
            learning.shares.on_flight(sent, cwnd, sample.prior_in_flight);
        }
    }

    /// Notes for a site's memory what an ACK tells of the transfer under way.
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

    /// Notes for a site's memory that a segment goes again.
    #[cold]
    pub(super) fn observe_resent(&mut self) {
        if let Some(learning) = self.learning.as_deref_mut() {
            learning.notes.on_resent();
        }
    }

    /// All that a member has written is acknowledged. What was too little to be the transfer, like a
    /// TLS handshake, says nothing of the path: its window was not put to use.
    pub fn on_transfer_acked(&mut self) {
        let Some(learning) = self.learning.as_deref_mut() else { return };
        let counts = self.beginning == Beginning::Whole;
        if learning.kind == MemoryKind::Gateway {
            let share = learning.shares.on_end(counted(&self.window));
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

    /// A member has sent all it will, or the last has left: how the path is now is remembered, as of
    /// the last ACK.
    pub fn learn_of_end(&mut self) {
        self.on_end();
        let acked = self.acked_total;
        let Some(learning) = self.learning.as_deref_mut() else { return };
        if learning.kind != MemoryKind::Temporal || learning.told_at == Some(acked) {
            return;
        }
        if learning.withheld || acked == 0 && learning.knew {
            // It has begun without it, or has sent nothing: what is known already is better.
            return;
        }
        let at = self.last_acked.unwrap_or(self.window.now());
        learning.told_at = Some(acked);
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

    /// Something was remembered of the destination when the path began, and believed.
    pub fn began_remembering(&self) -> bool {
        self.learning.as_deref().is_some_and(|learning| learning.knew)
    }

    /// The peer is remembered to take data in a SYN.
    pub fn remembers_early_data(&self) -> bool {
        self.learning.as_deref().is_some_and(|learning| learning.early_data)
    }

    /// The handshake has shown whether the peer takes data in a SYN, or would.
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
