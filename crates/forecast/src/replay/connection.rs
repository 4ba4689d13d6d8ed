//! One connection of a replay: between whom it is, how far it has come, and what becomes of it.

use crate::captured::{CapturedConnection, CapturedTransfer};
use crate::opening::OpeningTime;
use netsim::HostId;
use tcp::{ConnId, Scheme};
use units::{Duration, Instant};

/// A connection, and between whom.
#[derive(Clone, Debug)]
pub(crate) struct ReplaySpec {
    pub(crate) plan: CapturedConnection,
    /// When it opens: in virtual time, or behind a transfer of another one, by that one's number.
    pub(crate) opens: OpeningTime,
    pub(crate) client: HostId,
    pub(crate) server: HostId,
    /// The client's TCP.
    pub(crate) scheme: Scheme,
    /// Half of the round trip, after which the server hears of it.
    pub(crate) half_trip: Duration,
}

/// What became of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replayed {
    /// How long each transfer took; `None` for what did not end.
    pub(crate) took: Vec<Option<Duration>>,
    /// Segments that the server sent again, and expiries of its retransmission timer.
    pub(crate) again: u64,
    pub(crate) timeouts: u64,
    /// Its client's queue held more than the capture has shown.
    pub(crate) is_beyond: bool,
}

/// A connection under way.
pub(super) struct Running {
    pub(super) spec: ReplaySpec,
    pub(super) client: Option<ConnId>,
    pub(super) server: Option<ConnId>,
    /// Transfers asked for, answered to their end, arrived at the client, and acknowledged.
    pub(super) asked: usize,
    pub(super) arrived: usize,
    pub(super) answered: usize,
    pub(super) acked: usize,
    /// Payload of the requests and of the answers up to each transfer, from none to all.
    pub(super) payload: Vec<(u64, u64)>,
    /// An answer is on its way to TCP.
    pub(super) is_answering: bool,
    /// What of it is kept back until its application has paused, bytes.
    pub(super) kept_back: u64,
    /// When the first byte of the request that is answered next reached the server.
    pub(super) asked_at: Option<Instant>,
    /// When the transfer that is not all acknowledged began.
    pub(super) began: Option<Instant>,
    pub(super) result: Replayed,
    pub(super) is_over: bool,
}

impl Running {
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

/// Payload of the requests and of the answers of none of the transfers, the first, the first two, up to all.
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
