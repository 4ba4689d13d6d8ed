//! The short way of segments: full ones of new data, of which a glance tells that they are next, and that nothing follows.
//!
//! What [`super::output`] would find is known then. Where assertions are on, recovery is asked all the same
//! (`repairs`).

use super::Connection;
use super::output::{Departure, Piece};
use crate::path::{Path, SendLimit};
use crate::segment::Segment;
use units::Instant;

impl Connection {
    /// True if `piece`, just sent, has used the window up, so that asking again would find nothing:
    /// nothing is lost or SACKed, so new data took its length off the allowance, and a full segment
    /// waits for more than is left of it. Where the application wishes something of its segments, the next one may be shorter. Then does
    /// what the asking would have done.
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
            && !self.peer_window.asks()
            && self.wishes.is_none()
            && !path.is_paced();
        if used_up {
            path.on_send_stopped(SendLimit::Window);
            self.update_persist_timer(now, path);
        }
        used_up
    }

    /// A full segment of new data, where a glance tells that it is next: what [`Connection::next_piece`]
    /// would find is known then, and most segments of bulk data are like that. The connection may send,
    /// has something in flight and more than a segment to send that the peer's window admits; nothing
    /// waits to go again; neither pacer nor bound of bursts has a say; the application wishes nothing of its segments;
    /// recovery has promised to let go what the window leaves, and that is enough.
    #[inline(always)]
    pub(super) fn ordinary_piece(&self, path: &Path) -> Option<Piece> {
        let full = self.full_payload();
        let allowance = self.sender.open_allowance(path)?;
        let ordinary = self.state.may_send_data()
            && self.sender.nxt() + full < self.sender.written()
            && self.sender.nxt() + full <= self.sender.window_edge()
            && self.burst_left > 0
            && self.gateway_option.cost() == 0
            && !self.receiver.has_sack_blocks()
            && !self.ending.owes_reset()
            && self.wishes.is_none()
            && !path.is_paced();
        if !ordinary {
            return None;
        }
        let piece = Piece { start: self.sender.nxt(), len: full, index: None, allowance };
        (full <= allowance).then_some(piece)
    }

    /// Sends a piece of [`Connection::ordinary_piece`], of which much is known.
    #[inline(always)]
    pub(super) fn send_ordinary(
        &mut self,
        now: Instant,
        path: &mut Path,
        piece: Piece,
        out: &mut Segment,
    ) -> Departure {
        let departure = self.send_piece::<true>(now, path, piece, out);
        // As in `is_last`. Written again: a function for both costs 31 instructions a packet.
        let last = piece.allowance - piece.len < piece.len
            && self.sender.written().min(self.sender.window_edge())
                >= self.sender.nxt() + piece.len
            && self.sender.board().is_clean()
            && self.burst_left > 0
            && !self.peer_window.asks();
        if last {
            path.on_send_stopped(SendLimit::Window);
            self.update_persist_timer(now, path);
        }
        Departure { last, ..departure }
    }
}
