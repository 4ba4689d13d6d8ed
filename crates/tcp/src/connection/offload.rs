//! Segmentation offload as a peer sees it. Linux hands several segments to its interface as one,
//! and the last of them has PSH, so that devices that merge segments do not wait for more
//! (`__tcp_transmit_skb`). A receiver acknowledges pushed data as soon as it is read. Batches thus
//! decide which segments have ACKs of their own, and with them how a window grows and which packet
//! a full queue drops.

use super::Connection;
use super::output::Piece;
use crate::path::Path;

/// A batch of full segments that leave as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    left: u16,
    several: bool,
    /// The peer's window admits less than the batch could hold.
    is_cut: bool,
    /// The end of a batch that is cut.
    cut_at: Option<u64>,
    /// Offset up to which written data was pushed (`pushed_seq`).
    pushed: u64,
    /// Offset at which the last write without a pause begins, and the bytes that a buffer holds.
    filled_from: u64,
    buffer: u64,
}

/// The limits of a batch of full segments, and the segment that leaves now.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadySegments {
    /// Full segments that are written and that the peer's window admits.
    admitted: u64,
    /// Full segments that the congestion window allows.
    allowed: u64,
    /// More is written than the peer's window admits.
    is_cut: bool,
    /// Offset of the end of the segment.
    end: u64,
}

impl Batch {
    /// Counts a full segment that leaves, one of those that are `ready`, where a batch holds
    /// `most`. Returns true if it is the last of several. A batch is as large as was ready when it
    /// began (`tcp_write_xmit`).
    pub(super) fn on_full(&mut self, ready: ReadySegments, most: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            let most = most();
            let full = ready.admitted.min(ready.allowed).max(1);
            self.left = u16::try_from(full.min(most)).unwrap_or(u16::MAX);
            self.several = self.left > 1;
            self.is_cut = ready.is_cut && ready.admitted < most.min(ready.allowed);
        }
        self.left = self.left.saturating_sub(1);
        self.cut_at = (self.left == 0 && self.is_cut).then_some(ready.end);
        self.left == 0 && self.several
    }

    /// Ends the batch because a retransmission leaves, or less than a full segment.
    pub(super) fn end(&mut self) {
        (self.left, self.several) = (0, false);
        self.cut_at = None;
    }

    /// Starts another send opportunity, and with it another batch.
    pub(super) fn forget_cut(&mut self) {
        self.cut_at = None;
    }

    /// True if part of a segment that begins at `start` may leave with the batch
    /// (`tcp_mss_split_point`).
    pub(super) fn takes_part_at(&self, start: u64) -> bool {
        self.cut_at == Some(start)
    }

    /// Records a write from offset `from`, into buffers of `buffer` bytes. Data that still waits is
    /// part of the first buffer.
    pub(super) fn on_write(&mut self, from: u64, waits: bool, buffer: u64) {
        self.buffer = buffer.max(1);
        if !waits {
            self.filled_from = from;
        }
    }

    /// Records that a segment that ends at `end` is pushed.
    pub(super) fn note_pushed(&mut self, end: u64) {
        self.pushed = self.pushed.max(end);
    }

    /// True if a full buffer must be pushed because its end is more than half the peer's largest
    /// window after the last push, so that the peer never waits (`forced_push`).
    pub(super) fn is_forced(&mut self, end: u64, half: u64) -> bool {
        let far = end > self.pushed + half && self.buffer > 0;
        let forced = far && end.saturating_sub(self.filled_from).is_multiple_of(self.buffer);
        if forced {
            self.pushed = end;
        }
        forced
    }
}

impl Connection {
    /// True if `piece` ends the written data, or a batch of segmentation offload.
    #[inline(always)]
    pub(super) fn is_pushed<const FAST_PATH: bool>(
        &mut self,
        path: &Path,
        piece: &Piece,
        payload: u64,
    ) -> bool {
        let ends = !FAST_PATH && self.pushes_at(piece.start + piece.len);
        if !self.config.offload {
            return ends;
        }
        self.ends_batch(path, piece, (payload, ends))
    }

    /// The part of [`Connection::is_pushed`] for segmentation offload. `ends` is true if the piece
    /// would be pushed without it.
    #[inline(never)]
    fn ends_batch(&mut self, path: &Path, piece: &Piece, (payload, ends): (u64, bool)) -> bool {
        let full = self.current_mss();
        let end = piece.start + piece.len;
        if piece.index.is_some() {
            self.batch.end();
            // Data sent with a SYN is pushed wherever it ends (`tcp_send_syn_data`).
            return ends || end == self.early.until();
        }
        if ends {
            self.batch.note_pushed(end);
        }
        if payload < full {
            let ends_batch = self.batch.takes_part_at(piece.start);
            self.batch.end();
            return ends || ends_batch;
        }
        let forced = self.batch.is_forced(end, self.sender.largest_window() / 2);
        let edge = self.sender.written().min(self.sender.window_edge());
        let least = u64::from(self.config.least_batch);
        // A batch takes half a window at most (`tcp_cwnd_test`).
        let half = path.window().cwnd() / full / 2;
        let most = || path.offload_batch().max(least).min(half.max(1));
        let ready = ReadySegments {
            admitted: edge.saturating_sub(piece.start) / full,
            allowed: piece.allowance / full,
            is_cut: self.sender.window_edge() < self.sender.written(),
            end,
        };
        self.batch.on_full(ready, most) || ends || forced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ready` full segments that neither window cuts.
    fn full(ready: u64) -> ReadySegments {
        ReadySegments { admitted: ready, allowed: ready, is_cut: false, end: 0 }
    }

    /// A batch holds two. If the window admits two segments and a half, the half waits, because the
    /// batch is full. If it admits a segment and a half, the half leaves with the segment. The half
    /// waits if the congestion window allows one segment alone.
    #[test]
    fn part_of_a_segment_leaves_with_a_batch_that_the_window_cuts() {
        let cut = |admitted, allowed| ReadySegments { admitted, allowed, is_cut: true, end: 9 };
        let mut batch = Batch::default();
        batch.on_full(cut(2, 8), || 2);
        batch.on_full(cut(1, 7), || 2);
        assert!(!batch.takes_part_at(9));
        batch.on_full(cut(1, 8), || 2);
        assert!(batch.takes_part_at(9) && !batch.takes_part_at(8));
        batch.forget_cut();
        assert!(!batch.takes_part_at(9));
        batch.on_full(cut(1, 1), || 2);
        assert!(!batch.takes_part_at(9));
    }

    /// Returns the marks of `ready` segments that leave in batches of `most`.
    fn marks(batch: &mut Batch, ready: u64, most: u64) -> Vec<bool> {
        (0..ready).map(|gone| batch.on_full(full(ready - gone), || most)).collect()
    }

    /// Captures of a 6.18 server show this: nine segments in batches of two, the last one alone;
    /// ten in batches of four.
    #[test]
    fn the_last_of_several_is_marked() {
        let mut batch = Batch::default();
        let (y, n) = (true, false);
        assert_eq!(marks(&mut batch, 9, 2), [n, y, n, y, n, y, n, y, n]);
        assert_eq!(marks(&mut batch, 10, 4), [n, n, n, y, n, n, n, y, n, y]);
        assert_eq!(marks(&mut batch, 1, 4), [n]);
    }

    /// A window that opens by one segment at a time makes no batches.
    #[test]
    fn what_leaves_one_by_one_is_not_marked() {
        let mut batch = Batch::default();
        assert!((0..4).all(|_| !batch.on_full(full(1), || 2)));
    }

    #[test]
    fn something_else_ends_a_batch() {
        let mut batch = Batch::default();
        assert!(!batch.on_full(full(4), || 4));
        batch.end();
        assert!(!batch.on_full(full(1), || 4));
    }
}
