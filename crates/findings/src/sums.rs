//! Sums of a capture's findings. Those of other captures can be added, and the findings are then
//! those of all captures.
//!
//! Each capture is followed alone. So findings about hosts, `warm` and `parallel.throughput`, are
//! those of one run over all captures if no client network is in two captures. All others are exact
//! in any case, as long as no connection and no loss epoch is in two captures.

use crate::compression::CompressionTally;
use crate::losses::LossTally;
use crate::network::RequestWatch;
use crate::parallel::{Epoch, EpochTally, Member, ParallelFindings, ThroughputTally};
use crate::result::TraceFindings;
use crate::time::TimeTally;
use crate::warm::WarmTally;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use units::Instant;

/// Sums of the findings of one capture or of several.
#[derive(Default, Serialize, Deserialize)]
pub struct FindingsSums {
    losses: LossTally,
    compression: CompressionTally,
    together: TogetherSums,
}

/// Sums of facts that connections share.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct TogetherSums {
    pub(crate) time: TimeTally,
    pub(crate) warm: WarmTally,
    pub(crate) throughput: ThroughputTally,
    pub(crate) ordered: OrderedEvents,
}

/// Events whose order among captures counts.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct OrderedEvents {
    /// Nanoseconds and client of each request.
    requests: Vec<(u64, IpAddr)>,
    /// Nanoseconds of the end, and connections, of each loss epoch.
    epochs: Vec<(u64, Vec<Member>)>,
}

impl OrderedEvents {
    pub(crate) fn on_request(&mut self, at: Instant, client: IpAddr) {
        self.requests.push((at.as_nanos(), client));
    }

    pub(crate) fn on_epoch(&mut self, ended: Instant, epoch: &Epoch) {
        self.epochs.push((ended.as_nanos(), epoch.members().to_vec()));
    }
}

impl FindingsSums {
    pub(crate) const fn new(
        losses: LossTally,
        compression: CompressionTally,
        together: TogetherSums,
    ) -> Self {
        Self { losses, compression, together }
    }

    /// Adds the sums of other captures.
    pub fn add(&mut self, other: Self) {
        let TogetherSums { time, warm, throughput, ordered } = other.together;
        let own = &mut self.together;
        self.losses.add(&other.losses);
        self.compression.add(&other.compression);
        own.time.add_all(time);
        own.warm.add_all(&warm);
        own.throughput.add_all(&throughput);
        own.ordered.requests.extend(ordered.requests);
        own.ordered.epochs.extend(ordered.epochs);
    }

    /// Returns the findings of all captures.
    pub fn finish(self) -> TraceFindings {
        let TogetherSums { time, warm, throughput, mut ordered } = self.together;
        ordered.requests.sort_by_key(|(at, _)| *at);
        ordered.epochs.sort_by_key(|(ended, _)| *ended);
        let mut requests = RequestWatch::default();
        for (at, client) in ordered.requests {
            requests.on_request(Instant::from_nanos(at), client);
        }
        let mut epochs = EpochTally::default();
        ordered.epochs.iter().for_each(|(_, members)| epochs.add(members));
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
