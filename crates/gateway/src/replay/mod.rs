//! Replay: the answers that a gateway would have given. Requests and transfers of earlier days ask
//! and report in their order, with an estimator of their own.

pub mod site_load;

use crate::config::Rules;
use crate::config::permission::Allowed;
use crate::site::tenant::judge::judge;
use gateway_proto::v1::{Bound, Network, Report, Source};
use ipnet::IpNet;
use memory::site::{Reporter, SiteConfig, SiteMemory};
use serde::Serialize;
use units::Instant;

/// Window that a request in a log has had at least, bytes: the initial window that any connection
/// may use (RFC 6928).
const LOGGED_WINDOW: u64 = 14_600;

/// A gateway that replays a log.
pub struct Replay {
    memory: SiteMemory,
    rules: Rules,
    allowed: Allowed,
    found: ReplayFindings,
    /// The latest time so far: lines of a log may be out of order.
    latest: Instant,
}

/// The results of a replay.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ReplayFindings {
    /// Number of requests, each of which asks once.
    pub asked: u64,
    /// Number answered by samples of the visitor's own network.
    pub by_network: u64,
    /// Number answered by samples of a covering prefix.
    pub by_covering: u64,
    /// Number answered by samples of neighbours.
    pub by_neighbours: u64,
    /// Number answered by the site's own distribution.
    pub by_prior: u64,
    /// Number not answered, because nothing was known at all.
    pub unanswered: u64,
    /// Number of reports.
    pub reported: u64,
    /// Number of these reports that met a loss, and so are estimates, not lower bounds.
    pub with_loss: u64,
    /// Number of prefixes known at the end, covering ones included.
    pub prefixes: u64,
}

impl Default for Replay {
    fn default() -> Self {
        Self::new(SiteConfig::default())
    }
}

impl Replay {
    /// Creates a replay with an empty memory.
    pub fn new(config: SiteConfig) -> Self {
        Self {
            memory: SiteMemory::new(config),
            rules: Rules::of_files(),
            allowed: Allowed::everything(),
            found: ReplayFindings::default(),
            latest: Instant::ZERO,
        }
    }

    /// Replays a request of a log, from a visitor of `network`. It asks, and reports the only fact
    /// that a log has about its path: that it exists.
    pub fn on_request(&mut self, at: Instant, network: IpNet) {
        self.on_transfer(at, at, &logged(network));
    }

    /// Replays a transfer of a capture: it asks at its start, and reports at its end.
    pub fn on_transfer(&mut self, began: Instant, ended: Instant, report: &Report) {
        if let Some(network) = report.network.as_ref().and_then(Network::to_net) {
            self.ask(began, network);
            self.tell(ended, report);
        }
    }

    /// Asks the memory for a network, and counts the answer by its source.
    fn ask(&mut self, at: Instant, network: IpNet) {
        self.found.asked += 1;
        let estimate = self.memory.estimate(self.latest.max(at), network.addr(), None);
        let answered =
            match estimate.map(|estimate| crate::site::tenant::messages::source(estimate.source)) {
                Some(Source::Network) => &mut self.found.by_network,
                Some(Source::Covering) => &mut self.found.by_covering,
                Some(Source::Neighbours) => &mut self.found.by_neighbours,
                Some(Source::Prior) => &mut self.found.by_prior,
                // A replayed site has no neighbours.
                Some(Source::Unspecified | Source::OtherSites) | None => &mut self.found.unanswered,
            };
        *answered += 1;
    }

    fn tell(&mut self, at: Instant, report: &Report) {
        let Ok(judged) = judge(report, Reporter(0), &self.rules, &self.allowed) else { return };
        self.found.reported += 1;
        self.found.with_loss += u64::from(report.bound() == Bound::Loss);
        self.latest = self.latest.max(at);
        self.memory.report_aged(self.latest, self.latest.saturating_since(at), &judged.report);
    }

    /// Returns the results so far.
    pub fn findings(&self) -> ReplayFindings {
        ReplayFindings { prefixes: self.memory.len() as u64, ..self.found }
    }
}

/// Returns the report for a line of a log: a request was answered over this path.
pub fn logged(network: IpNet) -> Report {
    Report {
        network: Some(Network::of(network)),
        window: LOGGED_WINDOW,
        bound: Bound::Over.into(),
        ..Report::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    /// A server writes the line of a request once it has answered, so the time of a long download
    /// is long past.
    #[test]
    fn a_line_out_of_order_takes_nothing_away() {
        let mut replay = Replay::default();
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let network: IpNet = "192.0.2.0/24".parse().unwrap();
        // Times of requests in seconds; the last but one is ten minutes earlier.
        [1000, 1001, 1002, 402, 1003].into_iter().for_each(|s| replay.on_request(at(s), network));
        let found = replay.findings();
        assert_eq!((found.asked, found.unanswered), (5, 1));
        let answer = replay.memory.estimate(at(1003), network.addr(), None).unwrap();
        assert_eq!(answer.samples, 5);
    }
}
