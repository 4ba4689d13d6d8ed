//! Bounds of a page load: the causes, and the share of its time that each took.
//!
//! `account` says how a moment gets its cause; `docs/race.md` says it to readers. The names follow
//! the kernel's accounts of a sender (`tcp_chrono` in `net/ipv4/tcp.c`) and T-RAT's rate limits
//! (Zhang, Breslau, Paxson & Shenker 2002 §3).

use serde::ser::{Serialize, SerializeMap, Serializer};
use units::Instant;

/// Cause that bounded a page, or one of its senders, at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// The access link held data of the page: no sender could have been faster.
    Path,
    /// A sender held data back that the client's window had room for: congestion window or pacing.
    CongestionWindow,
    /// A sender held data back because the window that the client offered had no room for its next
    /// segment.
    ReceiveWindow,
    /// Bytes that the path lost had not been retransmitted.
    Recovery,
    /// A server had been asked and had nothing to send yet.
    Server,
    /// The browser worked out its next request.
    Client,
    /// The browser looked up the name of a host.
    Dns,
    /// Nothing but signals under way: handshakes, requests, last bytes, acknowledgements.
    Rounds,
}

impl Bound {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Path,
        Self::CongestionWindow,
        Self::ReceiveWindow,
        Self::Recovery,
        Self::Server,
        Self::Client,
        Self::Dns,
        Self::Rounds,
    ];

    /// Its name in tables and its key in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::CongestionWindow => "cwnd",
            Self::ReceiveWindow => "rwnd",
            Self::Recovery => "recovery",
            Self::Server => "server",
            Self::Client => "client",
            Self::Dns => "dns",
            Self::Rounds => "rounds",
        }
    }
}

/// Cause that bounded a sender or page from an instant on; `None` where there was nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundFrom {
    /// Start of the interval.
    pub at: Instant,
    /// The cause.
    pub bound: Option<Bound>,
}

/// The share of a load's time that each cause took: each in `0..=1`, their sum 1 but for rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundShares([f64; Bound::ALL.len()]);

impl BoundShares {
    /// From the time of each cause, in nanoseconds and the order of [`Bound::ALL`]; `None` if there
    /// is no time at all.
    pub(crate) fn of(nanos: [f64; Bound::ALL.len()]) -> Option<Self> {
        let total: f64 = nanos.iter().sum();
        (total > 0.0).then(|| Self(nanos.map(|part| part / total)))
    }

    /// The mean of several loads' shares; `None` of none.
    pub fn mean(all: &[Self]) -> Option<Self> {
        let count = all.len() as f64;
        let mean = |index: usize| all.iter().map(|shares| shares.0[index]).sum::<f64>() / count;
        (!all.is_empty()).then(|| Self(std::array::from_fn(mean)))
    }

    /// The share of one cause.
    pub fn get(&self, bound: Bound) -> f64 {
        self.0[bound as usize]
    }

    /// Every cause with its share.
    pub fn iter(&self) -> impl Iterator<Item = (Bound, f64)> {
        Bound::ALL.into_iter().zip(self.0)
    }

    /// The cause that took the largest share, and this share; of equal ones the first of
    /// [`Bound::ALL`].
    pub fn largest(&self) -> (Bound, f64) {
        self.iter().fold((Bound::Path, 0.0), |most, one| if one.1 > most.1 { one } else { most })
    }
}

/// An object: a key for each cause.
impl Serialize for BoundShares {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Bound::ALL.len()))?;
        for (bound, share) in self.iter() {
            map.serialize_entry(bound.name(), &share)?;
        }
        map.end()
    }
}
