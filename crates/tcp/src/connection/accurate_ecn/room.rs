//! Counters that fit into a header beside timestamps and SACK blocks (RFC 9768 §3.2.3.3: the
//! option is a part of the segments that have room for it).

use crate::segment::{EcnCounters, TIMESTAMPS_BYTES, TcpOptions};

/// Bytes of an option with `counters`.
const fn option_bytes(counters: usize) -> u32 {
    2 + 3 * counters as u32
}

/// Returns the largest number of counters that fit beside other options of `bytes`.
pub(super) fn counters_in(bytes: u32) -> Option<usize> {
    let room = TcpOptions::ROOM.saturating_sub(bytes);
    (0..=EcnCounters::MOST).rev().find(|&counters| option_bytes(counters) <= room)
}

/// An option beside SACK blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountersFit {
    /// Counters of the option.
    pub(super) counters: usize,
    /// SACK blocks that stay.
    pub(super) blocks: usize,
}

impl CountersFit {
    /// As many counters as fit, at least the `least` that have changed. Blocks behind the second
    /// give way to changed counters (`tcp_options_fit_accecn`).
    pub(super) fn of(timestamps: bool, least: usize, blocks: usize) -> Option<Self> {
        let room = TcpOptions::ROOM - if timestamps { TIMESTAMPS_BYTES } else { 0 };
        let fewest_blocks = if least > 0 { blocks.min(2) } else { blocks };
        (fewest_blocks..=blocks).rev().find_map(|blocks| {
            let counters = (least..=EcnCounters::MOST).rev();
            let mut fits = counters.map(|counters| Self { counters, blocks });
            fits.find(|fit| fit.bytes() <= u64::from(room))
        })
    }

    /// Bytes of blocks and option, in whole words. SACK blocks come behind two bytes of padding,
    /// which the option takes.
    pub(super) fn bytes(self) -> u64 {
        let option = option_bytes(self.counters);
        let bytes = match self.blocks as u32 {
            0 => option.next_multiple_of(4),
            blocks => 4 + 8 * blocks + option.saturating_sub(2).next_multiple_of(4),
        };
        bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(timestamps: bool, least: usize, blocks: usize) -> Option<(usize, usize, u64)> {
        let fit = CountersFit::of(timestamps, least, blocks)?;
        Some((fit.counters, fit.blocks, fit.bytes()))
    }

    /// 40 bytes less 12 of timestamps are 28. One block takes 12 with its padding, and three
    /// counters 11 more, of which 2 are that padding: 12 + 12 = 24.
    #[test]
    fn all_counters_fit_beside_one_block() {
        assert_eq!(fit(true, 0, 0), Some((3, 0, 12)));
        assert_eq!(fit(true, 3, 1), Some((3, 1, 24)));
    }

    /// Two blocks take 20 of the 28 bytes: 8 are left, for 2 counters of 8 bytes. The third
    /// counter has no room: if it has changed, and there are only two blocks, there is no option.
    #[test]
    fn two_counters_fit_beside_two_blocks_and_timestamps() {
        assert_eq!(fit(true, 2, 2), Some((2, 2, 28)));
        assert_eq!(fit(true, 3, 2), None);
    }

    /// Three blocks take all 28 bytes: the empty option fits into their padding, and two changed
    /// counters replace the third block. Three do not fit even then.
    #[test]
    fn a_third_block_gives_way_to_changed_counters() {
        assert_eq!(fit(true, 0, 3), Some((0, 3, 28)));
        assert_eq!(fit(true, 2, 3), Some((2, 2, 28)));
        assert_eq!(fit(true, 3, 3), None);
        // Without timestamps: 28 bytes of blocks and 12 of counters are all 40.
        assert_eq!(fit(false, 3, 3), Some((3, 3, 40)));
        assert_eq!(fit(false, 1, 4), Some((1, 4, 40)));
    }

    /// A SYN-ACK of Linux has 20 bytes of other options: MSS 4, SACK permitted 2, timestamps 10,
    /// window scale 3, padding 1. With a cookie of 18 bytes more, two remain: an empty option.
    #[test]
    fn a_syn_ack_has_what_fits() {
        assert_eq!(counters_in(20), Some(3));
        assert_eq!(counters_in(38), Some(0));
        assert_eq!(counters_in(39), None);
    }
}
