//! The cost of failing gateways: stopped, killed over and over, cut off, late, or lying. No
//! connection fails. None takes longer than with an agent that has no gateway, with which each is
//! compared. A lie costs one transfer, as the agent's own stale memory does.

use super::liar::{Liar, Lies};
use super::of_gateways;
use super::running::{Gateway, GatewayProcess};
use super::wire::Wire;
use crate::bed::{Agent, Bed, Server, fastest, median, until};
use gateway_proto::v1::Estimate;
use socket2::Domain;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use test_support::retry_on_stall;

/// Longer no connection may take than one of an agent alone.
const HARMLESS: f64 = 1.01;
/// Delay of an answer that is too late for the connection that it was for.
const ANSWER_DELAY: Duration = Duration::from_secs(1);
/// Lifetime of a gateway that is killed over and over: more than an agent takes to reconnect.
const LIVES: Duration = Duration::from_millis(400);

/// Fault of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// There is no gateway to ask.
    Alone,
    /// It was there, and has ended in order.
    Stopped,
    /// It answers a second late, and is alive.
    LateAnswers,
    /// All bytes take a second each way.
    FarAway,
    /// No byte gets through after the agent has connected, and neither end is notified.
    CutOff,
    /// It is killed, and started again, this number of times.
    Killed(u32),
}

impl Trouble {
    fn begin(self) -> InTrouble {
        let gateway = match self {
            Self::Alone => Troubled::None,
            Self::LateAnswers => Troubled::Liar(Liar::start(Lies {
                late: ANSWER_DELAY,
                estimates: vec![right()],
                ..Lies::default()
            })),
            Self::Stopped => Troubled::Stopped(Gateway::start()),
            Self::FarAway | Self::CutOff => {
                let gateway = Gateway::start();
                let wire = Wire::to(&gateway.address);
                Troubled::Far(gateway, wire)
            }
            Self::Killed(times) => Troubled::Killed(Killer::new(times)),
        };
        InTrouble { trouble: self, gateway }
    }
}

/// A correct estimate of the bed's path.
fn right() -> Estimate {
    Estimate {
        window: 100 * 1448,
        rate: 19_000_000,
        min_rtt_us: 80_000,
        confidence: 0.9,
        ..Estimate::default()
    }
}

/// A gateway that has a trouble.
struct InTrouble {
    trouble: Trouble,
    gateway: Troubled,
}

enum Troubled {
    None,
    Stopped(Gateway),
    Liar(Liar),
    Far(Gateway, Wire),
    Killed(Killer),
}

impl InTrouble {
    fn options(&self) -> Vec<String> {
        match &self.gateway {
            Troubled::None => Vec::new(),
            Troubled::Stopped(gateway) => gateway.options(),
            Troubled::Liar(liar) => liar.options(),
            Troubled::Far(gateway, wire) => gateway.options_at(&wire.address.to_string()),
            Troubled::Killed(killer) => killer.options.clone(),
        }
    }

    /// An agent that has had a gateway until the trouble began.
    fn agent(&mut self, bed: &Bed) -> Agent {
        let agent = bed.agent(&self.options().iter().map(String::as_str).collect::<Vec<_>>());
        if self.trouble != Trouble::Alone {
            until("a gateway answers", || of_gateways(&agent).gateway.is_some());
        }
        match &mut self.gateway {
            Troubled::Stopped(gateway) => {
                gateway.stop();
                until("it is missed", || of_gateways(&agent).gateway.is_none());
            }
            Troubled::Far(_, wire) if self.trouble == Trouble::CutOff => wire.cut(true),
            Troubled::Far(_, wire) => wire.delay(ANSWER_DELAY),
            Troubled::Killed(killer) => killer.begin(),
            Troubled::None | Troubled::Liar(_) => {}
        }
        agent
    }

    /// Whether more visits are needed, whatever their number: the trouble lasts.
    fn goes_on(&self) -> bool {
        matches!(&self.gateway, Troubled::Killed(killer) if killer.is_at_work())
    }
}

/// Kills a gateway and starts it again.
struct Killer {
    options: Vec<String>,
    /// Number of kills that are left.
    left: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
    process: Option<GatewayProcess>,
    thread: Option<JoinHandle<()>>,
}

impl Killer {
    fn new(times: u32) -> Self {
        let process = GatewayProcess::start();
        Self {
            options: process.options(),
            left: Arc::new(AtomicU32::new(times)),
            is_over: Arc::default(),
            process: Some(process),
            thread: None,
        }
    }

    fn begin(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let (left, is_over) = (Arc::clone(&self.left), Arc::clone(&self.is_over));
        self.thread = Some(thread::spawn(move || {
            while left.load(Ordering::Relaxed) > 0 && !is_over.load(Ordering::Relaxed) {
                process.kill();
                process.start_again();
                thread::sleep(LIVES);
                left.fetch_sub(1, Ordering::Relaxed);
            }
        }));
    }

    fn is_at_work(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Killer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(
            thread::panicking() || !matches!(ended, Some(Err(_))),
            "the gateway did not start again"
        );
    }
}

/// Times of visits to servers that know nothing of the visitor: at least the given number, and as
/// many as the trouble lasts. A failed visit panics.
fn first_visits(
    bed: &Bed,
    server: &Server,
    trouble: Trouble,
    bytes: u64,
    count: usize,
) -> Vec<Duration> {
    let mut in_trouble = trouble.begin();
    let agent = in_trouble.agent(bed);
    let mut times = Vec::new();
    while times.len() < count || in_trouble.goes_on() {
        agent.forget(None);
        let closed = agent.closed();
        times.push(bed.visit(server, bytes));
        agent.wait_for_closed(closed + 1);
    }
    times
}

#[test]
fn a_gateway_in_trouble_slows_no_connection_down() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let server = bed.serve(Domain::IPV4, None);
        let visits = |trouble| fastest(first_visits(&bed, &server, trouble, 30_000, 3).into_iter());
        let alone = visits(Trouble::Alone);
        for trouble in [Trouble::Stopped, Trouble::LateAnswers, Trouble::CutOff, Trouble::Killed(2)]
        {
            let time = visits(trouble);
            let over = time.as_secs_f64() / alone.as_secs_f64();
            // A visit is faster if a gateway has answered in time between two deaths.
            assert!(over <= HARMLESS, "{trouble:?}: {time:?}, alone {alone:?}");
        }
    });
}

/// Each trouble beside an agent alone, before and after it, since the machine's own load changes.
#[test]
#[ignore = "measures, for ten minutes: `make test-gateway-harm`"]
fn measured_harm_of_gateways_in_trouble() {
    const VISITS: usize = 25;
    let Some(bed) = Bed::new() else { return };
    bed.widen_receive_window();
    let server = bed.serve(Domain::IPV4, None);
    println!("trouble, bytes: visits; median, 95 %, most, over those of an agent alone");
    let mut worst = 0.0_f64;
    for bytes in [30_000, 200_000] {
        let visits = |trouble| first_visits(&bed, &server, trouble, bytes, VISITS);
        let troubles = [
            Trouble::Stopped,
            Trouble::LateAnswers,
            Trouble::FarAway,
            Trouble::CutOff,
            Trouble::Killed(100),
        ];
        for trouble in troubles {
            let (before, mut times) = (visits(Trouble::Alone), visits(trouble));
            let mut alone = [before, visits(Trouble::Alone)].concat();
            times.sort();
            alone.sort();
            let over = |times: Duration, alone: Duration| times.as_secs_f64() / alone.as_secs_f64();
            let at =
                |times: &[Duration], share: f64| times[((times.len() - 1) as f64 * share) as usize];
            let middle = over(median(times.iter().copied()), median(alone.iter().copied()));
            println!(
                "{trouble:?}, {bytes}: {}; {middle:.4}, {:.4}, {:.4}",
                times.len(),
                over(at(&times, 0.95), at(&alone, 0.95)),
                over(at(&times, 1.0), at(&alone, 1.0)),
            );
            worst = worst.max(middle);
        }
    }
    assert!(worst <= HARMLESS, "{worst}");
}

#[test]
fn a_lie_costs_one_transfer_and_ends_none() {
    retry_on_stall(|| {
        // 5 Mbit/s over 80 ms and a queue of 25 packets hold 58 of them.
        let Some(bed) = Bed::over(crate::bed::link_of(5, 80, 25)) else { return };
        bed.widen_receive_window();
        let server = bed.serve(Domain::IPV4, None);
        let alone = fastest(first_visits(&bed, &server, Trouble::Alone, 200_000, 2).into_iter());
        // The round trip is right, and nothing else.
        let huge = Estimate { window: u64::MAX / 2, rate: u64::MAX, ..right() };
        let liar = Liar::start(Lies { estimates: vec![huge], ..Lies::default() });
        let agent = bed.agent(&liar.options().iter().map(String::as_str).collect::<Vec<_>>());
        until("the liar answers", || of_gateways(&agent).gateway.is_some());
        let first = bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        // By now the agent uses its own sample, and ignores gateways while it is fresh.
        let later = fastest((0..2).map(|_| bed.visit(&server, 200_000)));
        agent.wait_for_closed(3);
        eprintln!("alone {alone:?}, with the lie {first:?}, later {later:?}");
        assert!(
            later.as_secs_f64() <= alone.as_secs_f64() * HARMLESS,
            "{later:?}, alone {alone:?}"
        );
    });
}

#[test]
fn nonsense_of_a_gateway_changes_nothing() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let server = bed.serve(Domain::IPV4, None);
        let estimates = vec![
            Estimate { window: 0, ..right() },
            Estimate { min_rtt_us: 0, ..right() },
            Estimate { min_rtt_us: u64::MAX, ..right() },
            Estimate { window: u64::MAX, ..right() },
            // Ages by a wrong clock.
            Estimate { age_ms: u64::MAX, ..right() },
            Estimate { age_ms: 10 * 365 * 86_400_000, ..right() },
            Estimate { min_rtt_us: 1, confidence: f32::NAN, ..right() },
        ];
        let visits = estimates.len();
        let liar = Liar::start(Lies { estimates, has_all_forgotten: true, ..Lies::default() });
        let agent = bed.agent(&liar.options().iter().map(String::as_str).collect::<Vec<_>>());
        until("the liar answers", || of_gateways(&agent).gateway.is_some());
        for visit in 1..=visits as u64 {
            // The agent's own sample is no lie.
            agent.forget(None);
            bed.visit(&server, 30_000);
            agent.wait_for_closed(visit);
        }
        assert_eq!(agent.status().connections.warm.closed, 0, "{}", agent.printed());
    });
}
