//! Collecting without the senders' help: all packets of a site pass a box that rebuilds its senders, by the engine of
//! crate `trace`, and tells a gateway (Zhang, Qiu & Keshav 2000 §5.2.2, third way).
//!
//! The box sees headers and nothing else. It takes every sender for NewReno unless it is told better; the engine corrects a rebuilt window by what
//! is sent in answer to ACKs. `rebuilt` says which of its findings the gateway is told.

use super::edge::{Edge, Way};
use super::rebuilt::SharesOfSenders;
use crate::observer::{Observer, Step};
use crate::packet::{Body, SimPacket, Transit};
use crate::passing::PassingOrder;
use crate::topology::{Topology, address_of};
use crate::{HostId, LinkId};
use capture::{Observed, TcpEnd};
use memory::{PathMemory, Remembered, Sample, ShareRule, Shared};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use trace::{
    EngineConfig, NamedServers, SenderModel, SenderModels, SenderProfile, ServerPattern,
    TraceEngine, Vantage,
};
use units::{Duration, Instant};

/// Connections that are followed at once.
const MOST_SENDERS: usize = 65_536;

/// The box. Asked itself, it answers as the gateway does that it tells.
pub struct PassiveGateway {
    gateway: Shared,
    engine: TraceEngine<SharesOfSenders>,
    /// Packets that have not reached their server: links tell of arrivals ahead of time.
    coming: PassingOrder<Observed>,
}

impl PassiveGateway {
    /// A box at the edge of the site of `servers` that tells `gateway`.
    pub fn new(gateway: Shared, servers: &[HostId]) -> Self {
        Self::of_model(gateway, servers, SenderModel::of(SenderProfile::NewReno))
    }

    /// The same of servers that run this in the place of NewReno.
    pub fn of_model(gateway: Shared, servers: &[HostId], model: SenderModel) -> Self {
        Self::beside(gateway, servers.iter().map(|server| address_of(*server)), model)
    }

    /// The same, by what senders would tell of their share under `rule`.
    pub fn by(mut self, rule: ShareRule) -> Self {
        self.engine.sink_mut().follow_rule(rule);
        self
    }

    /// The same by the addresses of servers.
    fn beside(gateway: Shared, servers: impl Iterator<Item = IpAddr>, model: SenderModel) -> Self {
        let servers = servers.map(ServerPattern::from);
        let config = EngineConfig {
            models: SenderModels::all(model),
            vantage: Some(Vantage::Server),
            servers: servers.collect::<NamedServers>(),
            named_open: true,
            max_connections: MOST_SENDERS,
            park_after: Duration::MAX,
            idle_timeout: Duration::MAX,
            ..EngineConfig::default()
        };
        let engine = TraceEngine::new(config, SharesOfSenders::new(gateway.clone()));
        Self { gateway, engine, coming: PassingOrder::default() }
    }

    /// A packet leaves the site.
    fn on_outgoing(&mut self, segment: &Observed) {
        self.release(segment.at);
        self.follow(segment);
    }

    /// Shows the engine what has entered the site by `now`.
    fn release(&mut self, now: Instant) {
        while let Some(segment) = self.coming.pop_until(now) {
            self.follow(&segment);
        }
    }

    fn follow(&mut self, segment: &Observed) {
        self.engine.sink_mut().settle(segment.at);
        self.engine.on_segment(segment);
    }
}

impl PathMemory for PassiveGateway {
    fn known(&self) -> Option<usize> {
        self.gateway.borrow().known()
    }

    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered> {
        self.release(now);
        self.engine.sink_mut().settle(now);
        self.gateway.borrow_mut().recall(now, remote)
    }

    /// Nothing: what senders say is not heard here.
    fn record(&mut self, _: Instant, _: IpAddr, _: &Sample) {}
}

/// Shows a box what passes a site's edge.
pub struct PassiveTap {
    edge: Edge,
    passive: Rc<RefCell<PassiveGateway>>,
}

impl PassiveTap {
    /// Shows `passive` what `servers` send and receive.
    pub fn new(
        topology: &Topology,
        servers: &[HostId],
        passive: Rc<RefCell<PassiveGateway>>,
    ) -> Self {
        Self { edge: Edge::new(topology, servers), passive }
    }
}

impl Observer for PassiveTap {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Body::Segment(transit) = &packet.body else { return };
        let Some(way) = self.edge.passes(link, step, packet) else { return };
        let segment = observed(at, packet, transit);
        let mut passive = self.passive.borrow_mut();
        match way {
            Way::Out => passive.on_outgoing(&segment),
            Way::In => passive.coming.push(at, segment),
        }
    }
}

/// What a header says; the simulator's own knowledge of retransmissions is not in it.
fn observed(at: Instant, packet: &SimPacket, transit: &Transit) -> Observed {
    let end = |host, port| TcpEnd { ip: address_of(host), port };
    let source = end(packet.from, transit.source_port);
    let destination = end(packet.to, transit.destination_port);
    Observed::of_segment(at, source, destination, &transit.segment)
}

#[cfg(test)]
mod tests;
