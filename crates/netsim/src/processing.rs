//! Processing delay: what a host's own work adds before a packet is on its first link.
//!
//! Without it, senders that start together in equal surroundings stay in step for ever, and which
//! of two packets finds the last place in a queue is settled once and for all (Floyd & Jacobson 1992
//! on phase effects). ns-2 has the same as `overhead_`.

use crate::processing_delay::{ProcessingDelay, ProcessingOrder};
use crate::{Body, HostId, Peer, SimPacket, Topology};
use link::stream;
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// A host that has sent nothing for so long has rested.
const REST: Duration = Duration::from_millis(8);

/// Every host's processing delay.
#[derive(Debug, Default)]
pub(crate) struct Processing(Vec<Option<Delay>>);

/// One host's, in order.
#[derive(Debug)]
struct Delay {
    between: ProcessingDelay,
    order: ProcessingOrder,
    stream: Pcg32,
    /// When it sent last.
    sent: Option<Instant>,
    /// When the packet before is done: for each order that is kept.
    ready: BTreeMap<Conversation, Instant>,
}

/// Packets that keep their order: those of a connection, or all datagrams.
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
    /// By what the topology says of its hosts, each drawing from `processing/<host>`.
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

    /// True if no host has any.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When a packet that its host sends now is on its way; `None`: at once.
    pub(crate) fn departure(&mut self, packet: &SimPacket, now: Instant) -> Option<Instant> {
        let delay = self.0.get_mut(packet.from.index())?.as_mut()?;
        Some(delay.departure(conversation(packet), now))
    }
}

impl Delay {
    /// When a packet of this conversation that is sent now is on its way.
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

    /// When packets leave that a host sends at one instant, by conversation in turn.
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
        // What is sent with it leaves behind it.
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
