//! Sums of transfers.

use serde::ser::{Serialize, SerializeMap, Serializer};
use trace::{TimeShare, TransferReport};

/// Sums of a group of transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSums {
    /// Transfers.
    pub transfers: u64,
    /// Of these, transfers of which everything was acknowledged.
    pub complete: u64,
    /// Of these, transfers that fit into their first window: no larger one could have made them faster.
    pub fit_first_window: u64,
    /// Payload of the responses, bytes.
    pub bytes: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Of these, timeouts.
    pub timeouts: u64,
    /// Nanoseconds, in the order of [`TimeShare::ALL`]. Wide: a damaged capture has absurd times.
    nanos: [u128; TimeShare::COUNT],
}

/// Returns true if another sender could change the time of this class.
pub const fn is_changeable(share: TimeShare) -> bool {
    use TimeShare::{Avoidance, Recovery, SlowStart, Timeout};
    matches!(share, SlowStart | Avoidance | Recovery | Timeout)
}

/// The classes of time that a sender can change, in the order of [`TimeShare::ALL`].
pub fn changeable() -> impl Iterator<Item = TimeShare> {
    TimeShare::ALL.into_iter().filter(|share| is_changeable(*share))
}

/// What took how much of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeCause {
    /// What it was spent on.
    pub share: TimeShare,
    /// Seconds, all transfers together.
    pub seconds: f64,
    /// The part of all the time, in `0..=1`.
    pub part: f64,
    /// Seconds per transfer.
    pub mean: f64,
}

impl TimeSums {
    /// Adds a transfer.
    pub fn add(&mut self, report: &TransferReport) {
        self.transfers += 1;
        self.complete += u64::from(report.complete);
        self.fit_first_window += u64::from(report.fits_first_window());
        self.bytes += report.bytes;
        self.retransmissions += u64::from(report.retransmissions);
        self.timeouts += u64::from(report.timeouts);
        for (sum, share) in self.nanos.iter_mut().zip(TimeShare::ALL) {
            *sum += u128::from(report.shares.of(share).as_nanos());
        }
    }

    /// Adds the sums of another group.
    pub fn merge(&mut self, other: &Self) {
        self.transfers += other.transfers;
        self.complete += other.complete;
        self.fit_first_window += other.fit_first_window;
        self.bytes += other.bytes;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        for (sum, more) in self.nanos.iter_mut().zip(other.nanos) {
            *sum += more;
        }
    }

    /// Seconds spent on this.
    pub fn seconds(&self, share: TimeShare) -> f64 {
        self.nanos[share as usize] as f64 / 1e9
    }

    /// Nanoseconds of all transfers together.
    pub fn total_nanos(&self) -> u128 {
        self.nanos.iter().sum()
    }

    /// Nanoseconds lost to what a sender can change ([`crate::is_changeable`]).
    pub fn lost_nanos(&self) -> u128 {
        changeable().map(|share| self.nanos[share as usize]).sum()
    }

    /// The cause that took most of the time beside the path, or the path if there is nothing else;
    /// `None` if no time passed.
    pub fn main_cause(&self) -> Option<TimeCause> {
        let causes = self.causes();
        let other = causes.iter().find(|cause| cause.share != TimeShare::Path);
        other.or(causes.first()).copied()
    }

    /// Everything that took time, the most first; the path, which nobody can spare, among it.
    pub fn causes(&self) -> Vec<TimeCause> {
        let total = self.total_nanos() as f64 / 1e9;
        let cause = |share| {
            let seconds = self.seconds(share);
            let mean = seconds / self.transfers.max(1) as f64;
            TimeCause { share, seconds, part: seconds / total, mean }
        };
        let mut causes: Vec<TimeCause> = TimeShare::ALL.into_iter().map(cause).collect();
        causes.retain(|cause| cause.seconds > 0.0);
        causes.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        causes
    }
}

/// Its fields, and `seconds` by the names of shares.
impl Serialize for TimeSums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("transfers", &self.transfers)?;
        map.serialize_entry("complete", &self.complete)?;
        map.serialize_entry("fit_first_window", &self.fit_first_window)?;
        map.serialize_entry("bytes", &self.bytes)?;
        map.serialize_entry("retransmissions", &self.retransmissions)?;
        map.serialize_entry("timeouts", &self.timeouts)?;
        map.serialize_entry("seconds", &Seconds(self))?;
        map.end()
    }
}

struct Seconds<'a>(&'a TimeSums);

impl Serialize for Seconds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shares = TimeShare::ALL.into_iter();
        serializer.collect_map(shares.map(|share| (share.name(), self.0.seconds(share))))
    }
}
