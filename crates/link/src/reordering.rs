//! Reordering: some packets take longer over the wire than others, and arrive after those that
//! left behind them.

use crate::ordered_delay::draw_delay;
use rand_core::Rng;
use rand_pcg::Pcg32;
use units::Duration;

/// Model of packets out of order. Departures are unchanged; only arrivals are later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reordering {
    /// Each packet independently, with this probability in `0..=1`, takes `extra` longer.
    HoldBack {
        /// Probability of a delay.
        probability: f64,
        /// Additional delay.
        extra: Duration,
    },
    /// Each packet takes longer by a time drawn evenly from zero to this.
    Jitter(Duration),
}

impl Reordering {
    /// True if the probability is one.
    pub(crate) fn is_possible(&self) -> bool {
        match self {
            Self::HoldBack { probability, .. } => (0.0..=1.0).contains(probability),
            Self::Jitter(_) => true,
        }
    }
}

/// Draws the extra delays of one link.
#[derive(Clone, Debug)]
pub(crate) struct Reorderer {
    kind: Kind,
    stream: Pcg32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A draw of 32 bits below the threshold holds back.
    HoldBack {
        threshold: u64,
        extra: Duration,
    },
    Jitter(Duration),
}

impl Reorderer {
    pub(crate) fn new(reordering: Reordering, stream: Pcg32) -> Self {
        let kind = match reordering {
            Reordering::HoldBack { probability, extra } => {
                // Exact scaling; 2^32, above every draw, for probability one.
                Kind::HoldBack { threshold: (probability * 4_294_967_296.0) as u64, extra }
            }
            Reordering::Jitter(up_to) => Kind::Jitter(up_to),
        };
        Self { kind, stream }
    }

    /// Additional delay of the next packet.
    pub(crate) fn extra_delay(&mut self) -> Duration {
        match self.kind {
            Kind::HoldBack { threshold, extra } => {
                let held = u64::from(self.stream.next_u32()) < threshold;
                if held { extra } else { Duration::ZERO }
            }
            Kind::Jitter(up_to) => draw_delay(&mut self.stream, up_to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn draws(reordering: Reordering) -> Vec<Duration> {
        let mut reorderer = Reorderer::new(reordering, Pcg32::new(5, 1));
        (0..100_000).map(|_| reorderer.extra_delay()).collect()
    }

    #[test]
    fn packets_are_held_back_as_often_as_was_said() {
        let held = |probability| {
            let draws = draws(Reordering::HoldBack { probability, extra: MS });
            assert!(draws.iter().all(|extra| *extra == Duration::ZERO || *extra == MS));
            draws.iter().filter(|extra| **extra == MS).count()
        };
        // Mean 20,000, standard deviation sqrt(100000 * 0.2 * 0.8) = 126; four of them.
        assert!((19_494..=20_506).contains(&held(0.2)));
        assert_eq!((held(0.0), held(1.0)), (0, 100_000));
    }

    #[test]
    fn jitter_is_even_between_nothing_and_its_bound() {
        let draws = draws(Reordering::Jitter(MS));
        let sum: u64 = draws.iter().map(|extra| extra.as_nanos()).sum();
        // Mean 500 us, standard deviation of the mean 1 ms / sqrt(12 * 100000) = 913 ns; four.
        assert!((496_348..=503_652).contains(&(sum / 100_000)), "{}", sum / 100_000);
        assert!(draws.iter().all(|extra| *extra <= MS));
        let tenths = draws.iter().filter(|extra| extra.as_nanos() < 100_000).count();
        // Mean 10,000, standard deviation 95; four.
        assert!((9_620..=10_380).contains(&tenths), "{tenths}");
    }
}
