//! What the capture has found goes into the tenant's memory as reports of one more reporter, and servers hear of visitors.

use crate::arrivals::VisitorArrival;
use crate::clock::system_time;
use crate::passive::{PassiveReport, network};
use crate::permission::Allowed;
use crate::pki::{Fingerprint, HolderRole, Identity};
use crate::replay::aged;
use crate::site::GatewaySite;
use crate::tenant::Speaker;
use gateway_proto::v1::{Collector, Network, Query, ReportBatch};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::mpsc::Receiver;
use units::Instant;

/// The reporter's name.
pub const CAPTURE: &str = "capture";

/// What is taken in at a time.
const AT_ONCE: usize = 1024;

/// What the capture has found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// A transfer of a server.
    Report(PassiveReport),
    /// A SYN.
    Arrival {
        /// To whom.
        server: IpAddr,
        /// From whom.
        visitor: IpAddr,
    },
}

/// Takes in until the capture ends. A tenant that is gone hears nothing.
pub(super) async fn take_in(site: Arc<GatewaySite>, tenant: String, mut found: Receiver<Found>) {
    let reporter =
        SeenReporter { site, identity: identity(tenant), allowed: Allowed::everything() };
    let epoch = crate::draw::long_number().max(1);
    let mut some = Vec::with_capacity(AT_ONCE);
    let mut sequence = 0;
    while found.recv_many(&mut some, AT_ONCE).await > 0 {
        // Servers are in a hurry: a handshake is under way.
        some.iter().for_each(|one| reporter.tell(one));
        let now = wall();
        let reports = some.drain(..).filter_map(|one| match one {
            Found::Report(PassiveReport { at, report, .. }) => Some(aged(report, at, now)),
            Found::Arrival { .. } => None,
        });
        let reports: Vec<_> = reports.collect();
        for reports in reports.chunks(reporter.site.rules().max_batch) {
            sequence += 1;
            let (collector, reports) = (Collector::Passive.into(), reports.to_vec());
            reporter
                .report(&ReportBatch { epoch, sequence, collector, reports, status: None })
                .await;
        }
    }
}

/// The gateway as a reporter to itself. It has no certificate, and it may report of all that its servers see.
struct SeenReporter {
    site: Arc<GatewaySite>,
    identity: Identity,
    allowed: Allowed,
}

impl SeenReporter {
    async fn report(&self, batch: &ReportBatch) {
        let Some(tenant) = self.site.tenant(&self.identity.tenant) else { return };
        let rules = self.site.rules();
        let speaker = Speaker { identity: &self.identity, allowed: &self.allowed, rules: &rules };
        if tenant.take(self.site.clock.now(), speaker, batch, &self.site.counts).await.is_err() {
            // Fewer are allowed than a moment ago: none of it counts.
            self.site.counts.bad_batches.add(1);
        }
    }

    fn tell(&self, found: &Found) {
        let Found::Arrival { server, visitor } = found else { return };
        let Some(tenant) = self.site.tenant(&self.identity.tenant) else { return };
        if !tenant.arrivals.has_subscribers() {
            return;
        }
        let rules = self.site.rules();
        let speaker = Speaker { identity: &self.identity, allowed: &self.allowed, rules: &rules };
        let network = Network::of(network(*visitor));
        let query = Query { id: 0, network: Some(network), size: 0 };
        if let Ok(estimate) = tenant.answer(self.site.clock.now(), speaker, &query) {
            // Under the name that the server knows it by.
            let estimate = gateway_proto::v1::Estimate { network: Some(network), ..estimate };
            let server = server.to_canonical();
            tenant.arrivals.tell(VisitorArrival { server, estimate });
            self.site.counts.arrivals.add(1);
        }
    }
}

fn identity(tenant: String) -> Identity {
    Identity {
        tenant,
        name: CAPTURE.to_owned(),
        role: HolderRole::Agent,
        fingerprint: Fingerprint::of_certificate(CAPTURE.as_bytes()),
        not_after: i64::MAX,
    }
}

/// The wall clock, by which captures have their times.
pub(super) fn wall() -> Instant {
    let since = system_time().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
