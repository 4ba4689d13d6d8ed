//! Shares of each kind of path and of each kind of visit in use, from published counts.
//!
//! | count | source |
//! |---|---|
//! | 41.3 % of requests come from mobile devices | Cloudflare Radar, 2024 Year in Review |
//! | these devices move 15 % of their data over cellular networks (11 to 18 % by operator); a quarter of their screen time is away from home, 80 % of that on Wi-Fi | Opensignal, October 2024, United States |
//! | of fixed lines 44.6 % are fibre and 5.8 % fixed wireless; a third of mobile subscriptions are 5G | OECD broadband statistics, June 2024 |
//! | 20 % of fixed lines are DSL | OECD broadband statistics, December 2023 |
//! | 20 % of page views find no part of the page in the browser's cache | T. Theurer, *Performance Research, Part 2*, Yahoo, 2007 |
//! | of new connections 60 % are of first visits or of visits after a long time, 40 % resume a session | Cloudflare, *Introducing Zero Round Trip Time Resumption*, 2017 |
//!
//! The other 29.6 % of fixed lines count as cable. No count of geostationary lines was found, so
//! they have no share.

use super::real::{RealCell, RealVisit};

/// Requests from mobile devices.
const MOBILE: f64 = 0.413;
/// The part of these over cellular networks.
const CELLULAR_OF_MOBILE: f64 = 0.15;
/// The part of these over shared Wi-Fi: a quarter of the time is away from home, 80 % of it on
/// Wi-Fi.
const SHARED_WIFI_OF_MOBILE: f64 = 0.25 * 0.8;
/// Kinds of fixed lines.
const FIBRE: f64 = 0.446;
const DSL: f64 = 0.20;
const FIXED_WIRELESS: f64 = 0.058;
const CABLE: f64 = 1.0 - FIBRE - DSL - FIXED_WIRELESS;
/// Mobile subscriptions with 5G.
const FIFTH_GENERATION: f64 = 0.33;

/// Visits that find nothing in the cache.
const FIRST_VISITS: f64 = 0.20;
/// New connections of recent visitors, for each one of a first visit.
const RESUMED_PER_FIRST: f64 = 0.40 / 0.60;

impl RealCell {
    /// The share of its path and its visit in all page views, of those that the board has: between
    /// 0 and 1. Over all paths and visits they sum to 1. Contents and loads are not weighed here.
    pub(super) fn share_of_use(&self) -> f64 {
        path_share(self.path) * visit_share(self.visit)
    }
}

fn path_share(path: &str) -> f64 {
    let cellular = MOBILE * CELLULAR_OF_MOBILE;
    let shared_wifi = MOBILE * SHARED_WIFI_OF_MOBILE;
    let fixed = 1.0 - cellular - shared_wifi;
    let radio = cellular + fixed * FIXED_WIRELESS;
    match path {
        "fiber" => fixed * FIBRE,
        "cable" => fixed * CABLE,
        "dsl" => fixed * DSL,
        "5g" => radio * FIFTH_GENERATION,
        "lte" => radio * (1.0 - FIFTH_GENERATION),
        "wifi-cafe" => shared_wifi,
        _ => 0.0,
    }
}

/// New connections of recent visitors follow from those of first visits. All other repeated visits
/// use kept connections.
fn visit_share(visit: RealVisit) -> f64 {
    let new = FIRST_VISITS * RESUMED_PER_FIRST;
    match visit {
        RealVisit::First => FIRST_VISITS,
        RealVisit::NewConnections => new,
        RealVisit::KeptConnections => 1.0 - FIRST_VISITS - new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: cellular 0.413 · 0.15 = 0.06195, shared Wi-Fi 0.413 · 0.2 = 0.0826, so fixed lines
    /// 0.85545. Fibre has 0.446 of those, 0.3815. Radio has 0.06195 + 0.85545 · 0.058 = 0.11157, of
    /// which LTE has two thirds, 0.0747.
    #[test]
    fn shares_of_paths_by_hand() {
        for (path, share) in [("fiber", 0.3815), ("lte", 0.0747), ("wifi-cafe", 0.0826)] {
            assert!((path_share(path) - share).abs() < 1e-4, "{path}");
        }
        let sum: f64 = RealCell::PATHS.iter().map(|path| path_share(path)).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    /// A fifth of all views are first ones. 60 new connections in 100 are of those, so the other 40
    /// stand for 0.2 · 2/3.
    #[test]
    fn shares_of_visits_by_hand() {
        let near = |visit, share: f64| assert!((visit_share(visit) - share).abs() < 1e-12);
        near(RealVisit::First, 0.2);
        near(RealVisit::NewConnections, 2.0 / 15.0);
        near(RealVisit::KeptConnections, 2.0 / 3.0);
    }
}
