//! A server with its agent: the networks that it knows, and the reports that wait for a batch.

use gateway::pki::{Fingerprint, HolderRole, Identity};
use gateway::replay::site_load::report_of;
use gateway_proto::v1::{Bound, Collector, Network, Query, Report, ReportBatch};
use std::net::Ipv4Addr;

/// Networks that a server remembers: the default of `max-paths` of an agent.
const KNOWN: usize = 65_536;

pub(crate) struct SimulatedServer {
    pub(crate) identity: Identity,
    /// Each slot has the last network of its hash, as an agent forgets old paths for new ones.
    known: Box<[u32]>,
    reports: Vec<Report>,
    sequence: u64,
    questions: u64,
}

impl SimulatedServer {
    pub(crate) fn new(tenant: &str, number: usize) -> Self {
        let identity = Identity {
            tenant: tenant.to_owned(),
            name: format!("web-{number}"),
            role: HolderRole::Agent,
            fingerprint: Fingerprint::of_certificate(b""),
            not_after: i64::MAX,
        };
        // No network has this number, and each page of the memory is written.
        let known = vec![u32::MAX; KNOWN].into();
        Self { identity, known, reports: Vec::new(), sequence: 0, questions: 0 }
    }

    /// Serves a visitor of the network, an IPv4 /24; returns the question if the server asks.
    pub(crate) fn serve(&mut self, network: u32) -> Option<Query> {
        let net = ipnet::Ipv4Net::new_assert(Ipv4Addr::from_bits(network << 8), 24);
        let named = Network::of(net.into());
        self.reports.push(report(network, self.reports.len(), named));
        let slot = &mut self.known[network.wrapping_mul(0x9E37_79B1) as usize % KNOWN];
        if *slot == network {
            return None;
        }
        *slot = network;
        self.questions += 1;
        Some(Query { id: self.questions, network: Some(named), size: 0 })
    }

    /// Returns the reports since the last batch, if there are any.
    pub(crate) fn batch(&mut self) -> Option<ReportBatch> {
        if self.reports.is_empty() {
            return None;
        }
        self.sequence += 1;
        let reports = std::mem::take(&mut self.reports);
        let (collector, sequence) = (Collector::Agent.into(), self.sequence);
        Some(ReportBatch { epoch: 1, sequence, collector, reports, status: None })
    }
}

/// Returns a report of a connection. A network's own path decides its figures, and one connection
/// of seven meets a loss.
fn report(network: u32, number: usize, named: Network) -> Report {
    let has_loss = (network as usize + number).is_multiple_of(7);
    Report {
        window: u64::from(10_000 + network % 200_000),
        rate: u64::from(1_000_000 + network % 50_000_000),
        min_rtt_us: u64::from(10_000 + network % 100_000),
        lost: u32::from(has_loss),
        bound: if has_loss { Bound::Loss } else { Bound::OwnStart }.into(),
        ..report_of(named)
    }
}
