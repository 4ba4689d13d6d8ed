//! The kernel's counters of a connection while it runs, on a thread of their own.

use super::sleep::sleep;
use super::sockets::KernelCounters;
use emulator::Clock;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use units::{Duration, Instant};

/// Counters at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSample {
    /// Time at which they were read.
    pub at: Instant,
    /// The counters.
    pub counters: KernelCounters,
}

/// Time between two samples.
const EVERY: Duration = Duration::from_millis(1);

/// Samples a connection until it is stopped.
pub(super) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<KernelSample>>,
}

impl Sampler {
    /// Begins to sample.
    ///
    /// # Errors
    /// If there are no more threads or descriptors.
    pub(super) fn start(stream: &TcpStream, clock: Clock) -> io::Result<Self> {
        let stream = stream.try_clone()?;
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let sample = move || {
            let mut samples = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                // The clock first: the counters are never older than their time says.
                let at = clock.now();
                // A closed connection has no counters, and its end logs the reason.
                let Ok(counters) = KernelCounters::of(&stream) else { break };
                samples.push(KernelSample { at, counters });
                sleep(EVERY);
            }
            samples
        };
        Ok(Self { stop, thread: thread::Builder::new().spawn(sample)? })
    }

    /// Ends it, and returns all samples.
    pub(super) fn end(self) -> Vec<KernelSample> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Time for which the sender had sent all that its buffer held, and its window had room for more.
pub(super) fn all_sent(samples: &[KernelSample], from: Instant, to: Instant) -> Duration {
    let within = samples.windows(2).filter(|pair| pair[0].at >= from && pair[1].at <= to);
    let limited = within.filter(|pair| pair[0].counters.has_sent_all());
    let time = limited.map(|pair| pair[1].at.saturating_since(pair[0].at));
    time.fold(Duration::ZERO, |sum, time| sum + time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples 2 ms apart. Between 2 and 8 ms: all sent, the window full, and something not sent.
    #[test]
    fn only_what_waits_for_the_buffer_counts() {
        let sample = |(n, (unacked, notsent)): (u64, (u32, u32))| KernelSample {
            at: Instant::ZERO + Duration::from_millis(2 * n),
            counters: KernelCounters { cwnd: 10, unacked, notsent, ..KernelCounters::default() },
        };
        let counters = [(5, 0), (5, 0), (10, 0), (5, 3), (5, 0)];
        let samples: Vec<_> = (0..).zip(counters).map(sample).collect();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        assert_eq!(all_sent(&samples, at(2), at(8)), Duration::from_millis(2));
    }
}
