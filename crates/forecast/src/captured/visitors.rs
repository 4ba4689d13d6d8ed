//! Collects the visitors of a server from a trace, each with connections and evidence.

use super::windows::AckedBytes;
use super::{CapturedClient, CapturedConnection, CapturedTransfer, PathEvidence};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::net::IpAddr;
use tcp::Scheme;
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, SenderModels, SenderSnapshot, TimeShare,
    TraceSink, TracedSender, TransferReport,
};
use units::{Duration, Instant, Rate};

/// Maximum payload of one segment, on paths of 1500 bytes.
const ONE_SEGMENT: u64 = 1460;
/// Shortest delay of a delayed ACK: Linux delays for 40 ms at least, others for 25 or more.
const MIN_HELD: Duration = Duration::from_millis(20);

/// An open connection.
#[derive(Debug, Default)]
struct OpenTransfer {
    window: u64,
    /// The last round trip, and the time of its ACK.
    last_rtt: Option<(Instant, Duration)>,
    /// Time of the last ACK of new data, and the bytes acknowledged then.
    acked: Option<(Instant, u64)>,
    /// End of the transfer before.
    ended: Option<Instant>,
    /// The fastest burst, and the payload of all transfers, including those that are not kept.
    rate: Rate,
    shown: u64,
    /// Payload of each packet that was retransmitted since the transfer before.
    retransmitted: Vec<u32>,
    /// True if ACKs without data were not captured: transfers have no known end.
    lacks_acks: bool,
    transfers: Vec<CapturedTransfer>,
}

impl OpenTransfer {
    /// Returns the segments retransmitted since the transfer before. A captured packet may be
    /// several, which the server's network card cut (TSO).
    fn take_retransmissions(&mut self, mss: u64) -> u32 {
        let segments = |len: u32| u64::from(len).div_ceil(mss.max(1));
        let total: u64 = self.retransmitted.drain(..).map(segments).sum();
        u32::try_from(total).unwrap_or(u32::MAX)
    }
}

/// Collects visitors from a trace. Its memory grows with the transfers, of which it keeps the first
/// ones up to a limit.
#[derive(Debug)]
pub struct Visitors {
    started: FxHashMap<u64, OpenTransfer>,
    clients: BTreeMap<IpAddr, CapturedClient>,
    kept: u64,
    most: u64,
    left_out: u64,
    incomplete: u64,
    started_before: u64,
    without_pure_acks: u64,
}

/// The visitors of a capture.
#[derive(Clone, Debug, Default)]
pub struct CapturedVisitors {
    /// Clients with a transfer, by address.
    pub clients: Vec<CapturedClient>,
    /// Number of transfers above the limit.
    pub left_out: u64,
    /// Number of transfers that were not acknowledged to their end, which are not replayed.
    pub incomplete: u64,
    /// Number of connections with transfers whose handshake is not in the capture. Their state at
    /// its start is unknown, so they are not replayed; their evidence of paths is used.
    pub started_before: u64,
    /// Number of connections without a captured pure ACK, though both ends sent data: a filter has
    /// removed these ACKs.
    pub without_pure_acks: u64,
}

impl CapturedVisitors {
    /// Returns the scheme of the server that sent most, by the models that senders were rebuilt
    /// with, and whether all servers run it. `None` without a transfer.
    pub fn most_used_scheme(&self, models: &SenderModels) -> Option<(Scheme, bool)> {
        let mut sent: BTreeMap<&str, (u64, &Scheme)> = BTreeMap::new();
        for connection in self.clients.iter().flat_map(|client| &client.connections) {
            let scheme = models.of(connection.server).scheme();
            let (bytes, _) = sent.entry(scheme.name()).or_insert((0, scheme));
            *bytes += connection.transfers.iter().map(|transfer| transfer.bytes).sum::<u64>();
        }
        let (_, scheme) = sent.values().max_by_key(|(bytes, _)| bytes)?;
        Some(((*scheme).clone(), sent.len() == 1))
    }
}

impl Visitors {
    /// Creates a collection of at most `most` transfers.
    pub fn up_to(most: u64) -> Self {
        Self {
            started: FxHashMap::default(),
            clients: BTreeMap::new(),
            kept: 0,
            most,
            left_out: 0,
            incomplete: 0,
            started_before: 0,
            without_pure_acks: 0,
        }
    }

    /// Returns the visitors.
    pub fn finish(self) -> CapturedVisitors {
        let mut clients: Vec<CapturedClient> = self.clients.into_values().collect();
        clients.retain(|client| !client.connections.is_empty());
        for client in &mut clients {
            client.connections.sort_by_key(|connection| connection.began);
        }
        CapturedVisitors {
            clients,
            left_out: self.left_out,
            incomplete: self.incomplete,
            started_before: self.started_before,
            without_pure_acks: self.without_pure_acks,
        }
    }

    fn evidence_of(&mut self, client: IpAddr) -> &mut PathEvidence {
        &mut self.client(client).evidence
    }

    /// Notes an ACK at `at` that acknowledges `bytes` more than the one before it, which was at
    /// `since`.
    fn on_arrived(&mut self, sender: &TracedSender, since: Instant, at: Instant, bytes: u64) {
        let (address, connection) = (sender.client.ip, sender.connection);
        let last_rtt = self.started.get(&connection).and_then(|started| started.last_rtt);
        let sample = last_rtt.filter(|(when, _)| *when == at).map(|(_, rtt)| rtt);
        let data = AckedBytes { connection, since, at, bytes, rtt: sample };
        self.evidence_of(address).on_arrived(&data);
        // An ACK of one segment may be a delayed one (RFC 1122 §4.2.3.2), which is no wait in a
        // queue.
        let may_be_held = bytes <= ONE_SEGMENT && at.saturating_since(since) >= MIN_HELD;
        if let Some(rtt) = sample.filter(|_| !may_be_held) {
            self.evidence_of(address).on_queued(at, rtt);
        }
    }

    fn client(&mut self, address: IpAddr) -> &mut CapturedClient {
        self.clients.entry(address).or_insert_with(|| CapturedClient {
            address,
            connections: Vec::new(),
            evidence: PathEvidence::default(),
        })
    }
}

impl TraceSink for Visitors {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let Some(started) = self.started.remove(&summary.connection) else { return };
        self.without_pure_acks += u64::from(started.lacks_acks);
        if !summary.handshake_seen && !started.transfers.is_empty() {
            self.started_before += 1;
        }
        let client = self.client(summary.client.ip);
        client.evidence.on_connection(started.rate, started.shown);
        if started.transfers.is_empty() || !summary.handshake_seen {
            return;
        }
        let ended = started.ended.unwrap_or(summary.ended);
        client.connections.push(CapturedConnection {
            server: summary.server.ip,
            began: summary.began,
            window: started.window,
            transfers: started.transfers,
            rest: summary.ended.saturating_since(ended),
        });
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn wants_round_trips(&self) -> bool {
        true
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        if sender.is_server {
            self.started.entry(sender.connection).or_default().last_rtt = Some((at, rtt));
            self.evidence_of(sender.client.ip).on_round_trip(rtt);
        }
    }

    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        // After a timeout, data is retransmitted that was presumed lost, and may not have been.
        let is_presumed = matches!(
            retransmission.kind,
            RetransmissionKind::TailProbe | RetransmissionKind::SlowStart
        );
        if !sender.is_server || retransmission.len == 0 {
            return;
        }
        self.started.entry(sender.connection).or_default().retransmitted.push(retransmission.len);
        if !is_presumed {
            let sent = retransmission.last_sent.unwrap_or(retransmission.at);
            self.evidence_of(sender.client.ip).on_loss(sent, retransmission.len.into());
        }
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        if !sender.is_server {
            return;
        }
        let started = self.started.entry(sender.connection).or_default();
        if started.window == 0 {
            started.window = point.receive_window.unwrap_or_default();
        }
        match started.acked {
            Some((_, una)) if una >= point.una => {}
            acked => {
                started.acked = Some((point.at, point.una));
                if let Some((since, una)) = acked {
                    self.on_arrived(sender, since, point.at, point.una - una);
                }
            }
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.evidence_of(sender.client.ip).on_transfer(report);
        let started = self.started.entry(sender.connection).or_default();
        started.rate = report.delivery_rate;
        started.shown += report.bytes;
        let retransmissions = started.take_retransmissions(report.mss);
        started.lacks_acks |= !report.has_acks;
        if !report.is_complete() || !report.has_acks {
            self.incomplete += 1;
            return;
        }
        if self.kept >= self.most {
            self.left_out += 1;
            return;
        }
        self.kept += 1;
        started
            .transfers
            .push(CapturedTransfer { retransmissions, ..captured_transfer(report, started.ended) });
        started.ended = Some(report.ended);
    }
}

/// Returns a transfer that follows one that ended at `before`, or the handshake; without
/// retransmissions.
fn captured_transfer(report: &TransferReport, before: Option<Instant>) -> CapturedTransfer {
    let ready = before.unwrap_or(report.began + report.shares.of(TimeShare::Handshake));
    let answered = report.answered.unwrap_or(report.ended);
    let asked = report.asked.unwrap_or(answered);
    let whole = report.asked_whole.unwrap_or(asked);
    CapturedTransfer {
        gap: asked.saturating_since(ready),
        request: report.request_bytes,
        upload: whole.saturating_since(asked),
        think: answered.saturating_since(whole.max(ready)),
        bytes: report.bytes,
        pause: report.shares.of(TimeShare::Application),
        took: report.duration(),
        ended: report.ended,
        retransmissions: 0,
        timeouts: report.timeouts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{SenderPhase, TransferEnd};

    fn server_of(connection: u64) -> TracedSender {
        let ConnectionTrace { client, server, .. } = ConnectionTrace::default();
        TracedSender { connection, client, server, is_server: true }
    }

    fn end(visitors: &mut Visitors, connection: u64) {
        let summary = ConnectionTrace { connection, handshake_seen: true, ..Default::default() };
        visitors.on_connection(&summary);
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn again(len: u32, last_sent: Option<Instant>, at: Instant) -> Retransmission {
        Retransmission {
            at,
            last_sent,
            start: 1,
            seq: 1,
            len,
            kind: RetransmissionKind::Fast,
            phase: SenderPhase::Recovery,
            spared_by: None,
            outstanding: 0,
            expected: true,
            predicted: false,
        }
    }

    /// The first transfer is kept. The second is not acknowledged to its end, and the third is one
    /// too many. All show rates, each with the weight of its payload: the median is that of more
    /// than half of it.
    #[test]
    fn what_is_left_out_shows_its_rate() {
        let transfers = [
            (8, 1_000, TransferEnd::Complete),
            (50, 10_000, TransferEnd::Unfinished),
            (90, 100_000, TransferEnd::Complete),
        ];
        for shown in 1..=transfers.len() {
            let mut visitors = Visitors::up_to(1);
            for (number, &(mbps, bytes, outcome)) in transfers[..shown].iter().enumerate() {
                let connection = number as u64;
                let delivery_rate = Rate::from_mbps(mbps);
                let report = TransferReport {
                    bytes,
                    outcome,
                    delivery_rate,
                    has_acks: true,
                    ..Default::default()
                };
                visitors.on_transfer(&server_of(connection), &report);
                end(&mut visitors, connection);
            }
            let visitors = visitors.finish();
            assert_eq!(visitors.clients[0].connections.len(), 1);
            let (mbps, ..) = transfers[shown - 1];
            assert_eq!(visitors.clients[0].evidence.rate(), Some(Rate::from_mbps(mbps)));
        }
    }

    /// A packet of 14,480 bytes is retransmitted, and one of 100: ten segments of 1448 bytes, and
    /// one. The next transfer has none.
    #[test]
    fn a_packet_of_many_segments_counts_as_many() {
        let mut visitors = Visitors::up_to(2);
        let again = |len| again(len, None, at(0));
        for len in [14_480, 100] {
            visitors.on_retransmission(&server_of(0), &again(len));
        }
        let report = |retransmissions| TransferReport {
            bytes: 100_000,
            mss: 1448,
            outcome: TransferEnd::Complete,
            has_acks: true,
            retransmissions,
            ..Default::default()
        };
        visitors.on_transfer(&server_of(0), &report(2));
        visitors.on_transfer(&server_of(0), &report(0));
        end(&mut visitors, 0);
        let transfers = &visitors.finish().clients[0].connections[0].transfers;
        assert_eq!(transfers.iter().map(|of| of.retransmissions).collect::<Vec<_>>(), [11, 0]);
    }

    /// The engine reports which transfers have no ACKs.
    #[test]
    fn a_transfer_without_acks_is_not_kept() {
        let mut visitors = Visitors::up_to(1);
        let outcome = TransferEnd::Complete;
        let report = TransferReport { outcome, has_acks: false, ..Default::default() };
        visitors.on_transfer(&server_of(0), &report);
        end(&mut visitors, 0);
        let found = visitors.finish();
        assert_eq!((found.without_pure_acks, found.incomplete), (1, 1));
    }

    /// Packets of 10,000 bytes wait for 100 ms, and one that follows them does not wait. Three that
    /// were sent with the first ones are lost, and repaired a second later: the queue was full when
    /// they were sent.
    #[test]
    fn a_loss_is_of_the_time_when_it_was_sent() {
        let mut visitors = Visitors::up_to(1);
        for (ms, una, rtt) in
            [(0, 1, 40), (140, 10_001, 140), (150, 20_001, 140), (900, 30_001, 40)]
        {
            visitors.on_round_trip(&server_of(0), at(ms), Duration::from_millis(rtt));
            let point = SenderSnapshot {
                at: at(ms),
                una,
                nxt: una,
                cwnd: 0,
                ssthresh: 0,
                in_flight: 0,
                receive_window: None,
                srtt: Duration::ZERO,
                rto: Duration::ZERO,
                phase: SenderPhase::Avoidance,
            };
            visitors.on_window(&server_of(0), &point);
        }
        for _ in 0..3 {
            visitors.on_retransmission(&server_of(0), &again(1_000, Some(at(5)), at(1_005)));
        }
        let evidence = visitors.evidence_of(server_of(0).client.ip);
        assert_eq!(evidence.full_wait(), Some(Duration::from_millis(100)));
    }

    /// The request lasts from 10 to 26 ms, and the answer begins at 30 ms.
    #[test]
    fn the_time_that_a_request_takes_is_kept() {
        let report = TransferReport {
            asked: Some(at(10)),
            asked_whole: Some(at(26)),
            answered: Some(at(30)),
            ..Default::default()
        };
        let CapturedTransfer { gap, upload, think, .. } = captured_transfer(&report, Some(at(3)));
        assert_eq!([gap, upload, think].map(Duration::as_millis), [7, 16, 4]);
    }
}
