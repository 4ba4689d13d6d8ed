//! A gateway's counters since its start. Each kind of event is one of a fixed list, so no label
//! depends on input.

use crate::config::options::CollectorName;
use gateway_proto::v1::{NoEstimate, Refusal, Source};
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter for each value of a list, by index.
#[derive(Debug)]
pub struct CountsOf<const N: usize>([AtomicU64; N]);

impl<const N: usize> Default for CountsOf<N> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl<const N: usize> CountsOf<N> {
    /// Adds `count` to the counter at `index`.
    pub fn add(&self, index: usize, count: u64) {
        if let Some(counter) = self.0.get(index) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Returns the counter at `index`.
    pub fn get(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }
}

/// One counter.
#[derive(Debug, Default)]
pub struct Tick(AtomicU64);

impl Tick {
    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Subtracts `count`, for a gauge of current objects.
    pub fn sub(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns the value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The reason why a connection of a reporter was refused before its first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedConnection {
    /// It shows no certificate.
    NoCertificate,
    /// Its certificate is from another authority.
    OtherAuthority,
    /// Its certificate has expired, or is not valid yet.
    Expired,
    /// Its certificate is in the list of revoked ones.
    Revoked,
    /// Its certificate identifies no holder, or a holder of an unknown tenant.
    NotAllowed,
    /// The handshake took too long, or was not TLS.
    Handshake,
    /// Too many connections are open.
    TooMany,
}

impl RefusedConnection {
    /// All reasons with the words of metrics.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::NoCertificate, "no-certificate"),
        (Self::OtherAuthority, "other-authority"),
        (Self::Expired, "expired"),
        (Self::Revoked, "revoked"),
        (Self::NotAllowed, "not-allowed"),
        (Self::Handshake, "handshake"),
        (Self::TooMany, "too-many"),
    ];
}

/// Words of metrics for refusals of reports.
pub const REFUSALS: [(Refusal, &str); 7] = [
    (Refusal::Network, "network"),
    (Refusal::TooLong, "too-long"),
    (Refusal::NotAllowed, "not-allowed"),
    (Refusal::Figures, "figures"),
    (Refusal::TooOld, "too-old"),
    (Refusal::Collector, "collector"),
    (Refusal::TooMany, "too-many"),
];

/// Words of metrics for sources of answers.
pub const SOURCES: [(Source, &str); 5] = [
    (Source::Network, "network"),
    (Source::Covering, "covering"),
    (Source::Neighbours, "neighbours"),
    (Source::Prior, "prior"),
    (Source::OtherSites, "other-sites"),
];

/// Words of metrics for questions without an answer.
pub const NONES: [(NoEstimate, &str); 3] = [
    (NoEstimate::Unknown, "unknown"),
    (NoEstimate::NotAllowed, "not-allowed"),
    (NoEstimate::Network, "no-network"),
];

/// Upper bounds of the histogram of answer times, microseconds.
pub const ANSWER_US: [u64; 8] = [5, 10, 25, 50, 100, 250, 1000, 10_000];

/// All counters.
#[derive(Debug, Default)]
pub struct Counts {
    /// Accepted reports, by [`CollectorName`].
    pub taken: CountsOf<{ CollectorName::ALL.len() }>,
    /// Refused reports, by [`Refusal`].
    pub refused: CountsOf<8>,
    /// Batches received more than once.
    pub repeated_batches: Tick,
    /// Batches refused as a whole.
    pub bad_batches: Tick,
    /// Answers by [`Source`].
    pub answered: CountsOf<6>,
    /// Questions without an answer, by [`NoEstimate`].
    pub unanswered: CountsOf<4>,
    /// Answers by the time they took: [`ANSWER_US`], and longer.
    pub answer_times: CountsOf<{ ANSWER_US.len() + 1 }>,
    /// Sum of these times, nanoseconds.
    pub answer_ns: Tick,
    /// Updates dropped because a subscriber was too slow.
    pub dropped_updates: Tick,
    /// Changed networks that were dropped because the queue of changes was full.
    pub dropped_changes: Tick,
    /// Connections that were refused, by [`RefusedConnection`].
    pub refused_connections: CountsOf<{ RefusedConnection::ALL.len() }>,
    /// Connections of reporters that are open.
    pub connections: Tick,
    /// Streams ended because a certificate was revoked or expired.
    pub ended_streams: Tick,
    /// Calls that ended because of a fault in the gateway: it panicked.
    pub failed_calls: Tick,
    /// Networks that operators made the site forget.
    pub forgotten: Tick,
    /// Operators' requests to forget.
    pub forgets: Tick,
    /// Records written for other gateways.
    pub shared: Tick,
    /// New records merged from other gateways.
    pub merged: Tick,
    /// Records of other gateways that were dropped: a memory keeps a limited number of gateways
    /// apart.
    pub unplaced: Tick,
    /// Notifications of servers about visitors, at their SYNs or at requests after a silence; one
    /// for each subscriber.
    pub arrivals: Tick,
    /// Visitors whom an observer has announced but may not report.
    pub refused_arrivals: Tick,
    /// Snapshots written.
    pub snapshots: Tick,
    /// Snapshots that could not be written.
    pub failed_snapshots: Tick,
}

impl Counts {
    /// Notes the time that an answer took.
    pub fn note_answer_time(&self, nanoseconds: u64) {
        let class = ANSWER_US.partition_point(|most| most * 1000 < nanoseconds);
        self.answer_times.add(class, 1);
        self.answer_ns.add(nanoseconds);
    }
}
