//! Gains of the agent's options for unknown paths: a wide cold start (`--cold wide`), and SYN
//! timers by the round trips of other connections (`--handshake-timer known`). Both are off unless
//! an operator asks for them.

use super::cases::{Beside, GainBound, GainCase, GainMeasure, path};
use crate::contender::Contender;
use link::path::{PathSpec, QueueSize};
use race::VisitKind;
use units::{Duration, Rate};
use workload::{Http, LoaderConfig, Object, ObjectId, ObjectKind, Page, PageHost};

const STOCK: &str = "linux";
const WIDE: &str = "hs-cubic+warm_cold=wide";
const TIMERS: &str = "hs-cubic+opening_timer=known";
/// Objects of a page, and its connections.
const PAGE: u32 = 12;

/// Two sizes over four paths and a slow one, and the page.
pub(super) fn full_cases() -> Vec<GainCase> {
    let sizes = [30_000, 200_000];
    let paths = [(20, 80), (20, 200), (100, 80), (100, 200)].map(|(mbps, ms)| path(mbps, ms));
    let wide = sizes.iter().flat_map(|size| paths.iter().map(|path| wide_start(*size, *path)));
    let slow = sizes.map(wide_start_on_a_slow_path);
    wide.chain(slow).chain([lost_syns()]).collect()
}

/// 20 Mbit/s and 80 ms, and the page.
pub(super) fn quick_cases() -> Vec<GainCase> {
    let main = path(20, 80);
    vec![wide_start(30_000, main), wide_start(200_000, main), lost_syns()]
}

/// First visits of one object. The round trip that is saved is less than a sixth of a longer
/// transfer.
fn wide_start(bytes: u64, path: PathSpec) -> GainCase {
    first_visit(bytes, path, 0.85)
}

/// A wide start over a path that carries less than the rate of the start (5 Mbit/s): it loses no
/// more, and takes no longer.
fn wide_start_on_a_slow_path(bytes: u64) -> GainCase {
    let (rate, rtt) = (Rate::from_mbps(1), Duration::from_millis(80));
    let path = PathSpec::new(rate, rtt, QueueSize::Packets(50)).expect("it exists");
    first_visit(bytes, path, 1.03)
}

fn first_visit(bytes: u64, path: PathSpec, at_most: f64) -> GainCase {
    let page = Page::single(bytes);
    let name = format!("{}, wide cold start", page.name());
    let contenders = [STOCK, WIDE].map(|name| Contender::parse(name).expect("a contender"));
    let mut case = GainCase::over_new_connections(name, page, path, contenders.into());
    case.visits.count = 1;
    let asked = [(GainMeasure::Time, at_most), (GainMeasure::Drops, 1.0)];
    case.bounds =
        asked.map(|(measure, at_most)| of(WIDE, VisitKind::First, measure, at_most)).into();
    case
}

/// HTML and eleven small images, each over a connection of its own, from behind an uplink of 1
/// Mbit/s: eleven SYNs are too many for a queue of eight packets. Stock SYNs are retransmitted
/// after a second.
fn lost_syns() -> GainCase {
    let path: PathSpec = "20mbit,80ms,8p,up=1mbit".parse().expect("it exists");
    let stock = Contender::parse(STOCK).expect("a contender");
    let timers = Contender::parse(TIMERS).expect("a contender").hooking_client();
    let name = format!("page of {PAGE}, SYNs overflow the uplink");
    let mut case =
        GainCase::over_new_connections(name, page_of_small_images(), path, vec![stock, timers]);
    case.loader = LoaderConfig { connections: Some(PAGE), ..LoaderConfig::default() };
    let visits = [VisitKind::First, VisitKind::Repeated];
    case.bounds = visits.map(|visit| of(TIMERS, visit, GainMeasure::Time, 0.5)).into();
    case
}

fn page_of_small_images() -> Page {
    let html = Object::plain("html", ObjectKind::Html, 2_500);
    let discovery = html.at_end(ObjectId(0));
    let image =
        |n| Object { discovery, ..Object::plain(format!("image {n}"), ObjectKind::Image, 2_500) };
    let objects = [html].into_iter().chain((1..PAGE).map(image)).collect();
    let host = PageHost::plain("server.example", Http::Http10);
    Page::new(format!("page of {PAGE}"), vec![host], objects).expect("a page")
}

const fn of(
    scheme: &'static str,
    visit: VisitKind,
    measure: GainMeasure,
    at_most: f64,
) -> GainBound {
    GainBound { scheme, visit, measure, beside: Beside::Scheme(STOCK), at_most }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sizes over four paths, and both over a slow one. Each has two bounds, of time and of
    /// drops.
    #[test]
    fn wide_starts_are_first_visits_that_may_lose_no_more() {
        let cases = full_cases();
        let (page, objects) = cases.split_last().expect("the page is last");
        assert_eq!(objects.len(), 2 * (4 + 1));
        for case in objects {
            assert_eq!((case.visits.count, case.bounds.len()), (1, 2), "{case:?}");
            assert!(case.bounds.iter().all(|bound| bound.visit == VisitKind::First));
            assert_eq!(case.bounds[1].measure, GainMeasure::Drops);
            let is_slow = case.path.to_string().starts_with("1mbit,");
            assert_eq!(case.bounds[0].at_most, if is_slow { 1.03 } else { 0.85 });
        }
        assert_eq!(page.visits.count, 2);
    }

    /// The page's client has an agent, since its SYNs are the lost ones.
    #[test]
    fn the_page_whose_syns_are_lost_has_an_agent_at_both_ends() {
        let [stock, timers] = &lost_syns().contenders[..] else { panic!("two take part") };
        assert!(stock.agent().is_none());
        let agent = timers.agent().expect("the agent has such timers");
        assert!(agent.hooks_client());
        assert_eq!(agent.options().join(" "), "--handshake-timer known");
        // In other cases the server alone has an agent.
        let alone = Contender::parse(TIMERS).expect("a contender");
        assert!(!alone.agent().expect("the agent has it").hooks_client());
    }
}
