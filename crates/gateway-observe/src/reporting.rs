//! Sends findings of the capture to the gateway: transfers and options as reports, SYNs as
//! visitors.

use crate::config::{CapturePlace, ObserveConfig, ReportedPrefix};
use crate::counts::ObserverCounts;
use crate::log::{LogPriority, say};
use crate::passive::{PassiveReport, aged};
use gateway_client::{ClientConfig, SiteClient, SiteEvent, bytes_of, network_of};
use gateway_proto::v1::{Arrival, Collector, Network};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use support::clock::wall;

/// Longest wait of a client for acknowledgements.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of reports of a file that wait for their acknowledgement.
const MAX_UNACKNOWLEDGED_REPORTS: u64 = 4096;

/// A finding of the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// A transfer of a server.
    Report(PassiveReport),
    /// The report of a server in a TCP option.
    Option(PassiveReport),
    /// A SYN, or a request on an idle connection.
    Arrival {
        /// Destination address of the packet.
        server: IpAddr,
        /// Source address of the packet.
        visitor: IpAddr,
    },
}

/// Reports findings to the gateways without waiting for them.
#[derive(Debug)]
pub(crate) struct GatewayReporter {
    /// Transfers and visitors.
    passive: SiteClient<()>,
    /// TCP options, whose batches have their own numbers; `None`: no options are accepted.
    options: Option<SiteClient<()>>,
    /// Longest prefixes of reports; visitors are announced by the network that agents ask for.
    max_prefix: ReportedPrefix,
    /// Reports since the last wait of [`Self::pace`].
    unpaced: AtomicU64,
    pub(crate) counts: ObserverCounts,
}

impl GatewayReporter {
    /// Connects to the gateways.
    ///
    /// # Errors
    /// The same errors as [`SiteClient::start`].
    pub(crate) fn new(config: &ObserveConfig) -> Result<Self, String> {
        let passive = SiteClient::observe(config.client.clone(), log_of_gateway())?;
        let of_options = || ClientConfig { collector: Collector::Option, ..config.client.clone() };
        let accepts_options = !config.capture.option_servers.is_empty();
        // Both clients have the same gateways, so one of them writes the journal.
        let options =
            accepts_options.then(|| SiteClient::observe(of_options(), |_| {})).transpose()?;
        let max_prefix = config.capture.longest;
        let (unpaced, counts) = (AtomicU64::default(), ObserverCounts::default());
        Ok(Self { passive, options, max_prefix, unpaced, counts })
    }

    /// Reports a finding to the gateway, through the client of its kind.
    pub(crate) fn send(&self, found: Found) {
        match (found, &self.options) {
            (Found::Report(report), _) => self.report(&self.passive, report),
            (Found::Option(report), Some(options)) => self.report(options, report),
            (Found::Option(_), None) => {}
            (Found::Arrival { server, visitor }, _) => self.passive.announce(Arrival {
                network: Some(Network::of(network_of(visitor))),
                server: bytes_of(server.to_canonical()),
            }),
        }
    }

    fn report(&self, client: &SiteClient<()>, found: PassiveReport) {
        client.report(aged(found.within(self.max_prefix), found.at, wall()));
        self.unpaced.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits from time to time for the gateway, if the packets are in a file: it is read faster
    /// than a gateway accepts reports. Interfaces and pipes have new packets meanwhile.
    pub(crate) fn pace(&self, place: &CapturePlace) {
        if self.unpaced.load(Ordering::Relaxed) >= MAX_UNACKNOWLEDGED_REPORTS && place.is_file() {
            self.unpaced.store(0, Ordering::Relaxed);
            // After a timeout the file is read on: the client drops reports without room, and
            // counts them.
            self.flush();
        }
    }

    /// Waits until the gateways have acknowledged all reports; false as soon as one client's
    /// gateway takes too long.
    pub(crate) fn flush(&self) -> bool {
        self.clients().all(|client| client.flush(FLUSH_TIMEOUT))
    }

    /// Returns true while gateways accept the reports.
    pub(crate) fn is_connected(&self) -> bool {
        self.clients().all(|client| client.status().gateway.is_some())
    }

    pub(crate) fn metrics(&self) -> String {
        let is_connected = self.is_connected();
        self.counts.metrics(is_connected, self.clients())
    }

    fn clients(&self) -> impl Iterator<Item = &SiteClient<()>> {
        std::iter::once(&self.passive).chain(&self.options)
    }
}

/// Returns a handler that logs when a gateway answers, and the first time that none does.
fn log_of_gateway() -> impl FnMut(SiteEvent<()>) {
    let mut is_lost = false;
    move |event| match event {
        SiteEvent::Connected(gateway) => {
            is_lost = false;
            say(LogPriority::Notice, &format!("reports to {gateway}"));
        }
        SiteEvent::Lost(why) if !is_lost => {
            is_lost = true;
            say(LogPriority::Warning, &format!("gateway: {why}; it is tried again"));
        }
        _ => {}
    }
}
