//! What a client counts: written by its thread and by those who ask, read by whoever shows it.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How it goes with the gateways. Counts are since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// The gateway that answers now; `None`: none does.
    pub gateway: Option<String>,
    /// Why the last one was lost, or could not be reached.
    pub trouble: Option<String>,
    /// Questions asked.
    pub asked: u64,
    /// Of these, answered before the handshake can have ended.
    pub in_time: u64,
    /// Answered later: of use to the next connection.
    pub late: u64,
    /// Not answered, or answered that nothing is known.
    pub none: u64,
    /// Visitors of whom a gateway has told unasked, as their SYNs came, or their requests after a silence.
    #[serde(default)]
    pub arrivals: u64,
    /// Reports that a gateway has taken.
    pub reports_taken: u64,
    /// Reports that a gateway has refused.
    pub reports_refused: u64,
    /// Reports that there was no room for.
    pub reports_dropped: u64,
}

/// The same as it is counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) asked: Count,
    pub(crate) in_time: Count,
    pub(crate) late: Count,
    pub(crate) none: Count,
    pub(crate) arrivals: Count,
    pub(crate) reports_taken: Count,
    pub(crate) reports_refused: Count,
    pub(crate) reports_dropped: Count,
    gateway: Mutex<(Option<String>, Option<String>)>,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// So many more.
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Now.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counts {
    /// This gateway answers from now on.
    pub(crate) fn connected(&self, gateway: &str) {
        let mut held = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        *held = (Some(gateway.to_owned()), None);
    }

    /// None does.
    pub(crate) fn lost(&self, why: &str) {
        let mut held = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        *held = (None, Some(why.to_owned()));
    }

    /// All of it.
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
            reports_refused: self.reports_refused.get(),
            reports_dropped: self.reports_dropped.get(),
        }
    }
}
