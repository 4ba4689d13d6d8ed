//! The fewest bytes that carry something, and the least time they take.

use netsim::Duplex;
use tcp::segment::{IPV4_HEADER, TCP_HEADER};
use units::{Duration, Rate};

/// Payload of a full packet of 1500 bytes without options.
const PAYLOAD: u64 = 1460;
/// Headers of a packet without options.
const HEADERS: u64 = (IPV4_HEADER + TCP_HEADER) as u64;
/// The one option that a SYN needs: the segment size (RFC 9293 §3.2).
const SYN_OPTIONS: u64 = 4;

/// What the links leave to a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Rate towards the client.
    pub down: Rate,
    /// Rate away from it.
    pub up: Rate,
    /// One-way delays; forward is down.
    pub delays: Duplex<Duration>,
}

/// Full packets on links of a capacity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    capacity: Capacity,
}

/// Packets and their bytes, headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) packets: u64,
    pub(super) bytes: u64,
}

impl Load {
    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            packets: self.packets.saturating_add(other.packets),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        Self {
            packets: self.packets.saturating_sub(other.packets),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

impl Wire {
    pub(super) const fn new(capacity: Capacity) -> Self {
        Self { capacity }
    }

    /// `bytes` of one stream in as few packets as possible.
    pub(super) const fn stream(bytes: u64) -> Load {
        let packets = bytes.div_ceil(PAYLOAD);
        Load { packets, bytes: bytes.saturating_add(packets.saturating_mul(HEADERS)) }
    }

    /// From the client's hands to the server's, on an idle link.
    pub(super) fn up(&self, load: Load) -> Duration {
        least(self.capacity.up, load) + self.capacity.delays.reverse
    }

    /// From the server's hands to the client's, on an idle link.
    pub(super) fn down(&self, load: Load) -> Duration {
        least(self.capacity.down, load) + self.capacity.delays.forward
    }

    /// A SYN or a SYN-ACK.
    pub(super) const fn syn() -> Load {
        Load { packets: 1, bytes: HEADERS + SYN_OPTIONS }
    }

    /// A segment without payload.
    pub(super) const fn ack() -> Load {
        Load { packets: 1, bytes: HEADERS }
    }
}

/// Time that a load takes at a rate, cut to a nanosecond, less half a nanosecond per packet: never
/// more than the sum of the packets' own times, each rounded to the nearest.
fn least(rate: Rate, load: Load) -> Duration {
    if rate.as_bps() == 0 {
        return Duration::MAX;
    }
    let nanos = u128::from(load.bytes) * 8_000_000_000 / u128::from(rate.as_bps());
    let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
    Duration::from_nanos(nanos.saturating_sub(load.packets.div_ceil(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wire() -> Wire {
        Wire::new(Capacity {
            down: Rate::from_mbps(8),
            up: Rate::from_mbps(1),
            delays: Duplex::symmetric(Duration::from_millis(10)),
        })
    }

    #[test]
    fn packets_are_full() {
        // 1460 bytes behind headers of 40; a SYN has the segment size (4 bytes) and nothing else.
        assert_eq!(Wire::stream(1460), Load { packets: 1, bytes: 1500 });
        assert_eq!(Wire::stream(1461), Load { packets: 2, bytes: 1541 });
        assert_eq!(Wire::stream(0), Load::default());
        assert_eq!((Wire::syn().bytes, Wire::ack().bytes), (44, 40));
    }

    #[test]
    fn a_load_takes_its_time_and_the_delay() {
        // 1500 bytes at 8 Mbit/s are 1.5 ms, at 1 Mbit/s 12 ms; half a nanosecond granted, rounded up.
        let full = Wire::stream(1460);
        assert_eq!(wire().down(full).as_nanos(), 11_500_000 - 1);
        assert_eq!(wire().up(full).as_nanos(), 22_000_000 - 1);
    }

    #[test]
    fn no_rate_never_delivers() {
        let load = Load { packets: 1, bytes: 1 };
        assert_eq!(least(Rate::from_bps(0), load), Duration::MAX);
    }

    proptest! {
        /// However a stream is cut into packets, their rounded times add up to no less.
        #[test]
        fn rounding_cannot_beat_it(
            bps in 1000u64..=100_000_000_000,
            cuts in prop::collection::vec(1u64..=1460, 1..200),
        ) {
            let rate = Rate::from_bps(bps);
            let total: u64 = cuts.iter().sum();
            let sum = cuts.iter().fold(Duration::ZERO, |t, n| t + rate.transmit_time(n + 40));
            prop_assert!(least(rate, Wire::stream(total)) <= sum);
        }
    }
}
