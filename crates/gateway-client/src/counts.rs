//! The counters of a client: its thread and its callers write them, status displays read them.

use gateway_proto::v1::{Refusal, RefusedReports};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The state of the connection with the gateways, and counters since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// The connected gateway; `None` if there is none.
    pub gateway: Option<String>,
    /// The reason why the last gateway was lost, or could not be connected.
    pub trouble: Option<String>,
    /// Questions asked.
    pub asked: u64,
    /// Number of questions answered before the handshake can have ended.
    pub in_time: u64,
    /// Late answers: they serve the next connection.
    pub late: u64,
    /// Number of questions without an answer, or answered that nothing is known.
    pub none: u64,
    /// Visitors that a gateway has announced, at their SYNs, or at their requests after a silence.
    #[serde(default)]
    pub arrivals: u64,
    /// Reports that gateways have accepted.
    pub reports_taken: u64,
    /// Reports that a gateway has refused.
    pub reports_refused: u64,
    /// Reports dropped because the queue was full.
    pub reports_dropped: u64,
}

/// The counters behind [`ClientStatus`].
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) asked: Count,
    pub(crate) in_time: Count,
    pub(crate) late: Count,
    pub(crate) none: Count,
    pub(crate) arrivals: Count,
    pub(crate) reports_taken: Count,
    /// Refused reports by [`Refusal`]; one that this version does not know counts as unspecified.
    reports_refused: [Count; REFUSALS],
    pub(crate) reports_dropped: Count,
    /// Visitors of an observer whose announcement was not sent to a gateway.
    pub(crate) unannounced: Count,
    gateway: Mutex<(Option<String>, Option<String>)>,
}

/// Number of refusals' kinds.
const REFUSALS: usize = Refusal::TooMany as usize + 1;

/// A counter that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds `more`.
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Returns the value.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counts {
    /// Notes that this gateway is connected from now on.
    pub(crate) fn connected(&self, gateway: &str) {
        let mut held = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        *held = (Some(gateway.to_owned()), None);
    }

    /// Notes that no gateway is connected.
    pub(crate) fn lost(&self, why: &str) {
        let mut held = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        *held = (None, Some(why.to_owned()));
    }

    /// Counts reports that a gateway has refused.
    pub(crate) fn refused(&self, refused: RefusedReports) {
        let why = usize::try_from(refused.why).ok().filter(|why| *why < REFUSALS);
        self.reports_refused[why.unwrap_or(0)].add(refused.count.into());
    }

    /// Returns the number of refused reports so far, by reason.
    pub(crate) fn refusals(&self) -> Vec<(Refusal, u64)> {
        let counts = self.reports_refused.iter().zip(0..);
        let named = counts.map(|(count, why)| {
            (Refusal::try_from(why).unwrap_or(Refusal::Unspecified), count.get())
        });
        named.filter(|(_, count)| *count > 0).collect()
    }

    /// Returns the state and all counters.
    pub(crate) fn status(&self) -> ClientStatus {
        let held = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        let (gateway, trouble) = held.clone();
        ClientStatus {
            gateway,
            trouble,
            asked: self.asked.get(),
            in_time: self.in_time.get(),
            late: self.late.get(),
            none: self.none.get(),
            arrivals: self.arrivals.get(),
            reports_taken: self.reports_taken.get(),
            reports_refused: self.reports_refused.iter().map(Count::get).sum(),
            reports_dropped: self.reports_dropped.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_reason_and_in_all() {
        let counts = Counts::default();
        let refuse = |why: i32, count| counts.refused(RefusedReports { why, count });
        refuse(Refusal::TooLong.into(), 2);
        refuse(Refusal::Collector.into(), 5);
        refuse(Refusal::TooLong.into(), 1);
        // This number is from a later version.
        refuse(99, 4);
        refuse(-1, 1);
        let expected = [(Refusal::Unspecified, 5), (Refusal::TooLong, 3), (Refusal::Collector, 5)];
        assert_eq!(counts.refusals(), expected);
        assert_eq!(counts.status().reports_refused, 13);
    }
}
