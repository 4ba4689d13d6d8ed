//! ACKs: the sender reads the acknowledgement of a segment, and the connection changes its state.

use super::{Connection, State};
use crate::path::Path;
use crate::segment::{Flags, Segment};
use sender::{Acknowledgement, SackOffsets};
use units::Instant;

impl Connection {
    /// Digests an acceptable acknowledgement: `left` and `una` are the offsets of the segment's
    /// sequence and acknowledgement numbers.
    #[inline(always)]
    pub(super) fn handle_ack(
        &mut self,
        now: Instant,
        path: &mut Path,
        (left, una): (u64, u64),
        segment: &Segment,
    ) {
        self.allow_burst();
        if self.socket_options.is_some() {
            self.note_occasion();
        }
        let changes_window = self.update_send_window(segment, left, una);
        let bare = segment.sequence_len() == 0;
        if bare && self.sender.board().is_empty() {
            self.restart_persist_timer();
        }
        // Header prediction of Linux knows nothing of either, and looks at no timer.
        if bare && (changes_window || self.state != State::Established) {
            self.receiver.on_bare_ack(now, path.rtt().round_trip(self.sender.backoff()));
        }
        let blocks = &segment.options.sack;
        let offsets;
        let sack = match blocks.is_empty() {
            true => &SackOffsets::NONE,
            false => {
                offsets = self.sack_offsets(segment);
                &offsets
            }
        };
        let acks_syn = self.sender.una() == 0;
        let feedback = self.accurate.is_some().then(|| self.accurate_feedback(now, path, segment));
        let is_silent = segment.has(Flags::SYN) || feedback.is_some() && acks_syn;
        let ack = Acknowledgement {
            now,
            una,
            changes_window,
            is_bare: bare,
            sack,
            echo: segment.options.timestamps.map(|timestamps| timestamps.echo),
            clock: Some(self.stamp_clock()),
            ace: (!is_silent).then(|| segment.flags.ace()),
            feedback: feedback.as_ref(),
            may_send: self.may_send_new(),
        };
        if !self.sender.is_unconcerned(&ack) {
            let outcome = self.sender.on_ack(path, &ack);
            let is_all = outcome.acked > 0 && una >= self.sender.written();
            if is_all {
                path.on_transfer_acked();
            }
            if is_all || outcome.found.any {
                self.collect_report(path);
            }
        } else if ack.feedback.is_some() {
            self.sender.note_idle_marks(&ack);
        }
        self.note_progress(now, path);
    }

    /// A newer segment's window replaces the old one, unless its acknowledgement is older (RFC 9293
    /// §3.10.7.4). True if it changed.
    #[inline]
    fn update_send_window(&mut self, segment: &Segment, left: u64, una: u64) -> bool {
        if !self.peer_window.accepts_update(left, una, self.sender.una()) {
            return false;
        }
        let window = self.peer_window.bytes_of(segment);
        if window == 0 {
            // The peer answers, it only has no room (RFC 9293 §3.8.6.1).
            self.sender.forget_retries();
        }
        self.sender.update_window(window)
    }

    #[cold]
    fn sack_offsets(&self, segment: &Segment) -> SackOffsets {
        let mut offsets = SackOffsets::default();
        for &(left, right) in segment.options.sack.as_slice() {
            let block = self.ack_offset(left).zip(self.ack_offset(right));
            let (left, right) = block.unwrap_or_default();
            offsets.push(left, right);
        }
        offsets
    }

    /// State changes that acknowledged control segments bring.
    #[inline(always)]
    fn note_progress(&mut self, now: Instant, path: &mut Path) {
        if self.sender.has_fin() && self.sender.una() == self.sender.end() {
            self.on_fin_acked(now);
            path.learn_of_end();
        }
        if self.state != State::Closed {
            self.update_persist_timer(now, path);
        }
    }
}
