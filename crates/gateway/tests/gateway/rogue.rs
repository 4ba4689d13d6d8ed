//! One rogue host among honest ones, in a whole gateway. The test measures how far it moves the
//! answers for 40 networks, by number of hosts and by its strategy. A second tenant has the reports
//! of the honest hosts alone, so its answers are the baseline.

use crate::bed::{Bed, batch, query, send};
use gateway::pki::HolderRole;
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Bound, Estimate, Network, Report};
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use tonic::transport::Channel;

/// Number of networks for each number of hosts and each strategy.
const NETWORKS: usize = 40;
/// Numbers of hosts of a site, the rogue included.
const HOSTS: [usize; 4] = [2, 3, 5, 10];
/// Tenants: with the rogue, and without.
const TENANTS: [&str; 2] = ["site", "honest"];
/// Size of a segment, bytes.
const MSS: u64 = 1448;
/// Largest permitted ratio of an answer's window or rate to the honest hosts' baseline. One host
/// raises an answer by half (`memory::site`). It also displaces samples of the others, and its
/// reports of delivered windows end their attempts in vain. So a loss limit that they remember is
/// forgotten sooner, and the answer doubles, once on each side: 1.5 * 4.
const MAX_UP: f64 = 6.0;
/// Smallest permitted ratio of an answer's window to the baseline, with at least two honest hosts:
/// the rogue has no more weight than both together. With two hosts the lower one is used. Then a
/// server starts cold, as if there were no gateway.
const MIN_DOWN: f64 = 0.25;

/// The true capacity of a network.
#[derive(Clone, Copy)]
struct Truth {
    network: [u8; 3],
    window: f64,
    rtt_us: u64,
}

/// The reports of a rogue, beside honest reports of which the oldest has this age.
struct Strategy {
    name: &'static str,
    honest_age_s: (u64, u64),
    lies: fn(Truth) -> Vec<Report>,
}

const STRATEGIES: [Strategy; 9] = [
    Strategy { name: "huge windows", honest_age_s: (0, 600), lies: |net| spread(net, 20, 600) },
    Strategy {
        name: "huge windows, fresh",
        honest_age_s: (600, 3000),
        lies: |net| spread(net, 20, 0),
    },
    Strategy {
        name: "thousands of reports",
        honest_age_s: (0, 600),
        lies: |net| spread(net, 3000, 600),
    },
    Strategy {
        name: "thousands, fresh",
        honest_age_s: (600, 3000),
        lies: |net| spread(net, 3000, 0),
    },
    Strategy { name: "growing", honest_age_s: (60, 600), lies: growing },
    Strategy { name: "losses at huge windows", honest_age_s: (60, 600), lies: edge },
    Strategy { name: "a longer prefix", honest_age_s: (60, 600), lies: longer },
    Strategy { name: "tiny windows", honest_age_s: (0, 600), lies: |net| tiny(net, 600) },
    Strategy { name: "tiny windows, fresh", honest_age_s: (600, 3000), lies: |net| tiny(net, 0) },
];

fn forged(net: Truth, window: u64, age_s: u64) -> Report {
    Report {
        network: Some(net.of(24)),
        window,
        rate: 10_000_000_000,
        min_rtt_us: net.rtt_us,
        sent: (window / MSS) as u32,
        lost: 0,
        bound: Bound::OwnStart.into(),
        age_ms: age_s as u32 * 1000,
        ..Report::default()
    }
}

/// Returns windows of 60 MB, spread evenly back to an age.
fn spread(net: Truth, count: u64, oldest_s: u64) -> Vec<Report> {
    (0..count).map(|n| forged(net, 60_000_000, oldest_s * n / count)).collect()
}

/// Returns windows that double from the network's capacity to 60 MB, as those of an honest host
/// that finds a faster path.
fn growing(net: Truth) -> Vec<Report> {
    let window = |n: u64| (net.window * (n as f64 / 2.0).exp2()).min(6e7) as u64;
    (0..30).map(|n| forged(net, window(n), 30 - n)).collect()
}

/// Returns reports that lost one of 40,000 segments: a limit far above the network's capacity.
fn edge(net: Truth) -> Vec<Report> {
    let lost = |report: Report| Report { lost: 1, bound: Bound::Loss.into(), ..report };
    spread(net, 30, 30).into_iter().map(lost).collect()
}

fn longer(net: Truth) -> Vec<Report> {
    let of = |report: Report| Report { network: Some(net.of(28)), ..report };
    spread(net, 30, 30).into_iter().map(of).collect()
}

/// Returns flights that were lost completely, at a round trip of 10 µs.
fn tiny(net: Truth, oldest_s: u64) -> Vec<Report> {
    let lost = |n: u64| Report {
        rate: 1000,
        min_rtt_us: 10,
        sent: 10,
        lost: 10,
        bound: Bound::Loss.into(),
        ..forged(net, 1024, oldest_s * n / 40)
    };
    (0..40).map(lost).collect()
}

impl Truth {
    fn new(number: usize, random: &mut Pcg32) -> Self {
        // 12 kB to 400 kB, like 1 to 30 Mbit/s over 100 ms with its queue.
        let window = 12_000.0 * (5.0 * part(random)).exp2();
        // Each network has a /16 of its own.
        let network = [(20 + number / 200) as u8, (number % 200) as u8, 7];
        Self { network, window, rtt_us: 20_000 + u64::from(random.next_u32() % 180_000) }
    }

    fn of(&self, bits: u8) -> Network {
        let [a, b, c] = self.network;
        Network::of(format!("{a}.{b}.{c}.0/{bits}").parse().unwrap())
    }

    /// Returns a transfer that an honest host has measured. Its window is between a third of the
    /// network's capacity and a third more; it loses the part above the capacity.
    fn honest(&self, age_s: (u64, u64), random: &mut Pcg32) -> Report {
        let window = (self.window * (0.33 + part(random))) as u64;
        let surplus = window.saturating_sub(self.window as u64);
        let rate = self.window * 8e6 / self.rtt_us as f64 * (0.7 + 0.2 * part(random));
        let age = age_s.0 * 1000 + (part(random) * ((age_s.1 - age_s.0) * 1000) as f64) as u64;
        Report {
            network: Some(self.of(24)),
            window,
            rate: rate as u64,
            min_rtt_us: self.rtt_us,
            sent: window.div_ceil(MSS) as u32,
            lost: surplus.div_ceil(MSS) as u32,
            bound: if surplus > 0 { Bound::Loss } else { Bound::OwnStart }.into(),
            age_ms: age as u32,
            ..Report::default()
        }
    }
}

/// Returns a random number from 0 to 1.
fn part(random: &mut Pcg32) -> f64 {
    f64::from(random.next_u32()) / f64::from(u32::MAX)
}

/// Hosts with a certificate of each tenant, and their queued reports.
struct Hosts {
    clients: BTreeMap<(usize, &'static str), GatewayClient<Channel>>,
    pending: BTreeMap<(Turn, usize, &'static str), Vec<Report>>,
}

/// The order in which reports are sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    BeforeHonest,
    Honest,
    AfterHonest,
}

/// Index of the rogue.
const ROGUE: usize = 0;

impl Hosts {
    async fn connect(bed: &Bed, running: &crate::bed::Running) -> Self {
        let mut clients = BTreeMap::new();
        for host in 0..10 {
            for tenant in TENANTS {
                let shown = bed.issue(HolderRole::Agent, tenant, &format!("web-{host}"));
                let client = bed.connect(running.grpc, Some(&shown)).await.unwrap();
                clients.insert((host, tenant), client);
            }
        }
        Self { clients, pending: BTreeMap::new() }
    }

    fn lie(&mut self, turn: Turn, reports: Vec<Report>) {
        self.pending.entry((turn, ROGUE, TENANTS[0])).or_default().extend(reports);
    }

    fn measure(&mut self, host: usize, report: &Report) {
        for tenant in TENANTS {
            self.pending.entry((Turn::Honest, host, tenant)).or_default().push(*report);
        }
    }

    /// Sends all reports, turn by turn.
    async fn report(&mut self) {
        for ((turn, host, tenant), reports) in std::mem::take(&mut self.pending) {
            // Sequences of a host grow.
            let first = 1 + 1000 * turn as u64;
            let batches = (first..).zip(reports.chunks(4000));
            let batches = batches.map(|(n, some)| batch(n, some.to_vec())).collect();
            let client = self.clients.get_mut(&(host, tenant)).unwrap();
            let acks = send(client, batches).await.unwrap();
            assert_eq!(acks.iter().map(|ack| ack.taken as usize).sum::<usize>(), reports.len());
        }
    }

    /// Returns the answers of both tenants.
    async fn ask(&mut self, net: Truth) -> [Option<Estimate>; 2] {
        let [a, b, c] = net.network;
        let mut found = [None, None];
        for (tenant, found) in TENANTS.into_iter().zip(&mut found) {
            let client = self.clients.get_mut(&(1, tenant)).unwrap();
            let answer = client.ask(query(&format!("{a}.{b}.{c}.0/24"))).await.unwrap();
            *found = match answer.into_inner().result {
                Some(gateway_proto::v1::answer::Result::Estimate(estimate)) => Some(estimate),
                _ => None,
            };
        }
        found
    }
}

#[tokio::test]
async fn no_rogue_host_moves_an_answer_beyond_the_factor() {
    let bed = Bed::new("\n[[tenant]]\nname = \"honest\"\n");
    bed.add_key("reports-per-second = 1000000");
    let running = bed.run().await;
    let mut hosts = Hosts::connect(&bed, &running).await;
    let mut random = Pcg32::new(46, 1);
    let mut cases = Vec::new();
    for count in HOSTS {
        for strategy in &STRATEGIES {
            for _ in 0..NETWORKS {
                let net = Truth::new(cases.len(), &mut random);
                let turns = [Turn::BeforeHonest, Turn::AfterHonest];
                hosts.lie(turns[cases.len() % 2], (strategy.lies)(net));
                for host in 1..count {
                    for _ in 0..=random.next_u32() % 12 {
                        let report = net.honest(strategy.honest_age_s, &mut random);
                        hosts.measure(host, &report);
                    }
                }
                cases.push((count, strategy.name, net));
            }
        }
    }
    hosts.report().await;
    let mut factors: BTreeMap<(usize, &str), Vec<f64>> = BTreeMap::new();
    let mut worst_rate = 0.0_f64;
    for (count, name, net) in cases {
        let [with, without] = hosts.ask(net).await;
        let (with, without) = (with.unwrap(), without.unwrap());
        factors.entry((count, name)).or_default().push(with.window as f64 / without.window as f64);
        worst_rate = worst_rate.max(with.rate as f64 / without.rate as f64);
    }
    running.handle.end().await.unwrap();
    println!("hosts | strategy | lowest | median | highest factor | moved tenfold");
    for ((count, name), all) in &mut factors {
        all.sort_by(f64::total_cmp);
        let tenfold = all.iter().filter(|factor| **factor > 10.0 || **factor < 0.1).count();
        let (low, mid, high) = (all[0], all[all.len() / 2], all[all.len() - 1]);
        println!("{count} | {name} | {low:.2} | {mid:.2} | {high:.2} | {tenfold} of {}", all.len());
        assert!(high <= MAX_UP, "{count} hosts, {name}: {high}");
        assert!(low >= MIN_DOWN || *count == 2, "{count} hosts, {name}: {low}");
    }
    println!("rates: at most {worst_rate:.2} times");
    assert!(worst_rate <= MAX_UP, "{worst_rate}");
}
