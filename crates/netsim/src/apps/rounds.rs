//! Rounds of transfers over kept connections: all of them transfer, all stop, and the next round
//! starts.
//!
//! The experiments of TCP/SPAND (Zhang, Qiu & Keshav 2000 §6) are of this kind. They show what a
//! connection does with its window after an idle time.

use super::channel::{self, Channel, ChannelEnds};
use super::conn_index::ConnIndex;
use crate::application::{AppContext, Application};
use crate::{FlowRecord, HostId};
use rand_pcg::Pcg32;
use tcp::{Event, EventKind, Scheme};
use units::{Duration, Instant};
use workload::Distribution;

/// One connection of the experiment.
#[derive(Clone, Debug)]
pub struct RoundPair {
    /// Host that opens the connection and sends.
    pub from: HostId,
    /// Host that accepts and receives.
    pub to: HostId,
    /// The sender's scheme.
    pub scheme: Scheme,
    /// The receiver's scheme.
    pub receiver: Scheme,
}

/// Connections, sizes and times of the transfers.
#[derive(Clone, Debug)]
pub struct RoundsSpec {
    /// Name of its random streams: `app/<name>/start/<n>` and `app/<name>/bytes/<n>` for the n-th
    /// connection.
    pub name: String,
    /// The connections.
    pub pairs: Vec<RoundPair>,
    /// Number of rounds; at least one.
    pub rounds: u32,
    /// Bytes that each connection transfers in a round, at least 1.
    pub bytes: Distribution,
    /// Seconds after the start of a round at which a connection's transfer starts.
    pub start: Distribution,
    /// Seconds for the first round, if they differ from `start`.
    pub first_start: Option<Distribution>,
    /// Minimum time from the end of a round's last transfer to the start of the next round.
    pub idle: Duration,
    /// Minimum time from the start of a round to that of the next; zero leaves the gap to `idle`
    /// alone.
    pub every: Duration,
}

/// Rounds of transfers; finished when the last one's are over. A connection opens with its first
/// transfer, and again with the next one after a reset.
#[derive(Debug)]
pub struct Rounds {
    spec: RoundsSpec,
    ports: Vec<u16>,
    draws: Vec<Draws>,
    channels: Vec<Option<Channel>>,
    /// By connection: true if its transfer of the current round has started.
    has_started: Vec<bool>,
    index: ConnIndex,
    /// Number of rounds started.
    started: u32,
    /// Start of the last of them.
    started_at: Instant,
    /// Number of unfinished transfers of this round.
    unfinished: usize,
    flows: Vec<FlowRecord>,
}

/// A connection's random streams.
#[derive(Debug)]
struct Draws {
    start: Pcg32,
    bytes: Pcg32,
}

/// Token of the timer that starts a round; the n-th connection's has the token n.
const ROUND: u32 = u32::MAX;

impl Rounds {
    /// Creates an experiment that has not started.
    pub fn new(spec: RoundsSpec) -> Self {
        Self {
            ports: Vec::new(),
            draws: Vec::new(),
            channels: vec![None; spec.pairs.len()],
            has_started: vec![false; spec.pairs.len()],
            spec,
            index: ConnIndex::default(),
            started: 0,
            started_at: Instant::ZERO,
            unfinished: 0,
            flows: Vec::new(),
        }
    }

    /// Returns its specification.
    pub const fn spec(&self) -> &RoundsSpec {
        &self.spec
    }

    /// Returns one record per transfer of the finished rounds: those of the first in the order of
    /// the connections, then those of the second, and so on.
    pub fn flows(&self) -> &[FlowRecord] {
        &self.flows
    }

    /// Returns the started transfers of a round that has not ended: the number of the connection,
    /// and the record as of the last stop of the run. Some may be over.
    pub fn under_way(&self) -> impl Iterator<Item = (usize, &FlowRecord)> {
        let started = self.channels.iter().enumerate().filter(|(n, _)| self.has_started[*n]);
        started.filter_map(|(n, channel)| channel.as_ref().map(|channel| (n, channel.flow())))
    }

    /// Returns the bytes of all transfers so far whose last byte was delivered.
    pub fn received(&self) -> u64 {
        let flows = self.flows.iter().chain(self.under_way().map(|(_, flow)| flow));
        flows.filter(|flow| flow.received_at.is_some()).map(|flow| flow.bytes).sum()
    }

    fn begin_round(&mut self, context: &mut AppContext<'_>) {
        let first = self.spec.first_start.as_ref().filter(|_| self.started == 0);
        let start = first.unwrap_or(&self.spec.start);
        self.started += 1;
        self.started_at = context.now();
        self.unfinished = self.spec.pairs.len();
        for (n, draws) in self.draws.iter_mut().enumerate() {
            let at = context.now() + start.sample_duration(&mut draws.start);
            context.set_timer(at, n as u32);
        }
    }

    fn begin_transfer(&mut self, context: &mut AppContext<'_>, n: usize) {
        let bytes = self.spec.bytes.sample_count(&mut self.draws[n].bytes);
        let pair = &self.spec.pairs[n];
        self.has_started[n] = true;
        match &mut self.channels[n] {
            Some(channel) if !channel.has_ended() => channel.begin(context, bytes),
            none => {
                let ends = ChannelEnds { from: pair.from, to: pair.to, port: self.ports[n] };
                let channel = Channel::open(context, ends, &pair.scheme, Some(bytes));
                self.index.insert(pair.from, channel.sender(), n);
                *none = Some(channel);
            }
        }
    }

    /// Handles the end of the n-th connection's transfer.
    fn on_over(&mut self, context: &mut AppContext<'_>) {
        self.unfinished -= 1;
        if self.unfinished > 0 {
            return;
        }
        self.flows.extend(self.channels.iter().flatten().map(Channel::flow));
        self.has_started.fill(false);
        if self.started == self.spec.rounds {
            context.finish();
        } else {
            let next = (context.now() + self.spec.idle).max(self.started_at + self.spec.every);
            context.set_timer(next, ROUND);
        }
    }

    /// Finds the connection that a host has accepted: the one whose port its peer has.
    fn find_accepted(
        &self,
        context: &AppContext<'_>,
        host: HostId,
        event: &Event,
    ) -> Option<usize> {
        let peer = context.peer(host, event.conn)?;
        self.spec.pairs.iter().zip(&self.channels).position(|(pair, channel)| {
            pair.from == peer.host
                && pair.to == host
                && channel.is_some_and(|channel| {
                    let own = context.peer(pair.from, channel.sender());
                    own.is_some_and(|own| own.local_port == peer.port)
                })
        })
    }
}

impl Application for Rounds {
    fn start(&mut self, context: &mut AppContext<'_>) {
        for (n, pair) in self.spec.pairs.iter().enumerate() {
            self.ports.push(channel::listen(context, pair.to, &pair.receiver));
            let stream = |what| context.stream(&format!("{}/{what}/{n}", self.spec.name));
            self.draws.push(Draws { start: stream("start"), bytes: stream("bytes") });
        }
        self.begin_round(context);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        match token {
            ROUND => self.begin_round(context),
            n => self.begin_transfer(context, n as usize),
        }
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        if event.kind == EventKind::Accepted
            && let Some(n) = self.find_accepted(context, host, event)
        {
            self.index.insert(host, event.conn, n);
        }
        let Some(n) = self.index.find(host, event.conn) else { return };
        let Some(channel) = &mut self.channels[n] else { return };
        let over = channel.on_event(context, host, event);
        if matches!(event.kind, EventKind::Closed | EventKind::Reset) {
            self.index.remove(host, event.conn);
        }
        if over {
            self.on_over(context);
        }
    }

    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        for (channel, _) in
            self.channels.iter_mut().zip(&self.has_started).filter(|(_, started)| **started)
        {
            if let Some(channel) = channel {
                channel.on_stop(context);
            }
        }
    }

    fn describe(&self) -> String {
        let RoundsSpec { name, rounds, .. } = &self.spec;
        format!(
            "rounds {name}: {} transfers of round {} of {rounds} are not over",
            self.unfinished, self.started
        )
    }
}
