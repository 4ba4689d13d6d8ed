//! Processing delay: the time that a host's own work adds before a packet is on its first link.
//!
//! Without it, senders that start together in equal conditions stay in step for ever. Then it is
//! settled once and for all which of two packets gets the last slot in a queue (Floyd & Jacobson
//! 1992 on phase effects). ns-2 has the same as `overhead_`.

use crate::processing_delay::{ProcessingDelay, ProcessingOrder};
use crate::{Body, HostId, Peer, SimPacket, Topology};
use link::stream;
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// Time without sending after which a host has rested.
const REST: Duration = Duration::from_millis(8);

/// Every host's processing delay.
#[derive(Debug, Default)]
pub(crate) struct Processing(Vec<Option<Delay>>);

/// Processing delay of one host, with its order.
#[derive(Debug)]
struct Delay {
    between: ProcessingDelay,
    order: ProcessingOrder,
    stream: Pcg32,
    /// Time of its last packet.
    sent: Option<Instant>,
    /// Time at which the packet before is done, for each order that is kept.
    ready: BTreeMap<Conversation, Instant>,
}

/// A set of packets that keep their order: those of a connection, or all datagrams.
type Conversation = Option<Peer>;

fn conversation(packet: &SimPacket) -> Conversation {
    match &packet.body {
        Body::Segment(transit) => Some(Peer {
            host: packet.to,
            port: transit.destination_port,
            local_port: transit.source_port,
        }),
        Body::Datagram(_) => None,
    }
}

impl Processing {
    /// Creates the delays of the topology's hosts, each drawing from `processing/<host>`.
    pub(crate) fn new(topology: &Topology, seed: u64) -> Self {
        let hosts = (0..topology.host_count() as u32).map(HostId);
        let delays = hosts.map(|host| {
            let between = topology.processing(host);
            (between != ProcessingDelay::NONE).then(|| {
                let stream = stream(seed, &format!("processing/{}", topology.host_name(host)));
                let order = topology.processing_order(host);
                Delay { between, order, stream, sent: None, ready: BTreeMap::new() }
            })
        });
        let delays: Vec<_> = delays.collect();
        Self(if delays.iter().any(Option::is_some) { delays } else { Vec::new() })
    }

    /// Returns true if no host has any.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns when a packet that its host sends now enters its link; `None`: at once.
    pub(crate) fn departure(&mut self, packet: &SimPacket, now: Instant) -> Option<Instant> {
        let delay = self.0.get_mut(packet.from.index())?.as_mut()?;
        Some(delay.departure(conversation(packet), now))
    }
}

impl Delay {
    /// Returns when a packet of this conversation that is sent now enters its link.
    fn departure(&mut self, conversation: Conversation, now: Instant) -> Instant {
        let rests = self.sent.is_none_or(|sent| now.saturating_since(sent) >= REST);
        self.sent = Some(now);
        let rested = if rests { self.between.rested } else { Duration::ZERO };
        let delay = self.between.draw(&mut self.stream) + rested;
        let kept = conversation.filter(|_| self.order == ProcessingOrder::Connection);
        let ready = self.ready.entry(kept).or_insert(Instant::ZERO);
        *ready = (*ready).max(now + delay);
        *ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the departures of packets that a host sends at one instant, for two conversations in
    /// turn.
    fn departures(order: ProcessingOrder) -> Vec<Instant> {
        let between = ProcessingDelay { most: Duration::from_millis(1), ..ProcessingDelay::NONE };
        let stream = stream(1, "processing/test");
        let mut delay = Delay { between, order, stream, sent: None, ready: BTreeMap::new() };
        let conversation = |n: u16| Peer { host: HostId(1), port: 9, local_port: n % 4 };
        (0..1000).map(|n| delay.departure(Some(conversation(n)), Instant::ZERO)).collect()
    }

    #[test]
    fn who_has_rested_takes_longer_over_the_first_packet_alone() {
        let (us, ms) = (Duration::from_micros, Duration::from_millis);
        let between = ProcessingDelay {
            least: us(50),
            most: us(50),
            rested: us(30),
            ..ProcessingDelay::NONE
        };
        let order = ProcessingOrder::Host;
        let stream = stream(1, "processing/test");
        let mut delay = Delay { between, order, stream, sent: None, ready: BTreeMap::new() };
        let mut took = |at| {
            let now = Instant::ZERO + at;
            delay.departure(None, now).saturating_since(now)
        };
        // At first, after 7 ms, and after 8.
        assert_eq!([ms(0), ms(7), ms(15)].map(&mut took), [us(80), us(50), us(80)]);
        // A packet sent with it leaves after it.
        assert_eq!(took(ms(15)), us(80));
        assert_eq!(took(ms(16)), us(50));
    }

    #[test]
    fn packets_of_other_connections_may_overtake_and_of_the_same_never() {
        let all = departures(ProcessingOrder::Host);
        assert!(all.is_sorted());
        let each = departures(ProcessingOrder::Connection);
        assert!(!each.is_sorted());
        for connection in 0..4 {
            assert!(each.iter().skip(connection).step_by(4).is_sorted(), "{connection}");
        }
    }
}
