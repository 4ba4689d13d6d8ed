//! Connections as JSON, each written when it is over.

use super::rebuilt::RebuiltAs;
use cmdline::Failure;
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::{
    ConnectionTrace, RateEvidence, Retransmission, TimeShare, TimeShares, TlsReport, TraceSink,
    TracedSender, TransferReport,
};
use units::{Duration, Instant};

#[derive(Serialize)]
struct ConnectionJson {
    client: String,
    server: String,
    begin: ClockTime,
    end: ClockTime,
    /// Profile that the server was rebuilt with.
    profile: String,
    profile_errors: u64,
    /// Vantage point of the capture.
    vantage: &'static str,
    /// Reason why it is followed no more, at `end`.
    end_reason: &'static str,
    #[serde(skip_serializing_if = "RoundTripJson::is_unknown")]
    round_trip: RoundTripJson,
    /// Payload of a full segment of the server; unknown without a transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    mss: Option<u64>,
    bytes: [u64; 2],
    retransmissions: Vec<RetransmissionJson>,
    transfers: Vec<TransferJson>,
    /// Retransmissions and transfers that are left out, because too many were held already.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
}

/// Round trips of the server's data, nanoseconds, as far as ACKs have shown them.
#[derive(Clone, Copy, Default, Serialize)]
struct RoundTripJson {
    /// Lowest round trip of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    lowest_ns: Option<u64>,
    /// Smoothed round trip at the end of the last transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_ns: Option<u64>,
}

impl RoundTripJson {
    const fn is_unknown(&self) -> bool {
        self.lowest_ns.is_none() && self.smoothed_ns.is_none()
    }

    fn of(report: &TransferReport) -> Self {
        let known = |rtt: Duration| Some(rtt.as_nanos()).filter(|nanos| *nanos > 0);
        Self { lowest_ns: known(report.min_rtt), smoothed_ns: known(report.srtt) }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The shares above zero, by name.
fn shares_by_name<S: Serializer>(shares: &TimeShares, serializer: S) -> Result<S::Ok, S::Error> {
    let named = TimeShare::ALL.iter().map(|share| (share.name(), shares.of(*share).as_nanos()));
    serializer.collect_map(named.filter(|(_, nanos)| *nanos > 0))
}

#[derive(Serialize)]
struct RetransmissionJson {
    ts: ClockTime,
    from: &'static str,
    seq: u32,
    len: u32,
    kind: &'static str,
    phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spared_by: Option<&'static str>,
    expected: bool,
    predicted: bool,
}

#[derive(Serialize)]
struct TransferJson {
    begin: ClockTime,
    end: ClockTime,
    bytes: u64,
    complete: bool,
    outcome: &'static str,
    retransmissions: u32,
    timeouts: u32,
    /// Nanoseconds by what they were spent on.
    #[serde(serialize_with = "shares_by_name")]
    shares_ns: TimeShares,
    /// Nanoseconds of a large request, by what they were spent on.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_shares_ns: Option<NamedShares>,
    /// Nanoseconds in which the link was full.
    #[serde(skip_serializing_if = "is_zero")]
    link_full_ns: u64,
    /// Rate of the slowest link, bit/s of payload.
    #[serde(skip_serializing_if = "is_zero")]
    delivery_rate: u64,
    /// Evidence of that rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_evidence: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<TlsJson>,
}

/// Shares of time, as [`shares_by_name`] writes them.
#[derive(Serialize)]
#[serde(transparent)]
struct NamedShares(#[serde(serialize_with = "shares_by_name")] TimeShares);

/// A TLS handshake.
#[derive(Serialize)]
struct TlsJson {
    round_trips: u32,
    server_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_bytes: Option<u32>,
    /// The version, as `1.3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

impl From<TlsReport> for TlsJson {
    fn from(tls: TlsReport) -> Self {
        Self {
            round_trips: tls.round_trips,
            server_bytes: tls.server_bytes,
            resumed: tls.resumed,
            certificate_bytes: tls.certificate_bytes,
            // Record versions count from SSL 3.0, the third (RFC 8446 appendix D).
            version: tls.version.map(|minor| format!("1.{}", minor.saturating_sub(1))),
        }
    }
}

#[derive(Default)]
struct Pending {
    retransmissions: Vec<RetransmissionJson>,
    transfers: Vec<TransferJson>,
    left_out: u64,
    round_trip: RoundTripJson,
    mss: u64,
}

impl Pending {
    fn held_count(&self) -> usize {
        self.retransmissions.len() + self.transfers.len()
    }
}

/// Limit of held retransmissions and transfers of open connections. An object of the array has all
/// of its connection, which may go on for as long as the capture.
const MAX_HELD: usize = 1 << 20;

/// Writes an array of connections to standard output.
pub(super) struct JsonSink {
    out: io::BufWriter<io::Stdout>,
    pending: HashMap<u64, Pending>,
    held: usize,
    written: u64,
    failure: Option<io::Error>,
    /// Set once the reader has left.
    unheard: Arc<AtomicBool>,
    pub(super) rebuilt_as: RebuiltAs,
}

impl JsonSink {
    pub(super) fn new() -> Self {
        let out = io::BufWriter::new(io::stdout());
        let unheard = Arc::default();
        Self {
            out,
            pending: HashMap::new(),
            held: 0,
            written: 0,
            failure: None,
            unheard,
            rebuilt_as: RebuiltAs::default(),
        }
    }

    /// A flag that is set once the output has no reader.
    pub(super) fn has_no_reader(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.unheard)
    }

    /// No connection was written.
    pub(super) const fn is_empty(&self) -> bool {
        self.written == 0
    }

    pub(super) fn end(mut self) -> Result<(), Failure> {
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        let end: &[u8] = if self.written == 0 { b"[]\n" } else { b"\n]\n" };
        self.out.write_all(end)?;
        Ok(self.out.flush()?)
    }

    /// Room for one more of the connection; `None`, and an entry in `left_out`, if too many are
    /// held.
    fn reserve_entry(&mut self, sender: &TracedSender) -> Option<&mut Pending> {
        let pending = self.pending.entry(sender.connection).or_default();
        if self.held >= MAX_HELD {
            pending.left_out += 1;
            return None;
        }
        self.held += 1;
        Some(pending)
    }

    fn write_connection(&mut self, connection: &ConnectionJson) -> io::Result<()> {
        let before: &[u8] = if self.written == 0 { b"[\n" } else { b",\n" };
        self.out.write_all(before)?;
        self.written += 1;
        let mut json = serde_json::Serializer::with_formatter(&mut self.out, ClockFormatter);
        connection.serialize(&mut json).map_err(io::Error::from)
    }
}

/// A time, as seconds since 1970 with all nine decimals. A floating-point number has only six or
/// seven.
struct ClockTime(Instant);

impl Serialize for ClockTime {
    /// Nanoseconds, as the only 128-bit number: [`ClockFormatter`] writes it as seconds.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u128(self.0.as_nanos().into())
    }
}

/// Writes compact JSON, and [`ClockTime`] as seconds.
struct ClockFormatter;

impl Formatter for ClockFormatter {
    fn write_u128<W: Write + ?Sized>(&mut self, writer: &mut W, nanos: u128) -> io::Result<()> {
        const SECOND: u128 = 1_000_000_000;
        write!(writer, "{}.{:09}", nanos / SECOND, nanos % SECOND)
    }
}

impl TraceSink for JsonSink {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let pending = self.pending.remove(&summary.connection).unwrap_or_default();
        self.held -= pending.held_count();
        let Pending { retransmissions, transfers, left_out, round_trip, mss } = pending;
        let sent = [&summary.client_sent, &summary.server_sent];
        let connection = ConnectionJson {
            client: summary.client.to_string(),
            server: summary.server.to_string(),
            begin: ClockTime(summary.began),
            end: ClockTime(summary.ended),
            profile: self.rebuilt_as.of_server(summary.server.ip),
            profile_errors: sent.iter().flat_map(|counters| counters.unexpected).sum(),
            vantage: summary.vantage.name(),
            end_reason: summary.end.name(),
            round_trip,
            mss: Some(mss).filter(|mss| *mss > 0),
            bytes: sent.map(|counters| counters.bytes),
            retransmissions,
            transfers,
            left_out,
        };
        if self.failure.is_none() {
            self.failure = self.write_connection(&connection).err();
            let is_gone = |why: &io::Error| why.kind() == io::ErrorKind::BrokenPipe;
            if self.failure.as_ref().is_some_and(is_gone) {
                self.unheard.store(true, Ordering::Relaxed);
            }
        }
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        let Some(pending) = self.reserve_entry(sender) else { return };
        pending.retransmissions.push(RetransmissionJson {
            ts: ClockTime(again.at),
            from: if sender.is_server { "server" } else { "client" },
            seq: again.seq,
            len: again.len,
            kind: again.kind.name(),
            phase: again.phase.name(),
            spared_by: again.spared_by.map(trace::SparedBy::name),
            expected: again.expected,
            predicted: again.predicted,
        });
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        let pending = self.pending.entry(sender.connection).or_default();
        pending.round_trip = RoundTripJson::of(report);
        pending.mss = pending.mss.max(report.mss);
        let Some(pending) = self.reserve_entry(sender) else { return };
        pending.transfers.push(TransferJson {
            begin: ClockTime(report.began),
            end: ClockTime(report.ended),
            bytes: report.bytes,
            complete: report.is_complete(),
            outcome: report.outcome.name(),
            retransmissions: report.retransmissions,
            timeouts: report.timeouts,
            shares_ns: report.shares,
            request_shares_ns: report.upload.map(NamedShares),
            link_full_ns: report.link_full.as_nanos(),
            delivery_rate: report.delivery_rate.as_bps(),
            rate_evidence: Some(report.rate_evidence)
                .filter(|evidence| *evidence != RateEvidence::None)
                .map(RateEvidence::name),
            tls: report.tls.map(TlsJson::from),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nanoseconds that no 64-bit floating-point number of seconds holds, and zeros before the
    /// first of them.
    #[test]
    fn times_have_all_digits_of_the_clock() {
        let times = [1_285_863_198_347_654_321, 1_285_863_198_000_000_007].map(Instant::from_nanos);
        let mut out = Vec::new();
        let mut json = serde_json::Serializer::with_formatter(&mut out, ClockFormatter);
        times.map(ClockTime).serialize(&mut json).unwrap();
        assert_eq!(out, b"[1285863198.347654321,1285863198.000000007]");
    }

    /// With room for one more, the first of three transfers is held, and the others add to
    /// `left_out`, of any connection.
    #[test]
    fn what_is_held_is_bounded() {
        let mut sink = JsonSink::new();
        sink.held = MAX_HELD - 1;
        for connection in [7, 7, 8] {
            let (client, server) = Default::default();
            let sender = TracedSender { connection, client, server, is_server: true };
            sink.on_transfer(&sender, &TransferReport::default());
        }
        let of = |connection: u64| {
            (sink.pending[&connection].held_count(), sink.pending[&connection].left_out)
        };
        assert_eq!((of(7), of(8), sink.held), ((1, 1), (0, 1), MAX_HELD));
    }
}
