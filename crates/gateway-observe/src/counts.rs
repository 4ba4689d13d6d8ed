//! The counters of an observer, and its `/metrics`. No metric names a network or an address.

use gateway_client::SiteClient;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

/// Counters since the start.
#[derive(Debug, Default)]
pub struct ObserverCounts {
    /// TCP segments read.
    pub segments: Counter,
    /// Packets that the kernel has dropped before they were read.
    pub lost: Counter,
    /// Interfaces of the capture that are gone now.
    pub missing_interfaces: Gauge,
    /// TCP options of agents in packets from other hosts than the servers whose options are
    /// accepted.
    pub foreign_options: Counter,
    /// TCP options of agents that no agent has written.
    pub bad_options: Counter,
}

impl ObserverCounts {
    /// Returns all metrics as text (OpenMetrics 1.0), with those of the clients that report.
    pub(crate) fn metrics<'a>(
        &self,
        is_connected: bool,
        clients: impl Iterator<Item = &'a SiteClient<()>>,
    ) -> String {
        let mut registry = Registry::with_prefix("headstart_observer");
        for (name, help, counter) in [
            ("segments", "TCP segments read", &self.segments),
            ("lost_packets", "Packets lost before they were read", &self.lost),
            (
                "foreign_options",
                "TCP options in packets of none of option-servers",
                &self.foreign_options,
            ),
            ("bad_options", "TCP options that no agent has written", &self.bad_options),
        ] {
            registry.register(name, help, counter.clone());
        }
        let help = "Interfaces of the capture that are gone";
        registry.register("missing_interfaces", help, self.missing_interfaces.clone());
        let (mut taken, mut refused, mut dropped) = (0, 0, 0);
        for client in clients {
            let status = client.status();
            taken += status.reports_taken;
            refused += status.reports_refused;
            dropped += status.reports_dropped + client.unannounced();
        }
        for (name, help, count) in [
            ("reports", "Reports that a gateway has taken", taken),
            ("refused_reports", "Reports that a gateway has refused", refused),
            ("dropped_findings", "Reports and visitors that found no room or no gateway", dropped),
        ] {
            registry.register(name, help, ConstCounter::new(count));
        }
        let connected = ConstGauge::new(i64::from(is_connected));
        registry.register("connected", "1 if a gateway takes the reports", connected);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &registry);
        text
    }
}
