//! Propagation delays that change at given times, like those of a path that takes another route.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use units::{Duration, Instant};

/// A delay, and the time from which on it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayStep {
    /// Time since the clock of the link, or of the load, began.
    pub from: Duration,
    /// The delay, or the round trip, from then on.
    pub delay: Duration,
}

/// Delays by time, ascending; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelaySteps(Arc<[DelayStep]>);

impl DelaySteps {
    /// The steps in order.
    pub fn as_slice(&self) -> &[DelayStep] {
        &self.0
    }

    /// The same steps, each changed.
    #[must_use]
    pub fn map(&self, change: impl FnMut(DelayStep) -> DelayStep) -> Self {
        Self(self.0.iter().copied().map(change).collect())
    }
}

impl FromStr for DelaySteps {
    type Err = String;

    /// Reads `2s:80ms/5s:40ms`: 80 ms from the second second on, and 40 ms from the fifth.
    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write TIME:DELAY/TIME:DELAY, like 2s:80ms/5s:40ms";
        let read = |part: &str| part.parse::<Duration>().map_err(|why| format!("{why}: {FORM}"));
        let mut steps: Vec<DelayStep> = Vec::new();
        for part in text.split('/') {
            let (from, delay) = part.split_once(':').ok_or_else(|| format!("{part:?}: {FORM}"))?;
            let step = DelayStep { from: read(from)?, delay: read(delay)? };
            if steps.last().is_some_and(|last| last.from >= step.from) {
                return Err(format!("{from} is not after the time before it: sort the times"));
            }
            steps.push(step);
        }
        Ok(Self(steps.into()))
    }
}

impl fmt::Display for DelaySteps {
    /// Writes the steps in the syntax in which they are parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, DelayStep { from, delay }) in self.0.iter().enumerate() {
            let slash = if nth == 0 { "" } else { "/" };
            write!(f, "{slash}{from}:{delay}")?;
        }
        Ok(())
    }
}

/// The delays of a link as time passes.
#[derive(Clone, Debug)]
pub(crate) struct SteppedDelay {
    steps: DelaySteps,
    next: usize,
    delay: Duration,
    /// Latest arrival so far: no packet overtakes another where the delay falls.
    last: Instant,
}

impl SteppedDelay {
    /// A link whose delay is `delay` before the first step.
    pub(crate) const fn new(steps: DelaySteps, delay: Duration) -> Self {
        Self { steps, next: 0, delay, last: Instant::ZERO }
    }

    /// Arrival of a packet that leaves the queue at `leaves`, not before the packet in front. Times
    /// do not decrease from call to call.
    pub(crate) fn arrival_time(&mut self, leaves: Instant) -> Instant {
        let since = leaves.saturating_since(Instant::ZERO);
        while let Some(step) = self.steps.0.get(self.next).filter(|step| step.from <= since) {
            self.delay = step.delay;
            self.next += 1;
        }
        self.last = self.last.max(leaves + self.delay);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// 40 ms at first, 100 ms from 2 s on, 10 ms from 5 s on. The packets of 4,990 ms and of 5,000
    /// ms would arrive at 5,090 and at 5,010: the second waits for the first.
    #[test]
    fn each_packet_has_the_delay_of_its_time_and_none_overtakes() {
        let steps = "2s:100ms/5s:10ms".parse().unwrap();
        let mut delay = SteppedDelay::new(steps, Duration::from_millis(40));
        let arrivals = [0, 1_999, 2_000, 4_990, 5_000, 5_100].map(|ms| delay.arrival_time(at(ms)));
        assert_eq!(arrivals, [40, 2_039, 2_100, 5_090, 5_090, 5_110].map(at));
    }

    #[test]
    fn steps_are_written_as_they_are_read() {
        for text in ["2s:80ms", "0s:1ms/500ms:2ms/3s:500us"] {
            assert_eq!(text.parse::<DelaySteps>().unwrap().to_string(), text);
        }
        for (text, why) in [
            ("", "TIME:DELAY"),
            ("2s", "TIME:DELAY"),
            ("2s:x", "TIME:DELAY"),
            ("2s:1ms/2s:2ms", "sort the times"),
            ("2s:1ms/1s:2ms", "sort the times"),
        ] {
            let error = text.parse::<DelaySteps>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
