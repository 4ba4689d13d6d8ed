//! What other servers of the site know: the agent asks their performance gateway of paths as handshakes begin, and tells it
//! how connections went. Answers go into the memory of paths, where each passes the rules of that: younger knowledge of
//! its own wins, and windows are capped, aged, checked against the round trip and compared with a control group as ever.
//! Nothing in the kernel waits for any of this.

use crate::clock::{monotonic_ns, since};
use crate::contract::{ConnectionSettings, ConnectionSummary, LearntPath, PathInquiry, PrefixKey};
use crate::lock::lock;
use crate::log::{Level, say};
use crate::paths;
use gateway_client::{ClientConfig, ClientStatus, SiteClient, SiteEvent, SiteQuestion};
use gateway_proto::v1::{Bound, Estimate, Report, Start};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use libbpf_rs::MapHandle;
use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Payload of a full segment on Ethernet with timestamps, bytes, of IPv4 and IPv6: what is taken for that of a path until a
/// connection has told its own. Windows of gateways are bytes, those of the memory segments.
const USUAL_MSS: (u32, u32) = (1448, 1428);
/// Paths whose segments have another size, at most.
const SEGMENT_SIZES: usize = 4096;
/// Networks to forget that nobody has taken up yet, at most; if there are more, all are forgotten.
const FORGETS: usize = 1024;
/// Paths on which warm starts have failed lately, at most.
const QUARANTINED: usize = 4096;
/// Networks asked for that are kept in mind, at most, and paths of each: one for each network namespace.
const ASKED: usize = 16_384;
const NAMESPACES: usize = 16;
/// Networks are told with no more bits than these.
const LONGEST: (u8, u8) = (24, 48);
/// No age is more, nanoseconds: 146 years.
const OLDEST_NS: u64 = u64::MAX >> 2;

/// The gateways of the site, and what they may change here.
#[derive(Debug)]
pub(crate) struct Site {
    client: SiteClient<PathInquiry>,
    known: Arc<Known>,
}

/// What the thread of the client and the agent's own both know.
#[derive(Debug)]
struct Known {
    quarantine: Mutex<Quarantine>,
    asked: Mutex<AskedPaths>,
    segments: Mutex<SegmentSizes>,
    forgets: Mutex<Forgets>,
    /// Whether network namespaces share the memory: a reload may change that.
    shares_namespaces: AtomicBool,
}

/// Networks of which nothing may be kept any more.
#[derive(Debug, Default)]
struct Forgets(BTreeSet<IpNet>);

impl Forgets {
    fn add(&mut self, network: IpNet) {
        self.0.insert(network);
        if self.0.len() > FORGETS {
            // Whoever has so much forgotten gets more than that, and nothing that had to go stays.
            self.0 = BTreeSet::from([Ipv4Net::default().into(), Ipv6Net::default().into()]);
        }
    }
}

/// Segment sizes that connections have had, bytes, where they are not the usual ones.
#[derive(Debug, Default)]
struct SegmentSizes(HashMap<PrefixKey, u32>);

impl SegmentSizes {
    fn note(&mut self, path: PrefixKey, mss: u32) {
        if mss == 0 || mss == usual_mss(path.prefix) {
            self.0.remove(&path);
        } else if self.0.len() < SEGMENT_SIZES || self.0.contains_key(&path) {
            self.0.insert(path, mss);
        }
    }

    fn of(&self, path: &PrefixKey) -> u32 {
        self.0.get(path).copied().unwrap_or_else(|| usual_mss(path.prefix))
    }
}

fn usual_mss(prefix: IpNet) -> u32 {
    if prefix.addr().is_ipv4() { USUAL_MSS.0 } else { USUAL_MSS.1 }
}

/// Paths that were asked for, by the network that gateways know them by: what they tell unasked is of use to these.
#[derive(Debug, Default)]
struct AskedPaths(HashMap<IpNet, Vec<PrefixKey>>);

impl AskedPaths {
    fn add(&mut self, network: IpNet, path: PrefixKey) {
        if self.0.len() >= ASKED && !self.0.contains_key(&network) {
            // Who is still of interest is asked for again.
            self.0.clear();
        }
        let paths = self.0.entry(network).or_default();
        if !paths.contains(&path) && paths.len() < NAMESPACES {
            paths.push(path);
        }
    }

    fn of(&self, network: &IpNet) -> Vec<PrefixKey> {
        self.0.get(network).cloned().unwrap_or_default()
    }
}

/// Paths of which no gateway is believed for a while: a warm start has just failed there.
#[derive(Debug)]
struct Quarantine {
    /// Nanoseconds; as long as a memory is believed.
    lasts: u64,
    since: HashMap<PrefixKey, u64>,
}

impl Quarantine {
    fn add(&mut self, path: PrefixKey, now: u64) {
        if self.since.len() >= QUARANTINED {
            let lasts = self.lasts;
            self.since.retain(|_, then| since(*then, now) < lasts);
        }
        // With more than so many failures at a time the agent leaves windows alone anyway.
        if self.since.len() < QUARANTINED {
            self.since.insert(path, now);
        }
    }

    fn has(&self, path: &PrefixKey, now: u64) -> bool {
        self.since.get(path).is_some_and(|then| since(*then, now) < self.lasts)
    }
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
        let max_age_ns = settings.max_age_ns;
        let known = Arc::new(Known {
            quarantine: Mutex::new(Quarantine { lasts: max_age_ns, since: HashMap::new() }),
            asked: Mutex::default(),
            segments: Mutex::default(),
            forgets: Mutex::default(),
            shares_namespaces: AtomicBool::new(settings.shares_namespaces),
        });
        let hearer = Hearer { paths, known: Arc::clone(&known), own: OwnPaths::of(settings) };
        let client = SiteClient::start(config, move |event| hearer.hear(event));
        let client = client.map_err(|why| format!("gateway: {why}"))?;
        Ok(Self { client, known })
    }

    /// A path that is not known here.
    pub(crate) fn ask(&self, inquiry: PathInquiry) {
        let network = told(inquiry.path.prefix);
        lock(&self.known.asked).add(network, inquiry.path);
        self.client.ask(SiteQuestion { network, size: 0, of: inquiry });
    }

    /// A connection has closed.
    pub(crate) fn report(&self, summary: &ConnectionSummary) {
        lock(&self.known.segments).note(summary.path, summary.mss);
        if summary.has_fallen_back {
            lock(&self.known.quarantine).add(summary.path, monotonic_ns());
        }
        if let Some(report) = report_of(summary) {
            self.client.report(report);
        }
    }

    /// Networks that a gateway has told to forget, also on disk, since this was asked last.
    pub(crate) fn forgotten(&self) -> Vec<IpNet> {
        mem::take(&mut lock(&self.known.forgets).0).into_iter().collect()
    }

    /// The programs remember by other settings from now on.
    pub(crate) fn follow(&self, settings: &ConnectionSettings) {
        self.known.shares_namespaces.store(settings.shares_namespaces, Ordering::Relaxed);
    }

    /// How it goes.
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

/// How the paths of this host's own connections are known to the programs.
#[derive(Clone, Copy, Debug)]
struct OwnPaths {
    /// Of this host, where namespaces remember apart.
    namespace: u32,
    /// Of IPv4 and IPv6.
    bits: (u8, u8),
}

impl OwnPaths {
    fn of(settings: &ConnectionSettings) -> Self {
        let bits = (settings.v4_bits, settings.v6_bits);
        Self { namespace: paths::own_namespace(), bits }
    }

    /// The path to a network; `None` if that is more than one path.
    fn to(self, network: IpNet, shares_namespaces: bool) -> Option<PrefixKey> {
        let bits = if network.addr().is_ipv4() { self.bits.0 } else { self.bits.1 };
        let prefix = IpNet::new(network.addr(), bits).ok()?.trunc();
        let namespace = if shares_namespaces { 0 } else { self.namespace };
        (network.prefix_len() >= bits).then_some(PrefixKey { namespace, prefix })
    }
}

impl Hearer {
    /// True: an answer that came before the handshake can have ended.
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
            // It renews what was asked for, and adds nothing: a site has more networks than a host sees.
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

    fn learn(&self, path: PrefixKey, estimate: &Estimate, now: u64) {
        let mss = lock(&self.known.segments).of(&path);
        if !lock(&self.known.quarantine).has(&path, now)
            && let Some(learnt) = learnt_from(estimate, mss, now)
        {
            paths::learn_from_others(&self.paths, path, &learnt, now);
        }
    }
}

/// The network of a path, as it may leave this host.
fn told(prefix: IpNet) -> IpNet {
    let most = if prefix.addr().is_ipv4() { LONGEST.0 } else { LONGEST.1 };
    let length = prefix.prefix_len().min(most);
    IpNet::new(prefix.addr(), length).map_or(prefix, |net| net.trunc())
}

/// As the memory has it, in segments of `mss` bytes; `None` if it says too little: without a round trip nobody could tell whether
/// the path is the same.
fn learnt_from(estimate: &Estimate, mss: u32, now: u64) -> Option<LearntPath> {
    let mss = u64::from(mss);
    let segments = u32::try_from(estimate.window / mss).ok()?;
    let min_rtt_us = u32::try_from(estimate.min_rtt_us).ok()?;
    if segments == 0 || min_rtt_us == 0 {
        return None;
    }
    let rate = estimate.rate / 8;
    // What the window adds to the round trip as it drains at that rate.
    let drained_us = (u64::from(segments) * mss * 1_000_000).checked_div(rate).unwrap_or(0);
    let srtt_us = u64::from(min_rtt_us).max(drained_us).min(u64::from(min_rtt_us) * 4);
    Some(LearntPath {
        // Whatever clock a gateway has: what is older than half of the counter's range would seem to be of the future.
        learnt_ns: now.wrapping_sub(estimate.age_ms.saturating_mul(1_000_000).min(OLDEST_NS)),
        bytes_acked: 0,
        sent: 0,
        retransmitted: 0,
        rate,
        window: segments,
        ssthresh: 0,
        srtt_us: u32::try_from(srtt_us).unwrap_or(u32::MAX),
        min_rtt_us,
        connections: 0,
        warm: 0,
        fallbacks: 0,
        fallbacks_in_row: 0,
    })
}

/// What a connection says of its network; `None`: nothing.
fn report_of(summary: &ConnectionSummary) -> Option<Report> {
    let window = u64::from(segments_of(summary)) * u64::from(summary.mss);
    if window == 0 || summary.sent == 0 {
        return None;
    }
    let has_lost = summary.has_measured || has_failed_as_it_opened(summary);
    let bound = match (has_lost, summary.is_warm) {
        (true, _) => Bound::Loss,
        (false, true) => Bound::OwnStart,
        (false, false) => Bound::Over,
    };
    let start = match (summary.is_compared, summary.is_warm, summary.in_control_group) {
        (true, _, true) => Start::Control,
        (_, true, _) => Start::Warm,
        _ => Start::Cold,
    };
    Some(Report {
        network: Some(gateway_proto::v1::Network::of(told(summary.path.prefix))),
        window,
        // What a gateway has told is no measurement: told back, it would confirm itself.
        rate: if summary.has_shown_rate { summary.rate.saturating_mul(8) } else { 0 },
        min_rtt_us: summary.min_rtt_us.into(),
        sent: summary.sent,
        lost: summary.retransmitted.min(summary.sent),
        bound: bound.into(),
        age_ms: 0,
        start: start.into(),
        transfer_bytes: summary.bytes_acked,
        transfer_us: summary.lasted_ns / 1000,
    })
}

/// What it had in flight, segments, and at most; 0: it does not say.
fn segments_of(summary: &ConnectionSummary) -> u32 {
    match summary.flight {
        // It has left nothing in this host's memory. The others have to know where it failed: as much of the flight as there was
        // to send.
        _ if has_failed_as_it_opened(summary) => {
            summary.first_window.min(summary.sent.saturating_sub(summary.retransmitted))
        }
        // What was in flight; and of what it leaves in this host's memory as much as the path holds at the rate that it was seen to
        // have. A paced flight is wider than both, and proves the rate with it.
        flight if flight > 0 && !summary.has_measured => {
            flight.max(summary.learnt.min(carried_of(summary)))
        }
        // Members of a session know their common window alone.
        _ => summary.learnt,
    }
}

/// Segments that its path holds without a queue, at the rate that was measured or is remembered; 0: none is known.
fn carried_of(summary: &ConnectionSummary) -> u32 {
    let in_a_round = u128::from(summary.rate) * u128::from(summary.min_rtt_us) / 1_000_000;
    let segments = in_a_round.checked_div(summary.mss.into()).unwrap_or(0);
    u32::try_from(segments).unwrap_or(u32::MAX)
}

/// Its first flight of all has met a loss, and nothing has been measured since. Of a later flight nobody knows how wide it was.
const fn has_failed_as_it_opened(summary: &ConnectionSummary) -> bool {
    summary.has_fallen_back && !summary.has_measured && summary.restarts == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(prefix: &str) -> PrefixKey {
        PrefixKey { namespace: 1, prefix: prefix.parse().unwrap() }
    }

    fn summary() -> ConnectionSummary {
        ConnectionSummary {
            path: key("192.0.2.0/24"),
            mss: 1000,
            sent: 30,
            bytes_acked: 30_000,
            first_window: 10,
            min_rtt_us: 80_000,
            ..ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).unwrap()
        }
    }

    #[test]
    fn an_estimate_without_a_round_trip_or_a_whole_segment_is_none() {
        let good = Estimate { window: 144_800, min_rtt_us: 80_000, ..Estimate::default() };
        assert_eq!(learnt_from(&good, 1448, 0).map(|path| path.window), Some(100));
        assert_eq!(learnt_from(&Estimate { min_rtt_us: 0, ..good }, 1448, 0), None);
        assert_eq!(learnt_from(&Estimate { window: 1447, ..good }, 1448, 0), None);
        assert_eq!(learnt_from(&Estimate { window: u64::MAX, ..good }, 1448, 0), None);
        assert_eq!(learnt_from(&Estimate { min_rtt_us: u64::MAX, ..good }, 1448, 0), None);
    }

    #[test]
    fn a_window_that_fills_the_queue_takes_longer_than_the_path() {
        // 144,800 bytes at 1,448,000 bytes a second take 100 ms.
        let estimate = Estimate {
            window: 144_800,
            rate: 8 * 1_448_000,
            min_rtt_us: 80_000,
            age_ms: 3,
            ..Estimate::default()
        };
        let path = learnt_from(&estimate, 1448, 5_000_000).unwrap();
        assert_eq!((path.srtt_us, path.min_rtt_us, path.rate), (100_000, 80_000, 1_448_000));
        assert_eq!(path.learnt_ns, 2_000_000);
    }

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

    #[test]
    fn nothing_is_young_by_a_wrong_clock() {
        for age_ms in [u64::MAX, u64::MAX / 1_000_000, 10 * 365 * 86_400_000] {
            let old =
                Estimate { window: 144_800, min_rtt_us: 80_000, age_ms, ..Estimate::default() };
            let path = learnt_from(&old, 1448, 5_000_000).unwrap();
            // Ten years at least.
            assert!(since(path.learnt_ns, 5_000_000) >= 10 * 365 * 86_400_000_000_000, "{age_ms}");
        }
    }

    #[test]
    fn a_window_is_counted_in_the_segments_that_the_path_has_had() {
        let mut sizes = SegmentSizes::default();
        assert_eq!(sizes.of(&key("192.0.2.0/24")), 1448);
        assert_eq!(sizes.of(&key("2001:db8::/48")), 1428);
        sizes.note(key("192.0.2.0/24"), 8948);
        let estimate = Estimate { window: 144_800, min_rtt_us: 80_000, ..Estimate::default() };
        // 144,800 = 16 * 8948 + 1632.
        let path = learnt_from(&estimate, sizes.of(&key("192.0.2.0/24")), 0).unwrap();
        assert_eq!(path.window, 16);
        sizes.note(key("192.0.2.0/24"), 1448);
        assert_eq!((sizes.of(&key("192.0.2.0/24")), sizes.0.len()), (1448, 0));
        for n in 0..5000_u32 {
            let prefix = IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
            sizes.note(PrefixKey { namespace: 1, prefix }, 1000);
        }
        assert_eq!(sizes.0.len(), SEGMENT_SIZES);
    }

    #[test]
    fn who_has_too_much_forgotten_has_all_forgotten() {
        let mut forgets = Forgets::default();
        let network = |n: u32| IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
        (0..2).chain(0..FORGETS as u32).for_each(|n| forgets.add(network(n)));
        assert_eq!(forgets.0.len(), FORGETS);
        forgets.add(network(FORGETS as u32));
        assert_eq!(forgets.0.len(), 2);
        assert!(forgets.0.iter().all(|network| network.prefix_len() == 0));
    }

    #[test]
    fn what_bounded_a_window_is_told() {
        let bound = |summary| report_of(&summary).map(|report| (report.window, report.bound()));
        let cold = ConnectionSummary { learnt: 25, flight: 20, ..summary() };
        assert_eq!(bound(cold), Some((20_000, Bound::Over)));
        // What is remembered is wider than what was under way at a time: it left at the path's rate.
        let warm = ConnectionSummary { is_warm: true, ..cold };
        assert_eq!(bound(warm), Some((20_000, Bound::OwnStart)));
        let measured = ConnectionSummary { has_measured: true, retransmitted: 2, ..cold };
        assert_eq!(bound(measured), Some((25_000, Bound::Loss)));
        // Nothing has arrived together since it lost something, and it has left nothing.
        assert_eq!(bound(ConnectionSummary { retransmitted: 1, ..summary() }), None);
        // 1 MB/s over 80 ms are 80 segments of 1000 bytes; 300 kB/s are 24.
        let fast = ConnectionSummary { rate: 1_000_000, ..cold };
        assert_eq!(bound(fast), Some((25_000, Bound::Over)));
        let slower = ConnectionSummary { rate: 300_000, ..cold };
        assert_eq!(bound(slower), Some((24_000, Bound::Over)));
        // A flight of 197 was proposed and there were 139 segments to send, of which 21 went again.
        let failed = ConnectionSummary {
            is_warm: true,
            has_fallen_back: true,
            first_window: 197,
            sent: 160,
            retransmitted: 21,
            ..summary()
        };
        assert_eq!(bound(failed), Some((139_000, Bound::Loss)));
        assert_eq!(bound(ConnectionSummary { restarts: 1, ..failed }), None);
        let member = ConnectionSummary { learnt: 25, ..summary() };
        assert_eq!(bound(member), Some((25_000, Bound::Over)));
        assert_eq!(bound(ConnectionSummary { sent: 0, bytes_acked: 0, ..summary() }), None);
    }

    /// 1,000,000 bytes a second are 8 Mbit/s. What is only remembered bounds the window, and is not told.
    #[test]
    fn a_rate_that_was_not_measured_is_not_told() {
        let known = ConnectionSummary { learnt: 25, flight: 20, rate: 1_000_000, ..summary() };
        let told = |has_shown_rate| {
            let report = report_of(&ConnectionSummary { has_shown_rate, ..known }).unwrap();
            (report.window, report.rate)
        };
        assert_eq!(told(true), (25_000, 8_000_000));
        assert_eq!(told(false), (25_000, 0));
    }

    #[test]
    fn no_address_of_a_host_leaves() {
        assert_eq!(told("192.0.2.7/32".parse().unwrap()).to_string(), "192.0.2.0/24");
        assert_eq!(told("10.0.0.0/8".parse().unwrap()).to_string(), "10.0.0.0/8");
        assert_eq!(told("2001:db8:1:2::3/128".parse().unwrap()).to_string(), "2001:db8:1::/48");
    }

    #[test]
    fn what_was_asked_for_is_found_by_its_network_in_bounded_memory() {
        let mut asked = AskedPaths::default();
        let network: IpNet = "192.0.2.0/24".parse().unwrap();
        let [one, other] = [1, 2].map(|namespace| PrefixKey { namespace, prefix: network });
        for path in [one, other, one] {
            asked.add(network, path);
        }
        assert_eq!(asked.of(&network), [one, other]);
        assert_eq!(asked.of(&"192.0.0.0/16".parse().unwrap()), []);
        for n in 0..40_000_u32 {
            let network = IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
            asked.add(network, PrefixKey { namespace: 1, prefix: network });
            assert!(asked.0.len() <= ASKED);
        }
    }

    #[test]
    fn a_path_is_in_quarantine_as_long_as_a_memory_is_believed() {
        let mut quarantine = Quarantine { lasts: 100, since: HashMap::new() };
        quarantine.add(key("192.0.2.0/24"), 1000);
        assert!(quarantine.has(&key("192.0.2.0/24"), 1099));
        assert!(!quarantine.has(&key("192.0.2.0/24"), 1100));
        assert!(!quarantine.has(&key("198.51.100.0/24"), 1000));
        for n in 0..5000_u32 {
            let prefix = IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap();
            quarantine.add(PrefixKey { namespace: 1, prefix }, 1050);
        }
        assert_eq!(quarantine.since.len(), QUARANTINED);
        quarantine.add(key("203.0.113.0/24"), 1200);
        assert!(quarantine.has(&key("203.0.113.0/24"), 1200));
    }
}
