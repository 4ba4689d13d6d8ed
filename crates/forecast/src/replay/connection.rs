//! One connection of a replay: its ends, its progress, and its results.

use crate::captured::{CapturedConnection, CapturedTransfer};
use crate::opening::OpeningTime;
use netsim::HostId;
use tcp::{ConnId, Scheme};
use units::{Duration, Instant};

/// A connection, and its ends.
#[derive(Clone, Debug)]
pub(crate) struct ReplaySpec {
    pub(crate) plan: CapturedConnection,
    /// Its opening: a virtual time, or an event of another connection, by that one's number.
    pub(crate) opens: OpeningTime,
    pub(crate) client: HostId,
    pub(crate) server: HostId,
    /// The client's TCP.
    pub(crate) scheme: Scheme,
    /// Half of the round trip, after which the server learns of it.
    pub(crate) half_trip: Duration,
}

/// The result of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replayed {
    /// Time of each transfer; `None` for transfers that did not end.
    pub(crate) took: Vec<Option<Duration>>,
    /// Number of segments that the server retransmitted.
    pub(crate) retransmissions: u64,
    /// Expiries of its retransmission timer.
    pub(crate) timeouts: u64,
    /// True if its client's queue held more than the capture has shown.
    pub(crate) is_beyond: bool,
}

/// An open connection.
pub(super) struct ReplayedConnection {
    pub(super) spec: ReplaySpec,
    pub(super) client: Option<ConnId>,
    pub(super) server: Option<ConnId>,
    /// Number of transfers requested, answered to their end, delivered to the client, and
    /// acknowledged.
    pub(super) asked: usize,
    pub(super) arrived: usize,
    pub(super) answered: usize,
    pub(super) acked: usize,
    /// Payload of the requests and of the answers before each transfer, from none to all.
    pub(super) payload: Vec<(u64, u64)>,
    /// True while an answer is on its way to TCP.
    pub(super) is_answering: bool,
    /// The part of the answer withheld until its application has paused, bytes.
    pub(super) kept_back: u64,
    /// Time at which the server got the first byte of the request that is answered next.
    pub(super) asked_at: Option<Instant>,
    /// Start of the transfer that is not fully acknowledged.
    pub(super) began: Option<Instant>,
    pub(super) result: Replayed,
    pub(super) is_over: bool,
}

impl ReplayedConnection {
    /// Creates a connection that has not opened yet.
    pub(super) fn new(spec: ReplaySpec) -> Self {
        let result =
            Replayed { took: vec![None; spec.plan.transfers.len()], ..Replayed::default() };
        Self {
            payload: payload(&spec.plan.transfers),
            spec,
            client: None,
            server: None,
            asked: 0,
            arrived: 0,
            answered: 0,
            acked: 0,
            is_answering: false,
            kept_back: 0,
            asked_at: None,
            began: None,
            result,
            is_over: false,
        }
    }

    pub(super) fn transfer(&self, index: usize) -> Option<&CapturedTransfer> {
        self.spec.plan.transfers.get(index)
    }
}

/// Returns the payload of the requests and of the answers of none of the transfers, the first, the
/// first two, up to all.
fn payload(transfers: &[CapturedTransfer]) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0)];
    let (mut requests, mut answers) = (0, 0);
    for transfer in transfers {
        requests += transfer.request;
        answers += transfer.bytes;
        sums.push((requests, answers));
    }
    sums
}
