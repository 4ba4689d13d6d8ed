//! What is counted, and what the process takes.

use endpoint::EndpointStatus;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use units::Instant;

/// Above the lines of [`Tally::line`].
pub(crate) const HEADER: &str =
    "   time s  RSS MiB     open  buffers KiB    visits        MB  failures";

/// Growth below this is no growth: what an allocator keeps for later varies by as much.
const SLACK_KIB: u64 = 4096;
/// The same, as a share: one part in so many.
const SLACK_SHARE: u64 = 10;
/// As many failures are kept by name.
const NAMED: usize = 20;

/// What all clients did.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    visits: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicU64,
    failures: Mutex<Vec<String>>,
}

impl Tally {
    pub(crate) fn note(&self, done: Result<u64, String>) {
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

    /// The first ones.
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
    /// # Errors
    /// If `/proc` is not there.
    pub(crate) fn look(&mut self) -> io::Result<()> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse().ok());
        self.0.push(kib.ok_or_else(|| io::Error::other("no VmRSS in /proc/self/status"))?);
        Ok(())
    }

    fn last_kib(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }

    /// The most in a quarter of the time, from 0.
    fn most(&self, quarter: usize) -> u64 {
        let len = self.0.len();
        self.0[quarter * len / 4..(quarter + 1) * len / 4].iter().copied().max().unwrap_or(0)
    }

    pub(crate) fn summary(&self) -> String {
        let most = [0, 1, 2, 3].map(|quarter| self.most(quarter));
        format!("at most {most:?} KiB in the quarters of the time")
    }

    /// What it has grown by, if it has: the first quarter fills what has a size of its own.
    pub(crate) fn growth(&self) -> Option<String> {
        let (before, after) = (self.most(1), self.most(3));
        (after > before + before / SLACK_SHARE + SLACK_KIB)
            .then(|| format!("{}: from {before} to {after}", self.summary()))
    }
}
