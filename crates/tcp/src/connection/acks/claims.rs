//! What an ACK claims: a window, SACK blocks, that it is a duplicate, and which transmission it answers.
//!
//! Claims are read by the RFC that defines them, and by nothing that the sender believes already.

use super::super::Connection;
use crate::ack::{AckInfo, AckProgress};
use crate::segment::{Flags, Segment};

impl Connection {
    /// RFC 9293 §3.10.7.4: a newer segment's window replaces the old, unless it counts from what was acknowledged before. True
    /// if it changed.
    #[inline]
    pub(super) fn update_send_window(&mut self, segment: &Segment, left: u64, una: u64) -> bool {
        let (wl1, wl2) = self.window_update;
        let newer = wl1 < left || (wl1 == left && wl2 <= una) || una > self.snd_una;
        if !newer || una < self.snd_una {
            return false;
        }
        let shift = if segment.has(Flags::SYN) { 0 } else { self.agreed.peer_shift };
        let window = u64::from(segment.window) << shift;
        self.window_update = (left, una);
        if window == 0 {
            // The peer answers, it only has no room (RFC 9293 §3.8.6.1).
            self.timers.retries = 0;
        }
        if window == self.snd_wnd {
            return false;
        }
        self.snd_wnd = window;
        self.max_snd_wnd = self.max_snd_wnd.max(window);
        true
    }

    /// What an ACK claims beside how far all has arrived; `una`: how far it acknowledges itself, which is less than is known of one
    /// that was overtaken; `repeats`: in number and window.
    #[inline(never)]
    pub(super) fn read_claims(
        &mut self,
        segment: &Segment,
        (una, repeats): (u64, bool),
        info: &mut AckInfo,
    ) {
        if self.agreed.sack && !segment.options.sack.is_empty() {
            info.dsack = self.digest_sack(segment, una, &mut info.progress);
        }
        info.repeats = repeats && segment.sequence_len() == 0;
        info.duplicate = self.is_duplicate(info);
        // A SACK echoes what came before the hole, whatever it answers (RFC 7323 §4.3). Linux's RACK goes by round trips
        // alone there (`tcp_rack_advance`).
        info.echoes_original = info.advanced() && self.echoes_original(segment);
    }

    /// Books SACK blocks; answers a D-SACK block (RFC 2883 §4: the first block, below the
    /// cumulative acknowledgement of the same ACK, or inside the second).
    fn digest_sack(
        &mut self,
        segment: &Segment,
        una: u64,
        progress: &mut AckProgress,
    ) -> Option<(u64, u64)> {
        let blocks = segment.options.sack.as_slice();
        let offsets = |&(left, right): &(_, _)| {
            let left = self.ack_offset(left)?;
            let right = self.ack_offset(right)?;
            (left < right && right <= self.snd_nxt).then_some((left, right))
        };
        let first = blocks.first().and_then(offsets);
        let second = blocks.get(1).and_then(offsets);
        let inside =
            |inner: (u64, u64), outer: (u64, u64)| inner.0 >= outer.0 && inner.1 <= outer.1;
        let dsack = first.filter(|&f| f.0 < una || second.is_some_and(|s| inside(f, s)));
        let skip = usize::from(dsack.is_some());
        let mut ranges = [None; crate::SackBlocks::MAX];
        let mut lies = 0;
        for (slot, block) in ranges.iter_mut().zip(&blocks[skip..]) {
            *slot = offsets(block);
            lies += u64::from(slot.is_none());
        }
        self.stats.sack_discarded += lies;
        for (left, right) in ranges.into_iter().flatten() {
            if right > self.snd_una {
                self.board.sack(left, right, progress);
            }
        }
        dsack
    }

    /// A duplicate ACK: with SACK one that brings news (RFC 6675 §2), else one that repeats the
    /// last in all respects while data is outstanding (RFC 5681 §2).
    fn is_duplicate(&self, info: &AckInfo) -> bool {
        if self.agreed.sack {
            return info.progress.sacked > 0;
        }
        info.repeats && !self.board.is_empty()
    }

    /// Eifel (RFC 3522): the echoed timestamp is older than the first retransmission.
    fn echoes_original(&self, segment: &Segment) -> bool {
        let Some(stamp) = self.retransmit_stamp.filter(|_| self.agreed.timestamps) else {
            return false;
        };
        segment.options.timestamps.is_some_and(|ts| (ts.echo.wrapping_sub(stamp) as i32) < 0)
    }

    /// Without SACK, in fast recovery: new data is acknowledged, but not all that was outstanding when
    /// it began.
    #[inline]
    pub(super) fn is_partial_ack(&self, info: &AckInfo) -> bool {
        info.advanced()
            && !self.agreed.sack
            && self.recovery.recovery_point().is_some_and(|point| info.una < point)
    }

    /// What of `delivered` bytes duplicate ACKs have not told of already (`tcp_add_reno_sack`,
    /// `tcp_remove_reno_sacks`).
    #[cold]
    pub(super) fn less_duplicates(&mut self, info: &AckInfo, delivered: u64, shared: bool) -> u64 {
        if shared || self.recovering() {
            return delivered;
        }
        if !info.advanced() {
            let most = self.board.len().saturating_sub(1) as u32;
            self.duplicates = (self.duplicates + u32::from(info.duplicate)).min(most);
            return delivered;
        }
        let segments = info.progress.segments;
        let fresh = segments.saturating_sub(self.duplicates.into()).max(1);
        self.duplicates =
            u64::from(self.duplicates).saturating_sub(segments.saturating_sub(1)) as u32;
        delivered.min(fresh * self.agreed.mss)
    }
}
