//! Collecting without the senders' help (Zhang, Qiu & Keshav 2000 §5.2.2, third way). All packets
//! of a site pass a box, which rebuilds its senders with the engine of crate `trace`, and reports
//! to a gateway.
//!
//! The box sees headers and nothing else. It assumes that every sender is NewReno unless it is
//! configured otherwise. The engine corrects a rebuilt window by the data sent in answer to ACKs.
//! `rebuilt` selects the findings for the gateway.

use super::border::{SiteBorder, Way};
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

/// Maximum number of connections that are followed at once.
const MAX_SENDERS: usize = 65_536;

/// The box. To questions it gives the answers of its gateway.
pub struct PassiveGateway {
    gateway: Shared,
    engine: TraceEngine<SharesOfSenders>,
    /// Packets on their way to their server: links report arrivals ahead of time.
    in_transit: PassingOrder<Observed>,
}

impl PassiveGateway {
    /// Creates a box at the border of the site of `servers` that reports to `gateway`.
    pub fn new(gateway: Shared, servers: &[HostId]) -> Self {
        Self::of_model(gateway, servers, SenderModel::of(SenderProfile::NewReno))
    }

    /// Creates a box for servers that run this model instead of NewReno.
    pub fn of_model(gateway: Shared, servers: &[HostId], model: SenderModel) -> Self {
        Self::for_servers(gateway, servers.iter().map(|server| address_of(*server)), model)
    }

    /// Sets the rule for the reports that senders would make of their share.
    pub fn by(mut self, rule: ShareRule) -> Self {
        self.engine.sink_mut().follow_rule(rule);
        self
    }

    /// Creates a box for the addresses of servers.
    fn for_servers(
        gateway: Shared,
        servers: impl Iterator<Item = IpAddr>,
        model: SenderModel,
    ) -> Self {
        let servers = servers.map(ServerPattern::from);
        let config = EngineConfig {
            models: SenderModels::all(model),
            vantage: Some(Vantage::Server),
            servers: servers.collect::<NamedServers>(),
            named_open: true,
            max_connections: MAX_SENDERS,
            compress_after: Duration::MAX,
            idle_timeout: Duration::MAX,
            ..EngineConfig::default()
        };
        let engine = TraceEngine::new(config, SharesOfSenders::new(gateway.clone()));
        Self { gateway, engine, in_transit: PassingOrder::default() }
    }

    /// Handles a packet that leaves the site.
    fn on_outgoing(&mut self, segment: &Observed) {
        self.release(segment.at);
        self.show_segment(segment);
    }

    /// Shows the engine the packets that have entered the site by `now`.
    fn release(&mut self, now: Instant) {
        while let Some(segment) = self.in_transit.pop_until(now) {
            self.show_segment(&segment);
        }
    }

    fn show_segment(&mut self, segment: &Observed) {
        self.engine.sink_mut().end_quiet_transfers(segment.at);
        self.engine.on_segment(segment);
    }
}

impl PathMemory for PassiveGateway {
    fn known(&self) -> Option<usize> {
        self.gateway.borrow().known()
    }

    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered> {
        self.release(now);
        self.engine.sink_mut().end_quiet_transfers(now);
        self.gateway.borrow_mut().recall(now, remote)
    }

    /// Does nothing: senders' own reports are ignored.
    fn record(&mut self, _: Instant, _: IpAddr, _: &Sample) {}
}

/// Shows a box the packets that pass a site's border.
pub struct PassiveTap {
    border: SiteBorder,
    passive: Rc<RefCell<PassiveGateway>>,
}

impl PassiveTap {
    /// Creates a tap that shows `passive` the packets that `servers` send and receive.
    pub fn new(
        topology: &Topology,
        servers: &[HostId],
        passive: Rc<RefCell<PassiveGateway>>,
    ) -> Self {
        Self { border: SiteBorder::new(topology, servers), passive }
    }
}

impl Observer for PassiveTap {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Body::Segment(transit) = &packet.body else { return };
        let Some(way) = self.border.crossing_direction(link, step, packet) else { return };
        let segment = observed(at, packet, transit);
        let mut passive = self.passive.borrow_mut();
        match way {
            Way::Out => passive.on_outgoing(&segment),
            Way::In => passive.in_transit.push(at, segment),
        }
    }
}

/// Returns the fields of a header, without the simulator's own knowledge of retransmissions.
fn observed(at: Instant, packet: &SimPacket, transit: &Transit) -> Observed {
    let end = |host, port| TcpEnd { ip: address_of(host), port };
    let source = end(packet.from, transit.source_port);
    let destination = end(packet.to, transit.destination_port);
    Observed::of_segment(at, source, destination, &transit.segment)
}

#[cfg(test)]
mod tests;
