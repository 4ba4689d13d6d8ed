//! The client of the site's performance gateway: the agent asks it for paths when handshakes begin,
//! and reports connections. Answers enter the memory of paths and obey its rules: younger samples
//! of the host's own win. Windows are capped, aged, checked against the round trip and compared
//! with a control group as always. Nothing in the kernel waits for any of this.

mod known;
mod message;

use crate::contract::{ConnectionSettings, ConnectionSummary, PathInquiry, PrefixKey};
use crate::memory::paths;
use crate::os::clock::{monotonic_ns, since};
use crate::os::lock::lock;
use crate::os::log::{Level, say};
use canary::fleet::FleetFinding;
use canary::part::CanaryPart;
use canary::trial::TrialSums;
use gateway_client::{ClientConfig, ClientStatus, SiteClient, SiteEvent, SiteQuestion};
use gateway_proto::v1::Estimate;
use ipnet::IpNet;
use known::{AskedPaths, Forgets, Quarantine, SegmentSizes};
use libbpf_rs::MapHandle;
use message::{learnt_from, report_of, reported_network};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The client of the site's gateways, and the state here that they may change.
#[derive(Debug)]
pub(crate) struct Site {
    client: SiteClient<PathInquiry>,
    known: Arc<Known>,
}

/// State that the thread of the client and the agent share.
#[derive(Debug)]
struct Known {
    quarantine: Mutex<Quarantine>,
    asked: Mutex<AskedPaths>,
    segments: Mutex<SegmentSizes>,
    forgets: Mutex<Forgets>,
    /// Findings of all hosts that the agent has not taken yet.
    findings: Mutex<Option<Vec<FleetFinding>>>,
    /// Whether network namespaces share the memory: a reload may change that.
    shares_namespaces: AtomicBool,
}

impl Site {
    /// Begins to ask and to report. `paths`: the memory. `settings`: how the programs remember.
    ///
    /// # Errors
    /// If certificates cannot be read.
    pub(crate) fn join(
        config: ClientConfig,
        paths: MapHandle,
        settings: &ConnectionSettings,
    ) -> Result<Self, String> {
        let known = Arc::new(Known {
            quarantine: Mutex::new(Quarantine::with_duration(settings.max_age_ns)),
            asked: Mutex::default(),
            segments: Mutex::default(),
            forgets: Mutex::default(),
            findings: Mutex::default(),
            shares_namespaces: AtomicBool::new(settings.shares_namespaces),
        });
        let hearer = Hearer { paths, known: Arc::clone(&known), own: OwnPaths::of(settings) };
        let client = SiteClient::start(config, move |event| hearer.hear(event));
        let client = client.map_err(|why| format!("gateway: {why}"))?;
        Ok(Self { client, known })
    }

    /// Asks the gateways for a path that is not known here.
    pub(crate) fn ask(&self, inquiry: PathInquiry) {
        let network = reported_network(inquiry.path.prefix);
        lock(&self.known.asked).add(network, inquiry.path);
        self.client.ask(SiteQuestion { network, size: 0, of: inquiry });
    }

    /// Reports a closed connection to the gateways.
    pub(crate) fn report(&self, summary: &ConnectionSummary) {
        lock(&self.known.segments).note(summary.path, summary.mss);
        if summary.has_fallen_back {
            lock(&self.known.quarantine).add(summary.path, monotonic_ns());
        }
        if let Some(report) = report_of(summary) {
            self.client.report(report);
        }
    }

    /// Returns the networks that a gateway has asked to forget, also on disk, since the last call.
    pub(crate) fn forgotten(&self) -> Vec<IpNet> {
        lock(&self.known.forgets).take()
    }

    /// Sends the sums of this host's comparison.
    pub(crate) fn compare(&self, sums: &[(CanaryPart, TrialSums)]) {
        self.client.compare(sums);
    }

    /// Returns the findings of all hosts, if any have been received since the last call.
    pub(crate) fn findings(&self) -> Option<Vec<FleetFinding>> {
        lock(&self.known.findings).take()
    }

    /// Stops updates of paths within `prefix`, or of all, by unasked answers of gateways.
    pub(crate) fn forget(&self, prefix: Option<IpNet>) {
        lock(&self.known.asked).forget(prefix);
    }

    /// Adopts the settings by which the programs remember from now on.
    pub(crate) fn follow(&self, settings: &ConnectionSettings) {
        self.known.shares_namespaces.store(settings.shares_namespaces, Ordering::Relaxed);
    }

    /// Returns the status of the client.
    pub(crate) fn status(&self) -> ClientStatus {
        self.client.status()
    }
}

/// Takes up what gateways say.
struct Hearer {
    /// The memory.
    paths: MapHandle,
    known: Arc<Known>,
    own: OwnPaths,
}

/// Form in which the programs know the paths of this host's own connections.
#[derive(Clone, Copy, Debug)]
struct OwnPaths {
    /// Network namespace of this host, if namespaces have memories of their own.
    namespace: u32,
    /// Prefix bits of IPv4 and IPv6.
    bits: (u8, u8),
}

impl OwnPaths {
    fn of(settings: &ConnectionSettings) -> Self {
        let bits = (settings.v4_bits, settings.v6_bits);
        Self { namespace: paths::own_namespace(), bits }
    }

    /// Returns the path to a network; `None` if that is more than one path.
    fn to(self, network: IpNet, shares_namespaces: bool) -> Option<PrefixKey> {
        let bits = if network.addr().is_ipv4() { self.bits.0 } else { self.bits.1 };
        let prefix = IpNet::new(network.addr(), bits).ok()?.trunc();
        let namespace = if shares_namespaces { 0 } else { self.namespace };
        (network.prefix_len() >= bits).then_some(PrefixKey { namespace, prefix })
    }
}

impl Hearer {
    /// Handles an event of the client. Returns true if an answer that came before the handshake can
    /// have ended.
    fn hear(&self, event: SiteEvent<PathInquiry>) -> bool {
        let now = monotonic_ns();
        match event {
            SiteEvent::Answered(question, estimate) => {
                self.learn(question.of.path, &estimate, now);
                // A handshake takes a round trip at least.
                let round_trip_us = u32::try_from(estimate.min_rtt_us).unwrap_or(0);
                let took = since(question.of.at_ns, now);
                return question.of.can_be_in_time && took < u64::from(round_trip_us) * 1000;
            }
            // It updates paths that were asked for, and adds none: a site has more networks than a
            // host sees.
            SiteEvent::Told(estimate) => {
                let network = estimate.network.and_then(|network| network.to_net());
                let paths = network.map(|network| lock(&self.known.asked).of(&network));
                for path in paths.unwrap_or_default() {
                    self.learn(path, &estimate, now);
                }
            }
            // Unlike the above it is of use at once: the visitor's handshake is under way.
            SiteEvent::Arriving(estimate) => {
                if let Some(network) = estimate.network.and_then(|network| network.to_net()) {
                    let mut paths = lock(&self.known.asked).of(&network);
                    let shares = self.known.shares_namespaces.load(Ordering::Relaxed);
                    let own = self.own.to(network, shares);
                    paths.extend(own.filter(|own| !paths.contains(own)));
                    paths.into_iter().for_each(|path| self.learn(path, &estimate, now));
                }
            }
            SiteEvent::Forget(network) => {
                if let Some(network) = network.to_net() {
                    paths::forget(&self.paths, Some(network));
                    lock(&self.known.forgets).add(network);
                }
            }
            SiteEvent::Compared(findings) => *lock(&self.known.findings) = Some(findings),
            SiteEvent::NotCompared(why) => {
                let what = format!(
                    "the gateway refuses the sums of this server's comparison: {why}; update the older of agent and gateway"
                );
                say(Level::Warning, &what);
            }
            SiteEvent::Connected(gateway) => {
                say(Level::Notice, &format!("gateway {gateway} answers"));
            }
            SiteEvent::Lost(why) => {
                let what = format!("gateway: {why}; connections go on with what is known here");
                say(Level::Warning, &what);
            }
        }
        false
    }

    /// Writes an estimate of a gateway to the memory, unless the path is in quarantine.
    fn learn(&self, path: PrefixKey, estimate: &Estimate, now: u64) {
        let mss = lock(&self.known.segments).of(&path);
        if !lock(&self.known.quarantine).has(&path, now)
            && let Some(learnt) = learnt_from(estimate, mss, now)
        {
            paths::learn_from_others(&self.paths, path, &learnt, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_who_arrives_comes_from_a_path_of_this_host_or_from_several() {
        let own = OwnPaths { namespace: 7, bits: (24, 48) };
        let path = |network: &str| {
            own.to(network.parse().unwrap(), false).map(|key| key.prefix.to_string())
        };
        assert_eq!(path("192.0.2.0/24").as_deref(), Some("192.0.2.0/24"));
        assert_eq!(path("192.0.2.128/25").as_deref(), Some("192.0.2.0/24"));
        assert_eq!(path("2001:db8:1::/48").as_deref(), Some("2001:db8:1::/48"));
        assert_eq!(path("192.0.0.0/16"), None);
        let namespace =
            |shares| own.to("192.0.2.0/24".parse().unwrap(), shares).map(|key| key.namespace);
        assert_eq!((namespace(false), namespace(true)), (Some(7), Some(0)));
    }
}
