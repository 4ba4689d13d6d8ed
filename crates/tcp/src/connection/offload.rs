//! What a peer can see of segmentation offload. Linux hands its interface several segments as one, and the last of
//! them carries PSH, so that nobody who merges segments on the way waits for more (`__tcp_transmit_skb`). A receiver
//! answers pushed data as soon as it is read: which segments have ACKs of their own depends on it, and with them how
//! a window grows and which packet a full queue refuses.

/// Full segments that leave as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    left: u16,
    several: bool,
    /// Offset up to which what was written was pushed (`pushed_seq`).
    pushed: u64,
    /// Where what was written last without a pause begins, and how much of it a buffer holds, bytes.
    filled_from: u64,
    buffer: u64,
}

impl Batch {
    /// A full segment leaves, one of `ready` that may leave now, where a batch holds `most`. True if it is the last of
    /// several. A batch is as large as was ready when it began (`tcp_write_xmit`).
    pub(super) fn on_full(&mut self, ready: u64, most: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            self.left = u16::try_from(ready.min(most())).unwrap_or(u16::MAX);
            self.several = self.left > 1;
        }
        self.left = self.left.saturating_sub(1);
        self.left == 0 && self.several
    }

    /// What leaves now is no part of it: a repetition, or less than a segment.
    pub(super) fn end(&mut self) {
        (self.left, self.several) = (0, false);
    }

    /// The application writes from offset `from` on, into buffers of so many bytes. What waits from before is part of
    /// the first.
    pub(super) fn on_write(&mut self, from: u64, waits: bool, buffer: u64) {
        self.buffer = buffer.max(1);
        if !waits {
            self.filled_from = from;
        }
    }

    /// A segment that ends at `end` is pushed.
    pub(super) fn note_pushed(&mut self, end: u64) {
        self.pushed = self.pushed.max(end);
    }

    /// A full buffer that ends more than half the peer's largest window behind what was pushed last is pushed, so that
    /// the peer never waits (`forced_push`).
    pub(super) fn is_forced(&mut self, end: u64, half: u64) -> bool {
        let far = end > self.pushed + half && self.buffer > 0;
        let forced = far && end.saturating_sub(self.filled_from).is_multiple_of(self.buffer);
        if forced {
            self.pushed = end;
        }
        forced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks of `ready` segments that leave with batches of `most`.
    fn marks(batch: &mut Batch, ready: u64, most: u64) -> Vec<bool> {
        (0..ready).map(|gone| batch.on_full(ready - gone, || most)).collect()
    }

    /// As captures of a 6.18 server show: nine segments in batches of two, the last one alone; ten in batches of four.
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
        assert!((0..4).all(|_| !batch.on_full(1, || 2)));
    }

    #[test]
    fn something_else_ends_a_batch() {
        let mut batch = Batch::default();
        assert!(!batch.on_full(4, || 4));
        batch.end();
        assert!(!batch.on_full(1, || 4));
    }
}
