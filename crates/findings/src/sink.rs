//! Takes what the engine tells, and hands it to those who add up.

use crate::compression::CompressionTally;
use crate::follow::{Closing, Following};
use crate::losses::LossTally;
use crate::network::RequestWatch;
use crate::parallel::{Epoch, EpochTally, LossEpoch, ParallelFindings, ThroughputTally};
use crate::result::TraceFindings;
use crate::time::TimeTally;
use crate::warm::WarmTally;
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, SenderSnapshot, SentData, TraceSink,
    TracedSender, TransferReport,
};
use units::Instant;

/// Finds and sums up. Its memory is bounded: by the connections that the engine follows, and by limits of its own for
/// hosts, networks and requests of the last minutes.
#[derive(Default)]
pub struct FindingsSink {
    following: Following,
    time: TimeTally,
    warm: WarmTally,
    losses: LossTally,
    compression: CompressionTally,
    throughput: ThroughputTally,
    epochs: EpochTally,
    requests: RequestWatch,
    now: Option<Instant>,
    /// Loss epochs that are over, if somebody wants each.
    ended: Option<Vec<LossEpoch>>,
}

impl FindingsSink {
    /// One that keeps each loss epoch until [`FindingsSink::take_epochs`].
    pub fn with_epochs() -> Self {
        Self { ended: Some(Vec::new()), ..Self::default() }
    }

    /// Loss epochs that have ended since the last call. Those under way at the end of a capture do not end.
    pub fn take_epochs(&mut self) -> impl Iterator<Item = LossEpoch> + '_ {
        self.ended.iter_mut().flat_map(|ended| ended.drain(..))
    }

    /// What was found so far.
    pub fn finish(mut self) -> TraceFindings {
        for host in self.following.into_hosts() {
            self.throughput.add(&host.period);
        }
        TraceFindings {
            time: self.time.findings(),
            warm: self.warm.findings(),
            requests: self.requests.findings(),
            losses: self.losses.findings(),
            compression: self.compression.findings(),
            parallel: ParallelFindings {
                throughput: self.throughput.findings(),
                epochs: self.epochs.findings(),
            },
        }
    }

    #[inline]
    fn end_epoch(&mut self, epoch: Option<Box<Epoch>>, now: Instant) {
        if let Some(epoch) = epoch {
            self.epochs.add(&epoch);
            if let Some(ended) = &mut self.ended {
                ended.extend(epoch.ended(now));
            }
        }
    }

    fn close(&mut self, connection: u64, now: Instant) {
        let Closing { acks, epoch, dropped } = self.following.close(connection, now);
        if let Some(acks) = acks {
            acks.finish(&mut self.compression);
        }
        self.end_epoch(epoch, now);
        if let Some(host) = dropped {
            self.throughput.add(&host.period);
        }
    }

    fn pass(&mut self, at: Instant) -> Instant {
        let now = self.now.map_or(at, |now| now.max(at));
        *self.now.insert(now)
    }
}

impl TraceSink for FindingsSink {
    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        let now = self.pass(at);
        self.following.begin(sender.connection, sender.client.ip, now);
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        let now = self.pass(at);
        self.close(sender.connection, now);
    }

    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let now = self.pass(summary.ended);
        self.close(summary.connection, now);
        let ended = self.following.end(summary.connection);
        let (window, limited) =
            ended.map_or((0, false), |ended| (ended.window, ended.window_limited));
        self.losses.on_connection(summary, window, limited);
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, _: u64) {
        let now = self.pass(at);
        if let Some(followed) = self.following.at(sender.connection)
            && !std::mem::replace(&mut followed.asked, true)
        {
            self.requests.on_request(now, sender.client.ip);
        }
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        self.losses.on_sent(sent);
        self.following.on_sent(sender.connection, sent);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        let lost = again.len > 0 && again.kind != RetransmissionKind::TailProbe;
        if !sender.is_server || !lost {
            return;
        }
        self.losses.on_loss(again);
        let followed = self.following.at(sender.connection);
        if let Some(acks) = followed.and_then(|followed| followed.acks.as_deref_mut()) {
            acks.on_loss(again);
        }
        self.following.on_loss(sender, again.at, again.start);
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        if !sender.is_server {
            return;
        }
        let epoch = self.following.on_ack(sender.connection, point, &mut self.compression);
        self.end_epoch(epoch, point.at);
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.time.add(sender.client.ip, report);
        let followed = self.following.at(sender.connection);
        if let Some(known) = followed.and_then(|followed| followed.foreknown.take()) {
            self.warm.add(&known, report);
        }
    }
}
