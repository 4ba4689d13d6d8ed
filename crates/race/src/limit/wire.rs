//! The fewest bytes that carry something, and the least time they take.

use netsim::Duplex;
use tcp::config::{Config, Opening};
use tcp::segment::{IPV4_HEADER, TCP_HEADER, TIMESTAMPS_BYTES};
use tcp::{Options, Timestamps};
use units::{Duration, Rate};

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

/// Segments of a scheme on links of a capacity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    capacity: Capacity,
    /// Most payload of a packet without options.
    segment: u64,
    /// Most payload of a packet.
    payload: u64,
    /// Headers around it.
    header: u64,
    /// A SYN or SYN-ACK without data.
    syn: u64,
    pub(super) opening: Opening,
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
    pub(super) fn new(config: &Config, capacity: Capacity) -> Self {
        let headers = u64::from(IPV4_HEADER + TCP_HEADER);
        let timestamps = match config.timestamps {
            true => u64::from(TIMESTAMPS_BYTES),
            false => 0,
        };
        let in_payload = if config.options_count { timestamps } else { 0 };
        Self {
            capacity,
            segment: u64::from(config.mss),
            payload: u64::from(config.mss) - in_payload,
            header: headers + timestamps,
            syn: headers + u64::from(syn_options(config).wire_bytes()),
            opening: config.opening,
        }
    }

    /// `bytes` of one stream in as few packets as possible.
    pub(super) const fn stream(&self, bytes: u64) -> Load {
        let packets = bytes.div_ceil(self.payload);
        Load { packets, bytes: bytes.saturating_add(packets.saturating_mul(self.header)) }
    }

    /// `bytes` from the client to the server. Under an accelerated opening they may leave before
    /// options are agreed on, and so without any.
    pub(super) const fn request(&self, bytes: u64) -> Load {
        match self.opening {
            Opening::Handshake => self.stream(bytes),
            Opening::Accelerated | Opening::Remembered | Opening::FastOpen | Opening::OneWay => {
                let packets = bytes.div_ceil(self.segment);
                let headers = packets.saturating_mul((IPV4_HEADER + TCP_HEADER) as u64);
                Load { packets, bytes: bytes.saturating_add(headers) }
            }
        }
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
    pub(super) const fn syn(&self) -> Load {
        Load { packets: 1, bytes: self.syn }
    }

    /// A segment without payload.
    pub(super) const fn ack(&self) -> Load {
        Load { packets: 1, bytes: self.header }
    }
}

/// The options of a SYN when both ends run the same scheme.
fn syn_options(config: &Config) -> Options {
    Options {
        mss: Some(u16::MAX),
        window_scale: config.window_scaling.then_some(0),
        sack_permitted: config.sack,
        timestamps: config.timestamps.then_some(Timestamps { value: 0, echo: 0 }),
        ..Options::default()
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
    use tcp::Scheme;

    fn wire(scheme: &str) -> Wire {
        let capacity = Capacity {
            down: Rate::from_mbps(8),
            up: Rate::from_mbps(1),
            delays: Duplex::symmetric(Duration::from_millis(10)),
        };
        Wire::new(Scheme::parse(scheme).unwrap().config(), capacity)
    }

    #[test]
    fn segments_are_those_of_the_scheme() {
        // newreno: 1460 bytes behind headers of 40. Its SYN has the segment size (4 bytes) and
        // window scale (3), padded to 8.
        let newreno = wire("newreno");
        assert_eq!(newreno.stream(1460), Load { packets: 1, bytes: 1500 });
        assert_eq!(newreno.stream(1461), Load { packets: 2, bytes: 1541 });
        assert_eq!(newreno.stream(0), Load::default());
        assert_eq!(newreno.syn().bytes, 48);
        // linux: timestamps take 12 of the payload; its SYN has 60 bytes.
        let linux = wire("linux");
        assert_eq!(linux.stream(1448).bytes, 1500);
        assert_eq!(linux.stream(1449), Load { packets: 2, bytes: 1553 });
        assert_eq!(linux.syn().bytes, 60);
        // Before options are agreed on there are none.
        assert_eq!(linux.request(1460).bytes, 1512 + 52);
        assert_eq!(wire("linux+open=data").request(1460).bytes, 1500);
        // Options that come on top of the payload.
        assert_eq!(wire("linux+options=free").stream(1460).bytes, 1512);
    }

    #[test]
    fn a_load_takes_its_time_and_the_delay() {
        // 1500 bytes at 8 Mbit/s are 1.5 ms, at 1 Mbit/s 12 ms; half a nanosecond granted, rounded up.
        let full = wire("newreno").stream(1460);
        assert_eq!(wire("newreno").down(full).as_nanos(), 11_500_000 - 1);
        assert_eq!(wire("newreno").up(full).as_nanos(), 22_000_000 - 1);
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
            prop_assert!(least(rate, wire("newreno").stream(total)) <= sum);
        }
    }
}
