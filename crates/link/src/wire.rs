//! The link: queue, then rate, then loss and delay.

use crate::{DropTail, LinkConfig, Loss, Occupancy, Serializer, Ties};
use rand_pcg::Pcg32;
use units::{Duration, Instant};

/// What becomes of a packet offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the other end.
    Delivered {
        /// Its last bit is on the wire and its place in the queue free again.
        departs: Instant,
        /// Its last bit is at the other end.
        arrives: Instant,
    },
    /// The queue had no room; it never entered.
    Dropped,
    /// It was transmitted and lost on the wire.
    Lost {
        /// Its last bit was on the wire.
        departs: Instant,
    },
}

/// Totals since the link was made: `offered = taken + dropped`, and of those taken all have
/// departed that are not in [`Link::occupancy`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that found room.
    pub taken_packets: u64,
    /// Their bytes.
    pub taken_bytes: u64,
    /// Packets that did not.
    pub dropped_packets: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Packets taken, transmitted and lost on the wire.
    pub lost_packets: u64,
}

/// One direction of a wire with the queue before it.
#[derive(Clone, Debug)]
pub struct Link {
    queue: DropTail,
    serializer: Serializer,
    delay: Duration,
    /// When the last packet taken departs: the link is free from then on.
    free_at: Instant,
    loss: Option<Loss>,
    /// How far beyond an arrival a departure still precedes it: a nanosecond where ties are gone.
    tie: Duration,
    counters: Counters,
    config: LinkConfig,
}

impl Link {
    /// An idle link. Losses are drawn from `stream`, which no one else may use; a link without
    /// loss does not draw.
    pub fn new(config: LinkConfig, stream: Pcg32) -> Self {
        Self {
            queue: DropTail::new(config.queue()),
            serializer: Serializer::new(config.rate()),
            delay: config.delay(),
            free_at: Instant::ZERO,
            loss: (config.loss() > 0.0).then(|| Loss::new(config.loss(), stream)),
            tie: match config.ties() {
                Ties::StillIn => Duration::ZERO,
                Ties::Gone => Duration::from_nanos(1),
            },
            counters: Counters::default(),
            config,
        }
    }

    /// Offers a packet of `bytes` at `now`, not earlier than any offer before.
    #[inline]
    pub fn offer(&mut self, now: Instant, bytes: u32) -> Fate {
        self.queue.expire(now + self.tie);
        if !self.queue.admits(bytes) {
            self.counters.dropped_packets += 1;
            self.counters.dropped_bytes += u64::from(bytes);
            return Fate::Dropped;
        }
        let departs = self.free_at.max(now) + self.serializer.transmit_time(bytes);
        self.free_at = departs;
        self.queue.push(departs, bytes);
        self.counters.taken_packets += 1;
        self.counters.taken_bytes += u64::from(bytes);
        self.over_the_wire(departs)
    }

    #[inline]
    fn over_the_wire(&mut self, departs: Instant) -> Fate {
        if self.loss.as_mut().is_some_and(Loss::strikes) {
            self.counters.lost_packets += 1;
            return Fate::Lost { departs };
        }
        Fate::Delivered { departs, arrives: departs + self.delay }
    }

    /// Packets and bytes in the queue at `now`, the packet in service included.
    pub fn occupancy(&mut self, now: Instant) -> Occupancy {
        self.queue.expire(now + self.tie);
        self.queue.occupancy()
    }

    /// Totals so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What the link is made of.
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }
}
