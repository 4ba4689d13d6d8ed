//! Random early detection (Floyd & Jacobson, *Random Early Detection Gateways for Congestion
//! Avoidance*, 1993): strikes arriving packets with a probability that goes by the average queue.
//!
//! Above the minimum threshold the probability `pb` rises linearly to `max_p` at the maximum. The
//! packet that is the `count`-th since the last strike is struck with `pb / (1 - count * pb)`: the
//! gaps between strikes are then even from 1 to `1/pb - 1`, `1/(2 pb)` in the mean. (So the paper's
//! figure 2 and ns-2 have it; its §7, counting from zero, has them even from 1 to `1/pb`.) The
//! average is updated at every arrival. While the link was idle it decreases as if the queue had
//! been seen empty once for every packet that could have been sent.
//!
//! The average is a float made with `+ - *` alone, which every machine rounds alike.

use crate::discipline::RedThresholds;
use crate::{LinkConfig, Occupancy, PacketInfo, RedConfig};
use rand_core::Rng;
use rand_pcg::Pcg32;
use units::{Duration, Instant};

/// RED's decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Take,
    Mark,
    Drop,
}

/// State that an arriving packet finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RedArrival {
    pub(crate) now: Instant,
    /// Since when the link has had nothing to send; `None` if it is sending.
    pub(crate) idle_since: Option<Instant>,
    /// Packets that wait, the packet in service not included.
    pub(crate) waiting: Occupancy,
}

/// Value of `count` while the average is below the minimum.
const BELOW: i64 = -1;

/// The estimator and the dice.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    config: RedConfig,
    thresholds: RedThresholds,
    /// Time that a packet of the mean size takes.
    packet_time: Duration,
    average: f64,
    /// Packets since the last strike; below the minimum -1, so that the first above it counts
    /// nothing.
    count: i64,
    stream: Pcg32,
}

impl Red {
    /// `link` has been checked to carry `config`.
    pub(crate) fn new(config: &RedConfig, link: &LinkConfig, stream: Pcg32) -> Self {
        let thresholds =
            config.resolve(link.queue()).expect("checked when the link was configured");
        let packet_time = link.rate().transmit_time(u64::from(config.mean_packet));
        Self { config: *config, thresholds, packet_time, average: 0.0, count: BELOW, stream }
    }

    pub(crate) fn average(&self) -> f64 {
        self.average
    }

    /// The fate of a packet, as far as the average queue goes; the queue may still be full.
    pub(crate) fn decide_fate(&mut self, arrival: &RedArrival, packet: &PacketInfo) -> Judgement {
        self.update_average(arrival);
        if self.average < self.thresholds.min {
            self.count = BELOW;
            return Judgement::Take;
        }
        self.count += 1;
        let probability = self.probability(packet.bytes);
        if probability < 1.0 && self.draw_uniform() >= self.drop_probability(probability) {
            return Judgement::Take;
        }
        self.count = 0;
        if self.can_mark(packet) { Judgement::Mark } else { Judgement::Drop }
    }

    /// The packet found no room: that was its strike.
    pub(crate) const fn on_overflow(&mut self) {
        self.count = 0;
    }

    fn update_average(&mut self, arrival: &RedArrival) {
        let remains = 1.0 - self.config.weight;
        if let Some(since) = arrival.idle_since {
            let idle = arrival.now.saturating_since(since);
            let missed = idle.as_nanos() / self.packet_time.as_nanos().max(1);
            self.average *= power(remains, missed);
        }
        let queue = match self.thresholds.in_bytes {
            true => arrival.waiting.bytes as f64,
            false => f64::from(arrival.waiting.packets),
        };
        self.average = remains * self.average + self.config.weight * queue;
    }

    /// `pb`: one where every packet is struck.
    fn probability(&self, bytes: u32) -> f64 {
        let RedConfig { max_p, gentle, mean_packet, .. } = self.config;
        let RedThresholds { min, max, in_bytes } = self.thresholds;
        let over = self.average - max;
        let p = match (over < 0.0, gentle && over < max) {
            (true, _) => max_p * (self.average - min) / (max - min),
            (false, true) => max_p + (1.0 - max_p) * over / max,
            (false, false) => return 1.0,
        };
        if in_bytes { p * f64::from(bytes) / f64::from(mean_packet) } else { p }
    }

    /// `pa`: the chance of the `count`-th packet, those before it having been spared.
    fn drop_probability(&self, p: f64) -> f64 {
        let gone = self.count as f64 * p;
        let left = if self.config.wait { 2.0 - gone } else { 1.0 - gone };
        match left > 0.0 {
            true if self.config.wait && gone < 1.0 => 0.0,
            true => p / left,
            false => 1.0,
        }
    }

    fn can_mark(&self, packet: &PacketInfo) -> bool {
        let RedConfig { ecn, mark_above_max, .. } = self.config;
        ecn && packet.ecn_capable && (mark_above_max || self.average < self.thresholds.max)
    }

    /// Evenly from 0 to below 1, in steps of 2^-32.
    fn draw_uniform(&mut self) -> f64 {
        f64::from(self.stream.next_u32()) / 4_294_967_296.0
    }
}

/// `base` to the power of `exponent` by squaring, with multiplications alone: the same on every
/// machine, unlike the library's.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 && product > 0.0 {
        if exponent % 2 == 1 {
            product *= base;
        }
        base *= base;
        exponent /= 2;
    }
    product
}

#[cfg(test)]
mod tests;
