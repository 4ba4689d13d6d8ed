//! Sums of a capture's findings. The sums of other captures can be added, and the findings are then
//! those of all captures.
//!
//! Each capture is followed alone. So findings about hosts that come again (`warm`, `requests` and
//! `parallel.throughput`) are those of one run over all captures if no client network is in two
//! captures. The times of networks (`time`) are those of one run if all captures together have at
//! most 65,536 client networks. With more, the networks with the least time share one sum. All
//! other findings are exact in any case, as long as no connection and no loss epoch is in two
//! captures. All sums are whole numbers, so they do not depend on the order of captures.
//!
//! `requests.networks_within` puts the requests of all captures in the order of their times. A run
//! puts a request that it notices late behind the ones before. So both may differ if the direction
//! of a connection shows late, as in a capture that is cut off.

use crate::compression::CompressionCounters;
use crate::losses::LossCounters;
use crate::network::RequestSums;
use crate::parallel::{EpochCounters, ParallelFindings, ThroughputCounters};
use crate::result::TraceFindings;
use crate::time::TimeCounters;
use crate::warm::WarmCounters;
use serde::{Deserialize, Serialize};

/// Sums of the findings of one capture or of several. The parts are boxed: they are large, and a
/// reader of JSON has several copies on its stack.
#[derive(Default, Serialize, Deserialize)]
pub struct FindingsSums {
    losses: Box<LossCounters>,
    compression: Box<CompressionCounters>,
    together: Box<TogetherSums>,
}

/// Sums of facts that connections share.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct TogetherSums {
    pub(crate) time: Box<TimeCounters>,
    pub(crate) warm: Box<WarmCounters>,
    pub(crate) throughput: ThroughputCounters,
    pub(crate) epochs: Box<EpochCounters>,
    pub(crate) requests: RequestSums,
}

impl FindingsSums {
    pub(crate) fn new(
        losses: LossCounters,
        compression: CompressionCounters,
        together: TogetherSums,
    ) -> Self {
        let (losses, compression) = (Box::new(losses), Box::new(compression));
        Self { losses, compression, together: Box::new(together) }
    }

    /// Adds the sums of other captures.
    pub fn add(&mut self, other: Self) {
        let TogetherSums { time, warm, throughput, epochs, requests } = *other.together;
        let own = &mut self.together;
        self.losses.add(&other.losses);
        self.compression.add(&other.compression);
        own.time.add_all(*time);
        own.warm.add_all(&warm);
        own.throughput.add_all(&throughput);
        own.epochs.add_all(&epochs);
        own.requests.add_all(requests);
    }

    /// Returns the findings of all captures.
    pub fn finish(self) -> TraceFindings {
        let TogetherSums { time, warm, throughput, epochs, requests } = *self.together;
        TraceFindings {
            time: time.findings(),
            warm: warm.findings(),
            requests: requests.findings(),
            losses: self.losses.findings(),
            compression: self.compression.findings(),
            parallel: ParallelFindings {
                throughput: throughput.findings(),
                epochs: epochs.findings(),
            },
        }
    }
}
