//! The source of the capture's packets: interfaces, or a file. Interfaces appear and disappear
//! while the observer runs.

use crate::config::CapturePlace;
use crate::log::{LogPriority, say};
use capture::{CaptureError, InterfaceChange, LiveCapture, Observed, SegmentSource};
use std::collections::BTreeSet;
use std::time::Duration;

/// Pause after a failure before packets are requested again; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Packets, from interfaces or from a file.
pub(super) enum PacketSource {
    /// Interfaces.
    Live(Box<LiveCapture>),
    /// A file or a pipe, or another source that ends.
    Other(Box<dyn SegmentSource + Send>),
}

impl PacketSource {
    pub(super) fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError> {
        match self {
            Self::Live(live) => live.next_batch(batch),
            Self::Other(other) => other.next_batch(batch),
        }
    }

    /// Returns the number of packets that the kernel has dropped.
    pub(super) fn lost(&self) -> u64 {
        match self {
            Self::Live(live) => live.counters().lost,
            Self::Other(other) => other.counters().lost,
        }
    }

    fn take_changes(&mut self) -> Vec<InterfaceChange> {
        match self {
            Self::Live(live) => live.take_changes(),
            Self::Other(_) => Vec::new(),
        }
    }
}

/// Interfaces that are missing, and failures to read.
#[derive(Default)]
pub(super) struct SourceHealth {
    gone: BTreeSet<String>,
    /// Number of consecutive failures to read.
    failures: u32,
}

impl SourceHealth {
    /// Logs which interfaces have disappeared or reappeared; returns how many are missing.
    pub(super) fn look(&mut self, source: &mut PacketSource) -> usize {
        source.take_changes().into_iter().for_each(|change| self.note(change));
        self.gone.len()
    }

    /// Logs that an interface has gone or is back, and notes which ones are gone.
    fn note(&mut self, change: InterfaceChange) {
        let priority = match &change {
            InterfaceChange::Gone(_) => LogPriority::Warning,
            InterfaceChange::Back(_) => LogPriority::Notice,
        };
        say(priority, &format!("capture: {change}"));
        match change {
            InterfaceChange::Gone(name) => _ = self.gone.insert(name),
            InterfaceChange::Back(name) => _ = self.gone.remove(&name),
        }
    }

    pub(super) const fn note_success(&mut self) {
        self.failures = 0;
    }

    /// Logs the first failure of several in a row, and returns the pause before the next attempt. A
    /// file has a failure for each of its damaged parts: all are logged, without a pause.
    pub(super) fn note_failure(&mut self, why: &CaptureError, place: &CapturePlace) -> Duration {
        if matches!(place, CapturePlace::File(_)) {
            say(LogPriority::Warning, &format!("capture: {why}"));
            return Duration::ZERO;
        }
        if self.failures == 0 {
            say(LogPriority::Warning, &format!("capture: {why}; it is tried again"));
        }
        self.failures = self.failures.saturating_add(1);
        wait_after(self.failures)
    }
}

fn wait_after(failures: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_WAIT.saturating_mul(doubled).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_that_are_gone_are_counted_until_they_are_back() {
        let mut health = SourceHealth::default();
        let gone = |name: &str| InterfaceChange::Gone(name.to_owned());
        let steps = [
            (gone("eth0"), 1),
            (gone("eth1"), 2),
            (gone("eth1"), 2),
            (InterfaceChange::Back("eth0".to_owned()), 1),
            (InterfaceChange::Back("eth2".to_owned()), 1),
        ];
        for (change, count) in steps {
            health.note(change.clone());
            assert_eq!(health.gone.len(), count, "{change:?}");
        }
    }

    #[test]
    fn waits_double_from_a_tenth_of_a_second_to_ten() {
        let waits = [1, 2, 3, 7, 8, 40, u32::MAX].map(wait_after).map(|wait| wait.as_millis());
        assert_eq!(waits, [100, 200, 400, 6400, 10_000, 10_000, 10_000]);
    }
}
