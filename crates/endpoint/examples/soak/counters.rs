//! Counters of the run, and the memory of the process.

use endpoint::EndpointStatus;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use units::Instant;

/// Head of the table for the lines of [`Counters::line`].
pub(crate) const HEADER: &str =
    "   time s  RSS MiB     open  buffers KiB    visits        MB  failures";

/// Growth below this does not count, KiB: an allocator's reserves vary as much.
const SLACK_KIB: u64 = 4096;
/// Growth below this share does not count either: the divisor of the memory.
const SLACK_SHARE: u64 = 10;
/// Maximum number of failures with a description.
const NAMED: usize = 20;

/// Counters of all clients.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    visits: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicU64,
    failures: Mutex<Vec<String>>,
}

impl Counters {
    pub(crate) fn count_visit(&self, done: Result<u64, String>) {
        self.visits.fetch_add(1, Ordering::Relaxed);
        match done {
            Ok(bytes) => {
                self.bytes.fetch_add(bytes, Ordering::Relaxed);
            }
            Err(what) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                if failures.len() < NAMED {
                    failures.push(what);
                }
            }
        }
    }

    /// Returns the descriptions of the first failures.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn line(&self, now: Instant, memory: &Memory, status: &EndpointStatus) -> String {
        format!(
            "{:>9} {:>8.1} {:>8} {:>12} {:>9} {:>9} {:>9}",
            now.as_nanos() / 1_000_000_000,
            memory.last_kib() as f64 / 1024.0,
            status.connections.len(),
            status.buffers / 1024,
            self.visits.load(Ordering::Relaxed),
            self.bytes.load(Ordering::Relaxed) / 1_000_000,
            self.failed.load(Ordering::Relaxed),
        )
    }
}

/// Resident memory over time, KiB.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Vec<u64>);

impl Memory {
    /// Adds a sample.
    ///
    /// # Errors
    /// If `/proc` is missing.
    pub(crate) fn take_sample(&mut self) -> io::Result<()> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse().ok());
        self.0.push(kib.ok_or_else(|| io::Error::other("no VmRSS in /proc/self/status"))?);
        Ok(())
    }

    fn last_kib(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }

    /// Returns the maximum in a quarter of the time, numbered from 0.
    fn most(&self, quarter: usize) -> u64 {
        let len = self.0.len();
        self.0[quarter * len / 4..(quarter + 1) * len / 4].iter().copied().max().unwrap_or(0)
    }

    pub(crate) fn summary(&self) -> String {
        let most = [0, 1, 2, 3].map(|quarter| self.most(quarter));
        format!("at most {most:?} KiB in the quarters of the time")
    }

    /// Describes the growth, if there is any. The first quarter is left out, since it fills buffers
    /// of fixed size.
    pub(crate) fn growth(&self) -> Option<String> {
        let (before, after) = (self.most(1), self.most(3));
        (after > before + before / SLACK_SHARE + SLACK_KIB)
            .then(|| format!("{}: from {before} to {after}", self.summary()))
    }
}
