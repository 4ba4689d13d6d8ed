//! The plain link: a drop-tail queue before a constant rate. Asked once per packet, it names the
//! departure at once, because no later packet changes the order.

use crate::medium::Medium;
use crate::{DropTail, LinkConfig, LinkCounters, LinkFate, Occupancy, Serializer};
use rand_pcg::Pcg32;
use units::{Instant, Rate};

/// Drop-tail queue, constant rate, delay, loss.
#[derive(Clone, Debug)]
pub struct Fifo {
    queue: DropTail,
    serializer: Serializer,
    /// Time at which the last packet taken departs: the link is free from then on.
    free_at: Instant,
    medium: Medium,
    counters: LinkCounters,
}

impl Fifo {
    /// An idle link. Losses are drawn from `stream`, which no one else may use; a link without
    /// loss does not draw.
    pub(crate) fn new(config: &LinkConfig, stream: &Pcg32) -> Self {
        Self {
            queue: DropTail::new(config.queue()),
            serializer: Serializer::new(config.rate()),
            free_at: Instant::ZERO,
            medium: Medium::new(config, stream),
            counters: LinkCounters::default(),
        }
    }

    /// Offers a packet of `bytes` at `now`, not earlier than any offer before.
    // Always inline: nearly every hop of every packet takes this path.
    #[inline(always)]
    pub fn offer(&mut self, now: Instant, bytes: u32) -> LinkFate {
        self.offer_beside(now, now, bytes)
    }

    /// Offers a packet beside those that depart at `horizon` or later; it is `now` unless ties are
    /// gone.
    #[inline(always)]
    pub(crate) fn offer_beside(&mut self, now: Instant, horizon: Instant, bytes: u32) -> LinkFate {
        let time = self.serializer.transmit_time(bytes);
        if self.free_at < horizon {
            // All taken packets have departed: most links are idle whenever a packet comes.
            self.free_at = now + time;
            self.queue.restart(self.free_at, bytes);
        } else {
            self.queue.expire(horizon);
            if !self.queue.admits(bytes) {
                return self.drop_packet(bytes);
            }
            self.free_at = self.free_at.max(now) + time;
            self.queue.push(self.free_at, bytes);
        }
        let departs = self.free_at;
        self.counters.take(bytes);
        self.medium.carry(departs, bytes, &mut self.counters)
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.serializer = Serializer::new(rate);
    }

    /// Drops a packet, whether it fits or not.
    pub(crate) const fn drop_packet(&mut self, bytes: u32) -> LinkFate {
        self.counters.drop(bytes);
        LinkFate::Dropped
    }

    /// A packet that was taken is marked.
    pub(crate) const fn count_mark(&mut self, bytes: u32) {
        self.counters.count_marked(bytes);
    }

    /// Packets and bytes that depart at `horizon` or later.
    pub fn occupancy(&mut self, horizon: Instant) -> Occupancy {
        self.queue.expire(horizon);
        self.queue.occupancy()
    }

    /// The same without the packet in service.
    pub(crate) fn waiting(&mut self, horizon: Instant) -> Occupancy {
        self.queue.expire(horizon);
        self.queue.waiting()
    }

    /// Takes back offers that lie in the future, by their sizes: the link, which neither drops nor
    /// loses, is as if they had not been made. `kept`: departure and size of every packet that was
    /// offered by now and is not delivered, oldest first.
    pub fn take_back(
        &mut self,
        offers: impl IntoIterator<Item = u32>,
        kept: impl IntoIterator<Item = (Instant, u32)>,
    ) {
        offers.into_iter().for_each(|bytes| self.counters.remove_entered(bytes));
        self.queue.remove_all();
        self.free_at = Instant::ZERO;
        for (departs, bytes) in kept {
            self.queue.push(departs, bytes);
            self.free_at = departs;
        }
    }

    /// When the link will be free of all that it has taken.
    pub(crate) const fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Totals so far.
    pub const fn counters(&self) -> &LinkCounters {
        &self.counters
    }
}
