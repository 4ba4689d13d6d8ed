//! Collecting without the senders' help: a box that all packets of a site pass rebuilds what its
//! senders must know, and tells a gateway (Zhang, Qiu & Keshav 2000 §5.2.2, third way).
//!
//! It sees headers and nothing else. Each connection is followed by an [`ObservedSender`], which keeps the
//! window of RFC 5681 as far as ACKs tell and corrects it by what is sent in answer.

mod sender;

pub use sender::ObservedSender;

use crate::{GatewayReport, PathMemory, Remembered, Sample, Shared};
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use units::{Instant, SeqNum};

/// A connection, as the box tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// Address in the site.
    pub local: IpAddr,
    /// Address outside.
    pub remote: IpAddr,
    /// Port in the site, and outside.
    pub ports: (u16, u16),
}

/// A packet on its way out: of its header what says something of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutgoingPacket {
    /// Sequence number of its first byte.
    pub seq: SeqNum,
    /// Payload bytes.
    pub len: u32,
    /// It opens the connection: its sequence number is taken by no byte.
    pub syn: bool,
    /// On a SYN: it offers to scale windows, without which the other side's are not scaled.
    pub scaling: bool,
}

/// A packet on its way in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncomingPacket {
    /// What it acknowledges, if anything.
    pub ack: Option<SeqNum>,
    /// The window field.
    pub window: u16,
    /// Payload bytes: a request.
    pub len: u32,
    /// On a SYN, the shift of later windows; `Some(0)` without the option.
    pub window_scale: Option<u8>,
    /// It ends the connection, by FIN or RST.
    pub ends: bool,
}

/// The box. Asked itself, it answers as the gateway does that it tells.
pub struct Passive {
    gateway: Shared,
    senders: LruCache<FlowKey, ObservedSender, FxBuildHasher>,
    max_senders: NonZeroUsize,
    /// Connections of which all was acknowledged at that instant, in that order.
    quiet: VecDeque<(Instant, FlowKey)>,
}

impl Passive {
    /// A box that tells `gateway`, and follows at most `max_senders` connections, those with the
    /// latest packets.
    pub fn new(gateway: Shared, max_senders: usize) -> Self {
        Self {
            gateway,
            senders: LruCache::unbounded_with_hasher(FxBuildHasher),
            max_senders: NonZeroUsize::new(max_senders).unwrap_or(NonZeroUsize::MIN),
            quiet: VecDeque::new(),
        }
    }

    /// The connection as the box sees it.
    pub fn sender(&self, flow: &FlowKey) -> Option<&ObservedSender> {
        self.senders.peek(flow)
    }

    /// A packet leaves the site.
    pub fn on_outgoing(&mut self, now: Instant, flow: &FlowKey, packet: &OutgoingPacket) {
        self.settle(now);
        let report = self.follow(flow).on_outgoing(now, packet);
        self.tell(now, flow, report);
    }

    /// A packet enters the site.
    pub fn on_incoming(&mut self, now: Instant, flow: &FlowKey, packet: &IncomingPacket) {
        self.settle(now);
        if packet.window_scale.is_some() {
            self.follow(flow);
        }
        let Some(sender) = self.senders.get_mut(flow) else { return };
        let was_quiet = sender.quiet_since().is_some();
        let report = sender.on_incoming(now, packet);
        if let Some(since) = sender.quiet_since().filter(|_| !was_quiet) {
            self.quiet.push_back((since, *flow));
        }
        self.tell(now, flow, report);
        if packet.ends {
            let ended = self.senders.get_mut(flow).and_then(ObservedSender::end_transfer);
            self.tell(now, flow, ended);
        }
    }

    /// The connection's sender, followed from now on if it was not; the one of longest ago may go.
    fn follow(&mut self, flow: &FlowKey) -> &mut ObservedSender {
        if self.senders.len() >= self.max_senders.get() && !self.senders.contains(flow) {
            self.senders.pop_lru();
        }
        self.senders.get_or_insert_mut(*flow, ObservedSender::default)
    }

    /// Takes the transfers as over that have been quiet for a round trip.
    fn settle(&mut self, now: Instant) {
        while let Some((since, flow)) = self.quiet.front().copied() {
            let sender = self.senders.peek_mut(&flow);
            let Some(sender) = sender.filter(|sender| sender.quiet_since() == Some(since)) else {
                // It sent on, was told of already, or is followed no more.
                self.quiet.pop_front();
                continue;
            };
            if now.saturating_since(since) < sender.srtt() {
                return;
            }
            let report = sender.end_transfer();
            self.quiet.pop_front();
            self.tell(since, &flow, report);
        }
    }

    fn tell(&mut self, now: Instant, flow: &FlowKey, report: Option<GatewayReport>) {
        if let Some(report) = report {
            self.gateway.borrow_mut().record(now, flow.remote, &Sample::Report(report));
        }
    }
}

impl PathMemory for Passive {
    fn known(&self) -> Option<usize> {
        self.gateway.borrow().known()
    }

    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered> {
        self.settle(now);
        self.gateway.borrow_mut().recall(now, remote)
    }

    /// Nothing: what senders say is not heard here.
    fn record(&mut self, _: Instant, _: IpAddr, _: &Sample) {}
}
