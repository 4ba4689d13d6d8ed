//! Slow start with a threshold from a packet pair (Hoe 1996 §4): `ssthresh` := bandwidth times
//! round trip, measured on the first three ACKs.
//!
//! The first ACK gives the round trip (of the SYN, where there is one), and the spacing of the
//! second and third the bandwidth. Only a lower threshold is taken, and only once; the rest is slow
//! start.

use super::{Phase, SlowStart, StartUp, StartUpDescriptor};
use crate::ack::AckSample;
use crate::registry::{Make, Parameter};
use crate::window::{Cause, Window};
use units::{Duration, Instant};

/// Slow start with a threshold from a packet pair.
pub static HOE: StartUpDescriptor = StartUpDescriptor::new(
    "hoe",
    "slow start up to the bandwidth-delay product that the first three ACKs show",
    "Hoe 1996 §4",
    Make::Alone(&|setup| Box::new(Hoe::new(setup.get(&PAIR)))),
)
.with(&[&PAIR])
.explained(&super::pages::HOE);

/// Bytes of the packet pair.
pub static PAIR: Parameter<Pair> = Parameter::choice(
    "pair",
    &[("acked", Pair::Acked), ("segment", Pair::Segment)],
    "acked",
    "hoe: what the packet pair brought",
);

/// Bytes that passed the bottleneck between the second and the third ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The bytes that the third acknowledges.
    Acked,
    /// One segment, whatever it acknowledges: ns-2's count.
    Segment,
}

/// Slow start up to the estimated bandwidth-delay product.
#[derive(Clone, Copy, Debug)]
pub struct Hoe {
    pair: Pair,
    acks: u32,
    rtt: Option<Duration>,
    second_at: Instant,
}

impl Hoe {
    /// Counts the pair's bytes by the rule of `pair`.
    pub const fn new(pair: Pair) -> Self {
        Self { pair, acks: 0, rtt: None, second_at: Instant::ZERO }
    }

    fn estimate(&self, window: &mut Window, sample: &AckSample) {
        let spacing = sample.now.saturating_since(self.second_at);
        let Some(rtt) = self.rtt.filter(|_| !spacing.is_zero()) else { return };
        let bytes = match self.pair {
            Pair::Acked => sample.acked,
            Pair::Segment => window.mss(),
        };
        let product = u128::from(bytes) * u128::from(rtt.as_nanos());
        let bytes = u64::try_from(product / u128::from(spacing.as_nanos())).unwrap_or(u64::MAX);
        let ssthresh = bytes / window.mss() * window.mss();
        if bytes > 0 && ssthresh < window.ssthresh() {
            window.set_ssthresh(ssthresh, Cause::Seed);
        }
    }
}

impl StartUp for Hoe {
    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        if self.acks >= 3 {
            return;
        }
        self.acks += 1;
        match self.acks {
            1 => self.rtt = sample.rtt,
            2 => self.second_at = sample.now,
            _ => self.estimate(window, sample),
        }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        SlowStart.on_ack(window, sample)
    }
}
