//! The lowest round trip of the last 10 s, and probing for it: four segments in flight for 200 ms,
//! so that queues drain (draft §4.1.2, §4.3.5).

use crate::ack::AckSample;
use arith::bbr::MIN_WINDOW;
use units::{Duration, Instant};

/// A round trip counts so long (`MinRTTFilterLen`).
const FILTER: Duration = Duration::from_secs(10);
/// Probing lasts so long at least (`ProbeRTTDuration`).
const PROBE: Duration = Duration::from_millis(200);

/// The lowest round trip, and a probe if one is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    lowest: Duration,
    seen_at: Instant,
    pub(super) probe: Option<Probe>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self::new(Duration::MAX, Instant::ZERO)
    }
}

impl RoundTrips {
    pub(super) const fn new(lowest: Duration, now: Instant) -> Self {
        Self { lowest, seen_at: now, probe: None }
    }

    /// Microseconds; `None` before the first.
    pub(super) fn lowest_us(&self) -> Option<u64> {
        (self.lowest < Duration::MAX).then(|| self.lowest.as_micros())
    }

    /// Processes an ACK's round trip; true if the known lowest one was too old. A round trip that
    /// `delayed` may have lengthened does not replace an old one. An equal one does not renew it
    /// (Linux since 5.10; draft §4.1.2.3 says otherwise).
    pub(super) fn on_ack(&mut self, sample: &AckSample, delayed: bool) -> bool {
        let expired = sample.now > self.seen_at + FILTER;
        if let Some(rtt) = sample.rtt
            && (rtt < self.lowest || expired && !delayed)
        {
            self.lowest = rtt;
            self.seen_at = sample.now;
        }
        expired
    }

    /// Ends the probe if it has lasted; the next is due a filter's length later.
    pub(super) fn end_probe(&mut self, now: Instant) -> bool {
        let lasted = self.probe.is_some_and(|probe| probe.ends.is_some_and(|ends| now > ends));
        if lasted {
            self.seen_at = now;
            self.probe = None;
        }
        lasted
    }
}

/// A probe of the round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// Time at which it may end; `None` until few enough segments are in flight.
    ends: Option<Instant>,
    round_done: bool,
}

impl Probe {
    /// Takes an ACK after which `in_flight` segments are. True if that few are for the first time,
    /// so that a round begins that the probe has to outlast.
    pub(super) fn on_ack(&mut self, now: Instant, in_flight: u64, round_started: bool) -> bool {
        match self.ends {
            None if in_flight <= MIN_WINDOW => {
                self.ends = Some(now + PROBE);
                true
            }
            None => false,
            Some(_) => {
                self.round_done |= round_started;
                false
            }
        }
    }

    /// A whole round has passed in it.
    pub(super) const fn has_lasted_a_round(&self) -> bool {
        self.round_done
    }
}
