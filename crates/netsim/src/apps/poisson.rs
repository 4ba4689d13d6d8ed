//! Random flows: each opens a connection, transfers, closes, and is forgotten.
//!
//! Exponential gaps make the starts a Poisson process. For flows of two kinds, each with its
//! probability, use two of these applications whose rates are in that proportion.

use super::channel::{self, Channel, ChannelEnds};
use super::conn_index::ConnIndex;
use super::flow_log::{FlowLog, FlowTotals};
use crate::application::{AppContext, Application};
use crate::{FlowRecord, HostId};
use rand_core::Rng;
use rand_pcg::Pcg32;
use rustc_hash::FxHashMap;
use tcp::{ConnId, Event, EventKind, Scheme};
use workload::Distribution;

/// The rule that selects the pair of hosts of the next flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairChoice {
    /// The pairs take turns.
    RoundRobin,
    /// The pair is random, all equally likely.
    Random,
}

/// Pairs, times and sizes of the flows.
#[derive(Clone, Debug)]
pub struct PoissonSpec {
    /// Name of its random streams: `app/<name>/gaps`, `app/<name>/bytes`, `app/<name>/pairs`.
    pub name: String,
    /// Senders, which open the connections, and receivers; at least one pair.
    pub pairs: Vec<(HostId, HostId)>,
    /// The rule that selects a flow's pair.
    pub choice: PairChoice,
    /// Seconds before each flow, the first included.
    pub gaps: Distribution,
    /// Bytes of a flow, at least 1.
    pub bytes: Distribution,
    /// Number of flows to start; `None`: endless.
    pub count: Option<u64>,
    /// The senders' scheme.
    pub scheme: Scheme,
    /// The receivers' scheme.
    pub receiver: Scheme,
}

/// Flow arrivals; finished when the last flow is over. The sender closes after its last byte and
/// the receiver after it. TIME-WAIT is cut short, so that ports and memory are used again.
pub struct PoissonFlows {
    spec: PoissonSpec,
    /// Ports at the receivers, by pair.
    ports: Vec<u16>,
    draws: Option<Draws>,
    started: u64,
    /// Flows that are not over, by number; numbers are reused.
    active: Vec<Option<Channel>>,
    free: Vec<u32>,
    index: ConnIndex,
    /// Flows that their receiver has not accepted, by their sender's host and port.
    callers: FxHashMap<Caller, u32>,
    log: FlowLog,
}

/// A sender and its port, as its receiver sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Caller {
    from: HostId,
    port: u16,
    to: HostId,
}

/// Random streams.
struct Draws {
    gaps: Pcg32,
    bytes: Pcg32,
    pairs: Pcg32,
}

impl PoissonFlows {
    /// Creates arrivals that have not started. Every flow's record is kept.
    pub fn new(spec: PoissonSpec) -> Self {
        Self::with_log(spec, FlowLog::keeping_all())
    }

    /// Does the same as [`PoissonFlows::new`], but passes each record to `sink` when its flow is
    /// over, and does not keep it. However many flows there are, memory is that of the open ones.
    pub fn with_sink(spec: PoissonSpec, sink: impl FnMut(&FlowRecord) + 'static) -> Self {
        Self::with_log(spec, FlowLog::handing_to(Box::new(sink)))
    }

    fn with_log(spec: PoissonSpec, log: FlowLog) -> Self {
        Self {
            spec,
            ports: Vec::new(),
            draws: None,
            started: 0,
            active: Vec::new(),
            free: Vec::new(),
            index: ConnIndex::default(),
            callers: FxHashMap::default(),
            log,
        }
    }

    /// Returns its specification.
    pub const fn spec(&self) -> &PoissonSpec {
        &self.spec
    }

    /// Returns the number of flows started so far.
    pub const fn started(&self) -> u64 {
        self.started
    }

    /// Returns the number of flows started and not over.
    pub fn active(&self) -> usize {
        self.active.len() - self.free.len()
    }

    /// Returns records of the open flows, as of the last stop of the run.
    pub fn under_way(&self) -> impl Iterator<Item = &FlowRecord> {
        self.active.iter().flatten().map(Channel::flow)
    }

    /// Returns sums over all finished flows.
    pub const fn totals(&self) -> &FlowTotals {
        self.log.totals()
    }

    /// Returns records in the order of the flows' ends, unless they went to a sink.
    pub fn flows(&self) -> &[FlowRecord] {
        self.log.flows()
    }

    fn await_next(&mut self, context: &mut AppContext<'_>) {
        if self.spec.count != Some(self.started)
            && let Some(draws) = &mut self.draws
        {
            let gap = self.spec.gaps.sample_duration(&mut draws.gaps);
            context.set_timer(context.now() + gap, 0);
        }
    }

    fn begin(&mut self, context: &mut AppContext<'_>) {
        let Some(draws) = &mut self.draws else { return };
        let pair = match self.spec.choice {
            PairChoice::RoundRobin => (self.started % self.spec.pairs.len() as u64) as usize,
            PairChoice::Random => random_below(self.spec.pairs.len(), &mut draws.pairs),
        };
        let bytes = self.spec.bytes.sample_count(&mut draws.bytes);
        let (from, to) = self.spec.pairs[pair];
        let scheme = &self.spec.scheme;
        let ends = ChannelEnds { from, to, port: self.ports[pair] };
        let channel = Channel::open(context, ends, scheme, Some(bytes));
        context.shutdown(from, channel.sender());
        self.started += 1;
        let number = self.insert_channel(channel);
        self.index.insert(from, channel.sender(), number as usize);
        if let Some(peer) = context.peer(from, channel.sender()) {
            self.callers.insert(Caller { from, port: peer.local_port, to }, number);
        }
    }

    fn insert_channel(&mut self, channel: Channel) -> u32 {
        if let Some(number) = self.free.pop() {
            self.active[number as usize] = Some(channel);
            return number;
        }
        self.active.push(Some(channel));
        (self.active.len() - 1) as u32
    }

    /// Notes a finished flow, and forgets its connections.
    fn leave(&mut self, context: &mut AppContext<'_>, number: usize) {
        let Some(channel) = self.active[number].take() else { return };
        let FlowRecord { from, to, .. } = *channel.flow();
        self.index.remove(from, channel.sender());
        match (channel.receiver(), context.peer(from, channel.sender())) {
            (Some(receiver), _) => self.index.remove(to, receiver),
            (None, Some(peer)) => {
                self.callers.remove(&Caller { from, port: peer.local_port, to });
            }
            (None, None) => {}
        }
        self.free.push(number as u32);
        self.log.push(channel.flow());
        if self.spec.count == Some(self.started) && self.active() == 0 {
            context.finish();
        }
    }

    /// Finds the flow of a connection that a host has accepted.
    fn on_accepted(&mut self, context: &AppContext<'_>, host: HostId, conn: ConnId) {
        let Some(peer) = context.peer(host, conn) else { return };
        let caller = Caller { from: peer.host, port: peer.port, to: host };
        if let Some(number) = self.callers.remove(&caller) {
            self.index.insert(host, conn, number as usize);
        }
    }
}

/// Returns a random number below `n`, by multiplication (Lemire 2019); the bias is below n / 2^32.
fn random_below(n: usize, stream: &mut Pcg32) -> usize {
    ((u64::from(stream.next_u32()) * n as u64) >> 32) as usize
}

impl Application for PoissonFlows {
    fn start(&mut self, context: &mut AppContext<'_>) {
        let mut listening: FxHashMap<HostId, u16> = FxHashMap::default();
        for (_, to) in &self.spec.pairs {
            let listen = || channel::listen(context, *to, &self.spec.receiver);
            self.ports.push(*listening.entry(*to).or_insert_with(listen));
        }
        let stream = |what| context.stream(&format!("{}/{what}", self.spec.name));
        self.draws =
            Some(Draws { gaps: stream("gaps"), bytes: stream("bytes"), pairs: stream("pairs") });
        self.await_next(context);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        self.begin(context);
        self.await_next(context);
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        match event.kind {
            EventKind::Accepted => self.on_accepted(context, host, event.conn),
            EventKind::PeerClosed => channel::close(context, host, event.conn),
            _ => {}
        }
        let Some(number) = self.index.find(host, event.conn) else { return };
        let Some(channel) = &mut self.active[number] else { return };
        if channel.on_event(context, host, event) {
            self.leave(context, number);
        }
    }

    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        self.active.iter_mut().flatten().for_each(|channel| channel.on_stop(context));
    }

    fn describe(&self) -> String {
        let name = &self.spec.name;
        format!("flows {name}: {} started, {} not over", self.started, self.active())
    }
}
