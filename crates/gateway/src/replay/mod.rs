//! What a gateway would have answered: requests and transfers of earlier days are asked for and reported in their order, to an
//! estimator of its own.

pub mod site_load;

use crate::config::Rules;
use crate::config::permission::Allowed;
use crate::site::tenant::judge::judge;
use gateway_proto::v1::{Bound, Network, Report, Source};
use ipnet::IpNet;
use memory::site::{Reporter, SiteConfig, SiteMemory};
use serde::Serialize;
use units::Instant;

/// What any connection may begin with (RFC 6928), and so what a request in a log has had at least: bytes.
const LOGGED_WINDOW: u64 = 14_600;

/// A gateway that lives through a log.
pub struct Replay {
    memory: SiteMemory,
    rules: Rules,
    allowed: Allowed,
    found: ReplayFindings,
    /// The latest time so far: lines of a log may be out of order.
    latest: Instant,
}

/// What was answered.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ReplayFindings {
    /// Requests, each of which asks once.
    pub asked: u64,
    /// Answered by samples of the visitor's own network.
    pub by_network: u64,
    /// By those of a covering prefix.
    pub by_covering: u64,
    /// By those of neighbours.
    pub by_neighbours: u64,
    /// By what the site's paths are like.
    pub by_prior: u64,
    /// Not answered: nothing was known at all.
    pub unanswered: u64,
    /// Reports.
    pub reported: u64,
    /// Of these, reports that met a loss, and so are estimates and no lower bounds.
    pub with_loss: u64,
    /// Prefixes known at the end, covering ones among them.
    pub prefixes: u64,
}

impl Default for Replay {
    fn default() -> Self {
        Self::new(SiteConfig::default())
    }
}

impl Replay {
    /// One that knows nothing yet.
    pub fn new(config: SiteConfig) -> Self {
        Self {
            memory: SiteMemory::new(config),
            rules: Rules::of_files(),
            allowed: Allowed::everything(),
            found: ReplayFindings::default(),
            latest: Instant::ZERO,
        }
    }

    /// A request of a log, from a visitor of `network`: it asks, and reports what a log knows of its
    /// path, which is that it exists.
    pub fn on_request(&mut self, at: Instant, network: IpNet) {
        self.on_transfer(at, at, &logged(network));
    }

    /// A transfer of a capture: it asks when it begins, and reports at its end.
    pub fn on_transfer(&mut self, began: Instant, ended: Instant, report: &Report) {
        if let Some(network) = report.network.as_ref().and_then(Network::to_net) {
            self.ask(began, network);
            self.tell(ended, report);
        }
    }

    fn ask(&mut self, at: Instant, network: IpNet) {
        self.found.asked += 1;
        let estimate = self.memory.estimate(self.latest.max(at), network.addr(), None);
        let answered =
            match estimate.map(|estimate| crate::site::tenant::messages::source(estimate.source)) {
                Some(Source::Network) => &mut self.found.by_network,
                Some(Source::Covering) => &mut self.found.by_covering,
                Some(Source::Neighbours) => &mut self.found.by_neighbours,
                Some(Source::Prior) => &mut self.found.by_prior,
                Some(Source::Unspecified) | None => &mut self.found.unanswered,
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

    /// What was found so far.
    pub fn findings(&self) -> ReplayFindings {
        ReplayFindings { prefixes: self.memory.len() as u64, ..self.found }
    }
}

/// What a log says of a path: a request was answered over it.
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

    /// A server writes a request's line when it has answered, so a long download's time is long past.
    #[test]
    fn a_line_out_of_order_takes_nothing_away() {
        let mut replay = Replay::default();
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let network: IpNet = "192.0.2.0/24".parse().unwrap();
        // Seconds of requests; the last but one is of ten minutes before.
        [1000, 1001, 1002, 402, 1003].into_iter().for_each(|s| replay.on_request(at(s), network));
        let found = replay.findings();
        assert_eq!((found.asked, found.unanswered), (5, 1));
        let answer = replay.memory.estimate(at(1003), network.addr(), None).unwrap();
        assert_eq!(answer.samples, 5);
    }
}
