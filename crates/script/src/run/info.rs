//! What the host reports of the connection, in the units of Linux's `struct tcp_info`.

use super::super::model::TcpInfoField;
use tcp::{Cause, Connection, Path};

/// What Linux says of a threshold that was never set (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

/// One of them.
pub(super) fn value(info: TcpInfoField, connection: &Connection, path: &Path) -> u64 {
    let board = connection.scoreboard();
    let segments = |bytes: u64| bytes / connection.mss().max(1);
    match info {
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
        TcpInfoField::Rto => path.rtt.rto(connection.backoff()).as_micros(),
        TcpInfoField::Rtt => path.rtt.srtt().as_micros(),
        TcpInfoField::SndMss => connection.mss(),
    }
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
        (true, Some(Cause::Timeout)) => LOSS,
        (true, _) => RECOVERY,
        (false, _) if connection.scoreboard().sacked() > 0 => DISORDER,
        (false, _) if repairs_after_timeout(connection) => LOSS,
        (false, _) => OPEN,
    }
}

/// After a timeout a policy without SACK is not "recovering", yet what was lost still goes again.
fn repairs_after_timeout(connection: &Connection) -> bool {
    let board = connection.scoreboard();
    board.waiting() > 0 || board.retransmissions_in_flight() > 0
}
