//! Questions at a steady rate, each timed from when it was due: one that waits for another counts its wait. A thread of its own keeps
//! the time, because the runtime's timer is exact to a millisecond only.

use super::process::{Measured, own_processor_s};
use super::{client, now};
use gateway_proto::v1::{Network, Query};
use hdrhistogram::Histogram;
use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;

/// Questions are asked over so many connections, as so many agents do.
const ASKERS: usize = 8;
/// The thread that keeps the time sleeps no shorter; what has become due meanwhile is asked together.
const SLEEP: Duration = Duration::from_micros(100);
/// Answers that are still missing after so long are waited for no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How questions are asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// A call each.
    Calls,
    /// All of a connection on one kept stream, as agents do.
    Stream,
}

/// What is due: its number and when.
#[derive(Clone, Copy)]
struct Due {
    number: u64,
    at: Instant,
}

/// Times in microseconds.
type Times = Arc<Mutex<Histogram<u64>>>;

/// A load, and what came of it.
pub(crate) struct Load<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) address: SocketAddr,
    pub(crate) networks: &'a [Network],
    pub(crate) span: Duration,
}

impl Load<'_> {
    /// Asks at `rate`, and prints a line of a table.
    pub(crate) async fn ask(
        &self,
        gateway: &Measured,
        way: Way,
        rate: u64,
    ) -> Result<(), Box<dyn Error>> {
        let times: Times = Arc::new(Mutex::new(Histogram::new(3)?));
        let first = now();
        let (mut askers, mut tasks) = (Vec::new(), Vec::new());
        for asker in 0..ASKERS {
            let client = client(self.folder, self.address).await?;
            let (sender, due) = unbounded_channel();
            let networks: Vec<Network> =
                self.networks.iter().skip(asker * 97).step_by(13).copied().collect();
            let times = Arc::clone(&times);
            askers.push(sender);
            tasks.push(match way {
                Way::Calls => tokio::spawn(calls(client, due, networks, times)),
                Way::Stream => tokio::spawn(stream(client, due, networks, Since { first, times })),
            });
        }
        let used = (gateway.processor_s(), own_processor_s());
        let (span, begin) = (self.span, now());
        let asked = thread::spawn(move || pace(begin, span, rate, &askers));
        for task in tasks {
            task.await?;
        }
        let took = begin.elapsed();
        let asked = asked.join().map_err(|_| "the thread that keeps the time has failed")?;
        let used = (gateway.processor_s() - used.0, own_processor_s() - used.1);
        let times = times.lock().unwrap_or_else(PoisonError::into_inner);
        let each = |seconds: f64| seconds * 1e6 / times.len().max(1) as f64;
        println!(
            "{:<8}{rate:>8}{:>10.0}{:>10}{:>10.1}{:>10.1}{:>9}{:>9}{:>9}",
            format!("{way:?}").to_lowercase(),
            times.len() as f64 / took.as_secs_f64(),
            asked - times.len(),
            each(used.0),
            each(used.1),
            times.value_at_quantile(0.5),
            times.value_at_quantile(0.99),
            times.value_at_quantile(0.999),
        );
        Ok(())
    }
}

/// The head of the table.
pub(crate) fn head() {
    println!(
        "questions by mutual TLS over {ASKERS} connections; a second, and microseconds\n\
         {:<8}{:>8}{:>10}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}",
        "way", "due/s", "done/s", "lost", "gateway", "asker", "50 %", "99 %", "99.9 %"
    );
}

/// Hands out what is due, in turn; answers how many that were.
fn pace(begin: Instant, span: Duration, rate: u64, askers: &[UnboundedSender<Due>]) -> u64 {
    let gap = Duration::from_nanos(1_000_000_000 / rate.max(1));
    let (mut number, mut at) = (0, begin);
    while at < begin + span {
        let wait = at.saturating_duration_since(now());
        if !wait.is_zero() {
            thread::sleep(wait.max(SLEEP));
        }
        let asker = &askers[number as usize % askers.len()];
        if asker.send(Due { number, at }).is_err() {
            return number;
        }
        number += 1;
        at += gap;
    }
    number
}

fn note(times: &Times, due: Instant) {
    let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
    times.record(due.elapsed().as_micros() as u64).unwrap_or_default();
}

/// Times, and the instant from which questions on a stream reckon theirs.
struct Since {
    first: Instant,
    times: Times,
}

type Client = super::GatewayClient<super::Channel>;

async fn calls(
    client: Client,
    mut due: UnboundedReceiver<Due>,
    networks: Vec<Network>,
    times: Times,
) {
    let (running, mut ended) = unbounded_channel::<()>();
    while let Some(Due { number, at }) = due.recv().await {
        let (mut client, times, running) = (client.clone(), Arc::clone(&times), running.clone());
        let network = Some(networks[number as usize % networks.len()]);
        tokio::spawn(async move {
            let _running = running;
            if client.ask(Query { id: number, network, size: 0 }).await.is_ok() {
                note(&times, at);
            }
        });
    }
    drop(running);
    let _ = tokio::time::timeout(PATIENCE, ended.recv()).await;
}

async fn stream(
    mut client: Client,
    due: UnboundedReceiver<Due>,
    networks: Vec<Network>,
    Since { first, times }: Since,
) {
    // The gateway gives the number back, so it says when the question was due.
    let query = move |Due { number, at }: Due| Query {
        id: at.saturating_duration_since(first).as_nanos() as u64,
        network: Some(networks[number as usize % networks.len()]),
        size: 0,
    };
    let queries = UnboundedReceiverStream::new(due).map(query);
    let Ok(answers) = client.ask_stream(queries).await else { return };
    let mut answers = answers.into_inner();
    while let Ok(Some(answer)) = answers.message().await {
        note(&times, first + Duration::from_nanos(answer.id));
    }
}
