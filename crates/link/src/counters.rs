//! Totals that every link keeps, and those it keeps when asked.

use crate::LinkFate;
use units::{Duration, Instant};

/// Totals since the link was made: `offered = taken + dropped`, and of those taken all have
/// departed that are not in the queue. A packet that entered and is thrown out later counts as
/// dropped from then on, and no longer as taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that found room and kept it.
    pub taken_packets: u64,
    /// Their bytes.
    pub taken_bytes: u64,
    /// Packets that did not.
    pub dropped_packets: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Packets taken, transmitted and lost on the wire.
    pub lost_packets: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Packets marked here instead of dropped.
    pub marked_packets: u64,
    /// Their bytes.
    pub marked_bytes: u64,
}

impl LinkCounters {
    #[inline]
    pub(crate) const fn take(&mut self, bytes: u32) {
        self.taken_packets += 1;
        self.taken_bytes += bytes as u64;
    }

    pub(crate) const fn remove_entered(&mut self, bytes: u32) {
        self.taken_packets -= 1;
        self.taken_bytes -= bytes as u64;
    }

    pub(crate) const fn drop(&mut self, bytes: u32) {
        self.dropped_packets += 1;
        self.dropped_bytes += bytes as u64;
    }

    /// A packet that had been taken is dropped.
    pub(crate) const fn discard(&mut self, bytes: u32) {
        self.remove_entered(bytes);
        self.drop(bytes);
    }

    pub(crate) const fn count_lost(&mut self, bytes: u32) {
        self.lost_packets += 1;
        self.lost_bytes += bytes as u64;
    }

    pub(crate) const fn count_marked(&mut self, bytes: u32) {
        self.marked_packets += 1;
        self.marked_bytes += bytes as u64;
    }
}

/// Measurements of a link that [`crate::LinkConfig::with_statistics`] requests: waiting times, and
/// by Little's law the mean occupancy.
///
/// A packet counts when its departure is known, with all the time it will have spent. On a link
/// that knows departures at arrival, the totals lie ahead of the clock by the contents of the
/// queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets transmitted.
    pub packets: u64,
    /// Time spent transmitting them.
    pub busy: Duration,
    /// Sum of their waiting times, from arrival to start of transmission.
    pub waited: Duration,
    /// The longest of those.
    pub longest_wait: Duration,
    /// Packet-nanoseconds in the queue, service included, of transmitted and discarded packets.
    packet_time: u128,
    /// Byte-nanoseconds in the queue, of the same packets.
    byte_time: u128,
}

impl Statistics {
    pub(crate) fn transmitted(
        &mut self,
        since: Instant,
        start: Instant,
        fate: LinkFate,
        bytes: u32,
    ) {
        let (LinkFate::Delivered { departs, .. } | LinkFate::Lost { departs }) = fate else {
            return;
        };
        let waited = start.saturating_since(since);
        self.packets += 1;
        self.busy += departs.saturating_since(start);
        self.waited += waited;
        self.longest_wait = self.longest_wait.max(waited);
        self.count_sojourn(departs.saturating_since(since), bytes);
    }

    /// A packet that has been in the queue for `time` leaves it, one way or another.
    pub(crate) fn count_sojourn(&mut self, time: Duration, bytes: u32) {
        self.packet_time += u128::from(time.as_nanos());
        self.byte_time += u128::from(time.as_nanos()) * u128::from(bytes);
    }

    /// Mean waiting time of a transmitted packet; zero if there was none.
    pub fn mean_wait(&self) -> Duration {
        self.waited / self.packets.max(1)
    }

    /// Mean number of packets in the queue over `time`, the one in service included.
    pub fn mean_packets(&self, time: Duration) -> f64 {
        self.packet_time as f64 / (time.as_nanos().max(1) as f64)
    }

    /// Mean number of bytes in the queue over `time`, the packet in service included.
    pub fn mean_bytes(&self, time: Duration) -> f64 {
        self.byte_time as f64 / (time.as_nanos().max(1) as f64)
    }
}
