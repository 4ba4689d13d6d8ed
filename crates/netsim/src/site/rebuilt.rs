//! Reports of rebuilt senders to a passive gateway (Zhang, Qiu & Keshav 2000 §5.1). They have the
//! sender's share of the path when a loss is found in congestion avoidance, and when a transfer
//! without loss has ended.
//!
//! A transfer has ended when the next request arrives, or when all was acknowledged a round trip
//! ago: the next transfer of another server may ask then. So the gateway does not wait for the
//! engine's own end of a transfer, which is later.

use memory::{GatewayReport, Sample, SegmentedWindow, ShareNotes, ShareRule, Shared};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::net::IpAddr;
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, SenderPhase, SenderSnapshot, SentData,
    TraceSink, TracedSender,
};
use units::{Duration, Instant};

/// Takes the engine's findings, and reports to a gateway.
pub(super) struct SharesOfSenders {
    gateway: Shared,
    rule: ShareRule,
    /// Senders by the number of the connection.
    senders: FxHashMap<u64, SiteSender>,
    /// Connections of which all was acknowledged at that instant, in that order.
    quiet: VecDeque<(Instant, u64)>,
}

/// A sender of the site.
struct SiteSender {
    remote: IpAddr,
    /// The congestion window when it last had nothing to repair, bytes.
    window: u64,
    srtt: Duration,
    /// Largest payload of a segment, bytes.
    mss: u64,
    /// One past the last byte sent.
    sent: u64,
    /// Lowest unacknowledged byte.
    una: u64,
    shares: ShareNotes,
    transfer: SiteTransfer,
}

impl SiteSender {
    const fn segmented_window(&self) -> SegmentedWindow {
        SegmentedWindow { cwnd: self.window, mss: self.mss }
    }
}

/// The data sent since all had been acknowledged.
#[derive(Clone, Copy, Default)]
struct SiteTransfer {
    started: bool,
    /// True if there was an ACK since.
    acked: bool,
    /// Time at which all was acknowledged, if it still is.
    quiet: Option<Instant>,
}

impl SharesOfSenders {
    /// Creates a sink that reports to `gateway`.
    pub(super) fn new(gateway: Shared) -> Self {
        let rule = ShareRule::default();
        Self { gateway, rule, senders: FxHashMap::default(), quiet: VecDeque::new() }
    }

    /// Sets the rule for reports from now on.
    pub(super) const fn follow_rule(&mut self, rule: ShareRule) {
        self.rule = rule;
    }

    /// Ends the transfers that have been quiet for a round trip.
    pub(super) fn end_quiet_transfers(&mut self, now: Instant) {
        while let Some((since, connection)) = self.quiet.front().copied() {
            if let Some(sender) = self.senders.get(&connection)
                && sender.transfer.quiet == Some(since)
            {
                if now.saturating_since(since) < sender.srtt {
                    return;
                }
                self.end_transfer(connection, since);
            }
            // Otherwise it has sent more, was reported already, or is no longer followed.
            self.quiet.pop_front();
        }
    }

    /// Ends a transfer with the data sent so far: reports its share, if it met no loss.
    fn end_transfer(&mut self, connection: u64, at: Instant) {
        let Some(sender) = self.senders.get_mut(&connection) else { return };
        let SiteTransfer { quiet, .. } = std::mem::take(&mut sender.transfer);
        let share = sender.shares.on_end(sender.segmented_window());
        if let Some(share) = share.filter(|_| quiet.is_some()) {
            self.report_share(connection, at, share);
        }
    }

    fn report_share(&self, connection: u64, at: Instant, share: u64) {
        let Some(sender) = self.senders.get(&connection) else { return };
        let rtt = Some(sender.srtt).filter(|rtt| !rtt.is_zero());
        let report = Sample::Report(GatewayReport { share, rtt });
        self.gateway.borrow_mut().record(at, sender.remote, &report);
    }
}

impl TraceSink for SharesOfSenders {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.end_transfer(summary.connection, summary.ended);
        self.senders.remove(&summary.connection);
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.end_transfer(sender.connection, at);
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, _: u64) {
        self.end_transfer(sender.connection, at);
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        let known = self.senders.entry(sender.connection).or_insert_with(|| SiteSender {
            remote: sender.client.ip,
            window: 0,
            srtt: Duration::ZERO,
            mss: 0,
            sent: 0,
            // Offset 0 is the SYN.
            una: 1,
            shares: ShareNotes::new(self.rule),
            transfer: SiteTransfer::default(),
        });
        known.mss = known.mss.max(sent.bytes / sent.segments.max(1));
        known.sent = known.sent.max(sent.end);
        let in_flight = known.sent.saturating_sub(known.una);
        // Windows are rebuilt from ACKs. The data that a transfer sends before its first ACK is
        // itself a lower bound of its window.
        let window = if known.transfer.acked { known.window } else { in_flight };
        known.shares.on_flight(known.sent, window, in_flight);
        known.transfer.started = true;
        known.transfer.quiet = None;
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        use RetransmissionKind::{Fast, Timeout};
        let Some(known) = self.senders.get_mut(&sender.connection) else { return };
        if !sender.is_server || again.len == 0 {
            return;
        }
        known.transfer.quiet = None;
        let in_avoidance = again.phase == SenderPhase::Avoidance;
        if !matches!(again.kind, Fast | Timeout)
            || !(in_avoidance || again.phase == SenderPhase::SlowStart)
        {
            return known.shares.on_repair();
        }
        if let Some(share) = known.shares.on_loss(known.segmented_window(), in_avoidance) {
            self.report_share(sender.connection, again.at, share);
        }
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        let Some(known) = self.senders.get_mut(&sender.connection) else { return };
        if !sender.is_server {
            return;
        }
        if !matches!(point.phase, SenderPhase::Recovery | SenderPhase::Loss) {
            known.window = point.cwnd;
        }
        (known.srtt, known.una) = (point.srtt, point.una);
        let transfer = &mut known.transfer;
        transfer.acked |= transfer.started;
        if transfer.started && transfer.quiet.is_none() && point.una >= known.sent {
            transfer.quiet = Some(point.at);
            self.quiet.push_back((point.at, sender.connection));
        }
    }
}
