//! Questions at a steady rate. Each is timed from when it was due, so the time includes the wait
//! for earlier ones.

use super::calls::Askers;
use super::process::{Measured, own_processor_s};
use super::streams::Streams;
use gateway_proto::v1::Network;
use hdrhistogram::Histogram;
use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// Number of connections that ask, as that many agents would.
pub(crate) const ASKERS: usize = 8;
/// Shortest sleep of the thread that keeps the time; it asks all questions that became due
/// meanwhile together.
pub(crate) const SLEEP: Duration = Duration::from_micros(100);
/// Maximum wait for missing answers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The way in which questions are asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// A call for each question.
    Calls,
    /// All questions of a connection on one kept stream, as agents do.
    Stream,
}

/// A load, and its results.
pub(crate) struct Load<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) address: SocketAddr,
    pub(crate) networks: &'a [Network],
    pub(crate) span: Duration,
}

/// The results of a load.
pub(crate) struct Asked {
    /// Times from when a question was due to its answer, microseconds.
    pub(crate) times: Histogram<u64>,
    /// Number of questions.
    pub(crate) number: u64,
    /// Time until the last answer.
    pub(crate) took: Duration,
}

impl Load<'_> {
    /// Asks at `rate`, and prints a line of a table.
    pub(crate) async fn ask(
        &self,
        gateway: &Measured,
        way: Way,
        rate: u64,
    ) -> Result<(), Box<dyn Error>> {
        let (asked, used) = match way {
            Way::Calls => {
                let mut askers = Askers::connect(self)?;
                let used = Used::so_far(gateway);
                // This thread has no other work.
                (askers.ask(rate, self.span)?, used)
            }
            Way::Stream => {
                let streams = Streams::open(self).await?;
                let used = Used::so_far(gateway);
                (streams.ask(rate, self.span).await?, used)
            }
        };
        let now = Used::so_far(gateway);
        let Asked { times, number, took } = asked;
        let each = |seconds: f64| seconds * 1e6 / times.len().max(1) as f64;
        println!(
            "{:<8}{rate:>8}{:>10.0}{:>10}{:>10.1}{:>10.1}{:>9}{:>9}{:>9}",
            format!("{way:?}").to_lowercase(),
            times.len() as f64 / took.as_secs_f64(),
            number - times.len(),
            each(now.gateway_s - used.gateway_s),
            each(now.own_s - used.own_s),
            times.value_at_quantile(0.5),
            times.value_at_quantile(0.99),
            times.value_at_quantile(0.999),
        );
        Ok(())
    }

    /// Returns the networks that an asker asks for.
    pub(crate) fn networks_of(&self, asker: usize) -> Vec<Network> {
        self.networks.iter().skip(asker * 97).step_by(13).copied().collect()
    }
}

/// Processor time, seconds.
struct Used {
    gateway_s: f64,
    own_s: f64,
}

impl Used {
    fn so_far(gateway: &Measured) -> Self {
        Self { gateway_s: gateway.processor_s(), own_s: own_processor_s() }
    }
}

/// Prints the head of the table.
pub(crate) fn head() {
    println!(
        "questions by mutual TLS over {ASKERS} connections; a second, and microseconds\n\
         {:<8}{:>8}{:>10}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}",
        "way", "due/s", "done/s", "lost", "gateway", "asker", "50 %", "99 %", "99.9 %"
    );
}
