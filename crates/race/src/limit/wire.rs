//! The fewest bytes that carry something, and the least time they take.

use crate::distance::Distances;
use link::RateTrace;
use netsim::Duplex;
use std::sync::Arc;
use tcp::segment::{IPV4_HEADER, QUIC_OVERHEAD, TCP_HEADER, UDP_HEADER};
use units::{Duration, Instant, Rate};
use workload::{HostId, Page, Protocol, QUIC_PAYLOAD};

/// The one option that a SYN needs: the segment size (RFC 9293 §3.2).
const SYN_OPTIONS: u64 = 4;

/// Capacity of the links that is left to a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// Rate towards the client.
    pub down: CapacityRate,
    /// Rate away from it.
    pub up: CapacityRate,
    /// One-way delays; forward is down.
    pub delays: Duplex<Duration>,
}

/// The rate that one direction leaves to a page.
#[derive(Clone, Debug, PartialEq)]
pub enum CapacityRate {
    /// Always the same.
    Constant(Rate),
    /// The rate of a trace.
    Traced {
        /// The trace.
        trace: Arc<RateTrace>,
        /// Its time when the load starts.
        phase: Duration,
    },
}

/// Payload and headers of a full packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketShape {
    /// Bytes of a connection's data in a full packet.
    payload: u64,
    /// Bytes of headers in each packet.
    headers: u64,
}

impl PacketShape {
    /// A packet of 1500 bytes without options.
    pub(super) const TCP: Self = Self { payload: 1460, headers: (IPV4_HEADER + TCP_HEADER) as u64 };
    /// A datagram of 1200 bytes.
    pub(super) const QUIC: Self =
        Self { payload: QUIC_PAYLOAD, headers: (IPV4_HEADER + UDP_HEADER + QUIC_OVERHEAD) as u64 };

    /// The packets of connections that speak `protocol`.
    pub(super) const fn of(protocol: &Protocol) -> Self {
        if protocol.has_streams() { Self::QUIC } else { Self::TCP }
    }

    /// `bytes` of one stream in as few packets as possible.
    pub(super) const fn load_of_stream(self, bytes: u64) -> Load {
        let packets = bytes.div_ceil(self.payload);
        Load { packets, bytes: bytes.saturating_add(packets.saturating_mul(self.headers)) }
    }
}

/// Full packets on links of a capacity.
#[derive(Clone, Debug)]
pub(super) struct Wire<'a> {
    capacity: &'a Capacity,
    distances: Distances,
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

impl CapacityRate {
    /// The earliest instant by which a load can have passed that is ready at `at`. Both times are
    /// since the start of the page.
    fn earliest_passed(&self, at: Duration, load: Load) -> Duration {
        match self {
            Self::Constant(rate) => at + transmission_time(*rate, load),
            Self::Traced { trace, phase } => {
                let origin = Instant::ZERO + *phase;
                trace.passed(origin + at, load.bytes).saturating_since(origin)
            }
        }
    }
}

impl From<Rate> for CapacityRate {
    fn from(rate: Rate) -> Self {
        Self::Constant(rate)
    }
}

impl<'a> Wire<'a> {
    /// The links between the hosts of a page and the client.
    pub(super) fn new(capacity: &'a Capacity, page: &Page) -> Self {
        let Duplex { forward, reverse } = capacity.delays;
        Self { capacity, distances: Distances::new(page, forward + reverse) }
    }

    /// When a load is at the host that the client has at `at`, on an idle link.
    pub(super) fn earliest_at_host(&self, host: HostId, at: Duration, load: Load) -> Duration {
        let beyond = self.distances.delay_beyond_access(host).reverse;
        self.capacity.up.earliest_passed(at, load) + self.distances.access().reverse + beyond
    }

    /// When a load is at the client that the host has at `at`, on an idle link.
    pub(super) fn earliest_at_client(&self, host: HostId, at: Duration, load: Load) -> Duration {
        self.across(self.at_link(host, at), load)
    }

    /// When data is at the access link that the host has at `at`.
    pub(super) fn at_link(&self, host: HostId, at: Duration) -> Duration {
        at + self.distances.delay_beyond_access(host).forward
    }

    /// When a load is at the client that is at the access link at `at`, if the link is idle.
    pub(super) fn across(&self, at: Duration, load: Load) -> Duration {
        self.capacity.down.earliest_passed(at, load) + self.distances.access().forward
    }

    /// A SYN or a SYN-ACK.
    pub(super) const fn syn() -> Load {
        Load { packets: 1, bytes: PacketShape::TCP.headers + SYN_OPTIONS }
    }

    /// A segment without payload.
    pub(super) const fn ack() -> Load {
        Load { packets: 1, bytes: PacketShape::TCP.headers }
    }
}

/// Time that a load takes at a rate, cut to a nanosecond, less half a nanosecond per packet. It
/// never exceeds the sum of the packets' own times, each rounded to the nearest.
fn transmission_time(rate: Rate, load: Load) -> Duration {
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

    fn capacity() -> Capacity {
        Capacity {
            down: Rate::from_mbps(8).into(),
            up: Rate::from_mbps(1).into(),
            delays: Duplex::symmetric(Duration::from_millis(10)),
        }
    }

    #[test]
    fn packets_are_full() {
        // 1460 bytes behind headers of 40; a SYN has the segment size (4 bytes) and nothing else.
        assert_eq!(PacketShape::TCP.load_of_stream(1460), Load { packets: 1, bytes: 1500 });
        assert_eq!(PacketShape::TCP.load_of_stream(1461), Load { packets: 2, bytes: 1541 });
        assert_eq!(PacketShape::TCP.load_of_stream(0), Load::default());
        assert_eq!((Wire::syn().bytes, Wire::ack().bytes), (44, 40));
    }

    #[test]
    fn a_load_takes_its_time_and_the_delay() {
        // 1500 bytes at 8 Mbit/s are 1.5 ms, at 1 Mbit/s 12 ms; the allowance is half a nanosecond,
        // rounded up.
        let full = PacketShape::TCP.load_of_stream(1460);
        let (capacity, start) = (capacity(), Duration::ZERO);
        let (page, host) = (Page::single(1), HostId(0));
        let wire = Wire::new(&capacity, &page);
        assert_eq!(wire.earliest_at_client(host, start, full).as_nanos(), 11_500_000 - 1);
        assert_eq!(wire.earliest_at_host(host, start, full).as_nanos(), 22_000_000 - 1);
    }

    /// 8 Mbit/s for 10 ms, then none for 30. The load starts at 9 ms of the trace: 1,000 bytes
    /// pass, and 500 wait for the end of the outage, 31 ms after the start.
    #[test]
    fn a_trace_is_followed_from_the_phase_of_the_start() {
        let step = |mbps, ms| link::TraceStep {
            rate: Rate::from_mbps(mbps),
            lasts: Duration::from_millis(ms),
        };
        let trace = Arc::new(RateTrace::of_steps(&[step(8, 10), step(0, 30)]).unwrap());
        let down = CapacityRate::Traced { trace, phase: Duration::from_millis(9) };
        let capacity = Capacity { down, ..capacity() };
        let (page, host) = (Page::single(1), HostId(0));
        let wire = Wire::new(&capacity, &page);
        assert_eq!(
            wire.earliest_at_client(host, Duration::ZERO, PacketShape::TCP.load_of_stream(1460))
                .as_nanos(),
            41_500_000
        );
        let later = Duration::from_millis(31);
        assert_eq!(
            wire.earliest_at_client(host, later, PacketShape::TCP.load_of_stream(1460)).as_nanos(),
            42_500_000
        );
    }

    #[test]
    fn no_rate_never_delivers() {
        let load = Load { packets: 1, bytes: 1 };
        assert_eq!(transmission_time(Rate::from_bps(0), load), Duration::MAX);
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
            prop_assert!(transmission_time(rate, PacketShape::TCP.load_of_stream(total)) <= sum);
        }
    }
}
