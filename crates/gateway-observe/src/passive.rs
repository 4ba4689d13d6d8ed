//! Passive collection: reports from the senders that the trace engine rebuilds, one for each
//! transfer. The observer reads packets and changes no host (Zhang, Qiu & Keshav 2000 §5.1). Its
//! source is one engine of crate `trace`.

use crate::config::ReportedPrefix;
use gateway_client::network_of;
use gateway_proto::v1::{Bound, Network, Report};
use ipnet::IpNet;
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, TimeShare, TraceSink, TracedSender,
    TransferReport,
};
use units::{Duration, Instant};

/// Maximum number of connections whose loss is remembered until the transfer ends; the engine
/// bounds those that it follows.
const MAX_CONNECTIONS: usize = 1 << 20;

/// A transfer as a report, with its end and its client.
#[derive(Clone, Copy, Debug)]
pub struct PassiveReport {
    /// Time at which the last byte was acknowledged.
    pub at: Instant,
    /// The visitor.
    pub client: IpAddr,
    /// The report.
    pub report: Report,
}

impl PassiveReport {
    /// Returns the time at which the first byte was sent.
    pub fn began(&self) -> Instant {
        let took = self.report.transfer_us.saturating_mul(1000);
        Instant::from_nanos(self.at.as_nanos().saturating_sub(took))
    }

    /// Returns the report of a network that is no longer than `longest`.
    pub(crate) fn within(self, longest: ReportedPrefix) -> Report {
        let network = network_of(self.client);
        let bits = if network.addr().is_ipv4() { longest.v4 } else { longest.v6 };
        let cut = IpNet::new(network.addr(), bits.min(network.prefix_len())).unwrap_or(network);
        Report { network: Some(Network::of(cut)), ..self.report }
    }
}

/// Passes each transfer of a server to `take`, in the order in which they end.
pub struct PassiveSink<F> {
    take: F,
    /// Bytes outstanding at the first loss of the open transfer, by connection.
    lost_at: FxHashMap<u64, u64>,
}

impl<F: FnMut(PassiveReport)> PassiveSink<F> {
    /// Creates a sink that calls `take`.
    pub fn new(take: F) -> Self {
        Self { take, lost_at: FxHashMap::default() }
    }
}

impl<F: FnMut(PassiveReport)> TraceSink for PassiveSink<F> {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.lost_at.remove(&summary.connection);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        // A tail-loss probe is no loss; later losses of a transfer are less informative than the
        // first.
        let is_loss = again.len > 0 && again.kind != RetransmissionKind::TailProbe;
        if sender.is_server && is_loss && self.lost_at.len() < MAX_CONNECTIONS {
            self.lost_at.entry(sender.connection).or_insert(again.outstanding);
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, transfer: &TransferReport) {
        let lost_at = self.lost_at.remove(&sender.connection);
        if !sender.is_server || transfer.bytes == 0 || transfer.mss == 0 {
            return;
        }
        let report = SeenTransfer::of(transfer, lost_at).report(network_of(sender.client.ip));
        (self.take)(PassiveReport { at: transfer.ended, client: sender.client.ip, report });
    }
}

/// A transfer seen by the engine or in the tables of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct SeenTransfer {
    /// Payload, bytes.
    pub bytes: u64,
    /// Size of a full segment, bytes; above 0.
    pub mss: u64,
    /// Retransmitted segments.
    pub retransmissions: u32,
    /// Congestion window at the end, bytes.
    pub last_window: u64,
    /// Bytes outstanding at its first loss.
    pub lost_at: Option<u64>,
    /// Lowest round trip; zero if it was not measured.
    pub min_rtt: Duration,
    /// Time that it waited for the receiver's window, for the application, and for a window in slow
    /// start.
    pub waited: [Duration; 3],
    /// Time from the first byte sent to the last acknowledged.
    pub took: Duration,
}

impl SeenTransfer {
    /// Keeps what a report needs of a transfer. `lost_at`: bytes outstanding at its first loss, if
    /// it lost anything.
    fn of(transfer: &TransferReport, lost_at: Option<u64>) -> Self {
        let shares = [TimeShare::ReceiverWindow, TimeShare::Application, TimeShare::SlowStart];
        Self {
            bytes: transfer.bytes,
            mss: transfer.mss,
            retransmissions: transfer.retransmissions,
            last_window: transfer.last_window,
            lost_at,
            min_rtt: transfer.min_rtt,
            waited: shares.map(|share| transfer.shares.of(share)),
            took: transfer
                .answered
                .map_or(Duration::ZERO, |at| transfer.ended.saturating_since(at)),
        }
    }

    /// Returns its report of `network`.
    pub fn report(&self, network: IpNet) -> Report {
        let (window, bound) = match self.lost_at {
            Some(outstanding) => (outstanding, Bound::Loss),
            // The bytes in flight were no more than either.
            None => (self.last_window.min(self.bytes), self.bound()),
        };
        let segments = self.bytes.div_ceil(self.mss.max(1)) + u64::from(self.retransmissions);
        let sent = u32::try_from(segments).unwrap_or(u32::MAX);
        Report {
            network: Some(Network::of(network)),
            window: window.max(1),
            min_rtt_us: self.min_rtt.as_micros(),
            sent,
            lost: self.retransmissions.min(sent),
            bound: bound.into(),
            transfer_bytes: self.bytes,
            transfer_us: self.took.as_micros(),
            ..Report::default()
        }
    }

    /// Returns the limit of the window in a transfer without loss: the cause that it waited for
    /// longest.
    fn bound(&self) -> Bound {
        let bounds = [Bound::ReceiveWindow, Bound::Application, Bound::OwnStart];
        let longest = bounds.into_iter().zip(self.waited).max_by_key(|(_, waited)| *waited);
        longest.filter(|(_, waited)| !waited.is_zero()).map_or(Bound::Over, |(bound, _)| bound)
    }
}

/// Returns a report of `at`, with its age at `now`.
pub fn aged(report: Report, at: Instant, now: Instant) -> Report {
    let age = now.saturating_since(at);
    Report { age_ms: u32::try_from(age.as_millis()).unwrap_or(u32::MAX), ..report }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_no_longer_than_a_gateway_takes() {
        let within = |client: &str, v4: u8, v6: u8| {
            let client: IpAddr = client.parse().unwrap();
            let found = PassiveReport { at: Instant::ZERO, client, report: Report::default() };
            found.within(ReportedPrefix { v4, v6 }).network.unwrap().to_net().unwrap().to_string()
        };
        // 0x60 is 96, of which two bits leave 64; 0xbeef begins with 1011.
        for (v4, network) in [(18, "10.1.64.0/18"), (24, "10.1.96.0/24"), (28, "10.1.96.0/24")] {
            assert_eq!(within("10.1.96.7", v4, 64), network);
            assert_eq!(within("::ffff:10.1.96.7", v4, 64), network);
            assert_eq!(within("64:ff9b::10.1.96.7", v4, 64), network);
        }
        for (v6, network) in [(36, "2001:db8:b000::/36"), (64, "2001:db8:beef::/48")] {
            assert_eq!(within("2001:db8:beef:1::7", 28, v6), network);
        }
    }
}
