//! What the capture has found goes into the tenant's memory as reports of one more reporter, and servers hear of visitors.

use crate::config::permission::Allowed;
use crate::observe::passive::{PassiveReport, network};
use crate::observe::replay::aged;
use crate::os::clock::system_time;
use crate::pki::{Fingerprint, HolderRole, Identity};
use crate::site::GatewaySite;
use crate::site::tenant::Speaker;
use crate::site::tenant::arrivals::VisitorArrival;
use gateway_proto::v1::{Collector, Estimate, Network, Query, Report, ReportBatch, Source};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::mpsc::Receiver;
use units::Instant;

/// The name of the reporter that rebuilds senders.
pub const CAPTURE: &str = "capture";
/// The same of the one that reads TCP options: all of them together have the weight of one host, since anybody who can send in the
/// name of a server can write such an option.
pub const OPTION: &str = "option";

/// What is taken in at a time.
const AT_ONCE: usize = 1024;
/// Arrivals that are told at a time. Other tasks of the gateway run in between.
const TOLD_AT_ONCE: usize = 128;

/// What the capture has found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// A transfer of a server.
    Report(PassiveReport),
    /// What a server has said of a connection, by a TCP option.
    Option(PassiveReport),
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
    let mut rebuilt = SeenReporter::new(&site, &tenant, (CAPTURE, Collector::Passive));
    let mut said = SeenReporter::new(&site, &tenant, (OPTION, Collector::Option));
    let mut some = Vec::with_capacity(AT_ONCE);
    while found.recv_many(&mut some, AT_ONCE).await > 0 {
        // Servers are in a hurry: a handshake is under way.
        for some in some.chunks(TOLD_AT_ONCE) {
            some.iter().for_each(|one| rebuilt.tell(one));
            tokio::task::yield_now().await;
        }
        let (now, longest) = (wall(), site.rules().longest);
        let (mut transfers, mut options) = (Vec::new(), Vec::new());
        for one in some.drain(..) {
            match one {
                Found::Report(one) => transfers.push(aged(one.within(longest), one.at, now)),
                Found::Option(one) => options.push(aged(one.within(longest), one.at, now)),
                Found::Arrival { .. } => {}
            }
        }
        rebuilt.report(&transfers).await;
        said.report(&options).await;
    }
}

/// The gateway as a reporter to itself. It has no certificate, and it may report of all that its servers see.
struct SeenReporter {
    site: Arc<GatewaySite>,
    identity: Identity,
    allowed: Allowed,
    collector: Collector,
    epoch: u64,
    sequence: u64,
}

impl SeenReporter {
    fn new(site: &Arc<GatewaySite>, tenant: &str, (name, collector): (&str, Collector)) -> Self {
        Self {
            site: Arc::clone(site),
            identity: identity(tenant.to_owned(), name),
            allowed: Allowed::everything(),
            collector,
            epoch: crate::os::draw::long_number().max(1),
            sequence: 0,
        }
    }

    async fn report(&mut self, reports: &[Report]) {
        for reports in reports.chunks(self.site.rules().max_batch) {
            self.sequence += 1;
            let (epoch, sequence) = (self.epoch, self.sequence);
            let (collector, reports) = (self.collector.into(), reports.to_vec());
            self.report_batch(&ReportBatch { epoch, sequence, collector, reports, status: None })
                .await;
        }
    }

    async fn report_batch(&self, batch: &ReportBatch) {
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
        let estimate = tenant.answer(self.site.clock.now(), speaker, &query);
        if let Some(estimate) = estimate.ok().filter(is_of_visitor) {
            // Under the name that the server knows it by.
            let estimate = Estimate { network: Some(network), ..estimate };
            let server = server.to_canonical();
            tenant.arrivals.tell(VisitorArrival { server, estimate });
        }
    }
}

/// True if the visitor's network is known: it answers itself, or a prefix that covers it and has its samples does. An estimate of
/// neighbours or of the whole site is not worth a message for each SYN: an agent that wants it asks.
fn is_of_visitor(estimate: &Estimate) -> bool {
    matches!(estimate.source(), Source::Network | Source::Covering)
}

fn identity(tenant: String, name: &str) -> Identity {
    Identity {
        tenant,
        name: name.to_owned(),
        role: HolderRole::Agent,
        fingerprint: Fingerprint::of_certificate(name.as_bytes()),
        not_after: i64::MAX,
    }
}

/// The wall clock, by which captures have their times.
pub(super) fn wall() -> Instant {
    let since = system_time().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_what_the_site_usually_is() {
        let of = |source: Source| Estimate { source: source.into(), ..Estimate::default() };
        assert!(is_of_visitor(&of(Source::Network)) && is_of_visitor(&of(Source::Covering)));
        for other in [Source::Neighbours, Source::Prior, Source::Unspecified] {
            assert!(!is_of_visitor(&of(other)), "{other:?}");
        }
    }
}
