//! The backlog of the access link: bytes that cannot have been sent before an instant have yet to
//! pass.

use super::chain::{Bound, is_alone};
use super::wire::{Load, PacketShape, Wire};
use std::collections::BTreeMap;
use units::Duration;
use workload::{HostId, LoaderConfig, ObjectId, Page};

/// Bytes on their way down: from which host, from when on, over which connections, how many.
#[derive(Clone, Copy, Debug)]
struct Item {
    host: HostId,
    released: Duration,
    stream: Stream,
    shape: PacketShape,
    bytes: u64,
}

/// The set of connections that share packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stream {
    /// The connections of a host, taken together: packets are fewest if it has only one.
    Host(u32),
    /// The connection of one object.
    Object(ObjectId),
    /// SYN-ACKs, which carry no data.
    SynAcks,
}

/// Bytes that have to come down before a milestone.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog(Vec<Item>);

impl Backlog {
    /// Collects the needs of the wanted objects: their own bytes and the opening of their
    /// connections.
    pub(super) fn of(
        page: &Page,
        config: &LoaderConfig,
        bounds: &[Bound],
        wanted: &dyn Fn(usize) -> bool,
    ) -> Self {
        let mut backlog = Self::default();
        for id in page.ids().filter(|id| wanted(id.index())) {
            backlog.add(page, config, id, &bounds[id.index()]);
        }
        backlog
    }

    fn add(&mut self, page: &Page, config: &LoaderConfig, id: ObjectId, bound: &Bound) {
        let object = page.object(id);
        let protocol = config.protocol(page.host(object.host));
        let stream = match is_alone(&protocol) {
            true => Stream::Object(id),
            false => Stream::Host(object.host.0),
        };
        let shape = PacketShape::of(&protocol);
        let mut need = |released, stream, bytes| {
            self.0.push(Item { host: object.host, released, stream, shape, bytes });
        };
        need(bound.released, stream, protocol.response_bytes(object));
        let Some(opened) = bound.opened else { return };
        if let Some(syn) = opened.syn_arrived {
            need(syn, Stream::SynAcks, 1);
        }
        if let Some(hello) = opened.hello_arrived {
            need(hello, stream, protocol.server_flight());
        }
        need(bound.answering, stream, protocol.server_opening());
    }

    /// The earliest instant at which all of it can be delivered. It is the latest, over all
    /// instants, at which the bytes released no earlier can have passed.
    pub(super) fn earliest_delivery(mut self, wire: &Wire<'_>) -> Duration {
        // On the link the order is that of arrival there.
        for item in &mut self.0 {
            item.released = wire.at_link(item.host, item.released);
        }
        self.0.sort_unstable_by_key(|item| std::cmp::Reverse(item.released));
        let (mut streams, mut load, mut latest) =
            (BTreeMap::new(), Load::default(), Duration::ZERO);
        for item in &self.0 {
            let bytes = streams.entry(item.stream).or_insert(0u64);
            let before = item.load(*bytes);
            *bytes = bytes.saturating_add(item.bytes);
            load = load.minus(before).plus(item.load(*bytes));
            latest = latest.max(wire.across(item.released, load));
        }
        latest
    }
}

impl Item {
    /// Returns the fewest packets that carry `amount`, which is SYN-ACKs or bytes of its stream.
    fn load(&self, amount: u64) -> Load {
        match self.stream {
            Stream::SynAcks => {
                Load { packets: amount, bytes: Wire::syn().bytes.saturating_mul(amount) }
            }
            Stream::Host(_) | Stream::Object(_) => self.shape.load_of_stream(amount),
        }
    }
}
