//! The reporters of a tenant: their finished batches, their quota of reports, and their status. The
//! table is bounded: the reporter that has been silent longest is forgotten first.

use crate::pki::HolderRole;
use gateway_proto::v1::HostStatus;
use lru::LruCache;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use units::{Duration, Instant};

/// Maximum number of reporters of a tenant that are remembered.
const MAX_REPORTERS: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();
/// Maximum number of epochs of a reporter that are remembered: it has one at a time, and a new one
/// after each start.
const MAX_EPOCHS: usize = 8;
/// Time over which unused quota accumulates, seconds.
const BURST_S: u64 = 10;
/// Fractions of a report: a reporter that may send one per second gains one fraction each
/// nanosecond.
const REPORT: u128 = 1_000_000_000;
/// Time without a message after which a reporter is no longer alive.
const ALIVE: Duration = Duration::from_secs(60);

/// All reporters of a tenant.
#[derive(Debug)]
pub struct Reporters(LruCache<String, ReporterRecord>);

/// The record of one reporter.
#[derive(Clone, Debug)]
pub struct ReporterRecord {
    /// Highest finished sequence of each epoch, the latest epoch last.
    epochs: VecDeque<EpochSeen>,
    /// Number of reports that it may send at `filled`.
    tokens: u64,
    /// Fractions ([`REPORT`]) of the next report, which carry over.
    part: u64,
    filled: Instant,
    /// Role in its certificate.
    pub role: HolderRole,
    /// Time of its last message.
    pub heard: Instant,
    /// Its accepted reports.
    pub taken: u64,
    /// Its refused reports.
    pub refused: u64,
    /// Its last status report.
    pub status: Option<HostStatus>,
}

#[derive(Clone, Copy, Debug)]
struct EpochSeen {
    epoch: u64,
    sequence: u64,
}

impl Default for Reporters {
    fn default() -> Self {
        Self(LruCache::new(MAX_REPORTERS))
    }
}

impl Reporters {
    /// Returns the reporter `name`, with a message at `now`.
    pub fn hear(&mut self, name: &str, now: Instant) -> &mut ReporterRecord {
        // The lookup is by reference first, so that a name is copied once.
        if !self.0.contains(name) {
            self.0.put(name.to_owned(), ReporterRecord::new(now));
        }
        let record = self.0.get_mut(name).unwrap_or_else(|| unreachable!("it was just put there"));
        record.heard = record.heard.max(now);
        record
    }

    /// Returns all reporters by name, the most recently active one first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ReporterRecord)> {
        self.0.iter().map(|(name, record)| (name.as_str(), record))
    }
}

impl ReporterRecord {
    fn new(now: Instant) -> Self {
        Self {
            epochs: VecDeque::new(),
            tokens: u64::MAX,
            part: 0,
            filled: now,
            role: HolderRole::Agent,
            heard: now,
            taken: 0,
            refused: 0,
            status: None,
        }
    }

    /// Returns true the first time that this batch is claimed. Batches of an epoch arrive in order,
    /// so all up to the highest are finished. If [`MAX_EPOCHS`] epochs are known, the oldest is
    /// dropped.
    pub fn claim(&mut self, epoch: u64, sequence: u64) -> bool {
        if let Some(seen) = self.epochs.iter_mut().find(|seen| seen.epoch == epoch) {
            let is_new = sequence > seen.sequence;
            seen.sequence = seen.sequence.max(sequence);
            return is_new;
        }
        if self.epochs.len() == MAX_EPOCHS {
            self.epochs.pop_front();
        }
        self.epochs.push_back(EpochSeen { epoch, sequence });
        true
    }

    /// Returns how many of `wanted` reports it may send at `now`, at `per_second`.
    pub fn admit(&mut self, now: Instant, per_second: u32, wanted: u64) -> u64 {
        let passed = now.saturating_since(self.filled);
        self.filled = self.filled.max(now);
        let due = u128::from(passed.as_nanos()) * u128::from(per_second) + u128::from(self.part);
        self.part = (due % REPORT) as u64;
        let more = u64::try_from(due / REPORT).unwrap_or(u64::MAX);
        self.tokens = self.tokens.saturating_add(more).min(u64::from(per_second) * BURST_S);
        let admitted = wanted.min(self.tokens);
        self.tokens -= admitted;
        admitted
    }

    /// Returns true if it has sent a message lately.
    pub fn is_alive(&self, now: Instant) -> bool {
        now.saturating_since(self.heard) <= ALIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_batch_is_claimed_once() {
        let mut record = ReporterRecord::new(Instant::ZERO);
        assert!(record.claim(7, 1) && record.claim(7, 2));
        assert!(!record.claim(7, 1) && !record.claim(7, 2));
        // A gap: another gateway has the batches between.
        assert!(record.claim(7, 9) && !record.claim(7, 8));
        // The reporter has restarted.
        assert!(record.claim(8, 1) && !record.claim(7, 9));
    }

    #[test]
    fn a_reporter_saves_up_ten_seconds() {
        let mut record = ReporterRecord::new(Instant::ZERO);
        // 10 s at 100 per second, all at once; then nothing more.
        assert_eq!(record.admit(Instant::ZERO, 100, 5000), 1000);
        assert_eq!(record.admit(Instant::ZERO, 100, 5000), 0);
        // 50 ms later 5 more.
        let later = Instant::ZERO + Duration::from_millis(50);
        assert_eq!(record.admit(later, 100, 5000), 5);
    }

    /// 150 reports each 1.5 ms are 100,000 per second. They are within the limit, though no report
    /// becomes due at a whole millisecond.
    #[test]
    fn parts_of_a_millisecond_count_the_next_time() {
        let mut record = ReporterRecord::new(Instant::ZERO);
        assert_eq!(record.admit(Instant::ZERO, 100_000, u64::MAX), 1_000_000);
        for n in 1..=1000 {
            let now = Instant::ZERO + Duration::from_micros(1500 * n);
            assert_eq!(record.admit(now, 100_000, 150), 150, "batch {n}");
        }
        // At 3 per second, asked each 100 ms: 30 in ten seconds, and none more.
        let mut slow = ReporterRecord::new(Instant::ZERO);
        assert_eq!(slow.admit(Instant::ZERO, 3, u64::MAX), 30);
        let at = |n: u64| Instant::ZERO + Duration::from_millis(100 * n);
        assert_eq!((1..=100).map(|n| slow.admit(at(n), 3, 9)).sum::<u64>(), 30);
    }

    proptest! {
        /// In any order of batches, none counts twice.
        #[test]
        fn no_batch_counts_twice(batches in prop::collection::vec((0_u64..4, 1_u64..20), 0..200)) {
            let mut record = ReporterRecord::new(Instant::ZERO);
            let mut claimed = std::collections::HashSet::new();
            for batch in batches {
                if record.claim(batch.0, batch.1) {
                    prop_assert!(claimed.insert(batch));
                }
            }
        }
    }
}
