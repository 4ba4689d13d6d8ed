//! Agents: clients of gateways like the agent's, each with a thread that reports and asks at a
//! steady rate.

use super::processes::Trio;
use crate::bed::report;
use gateway::pki::HolderRole;
use gateway_client::{ClientConfig, SiteClient, SiteEvent, SiteQuestion};
use gateway_proto::v1::Collector;
use std::fs;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two rounds of due work.
const TICK: Duration = Duration::from_millis(2);
/// The network of the first report: 1.0.0.0/24.
const FIRST_NETWORK: u32 = 1 << 16;
/// Maximum number of reports of an agent.
const MAX_REPORTS: u32 = 1 << 20;

/// The number of a report among all agents; it determines its network.
pub(super) type ReportNumber = u32;

/// The load of each agent per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentLoad {
    pub(super) reports_per_s: u32,
    pub(super) questions_per_s: u32,
}

/// A running agent.
pub(super) struct Agent {
    pub(super) number: usize,
    client: Arc<SiteClient<()>>,
    heard: Arc<Mutex<Heard>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Handed>>,
}

/// Events of gateways that it has received.
#[derive(Debug, Default)]
struct Heard {
    connected: Vec<Instant>,
    last_answer: Option<Instant>,
    longest_silence: Duration,
}

/// The reports that an agent has handed to its client.
#[derive(Debug, Default)]
pub(super) struct Handed {
    /// Reports, each with its time.
    pub(super) reports: Vec<(ReportNumber, Instant)>,
    /// Number of reports that were dropped because the client's queue was full.
    pub(super) dropped: u64,
    /// Number of reports that gateways refused.
    pub(super) refused: u64,
}

impl Heard {
    fn answered(&mut self, now: Instant) {
        let silence = self.last_answer.replace(now).map(|before| now - before);
        self.longest_silence = self.longest_silence.max(silence.unwrap_or_default());
    }
}

impl Agent {
    /// Starts to report and to ask; it prefers the gateway of its number, in turn.
    pub(super) fn start(trio: &Trio, number: usize, load: AgentLoad) -> Self {
        let heard = Arc::new(Mutex::new(Heard::default()));
        let hearing = Arc::clone(&heard);
        let hear = move |event| {
            match event {
                SiteEvent::Connected(_) => lock(&hearing).connected.push(now()),
                SiteEvent::Answered(..) => lock(&hearing).answered(now()),
                _ => {}
            }
            false
        };
        let client = Arc::new(SiteClient::start(config(trio, number), hear).unwrap());
        let is_over = Arc::new(AtomicBool::new(false));
        let (working, ends) = (Arc::clone(&client), Arc::clone(&is_over));
        let thread = thread::spawn(move || work(&working, number, load, &ends));
        Self { number, client, heard, is_over, thread: Some(thread) }
    }

    /// Returns the gateway that it is connected with; empty if there is none.
    pub(super) fn gateway(&self) -> String {
        self.client.status().gateway.unwrap_or_default()
    }

    /// Waits until gateways answer.
    pub(super) fn wait_for_answers(&self) {
        for _ in 0..1500 {
            if lock(&self.heard).last_answer.is_some() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("no answers: {:?}", self.client.status());
    }

    /// Returns how long after `at` it was connected with a gateway again.
    pub(super) fn connected_after(&self, at: Instant) -> Option<Duration> {
        let heard = lock(&self.heard);
        heard.connected.iter().find_map(|then| then.checked_duration_since(at))
    }

    /// Returns the longest time without an answer since the last call, up to now.
    pub(super) fn take_longest_silence(&self) -> Duration {
        let mut heard = lock(&self.heard);
        let since_last = heard.last_answer.map(|last| now().saturating_duration_since(last));
        std::mem::take(&mut heard.longest_silence).max(since_last.unwrap_or_default())
    }

    /// Ends the load, and waits until all is acknowledged.
    pub(super) fn end(mut self, patience: Duration) -> Handed {
        self.is_over.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        let mut handed = thread.join().unwrap();
        assert!(self.client.flush(patience), "{:?}", self.client.status());
        let status = self.client.status();
        (handed.dropped, handed.refused) = (status.reports_dropped, status.reports_refused);
        handed
    }
}

fn config(trio: &Trio, number: usize) -> ClientConfig {
    let (bed, name) = (trio.bed(), format!("web-{number}"));
    let issued = bed.issue(HolderRole::Agent, "site", &name);
    let file = |ending: &str| bed.file(&format!("{name}.{ending}"));
    fs::write(file("pem"), issued.certificate).unwrap();
    fs::write(file("key"), issued.key).unwrap();
    let mut gateways = trio.addresses();
    let count = gateways.len();
    gateways.rotate_left(number % count);
    ClientConfig {
        gateways,
        ca: bed.file("ca.pem"),
        certificate: file("pem"),
        key: file("key"),
        collector: Collector::Agent,
        version: "1".to_owned(),
        addresses: Vec::new,
        names: gateway_client::SystemNames::shared(),
    }
}

/// Sends due reports and questions until `is_over`.
fn work(client: &SiteClient<()>, agent: usize, load: AgentLoad, is_over: &AtomicBool) -> Handed {
    let (begin, mut handed, mut asked) = (now(), Handed::default(), 0);
    while !is_over.load(Ordering::Relaxed) {
        let due = |per_s: u32| (begin.elapsed().as_secs_f64() * f64::from(per_s)) as u32;
        let first = agent as u32 * MAX_REPORTS;
        for number in handed.reports.len() as u32..due(load.reports_per_s).min(MAX_REPORTS) {
            client.report(report(&network_of(first + number), 100_000));
            handed.reports.push((first + number, now()));
        }
        while asked < due(load.questions_per_s) {
            let network = network_of(first + handed.reports.len() as u32 / 2).parse().unwrap();
            client.ask(SiteQuestion { network, size: 0, of: () });
            asked += 1;
        }
        thread::sleep(TICK);
    }
    handed
}

/// Returns the network of a report.
fn network_of(number: ReportNumber) -> String {
    format!("{}/24", Ipv4Addr::from_bits((FIRST_NETWORK + number) << 8))
}

/// Returns the report of a network, if there is one.
pub(super) fn number_of(network: Ipv4Addr) -> Option<ReportNumber> {
    (network.to_bits() >> 8).checked_sub(FIRST_NETWORK)
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
pub(super) fn now() -> Instant {
    Instant::now()
}
