//! Chains of discovery: when each object can be there if it has the links to itself.
//!
//! Objects are taken in the order of their discovery. It is the order in which a host is first
//! needed: its first object opens the connection that all others then find open.

use super::wire::{PacketShape, Wire};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Duration;
use workload::{
    Discovery, HostId, Http, LoaderConfig, ObjectId, Page, Protocol, TLS12_CLIENT_KEYS,
    TLS12_SERVER_FINISHED, Tls,
};

/// The earliest instants in an object's life, as durations from the start of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLimit {
    /// The client can know of it.
    pub discovered: Duration,
    /// A connection can be ready for its request.
    pub requested: Duration,
    /// Earliest delivery of its first byte.
    pub first_byte: Duration,
    /// Earliest delivery of its last byte.
    pub done: Duration,
}

impl ObjectLimit {
    pub(super) fn keep_earlier(&mut self, other: &Self) {
        self.discovered = self.discovered.min(other.discovered);
        self.requested = self.requested.min(other.requested);
        self.first_byte = self.first_byte.min(other.first_byte);
        self.done = self.done.min(other.done);
    }
}

/// The limit of an object, with the further values that `backlog` needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) limit: ObjectLimit,
    /// The client's opening can be at a server that can answer.
    pub(super) answering: Duration,
    /// No byte of its response can be on the link before this.
    pub(super) released: Duration,
    /// The connection it opened, if it had to.
    pub(super) opened: Option<Opened>,
}

/// A connection that had to be opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    /// The client's side can carry requests.
    ready: Duration,
    /// The server's side can carry responses.
    serving: Duration,
    /// Earliest arrival of the SYN at the server; QUIC has none.
    pub(super) syn_arrived: Option<Duration>,
    /// The ClientHello can have, if there is TLS.
    pub(super) hello_arrived: Option<Duration>,
}

/// State of the connections at the start of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// No connection is open.
    Closed,
    /// One connection to every host is open, if its protocol keeps connections alive.
    KeptAlive,
    /// Every wanted connection is open.
    Open,
}

/// A connection that was open before the load.
const THERE: Opened = Opened {
    ready: Duration::ZERO,
    serving: Duration::ZERO,
    syn_arrived: None,
    hello_arrived: None,
};

/// The bounds of all objects, by id.
pub(super) fn bounds(
    page: &Page,
    config: &LoaderConfig,
    beginning: Beginning,
    wire: &Wire<'_>,
) -> Vec<Bound> {
    let first = match beginning {
        Beginning::Closed => None,
        Beginning::KeptAlive | Beginning::Open => Some(THERE),
    };
    let open = vec![first; page.hosts().len()];
    let looks_up = beginning == Beginning::Closed && !config.knows_hosts;
    let known = vec![(!looks_up).then_some(Duration::ZERO); page.hosts().len()];
    let due = BinaryHeap::new();
    let mut chains = Chains { page, config, wire, beginning, open, known, due };
    let at_start = |id: &ObjectId| page.object(*id).discovery == Discovery::AtStart;
    let start = page.ids().filter(at_start);
    chains.due.extend(start.map(|id| Reverse((Duration::ZERO, id))));
    let mut bounds = vec![None; page.objects().len()];
    while let Some(Reverse((discovered, id))) = chains.due.pop() {
        bounds[id.index()] = Some(chains.object_bound(discovered, id));
    }
    // Every object is requested at the start or revealed by an earlier one, so none is missing.
    bounds.into_iter().flatten().collect()
}

struct Chains<'a> {
    page: &'a Page,
    config: &'a LoaderConfig,
    wire: &'a Wire<'a>,
    beginning: Beginning,
    /// The first connection of each host.
    open: Vec<Option<Opened>>,
    /// The time at which the name of each host is known; `None` before its lookup.
    known: Vec<Option<Duration>>,
    due: BinaryHeap<Reverse<(Duration, ObjectId)>>,
}

impl Chains<'_> {
    /// The bound of an object discovered then; queues the objects that it reveals.
    fn object_bound(&mut self, discovered: Duration, id: ObjectId) -> Bound {
        let object = self.page.object(id);
        let protocol = self.config.protocol(self.page.host(object.host));
        let is_kept = protocol.keeps_alive() || self.beginning == Beginning::Open;
        let there = self.open[object.host.index()].filter(|_| is_kept);
        let connection = match there {
            Some(connection) => connection,
            None => {
                let known = self.known_at(discovered, object.host);
                self.open_at(known, object.host, &protocol)
            }
        };
        self.open[object.host.index()] = Some(connection);
        let first = there.is_none();
        let requested = discovered.max(connection.ready);
        // Opening and request follow one another in the stream; the server answers each as it
        // comes.
        let opening = match (first, protocol.tls) {
            (true, Tls::ZeroRtt) => protocol.client_hello() + protocol.client_opening(),
            (true, _) => protocol.client_opening(),
            (false, _) => 0,
        };
        let shape = PacketShape::of(&protocol);
        let at_server = |bytes| match bytes {
            // A request of no bytes costs no trip.
            0 => requested,
            bytes => {
                self.wire.earliest_at_host(object.host, requested, shape.load_of_stream(bytes))
            }
        };
        let answering = connection.serving.max(at_server(opening));
        let asked = at_server(opening + protocol.request_bytes(object));
        // A server may think before the handshake is over, if it is asked without a trip.
        let released = connection.serving.max(asked + object.server_wait);
        // Its settings go ahead of its first response.
        let ahead = if first { protocol.server_opening() } else { 0 };
        let down =
            |at, bytes| self.wire.earliest_at_client(object.host, at, shape.load_of_stream(bytes));
        let arrives = |bytes: u64| down(released, bytes).max(down(answering, ahead + bytes));
        let limit = ObjectLimit {
            discovered,
            requested,
            first_byte: arrives(1),
            done: arrives(protocol.response_bytes(object)),
        };
        let revealed = self.page.children(id).iter().filter_map(|child| {
            let Discovery::InBody { offset, delay, .. } = self.page.object(*child).discovery else {
                return None;
            };
            // A reference at offset 0 is seen with the first byte, if there is no header.
            let seen = protocol.response_prefix(object, offset).max(1);
            let work = self.config.client.work_on(object.kind);
            Some(Reverse((arrives(seen) + work + delay, *child)))
        });
        self.due.extend(revealed.collect::<Vec<_>>());
        Bound { limit, answering, released, opened: first.then_some(connection) }
    }

    /// When a connection that is wanted at `at` can be opened: its host's name has to be known.
    fn known_at(&mut self, at: Duration, host: HostId) -> Duration {
        let first = self.page.first_of_name(host);
        let lookup = self.page.host(first).lookup.unwrap_or_default();
        at.max(*self.known[first.index()].get_or_insert(at + lookup))
    }

    fn open_at(&self, at: Duration, host: HostId, protocol: &Protocol) -> Opened {
        let shape = PacketShape::of(protocol);
        let up = |at, load| self.wire.earliest_at_host(host, at, load);
        let down = |at, load| self.wire.earliest_at_client(host, at, load);
        if protocol.has_streams() {
            // The ClientHello opens the connection, and the server may answer it at once.
            let hello = up(at, shape.load_of_stream(protocol.client_hello()));
            let secured = down(hello, shape.load_of_stream(protocol.server_flight()));
            let ready = if protocol.tls == Tls::ZeroRtt { at } else { secured };
            return Opened { ready, serving: hello, syn_arrived: None, hello_arrived: Some(hello) };
        }
        let syn_arrived = up(at, Wire::syn());
        let connected = down(syn_arrived, Wire::syn());
        // The server's data waits for the ACK that completes the handshake.
        let serving = up(connected, Wire::ack());
        let syn_arrived = Some(syn_arrived);
        let mut opened = Opened { ready: connected, serving, syn_arrived, hello_arrived: None };
        if protocol.tls == Tls::None {
            return opened;
        }
        let hello = up(connected, shape.load_of_stream(protocol.client_hello()));
        opened.hello_arrived = Some(hello);
        let secured = down(hello, shape.load_of_stream(protocol.server_flight()));
        opened.ready = match protocol.tls {
            Tls::None | Tls::ZeroRtt => connected,
            Tls::Tls13 => secured,
            Tls::Tls12 => {
                let keys = up(secured, shape.load_of_stream(TLS12_CLIENT_KEYS));
                down(keys, shape.load_of_stream(TLS12_SERVER_FINISHED))
            }
        };
        opened
    }
}

/// True if every object of a host has a connection of its own.
pub(super) const fn is_alone(protocol: &Protocol) -> bool {
    matches!(protocol.http, Http::Http10)
}
