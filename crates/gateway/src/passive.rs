//! Passive collection: what the trace engine rebuilds of senders, transfer by transfer, as reports. The gateway sees packets and has nobody
//! changed (Zhang, Qiu & Keshav 2000 §5.1). One engine, crate `trace`, tells it.

use gateway_proto::v1::{Bound, Network, Report};
use ipnet::IpNet;
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, TimeShare, TraceSink, TracedSender,
    TransferReport,
};
use units::Instant;

/// Connections of which a loss is remembered until the transfer ends; the engine bounds those that it follows.
const MOST: usize = 1 << 20;

/// A transfer as a report, with when it ended and whose it was.
#[derive(Clone, Copy, Debug)]
pub struct PassiveReport {
    /// When the last byte was acknowledged.
    pub at: Instant,
    /// The visitor.
    pub client: IpAddr,
    /// What is reported.
    pub report: Report,
}

/// Hands each transfer of a server to `take`, in the order in which they end.
pub struct PassiveSink<F> {
    take: F,
    /// Bytes outstanding when the transfer under way met its first loss.
    lost_at: FxHashMap<u64, u64>,
}

impl<F: FnMut(PassiveReport)> PassiveSink<F> {
    /// Hands to `take`.
    pub fn new(take: F) -> Self {
        Self { take, lost_at: FxHashMap::default() }
    }
}

impl<F: FnMut(PassiveReport)> TraceSink for PassiveSink<F> {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.lost_at.remove(&summary.connection);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        // A probe of the tail is no loss; later losses of a transfer say less than the first.
        let is_loss = again.len > 0 && again.kind != RetransmissionKind::TailProbe;
        if sender.is_server && is_loss && self.lost_at.len() < MOST {
            self.lost_at.entry(sender.connection).or_insert(again.outstanding);
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, transfer: &TransferReport) {
        let lost_at = self.lost_at.remove(&sender.connection);
        if !sender.is_server || transfer.bytes == 0 || transfer.mss == 0 {
            return;
        }
        let report = report(network(sender.client.ip), transfer, lost_at);
        (self.take)(PassiveReport { at: transfer.ended, client: sender.client.ip, report });
    }
}

/// What a transfer says of `network`.
fn report(network: IpNet, transfer: &TransferReport, lost_at: Option<u64>) -> Report {
    let (window, bound) = match lost_at {
        Some(outstanding) => (outstanding, Bound::Loss),
        // What was in flight is no more than either.
        None => (transfer.last_window.min(transfer.bytes), bound(transfer)),
    };
    let segments = transfer.bytes.div_ceil(transfer.mss) + u64::from(transfer.retransmissions);
    let sent = u32::try_from(segments).unwrap_or(u32::MAX);
    Report {
        network: Some(Network::of(network)),
        window: window.max(1),
        min_rtt_us: transfer.min_rtt.as_micros(),
        sent,
        lost: transfer.retransmissions.min(sent),
        bound: bound.into(),
        transfer_bytes: transfer.bytes,
        transfer_us: transfer.ended.saturating_since(transfer.answered).as_micros(),
        ..Report::default()
    }
}

/// What kept the window of a transfer without loss: where it waited longest.
fn bound(transfer: &TransferReport) -> Bound {
    let waited = [
        (TimeShare::ReceiverWindow, Bound::ReceiveWindow),
        (TimeShare::Application, Bound::Application),
        (TimeShare::SlowStart, Bound::OwnStart),
    ];
    let longest = waited.into_iter().max_by_key(|(share, _)| transfer.shares.of(*share));
    longest
        .filter(|(share, _)| !transfer.shares.of(*share).is_zero())
        .map_or(Bound::Over, |(_, bound)| bound)
}

/// The network of a visitor, as it is reported: /24, or /48 of IPv6.
pub fn network(address: IpAddr) -> IpNet {
    let address = address.to_canonical();
    let bits = if address.is_ipv4() { 24 } else { 48 };
    IpNet::new(address, bits).map_or_else(|_| address.into(), |net| net.trunc())
}
