//! The last update of the peer's window, and the ways out of one that is shut or small
//! (RFC 9293 §3.8.6).

use super::Connection;
use crate::segment::{Flags, Segment};

/// A segment below the acknowledged number, which the peer must answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BareProbe {
    #[default]
    None,
    /// Asks for the window, if it is still shut.
    Window,
    /// Asks for a sign of life.
    Alive,
}

/// The peer's window, beside its size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// Offsets of the segment last used for an update (`SND.WL1`, `SND.WL2`).
    updated_by: (u64, u64),
    /// Shift of the peer's windows, if both ends scale theirs.
    shift: Option<u8>,
    is_overridden: bool,
    probe: BareProbe,
}

impl PeerWindow {
    /// Both ends scale their windows, the peer by `shift`, or neither does. A shift above 14 counts
    /// as 14 (RFC 7323 §2.3).
    pub(super) fn agree(&mut self, shift: Option<u8>) {
        self.shift = shift.map(|shift| shift.min(14));
    }

    /// Returns the shift of the peer's windows, if windows are scaled.
    pub(super) const fn shift(&self) -> Option<u8> {
        self.shift
    }

    /// Returns the window of `segment` in bytes. A SYN's is never scaled (RFC 7323 §2.2).
    #[inline]
    pub(super) fn bytes_of(&self, segment: &Segment) -> u64 {
        let shift = if segment.has(Flags::SYN) { 0 } else { self.shift.unwrap_or(0) };
        u64::from(segment.window) << shift
    }

    /// True if a segment at offset `left` that acknowledges `una` updates the window: it is newer
    /// than the last one that did, or acknowledges more than `known` (RFC 9293 §3.10.7.4).
    #[inline]
    pub(super) const fn accepts_update(&mut self, left: u64, una: u64, known: u64) -> bool {
        let (wl1, wl2) = self.updated_by;
        let newer = wl1 < left || (wl1 == left && wl2 <= una) || una > known;
        let counts = newer && una >= known;
        if counts {
            self.updated_by = (left, una);
        }
        counts
    }

    /// A small window is to be used after all (RFC 9293 §3.8.6.2.1, override timeout).
    #[inline(always)]
    pub(super) const fn is_overridden(&self) -> bool {
        self.is_overridden
    }

    /// A small window is to be used after all, or not.
    #[inline(always)]
    pub(super) const fn set_overridden(&mut self, is_overridden: bool) {
        self.is_overridden = is_overridden;
    }

    /// A segment without data that the peer has to answer is to leave.
    pub(super) const fn request_probe(&mut self, probe: BareProbe) {
        self.probe = probe;
    }

    /// The peer is to be asked.
    #[inline(always)]
    pub(super) fn needs_probe(&self) -> bool {
        self.probe != BareProbe::None
    }

    /// Takes the probe that is to be sent.
    #[inline(always)]
    pub(super) fn take_probe(&mut self) -> BareProbe {
        std::mem::take(&mut self.probe)
    }
}

impl Connection {
    /// Payload of a full segment without SACK blocks, bytes. Two of them fit into the largest
    /// window that the peer has offered.
    #[inline]
    pub fn full_payload(&self) -> u64 {
        /// `TCP_MSS_DEFAULT`: a smaller window is not halved.
        const MIN_HALVED: u64 = 536;
        /// The smallest packet that a link has to carry, 68 bytes without the IP header, less the
        /// TCP header (`tcp_bound_to_half_wnd`): 12 bytes fewer with timestamps.
        const LEAST: u64 = 48;
        const TIMESTAMPS: u64 = 12;
        let mss = self.sender.mss();
        let window = self.sender.largest_window();
        if !self.config.halves_window || window == 0 || window >= 2 * mss {
            return mss;
        }
        let bound = if window > MIN_HALVED { window / 2 } else { window };
        let options = if self.sender.terms().timestamps { TIMESTAMPS } else { 0 };
        mss.min(bound.max(LEAST - options))
    }

    /// The offset of a bare ACK: the next byte, or the end of a window that the peer took back. The
    /// peer would not accept a higher one (`tcp_acceptable_seq`).
    pub(super) fn bare_start(&self) -> u64 {
        let (next, edge) = (self.sender.nxt(), self.sender.window_edge());
        let unit = 1 << self.receiver.window_shift();
        if self.state.is_synchronized() && edge + unit <= next { edge } else { next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7323 §2.2 and §2.3: no SYN's window is scaled, and a shift of 15 counts as 14.
    #[test]
    fn windows_are_scaled_but_for_those_of_syns() {
        let with = |flags| Segment { window: 5, flags, ..Segment::default() };
        let (syn, ack) = (with(Flags::SYN.with(Flags::ACK)), with(Flags::ACK));
        let mut window = PeerWindow::default();
        for (agreed, of_ack) in [(None, 5), (Some(3), 5 << 3), (Some(15), 5 << 14)] {
            window.agree(agreed);
            assert_eq!(window.bytes_of(&syn), 5);
            assert_eq!(window.bytes_of(&ack), of_ack, "{agreed:?}");
        }
    }
}
