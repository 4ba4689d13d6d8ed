//! What a gateway counts, since its start. Each kind of event is one of a fixed list: no label comes from outside.

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
    /// So many more at `index`.
    pub fn add(&self, index: usize, count: u64) {
        if let Some(counter) = self.0.get(index) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// At `index`.
    pub fn get(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }
}

/// One counter.
#[derive(Debug, Default)]
pub struct Tick(AtomicU64);

impl Tick {
    /// So many more.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// So many fewer, of something that is counted as it is.
    pub fn sub(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }

    /// How many.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a connection of a reporter was refused before it could say anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedConnection {
    /// No certificate.
    NoCertificate,
    /// Of another authority.
    OtherAuthority,
    /// Its time is over, or has not begun.
    Expired,
    /// In the list.
    Revoked,
    /// It names nobody, or nobody of a tenant of this gateway.
    NotAllowed,
    /// Not in time, or no TLS.
    Handshake,
    /// There are too many.
    TooMany,
}

impl RefusedConnection {
    /// All of them with the words of metrics.
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

/// Words of metrics for what answered.
pub const SOURCES: [(Source, &str); 4] = [
    (Source::Network, "network"),
    (Source::Covering, "covering"),
    (Source::Neighbours, "neighbours"),
    (Source::Prior, "prior"),
];

/// The same where nothing did.
pub const NONES: [(NoEstimate, &str); 3] = [
    (NoEstimate::Unknown, "unknown"),
    (NoEstimate::NotAllowed, "not-allowed"),
    (NoEstimate::Network, "no-network"),
];

/// Upper bounds of times to answer, microseconds.
pub const ANSWER_US: [u64; 8] = [5, 10, 25, 50, 100, 250, 1000, 10_000];

/// All counters.
#[derive(Debug, Default)]
pub struct Counts {
    /// Reports that count, by [`CollectorName`].
    pub taken: CountsOf<{ CollectorName::ALL.len() }>,
    /// Reports that do not, by [`Refusal`].
    pub refused: CountsOf<8>,
    /// Batches that were known already.
    pub repeated_batches: Tick,
    /// Batches that could not be taken at all.
    pub bad_batches: Tick,
    /// Answers by [`Source`].
    pub answered: CountsOf<5>,
    /// Questions without an answer, by [`NoEstimate`].
    pub unanswered: CountsOf<4>,
    /// Answers by the time they took: [`ANSWER_US`], and longer.
    pub answer_times: CountsOf<{ ANSWER_US.len() + 1 }>,
    /// Sum of these times, nanoseconds.
    pub answer_ns: Tick,
    /// Updates that subscribers were too slow for.
    pub dropped_updates: Tick,
    /// Changed networks that there was no room to tell of.
    pub dropped_changes: Tick,
    /// Connections that were refused, by [`RefusedConnection`].
    pub refused_connections: CountsOf<{ RefusedConnection::ALL.len() }>,
    /// Connections of reporters that are open.
    pub connections: Tick,
    /// Streams that were ended because a certificate was revoked or ended.
    pub ended_streams: Tick,
    /// Calls that ended because of a fault in the gateway: it panicked.
    pub failed_calls: Tick,
    /// Networks that somebody had forgotten.
    pub forgotten: Tick,
    /// How often somebody had.
    pub forgets: Tick,
    /// Records that were written for other gateways.
    pub shared: Tick,
    /// Records of other gateways that said something new.
    pub merged: Tick,
    /// Records of other gateways for which there was no place: more gateways than a memory holds apart.
    pub unplaced: Tick,
    /// Visitors that servers were told of as their SYNs came, or their requests after a silence, once for each subscriber.
    pub arrivals: Tick,
    /// Visitors whom an observer has announced and may not report.
    pub refused_arrivals: Tick,
    /// Snapshots written, and those that failed.
    pub snapshots: Tick,
    /// Snapshots that could not be written.
    pub failed_snapshots: Tick,
}

impl Counts {
    /// An answer took so long.
    pub fn note_answer_time(&self, nanoseconds: u64) {
        let class = ANSWER_US.partition_point(|most| most * 1000 < nanoseconds);
        self.answer_times.add(class, 1);
        self.answer_ns.add(nanoseconds);
    }
}
