//! Questions on kept streams, by the client that agents use. A thread of its own keeps the time,
//! because the runtime's timer is exact to a millisecond only.

use super::ask::{ASKERS, Asked, Load, SLEEP};
use super::wire::Due;
use super::{Channel, GatewayClient, client, now};
use gateway_proto::v1::{Network, Query};
use hdrhistogram::Histogram;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;

/// Times in microseconds, and the instant from which the times of questions count.
#[derive(Clone)]
struct Times {
    first: Instant,
    histogram: Arc<Mutex<Histogram<u64>>>,
}

/// Streams, one for each connection.
pub(crate) struct Streams {
    askers: Vec<UnboundedSender<Due>>,
    tasks: Vec<JoinHandle<()>>,
    times: Times,
}

impl Streams {
    /// Connects them.
    pub(crate) async fn open(load: &Load<'_>) -> Result<Self, Box<dyn Error>> {
        let times = Times { first: now(), histogram: Arc::new(Mutex::new(Histogram::new(3)?)) };
        let (mut askers, mut tasks) = (Vec::new(), Vec::new());
        for asker in 0..ASKERS {
            let client = client(load.folder, load.address).await?;
            let (sender, due) = unbounded_channel();
            askers.push(sender);
            let networks = load.networks_of(asker);
            tasks.push(tokio::spawn(stream(client, due, networks, times.clone())));
        }
        Ok(Self { askers, tasks, times })
    }

    /// Asks at `rate` for `span`, each in turn.
    pub(crate) async fn ask(self, rate: u64, span: Duration) -> Result<Asked, Box<dyn Error>> {
        let (begin, askers) = (now(), self.askers);
        let asked = thread::spawn(move || pace(begin, span, rate, &askers));
        for task in self.tasks {
            task.await?;
        }
        let took = begin.elapsed();
        let number = asked.join().map_err(|_| "the thread that keeps the time has failed")?;
        let times = self.times.histogram.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Asked { times, number, took })
    }
}

/// Sends due questions to the askers, in turn; returns their number.
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

async fn stream(
    mut client: GatewayClient<Channel>,
    due: UnboundedReceiver<Due>,
    networks: Vec<Network>,
    Times { first, histogram }: Times,
) {
    // The gateway returns the number, so it holds the question's due time.
    let query = move |Due { number, at }: Due| Query {
        id: at.saturating_duration_since(first).as_nanos() as u64,
        network: Some(networks[number as usize % networks.len()]),
        size: 0,
    };
    let queries = UnboundedReceiverStream::new(due).map(query);
    let Ok(answers) = client.ask_stream(queries).await else { return };
    let mut answers = answers.into_inner();
    while let Ok(Some(answer)) = answers.message().await {
        let took = (first + Duration::from_nanos(answer.id)).elapsed().as_micros();
        let mut times = histogram.lock().unwrap_or_else(PoisonError::into_inner);
        times.record(took as u64).unwrap_or_default();
    }
}
