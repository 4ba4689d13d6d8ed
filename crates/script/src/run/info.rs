//! The host's report of the connection, in the units of Linux's `struct tcp_info`.

use super::super::model::TcpInfoField;
use tcp::{Cause, Connection, EcnMode, MarkCounts, Path};
use units::Instant;

/// Linux's value of a threshold that was never set (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;
/// `TCPI_OPT_TIMESTAMPS`
const TIMESTAMPS: u64 = 1;
/// `TCPI_OPT_SACK`
const SACK: u64 = 2;
/// `TCPI_OPT_WSCALE`
const WSCALE: u64 = 4;
/// `TCPI_OPT_ECN`
const ECN: u64 = 8;
/// `TCPI_OPT_ECN_SEEN`
const ECN_SEEN: u64 = 16;
/// `TCPI_OPT_SYN_DATA`
const SYN_DATA: u64 = 32;
const STATE_CLOSED: u64 = 7;

/// Quantities of a connection that outlive it.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWords {
    /// All that could be asked, in the order of [`TcpInfoField::ALL`].
    values: Vec<Option<u64>>,
    data_at: Option<Instant>,
    /// Data was received in ECN-capable packets, if ECN was agreed on.
    ecn_seen: bool,
}

impl LastWords {
    pub(super) fn record_state(&mut self, connection: &Connection, path: &Path, now: Instant) {
        if connection.state().is_synchronized() {
            self.data_at.get_or_insert(now);
        }
        let fields = TcpInfoField::ALL.iter();
        self.values = fields.map(|(_, info)| value(*info, connection, path, self, now)).collect();
    }

    /// Data came.
    pub(super) fn note_data(&mut self, now: Instant) {
        self.data_at = Some(now);
    }

    /// Notes that data was received in an ECN-capable packet (`tcp_ecn_check_ce`).
    pub(super) fn note_ecn(&mut self) {
        self.ecn_seen = true;
    }

    /// A quantity of a connection that has ended.
    pub(super) fn value(&self, info: TcpInfoField, now: Instant) -> Option<u64> {
        match info {
            TcpInfoField::State => Some(STATE_CLOSED),
            TcpInfoField::LastDataRecv => Some(self.since_data(now)),
            TcpInfoField::Backoff
            | TcpInfoField::Probes
            | TcpInfoField::Unacked
            | TcpInfoField::Sacked
            | TcpInfoField::Lost
            | TcpInfoField::Retrans => Some(0),
            info => {
                let place = TcpInfoField::ALL.iter().position(|(_, known)| *known == info)?;
                *self.values.get(place)?
            }
        }
    }

    /// Milliseconds since data came, or the connection began.
    fn since_data(&self, now: Instant) -> u64 {
        let since = self.data_at.map_or(units::Duration::ZERO, |at| now.saturating_since(at));
        since.as_micros() / 1000
    }
}

/// Bits of `tcpi_options`.
fn options(connection: &Connection, last: &LastWords) -> u64 {
    let agreed = connection.agreed_options();
    [
        (agreed.timestamps, TIMESTAMPS),
        (agreed.sack, SACK),
        (agreed.peer_shift.is_some(), WSCALE),
        (agreed.ecn != EcnMode::Off, ECN),
        (agreed.ecn != EcnMode::Off && last.ecn_seen, ECN_SEEN),
        (connection.took_data_in_syn(), SYN_DATA),
    ]
    .into_iter()
    .map(|(is_on, bit)| if is_on { bit } else { 0 })
    .sum()
}

/// One of them; `None` of what is not kept here.
pub(super) fn value(
    info: TcpInfoField,
    connection: &Connection,
    path: &Path,
    last: &LastWords,
    now: Instant,
) -> Option<u64> {
    let board = connection.scoreboard();
    let segments = |bytes: u64| bytes / connection.mss().max(1);
    Some(match info {
        TcpInfoField::State => connection.state().linux_number().into(),
        TcpInfoField::CaState => ca_state(connection, path),
        TcpInfoField::SndCwnd => segments(path.window().cwnd()),
        TcpInfoField::SndSsthresh if path.window().ssthresh() == u64::MAX => INFINITE_SSTHRESH,
        TcpInfoField::SndSsthresh => segments(path.window().ssthresh()),
        TcpInfoField::Unacked => board.len() as u64,
        TcpInfoField::Sacked => board.iter().filter(|sent| sent.is_sacked()).count() as u64,
        TcpInfoField::Lost => board.iter().filter(|sent| sent.is_lost()).count() as u64,
        TcpInfoField::Retrans => {
            board.iter().filter(|sent| sent.is_retransmission_in_flight()).count() as u64
        }
        TcpInfoField::TotalRetrans => connection.stats().retransmitted_segments,
        TcpInfoField::Rto => path.rtt().rto(connection.timeout_backoff()).as_micros(),
        TcpInfoField::Rtt => path.rtt().srtt().as_micros(),
        TcpInfoField::SndMss => connection.full_payload(),
        TcpInfoField::Options => options(connection, last),
        TcpInfoField::Delivered => connection.delivered(),
        TcpInfoField::DeliveredCe => mark_counts(connection)?.packets.into(),
        TcpInfoField::DeliveredE1Bytes => mark_counts(connection)?.bytes[0].into(),
        TcpInfoField::DeliveredCeBytes => mark_counts(connection)?.bytes[1].into(),
        TcpInfoField::DeliveredE0Bytes => mark_counts(connection)?.bytes[2].into(),
        TcpInfoField::Reordering => connection.reordering().degree,
        TcpInfoField::ReordSeen => connection.reordering().seen,
        TcpInfoField::Backoff => connection.backoff().into(),
        TcpInfoField::Probes => connection.unanswered_probes().into(),
        TcpInfoField::Advmss => connection.offered_mss(),
        TcpInfoField::MinRtt => path.rtt().min_rtt().as_micros(),
        TcpInfoField::LastDataRecv => last.since_data(now),
        // A FIN counts as a byte (`tcp_rcv_nxt_update`).
        TcpInfoField::BytesReceived => {
            connection.received() + u64::from(connection.peer_finished())
        }
        TcpInfoField::SndWscale => connection.agreed_options().peer_shift.unwrap_or(0).into(),
        TcpInfoField::MemoryOfReceiver
        | TcpInfoField::PacingRate
        | TcpInfoField::DeliveryRate
        | TcpInfoField::RcvMss
        | TcpInfoField::BusyTime
        | TcpInfoField::RwndLimited
        | TcpInfoField::SndbufLimited => return None,
    })
}

/// Marks that the peer has reported. Classic ECN does not count them.
fn mark_counts(connection: &Connection) -> Option<MarkCounts> {
    let counts = connection.agreed_options().ecn != EcnMode::Classic;
    counts.then(|| connection.reported_marks().unwrap_or_default())
}

/// `TCP_CA_Loss` or `TCP_CA_Recovery` by what began the repair, `TCP_CA_Disorder` while anything
/// is SACKed, else `TCP_CA_Open`. `TCP_CA_CWR` has no counterpart here.
fn ca_state(connection: &Connection, path: &Path) -> u64 {
    const OPEN: u64 = 0;
    const DISORDER: u64 = 1;
    const RECOVERY: u64 = 3;
    const LOSS: u64 = 4;
    let mut causes = path.window().changes().iter().rev().map(|change| change.cause);
    let began_by = causes.find(|cause| matches!(cause, Cause::Loss | Cause::Timeout));
    match (connection.recovering(), began_by) {
        _ if connection.repairs_timeout() => LOSS,
        (true, Some(Cause::Timeout)) => LOSS,
        (true, _) => RECOVERY,
        (false, _) if connection.is_disordered() || connection.scoreboard().sacked() > 0 => {
            DISORDER
        }
        (false, _) if repairs_after_timeout(connection) => LOSS,
        (false, _) => OPEN,
    }
}

/// After a timeout a policy without SACK is not "recovering", yet lost segments are still
/// retransmitted.
fn repairs_after_timeout(connection: &Connection) -> bool {
    let board = connection.scoreboard();
    board.waiting() > 0 || board.retransmissions_in_flight() > 0
}
