//! Subscribers that are notified of changed networks: the cost of an update, and of a connection.

use super::ask::Load;
use super::process::Measured;
use super::{client, now};
use gateway::replay::site_load::report_of;
use gateway_proto::v1::{Collector, ReportBatch, SubscribeRequest, update};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;

/// Networks in a batch of reports, and the time between two batches: 20,000 changes in a second.
const CHANGED: usize = 1000;
const BATCH_INTERVAL: Duration = Duration::from_millis(50);
/// Numbers of subscribers, each with a connection of its own; without any, reports alone cost.
const SUBSCRIBERS: [usize; 4] = [0, 64, 256, 512];

/// Subscribers, and the number of updates that they have received.
#[derive(Default)]
struct Subscribers {
    tasks: Vec<JoinHandle<()>>,
    updates: Arc<AtomicU64>,
}

/// Measures all numbers of subscribers, and prints a line for each.
pub(crate) async fn run(load: &Load<'_>, gateway: &Measured) -> Result<(), Box<dyn Error>> {
    println!("subscribers, updates a second, microseconds an update, KiB a connection");
    let (mut subscribers, before) = (Subscribers::default(), gateway.memory_kib("VmRSS"));
    let mut reports_s = 0.0;
    for count in SUBSCRIBERS {
        subscribers.grow(load, count).await?;
        let kib = gateway.memory_kib("VmRSS").saturating_sub(before) / count.max(1) as u64;
        let (used, begun) = (gateway.processor_s(), subscribers.updates.load(Ordering::Relaxed));
        report(load).await?;
        let used = gateway.processor_s() - used;
        if count == 0 {
            reports_s = used;
            continue;
        }
        let updates = subscribers.updates.load(Ordering::Relaxed) - begun;
        println!(
            "{count:>11}{:>10.0}{:>10.2}{kib:>8}",
            updates as f64 / load.span.as_secs_f64(),
            (used - reports_s) * 1e6 / updates.max(1) as f64,
        );
    }
    subscribers.tasks.iter().for_each(JoinHandle::abort);
    Ok(())
}

impl Subscribers {
    /// Connects more subscribers, until there are `count`.
    async fn grow(&mut self, load: &Load<'_>, count: usize) -> Result<(), Box<dyn Error>> {
        while self.tasks.len() < count {
            let mut client = client(load.folder, load.address).await?;
            let stream = client.subscribe(SubscribeRequest::default()).await?;
            let (mut stream, updates) = (stream.into_inner(), Arc::clone(&self.updates));
            self.tasks.push(tokio::spawn(async move {
                while let Ok(Some(update)) = stream.message().await {
                    if matches!(update.what, Some(update::What::Estimate(_))) {
                        updates.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }));
        }
        Ok(())
    }
}

/// Reports other networks all the time.
async fn report(load: &Load<'_>) -> Result<(), Box<dyn Error>> {
    let mut client = client(load.folder, load.address).await?;
    let (sender, batches) = tokio::sync::mpsc::channel(4);
    let mut acks = client.report(ReceiverStream::new(batches)).await?.into_inner();
    // Batches of an epoch have higher numbers than those before.
    let epoch = getrandom::u64()?;
    let (until, mut ticks) = (now() + load.span, tokio::time::interval(BATCH_INTERVAL));
    for (sequence, networks) in (1..).zip(load.networks.chunks(CHANGED).cycle()) {
        ticks.tick().await;
        if now() > until {
            break;
        }
        let reports = networks.iter().copied().map(report_of).collect();
        let collector = Collector::Agent.into();
        sender.send(ReportBatch { epoch, sequence, collector, reports, status: None }).await?;
        acks.message().await?.ok_or("the gateway ends the reports")?;
    }
    Ok(())
}
