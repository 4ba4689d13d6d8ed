//! The fast path of sending: full segments of new data, when a few checks show that one is next and
//! that none follows.
//!
//! The results of [`super::output`] are known then. Where assertions are on, recovery is asked all
//! the same (`repairs`).

use super::Connection;
use super::output::{Departure, Piece};
use crate::path::{Path, SendLimit};
use crate::segment::Segment;
use units::Instant;

impl Connection {
    /// True if `piece`, just sent, has used up the window, so that another poll would return
    /// nothing. No segment is lost or SACKed, so new data reduced the allowance by its length, and
    /// a full segment waits for more than is left. Socket options for small segments could make the
    /// next one shorter, so a connection with any is excluded. If true, does what the poll would
    /// have done.
    #[inline]
    pub(super) fn is_last(&mut self, now: Instant, path: &mut Path, piece: &Piece) -> bool {
        let left = piece.allowance.saturating_sub(piece.len);
        let full = self.current_mss();
        let used_up = piece.allowance > 0
            && left < full
            && self.sender.board().is_clean()
            && self.sender.written().min(self.sender.window_edge()) >= self.sender.nxt() + full
            && self.state.may_send_data()
            && self.burst_left > 0
            && !self.peer_window.needs_probe()
            && self.socket_options.is_none()
            && !path.is_paced();
        if used_up {
            path.on_send_stopped(SendLimit::Window);
            self.update_persist_timer(now, path);
        }
        used_up
    }

    /// Returns a full segment of new data if a few checks show that it is next. The result of
    /// [`Connection::next_piece`] is known then; most segments of bulk data are like that. The
    /// connection may send, has something in flight, and has more than a segment that the peer's
    /// window admits. Neither a retransmission nor the pacer, the burst limit or a socket option
    /// for small segments interferes. Recovery has left the decision to the window, and the window
    /// is enough.
    #[inline(always)]
    pub(super) fn fast_path_piece(&self, path: &Path) -> Option<Piece> {
        let full = self.full_payload();
        let allowance = self.sender.open_allowance(path)?;
        let fast_path = self.state.may_send_data()
            && self.sender.nxt() + full < self.sender.written()
            && self.sender.nxt() + full <= self.sender.window_edge()
            && self.burst_left > 0
            && self.gateway_option.cost() == 0
            && self.accurate.is_none()
            && !self.receiver.has_sack_blocks()
            && !self.ending.owes_reset()
            && self.socket_options.is_none()
            && !path.is_paced();
        if !fast_path {
            return None;
        }
        let piece = Piece { start: self.sender.nxt(), len: full, index: None, allowance };
        (full <= allowance).then_some(piece)
    }

    /// Sends a piece of [`Connection::fast_path_piece`], for which many checks are known to pass.
    #[inline(always)]
    pub(super) fn send_fast_path(
        &mut self,
        now: Instant,
        path: &mut Path,
        piece: Piece,
        out: &mut Segment,
    ) -> Departure {
        let departure = self.send_piece::<true>(now, path, piece, out);
        // The checks of `is_last`, repeated: a function for both costs 31 instructions a packet.
        let last = piece.allowance - piece.len < piece.len
            && self.sender.written().min(self.sender.window_edge())
                >= self.sender.nxt() + piece.len
            && self.sender.board().is_clean()
            && self.burst_left > 0
            && !self.peer_window.needs_probe();
        if last {
            path.on_send_stopped(SendLimit::Window);
            self.update_persist_timer(now, path);
        }
        Departure { last, ..departure }
    }
}
