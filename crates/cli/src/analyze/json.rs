//! Connections as JSON, each written when it is over.

use crate::failure::Failure;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use trace::{ConnectionTrace, Retransmission, TimeShare, TraceSink, TracedSender, TransferReport};
use units::Instant;

#[derive(Serialize)]
struct ConnectionJson {
    client: String,
    server: String,
    begin: f64,
    end: f64,
    profile_errors: u64,
    bytes: [u64; 2],
    retransmissions: Vec<RetransmissionJson>,
    transfers: Vec<TransferJson>,
}

#[derive(Serialize)]
struct RetransmissionJson {
    ts: f64,
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
    begin: f64,
    end: f64,
    bytes: u64,
    complete: bool,
    retransmissions: u32,
    timeouts: u32,
    /// Nanoseconds by what they were spent on.
    shares_ns: BTreeMap<&'static str, u64>,
}

#[derive(Default)]
struct Pending {
    retransmissions: Vec<RetransmissionJson>,
    transfers: Vec<TransferJson>,
}

/// Writes an array of connections to standard output.
pub(super) struct JsonSink {
    out: io::BufWriter<io::Stdout>,
    pending: HashMap<u64, Pending>,
    written: u64,
    failure: Option<io::Error>,
}

impl JsonSink {
    pub(super) fn begin() -> Self {
        let out = io::BufWriter::new(io::stdout());
        Self { out, pending: HashMap::new(), written: 0, failure: None }
    }

    pub(super) fn end(mut self) -> Result<(), Failure> {
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        let end: &[u8] = if self.written == 0 { b"[]\n" } else { b"\n]\n" };
        self.out.write_all(end)?;
        Ok(self.out.flush()?)
    }

    fn write(&mut self, connection: &ConnectionJson) -> io::Result<()> {
        let before: &[u8] = if self.written == 0 { b"[\n" } else { b",\n" };
        self.out.write_all(before)?;
        self.written += 1;
        serde_json::to_writer(&mut self.out, connection).map_err(io::Error::from)
    }
}

fn seconds(at: Instant) -> f64 {
    at.as_secs_f64()
}

impl TraceSink for JsonSink {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        let Pending { retransmissions, transfers } =
            self.pending.remove(&summary.connection).unwrap_or_default();
        let sent = [&summary.client_sent, &summary.server_sent];
        let connection = ConnectionJson {
            client: summary.client.to_string(),
            server: summary.server.to_string(),
            begin: seconds(summary.began),
            end: seconds(summary.ended),
            profile_errors: sent.iter().flat_map(|tally| tally.unexpected).sum(),
            bytes: sent.map(|tally| tally.bytes),
            retransmissions,
            transfers,
        };
        if self.failure.is_none() {
            self.failure = self.write(&connection).err();
        }
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        let pending = self.pending.entry(sender.connection).or_default();
        pending.retransmissions.push(RetransmissionJson {
            ts: seconds(again.at),
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
        let shares = TimeShare::ALL.iter();
        pending.transfers.push(TransferJson {
            begin: seconds(report.began),
            end: seconds(report.ended),
            bytes: report.bytes,
            complete: report.complete,
            retransmissions: report.retransmissions,
            timeouts: report.timeouts,
            shares_ns: shares
                .map(|&share| (share.name(), report.shares.of(share).as_nanos()))
                .filter(|(_, nanos)| *nanos > 0)
                .collect(),
        });
    }
}
