//! Facts that connections share, in the order of the capture. They are the use of the time by
//! client and time of day, the possible gain of a warm start, the open connections of a host, and
//! their common losses.

use crate::follow::{Closing, Following};
use crate::network::RequestWatch;
use crate::notes::{Acked, FindingsNote, SentTo, TakesNotes};
use crate::parallel::{Epoch, EpochCounters, LossEpoch, ParallelFindings, ThroughputCounters};
use crate::sums::TogetherSums;
use crate::time::TimeCounters;
use crate::warm::{SmallTransfer, WarmCounters};
use std::net::IpAddr;
use trace::{TimeShare, TransferReport};
use units::Instant;

/// Hosts, networks, requests and transfers of all connections. Its memory is bounded: by the
/// connections that the engine follows, and by limits of its own for hosts, networks and requests
/// of the last minutes.
#[derive(Default)]
pub struct Together {
    following: Following,
    pub(crate) time: TimeCounters,
    pub(crate) warm: WarmCounters,
    throughput: ThroughputCounters,
    epochs: EpochCounters,
    pub(crate) requests: RequestWatch,
    now: Option<Instant>,
    /// Finished loss epochs, if a caller wants each.
    ended: Option<Vec<LossEpoch>>,
    /// Nanoseconds and client of each request, if a caller wants sums: the order of requests among
    /// captures counts.
    kept_requests: Option<Vec<(u64, IpAddr)>>,
}

impl Together {
    /// Keeps each loss epoch until [`Together::take_epochs`].
    pub(crate) fn with_epochs() -> Self {
        Self { ended: Some(Vec::new()), ..Self::default() }
    }

    /// Keeps all requests until [`Together::sums`].
    pub(crate) fn keep_requests(&mut self) {
        self.kept_requests = Some(Vec::new());
    }

    /// Returns the sums so far, which those of other captures can be added to.
    pub(crate) fn sums(mut self) -> TogetherSums {
        self.end_hosts();
        TogetherSums {
            time: Box::new(self.time),
            warm: Box::new(self.warm),
            throughput: self.throughput,
            epochs: Box::new(self.epochs),
            requests: self.requests.sums(self.kept_requests.unwrap_or_default()),
        }
    }

    #[inline]
    pub(crate) fn has_epochs(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| !ended.is_empty())
    }

    pub(crate) fn take_epochs(&mut self) -> impl Iterator<Item = LossEpoch> + '_ {
        self.ended.iter_mut().flat_map(|ended| ended.drain(..))
    }

    /// Adds up the hosts that are left.
    fn end_hosts(&mut self) {
        for host in std::mem::take(&mut self.following).into_hosts() {
            self.throughput.add(&host.period);
        }
    }

    /// Adds up the hosts that are left, and returns the results.
    pub(crate) fn parallel(&mut self) -> ParallelFindings {
        self.end_hosts();
        ParallelFindings { throughput: self.throughput.findings(), epochs: self.epochs.findings() }
    }

    /// Adds an epoch that has ended, if there is one.
    #[inline]
    fn end_epoch(&mut self, epoch: Option<Box<Epoch>>, now: Instant) {
        if let Some(epoch) = epoch {
            self.epochs.add(&epoch);
            if let Some(ended) = &mut self.ended {
                ended.extend(epoch.epoch_at(now));
            }
        }
    }

    /// Handles that a connection has closed. Its epoch may end with it, and so may the period of
    /// its host.
    fn close(&mut self, connection: u64, at: Instant) {
        let now = self.pass(at);
        let Closing { epoch, dropped } = self.following.close(connection, now);
        self.end_epoch(epoch, now);
        if let Some(host) = dropped {
            self.throughput.add(&host.period);
        }
    }

    /// Adds a transfer of a client. The first one that does not fit into a first window is compared
    /// with the knowledge at the connection's start.
    fn on_transfer(&mut self, connection: u64, client: IpAddr, report: &TransferReport) {
        self.time.add(client, report);
        let Some(followed) = self.following.at(connection) else { return };
        if report.index == 0 && report.shares.of(TimeShare::Handshake).is_zero() {
            // The capture begins in the middle of the connection: its window comes from earlier
            // transfers.
            followed.foreknown = None;
        }
        if report.fits_first_window() {
            if let Some(known) = &mut followed.foreknown {
                known.small.get_or_insert_with(|| SmallTransfer::of(report));
            }
        } else if let Some(known) = followed.foreknown.take() {
            self.warm.add(&known, report);
        }
    }

    /// Ends a connection: it counts as small if all its transfers fitted into a first window.
    fn end(&mut self, connection: u64) {
        let known = self.following.end(connection).and_then(|followed| followed.foreknown);
        if let Some(known) = known
            && let Some(small) = &known.small
        {
            self.warm.add_small(&known, small);
        }
    }

    fn pass(&mut self, at: Instant) -> Instant {
        let now = self.now.map_or(at, |now| now.max(at));
        *self.now.insert(now)
    }
}

impl TakesNotes for Together {
    #[inline(always)]
    fn take_sent(&mut self, connection: u64, sent: SentTo) {
        self.following.on_sent(connection, &sent);
    }

    #[inline]
    fn take_acked(&mut self, connection: u64, ack: Acked) {
        let epoch = self.following.on_ack(connection, &ack);
        self.end_epoch(epoch, ack.last.at);
    }

    fn take(&mut self, connection: u64, note: FindingsNote) {
        match note {
            FindingsNote::Sent(sent) => self.take_sent(connection, sent),
            FindingsNote::Acked(ack) => self.take_acked(connection, ack),
            FindingsNote::Begin(client, at) => {
                let now = self.pass(at);
                self.following.begin(connection, client, now);
            }
            FindingsNote::Over(at) => self.close(connection, at),
            FindingsNote::End(at) => {
                self.close(connection, at);
                self.end(connection);
            }
            FindingsNote::Request(client, at) => {
                self.pass(at);
                self.requests.on_request(at, client);
                if let Some(requests) = &mut self.kept_requests {
                    requests.push((at.as_nanos(), client));
                }
            }
            FindingsNote::Loss(client, at, start) => {
                self.following.on_loss(connection, client, at, start);
            }
            FindingsNote::Transfer(client, report) => self.on_transfer(connection, client, &report),
        }
    }
}
