//! The capture beside the server: packets in the order in which they pass it, to two engines at
//! once.

use super::{SERVER, SiteFound};
use capture::{Observed, TcpEnd};
use findings::FindingsSink;
use netsim::{Body, HostId, LinkId, Observer, PassingOrder, SimPacket, Step, Transit};
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use trace::{
    ConnectionTrace, EngineConfig, SenderCounters, SenderModel, SenderModels, TraceEngine,
    TraceSink, Vantage,
};
use units::Instant;

/// Sums the segments of servers.
#[derive(Default)]
struct ServerSums(SenderCounters);

impl TraceSink for ServerSums {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.0.add(&summary.server_sent);
    }
}

/// Two engines beside a server: one sees the server's segments, the other the ACKs alone.
pub struct SiteEngines {
    seen: TraceEngine<(ServerSums, FindingsSink)>,
    predicted: TraceEngine<ServerSums>,
    reported_retransmitted: Option<u64>,
    packets: u64,
}

impl SiteEngines {
    /// Creates engines with this configuration.
    pub fn new(config: EngineConfig) -> Self {
        let acks_only = EngineConfig { acks_only: true, ..config.clone() };
        Self {
            seen: TraceEngine::new(config, Default::default()),
            predicted: TraceEngine::new(acks_only, ServerSums::default()),
            reported_retransmitted: None,
            packets: 0,
        }
    }

    /// Creates the engines for a simulated capture, whose sender and vantage are known.
    fn of_simulation() -> Result<Self, String> {
        let model = SenderModel::of_scheme(SERVER).map_err(|error| error.to_string())?;
        let config = EngineConfig {
            models: SenderModels::all(model),
            vantage: Some(Vantage::Server),
            ..EngineConfig::default()
        };
        Ok(Self { reported_retransmitted: Some(0), ..Self::new(config) })
    }

    /// Takes the next segment of the capture.
    pub fn on_segment(&mut self, segment: &Observed) {
        self.packets += 1;
        self.seen.on_segment(segment);
        self.predicted.on_segment(segment);
    }

    /// Returns the findings.
    pub fn finish(self) -> SiteFound {
        let ((seen, found), _) = self.seen.finish_all();
        let (predicted, _) = self.predicted.finish_all();
        SiteFound {
            found: found.finish(),
            seen: seen.0,
            predicted: predicted.0,
            reported_retransmitted: self.reported_retransmitted,
            packets: self.packets,
        }
    }
}

/// State that outlives the simulation, which owns its observers.
#[derive(Clone, Default)]
pub(super) struct Shared(Rc<RefCell<Option<SiteEngines>>>);

impl Shared {
    /// Returns the findings.
    pub(super) fn finish(&self) -> Result<SiteFound, String> {
        self.0.borrow_mut().take().map(SiteEngines::finish).ok_or_else(|| "no capture".to_owned())
    }
}

/// An observer at the server.
pub(super) struct ServerCapture {
    /// Direction of each link: from the server (`true`), or to it.
    links: Vec<Option<bool>>,
    server: HostId,
    /// Links report arrivals ahead of time.
    in_transit: PassingOrder<Observed>,
    shared: Shared,
}

impl ServerCapture {
    /// Creates a capture at the server, whose links to and from each client these are.
    pub(super) fn new(links: &[[LinkId; 2]], server: HostId, shared: Shared) -> Self {
        let count = links.iter().flatten().map(|link| link.index() + 1).max().unwrap_or(0);
        let mut of = vec![None; count];
        for [down, up] in links {
            of[down.index()] = Some(true);
            of[up.index()] = Some(false);
        }
        *shared.0.borrow_mut() = SiteEngines::of_simulation().ok();
        Self { links: of, server, in_transit: PassingOrder::default(), shared }
    }

    /// Passes on the segments delivered by `now`: they may release the next segments.
    fn release(&mut self, now: Instant) {
        while let Some(segment) = self.in_transit.pop_until(now) {
            if let Some(engines) = self.shared.0.borrow_mut().as_mut() {
                engines.on_segment(&segment);
            }
        }
    }

    fn observe_segment(&self, at: Instant, packet: &SimPacket, transit: &Transit) -> Observed {
        let end = |host: HostId, port| TcpEnd { ip: self.address(host), port };
        let source = end(packet.from, transit.source_port);
        let destination = end(packet.to, transit.destination_port);
        Observed::of_segment(at, source, destination, &transit.segment)
    }

    /// Returns the address of a host. Six clients share a network, as in the logs of Zhang et al.
    /// 2000 §5.2.1: 656,559 addresses of 106,669 networks.
    fn address(&self, host: HostId) -> IpAddr {
        let n = host.index() as u32;
        match host == self.server {
            true => IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
            false => IpAddr::V4(Ipv4Addr::from((10 << 24) + ((n / 6) << 8) + n % 6 + 1)),
        }
    }
}

impl Observer for ServerCapture {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let Some(Some(from_server)) = self.links.get(link.index()).copied() else { return };
        let passes = match step {
            Step::Enter { .. } | Step::Drop { .. } => from_server,
            Step::Arrive => !from_server,
            Step::Discard { .. } | Step::Mark | Step::Leave | Step::Lose => false,
        };
        let Body::Segment(transit) = &packet.body else { return };
        if !passes {
            return;
        }
        let segment = self.observe_segment(at, packet, transit);
        if !from_server {
            return self.in_transit.push(at, segment);
        }
        self.release(at);
        if let Some(engines) = self.shared.0.borrow_mut().as_mut() {
            let again = transit.retransmission && transit.segment.len > 0;
            engines.reported_retransmitted = engines
                .reported_retransmitted
                .map(|retransmitted| retransmitted + u64::from(again));
            engines.on_segment(&segment);
        }
    }
}

impl Drop for ServerCapture {
    fn drop(&mut self) {
        self.release(Instant::FAR_FUTURE);
    }
}
