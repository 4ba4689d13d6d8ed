//! Losses, retransmissions, timeouts and receiver windows of all connections: the paper's Table 3
//! and Figure 2 (Balakrishnan et al. 1998 §3.1).

use crate::distribution::{Counts, CumulativeDistribution};
use serde::{Deserialize, Serialize};
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, SenderCounters, SenderPhase, SentData,
    SparedBy,
};

/// Phases, in the order of their numbers.
const PHASES: [SenderPhase; 5] = [
    SenderPhase::Handshake,
    SenderPhase::SlowStart,
    SenderPhase::Avoidance,
    SenderPhase::Recovery,
    SenderPhase::Loss,
];

/// Segments sent in a phase of their sender, and losses found in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PhaseRow {
    /// `slow-start`, `avoidance`, `recovery`, or `loss` (repairs after a timeout).
    pub phase: &'static str,
    /// Segments, without retransmissions.
    pub segments: u64,
    /// Retransmissions of losses found in this phase, without tail-loss probes.
    pub lost: u64,
}

/// Retransmissions of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KindRow {
    /// `fast`, `recovery`, `timeout`, `slow-start` or `tail-probe`.
    pub kind: &'static str,
    /// Number of retransmissions.
    pub retransmissions: u64,
    /// Number of these retransmissions that the rebuilt sender did not expect.
    pub unexpected: u64,
}

/// Timeouts by the mechanism that would have avoided them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SparedRow {
    /// `sack`, `right-edge`, `tail-probe` or `nothing`.
    pub spared_by: &'static str,
    /// Number of timeouts. A timeout counts once, under the first mechanism that would have avoided
    /// it.
    pub timeouts: u64,
}

/// Table 3 and Figure 2, for data of servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LossFindings {
    /// Number of connections.
    pub connections: u64,
    /// Number of these connections with packets that overtook each other before the capture.
    pub reordered: u64,
    /// Number of these connections whose congestion window grew above the window that their client
    /// offered.
    pub window_limited: u64,
    /// Counters by phase.
    pub phases: Vec<PhaseRow>,
    /// Counters by kind, in the order of [`RetransmissionKind::ALL`].
    pub kinds: Vec<KindRow>,
    /// Timeouts by the mechanism that would have avoided them, in the order of [`SparedBy::ALL`].
    pub timeouts: Vec<SparedRow>,
    /// Retransmissions of delivered data (D-SACK).
    pub spurious: u64,
    /// The largest window that the client of each connection offered, bytes (Figure 2).
    pub receive_window: CumulativeDistribution,
}

impl LossFindings {
    /// Returns the number of retransmissions of this kind.
    pub fn of_kind(&self, kind: RetransmissionKind) -> u64 {
        let row = self.kinds.iter().find(|row| row.kind == kind.name());
        row.map_or(0, |row| row.retransmissions)
    }

    /// Returns the number of timeouts that this mechanism would have avoided.
    pub fn spared_by(&self, by: SparedBy) -> u64 {
        let row = self.timeouts.iter().find(|row| row.spared_by == by.name());
        row.map_or(0, |row| row.timeouts)
    }

    /// Returns the sums of segments sent and losses found in these phases.
    pub fn in_phases(&self, phases: &[SenderPhase]) -> PhaseSums {
        let rows = self.phases.iter().filter(|row| phases.iter().any(|p| p.name() == row.phase));
        rows.fold(PhaseSums::default(), |sums, row| PhaseSums {
            segments: sums.segments + row.segments,
            lost: sums.lost + row.lost,
        })
    }
}

/// Segments sent and losses found in some phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseSums {
    /// Segments, without retransmissions.
    pub segments: u64,
    /// Number of losses.
    pub lost: u64,
}

/// Adds up the results of connections.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct LossCounters {
    connections: u64,
    reordered: u64,
    window_limited: u64,
    segments: [u64; PHASES.len()],
    lost: [u64; PHASES.len()],
    server: SenderCounters,
    receive_window: Counts,
}

impl LossCounters {
    /// Adds the results of other connections.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { connections, reordered, window_limited, segments, lost, server, receive_window } =
            other;
        self.connections += connections;
        self.reordered += reordered;
        self.window_limited += window_limited;
        self.segments.iter_mut().zip(segments).for_each(|(sum, of)| *sum += of);
        self.lost.iter_mut().zip(lost).for_each(|(sum, of)| *sum += of);
        self.server.add(server);
        self.receive_window.add_all(receive_window);
    }

    #[inline]
    pub(crate) fn on_sent(&mut self, sent: &SentData) {
        self.segments[sent.phase as usize] += sent.segments;
    }

    pub(crate) fn on_loss(&mut self, again: &Retransmission) {
        self.lost[again.phase as usize] += 1;
    }

    /// Notes that a connection is over; its client offered `window` bytes at most, if it is known.
    pub(crate) fn on_connection(&mut self, summary: &ConnectionTrace, window: u64, limited: bool) {
        self.connections += 1;
        self.reordered += u64::from(summary.server_sent.reordered > 0);
        self.window_limited += u64::from(limited);
        self.server.add(&summary.server_sent);
        if window > 0 {
            self.receive_window.add(window);
        }
    }

    /// Returns the findings of the sums so far.
    pub(crate) fn findings(&self) -> LossFindings {
        let phase = |phase: SenderPhase| PhaseRow {
            phase: phase.name(),
            segments: self.segments[phase as usize],
            lost: self.lost[phase as usize],
        };
        let kind = |kind: RetransmissionKind| KindRow {
            kind: kind.name(),
            retransmissions: self.server.retransmissions[kind as usize],
            unexpected: self.server.unexpected[kind as usize],
        };
        let spared = |by: SparedBy| SparedRow {
            spared_by: by.name(),
            timeouts: self.server.spared_by[by as usize],
        };
        LossFindings {
            connections: self.connections,
            reordered: self.reordered,
            window_limited: self.window_limited,
            phases: PHASES.into_iter().skip(1).map(phase).collect(),
            kinds: RetransmissionKind::ALL.into_iter().map(kind).collect(),
            timeouts: SparedBy::ALL.into_iter().map(spared).collect(),
            spurious: self.server.spurious,
            receive_window: self.receive_window.distribution(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row has the timeouts of its own name, summed over all connections and parts.
    #[test]
    fn timeouts_are_counted_under_what_would_have_spared_them() {
        use SparedBy::{Nothing, RightEdge, Sack, TailProbe};
        let of = |spared_by| {
            let server_sent = SenderCounters { spared_by, ..SenderCounters::default() };
            ConnectionTrace { server_sent, ..ConnectionTrace::default() }
        };
        let (mut counters, mut other) = (LossCounters::default(), LossCounters::default());
        counters.on_connection(&of([1, 2, 3, 4]), 0, false);
        other.on_connection(&of([10, 20, 30, 40]), 0, false);
        counters.add(&other);
        let findings = counters.findings();
        let counts = [Sack, RightEdge, TailProbe, Nothing].map(|by| findings.spared_by(by));
        assert_eq!(counts, [11, 22, 33, 44]);
    }
}
