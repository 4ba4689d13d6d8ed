//! Counters of both ends of a page's connections.

use netsim::{HostId, PageTransfer, Simulation};
use tcp::ConnId;
use units::Duration;

/// Counts of both ends' connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndCounts {
    /// Expiries of retransmission timers.
    pub(crate) timeouts: u64,
    /// Timeouts among them of SYNs and SYN-ACKs.
    pub(crate) openings: u64,
    /// Total time of waiting for all of them.
    pub(crate) waited: Duration,
    /// Tail-loss probes sent.
    pub(crate) probes: u64,
}

impl EndCounts {
    /// Counters of a connection; for a load that never ended, those so far.
    pub(crate) fn of(simulation: &Simulation, client: HostId, transfer: &PageTransfer) -> Self {
        let live = |host: HostId, conn: ConnId| {
            let connection = simulation.host(host).connection(conn);
            connection.map_or(Self::default(), |connection| (&connection.stats()).into())
        };
        let server = match (transfer.is_recorded(), transfer.server_conn()) {
            (false, Some(conn)) => live(transfer.server(), conn),
            _ => transfer.stats().into(),
        };
        let client = match (transfer.client_stats(), transfer.client_conn()) {
            (Some(stats), _) => stats.into(),
            (None, Some(conn)) => live(client, conn),
            (None, None) => Self::default(),
        };
        server + client
    }

    /// Counts since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            timeouts: self.timeouts.saturating_sub(before.timeouts),
            openings: self.openings.saturating_sub(before.openings),
            waited: self.waited.saturating_sub(before.waited),
            probes: self.probes.saturating_sub(before.probes),
        }
    }
}

impl From<&tcp::Stats> for EndCounts {
    fn from(stats: &tcp::Stats) -> Self {
        Self {
            timeouts: stats.timeouts,
            openings: stats.opening_timeouts,
            waited: stats.timeout_wait,
            probes: stats.probes,
        }
    }
}

impl std::ops::Add for EndCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            timeouts: self.timeouts + other.timeouts,
            openings: self.openings + other.openings,
            waited: self.waited + other.waited,
            probes: self.probes + other.probes,
        }
    }
}

impl std::iter::Sum for EndCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), std::ops::Add::add)
    }
}
