//! Counters that fit into a header beside other options (RFC 9768 §3.2.3.3: the option is a part of
//! the segments that have room for it).

use crate::segment::{EcnCounters, TcpOptions};

/// Bytes of an option with `counters`.
const fn option_bytes(counters: usize) -> u32 {
    2 + 3 * counters as u32
}

/// Returns the largest number of counters that fit into a SYN-ACK beside its other options. Each of
/// those is in whole words in Linux, and counters may replace padding of SACK permitted or of the
/// window scale (`tcp_synack_options_combine_saving`).
pub(super) fn counters_of_syn_ack(others: &TcpOptions) -> Option<usize> {
    let cookie = others.fast_open.map_or(0, |cookie| cookie.wire_bytes().next_multiple_of(4));
    let bare = TcpOptions { fast_open: None, ..*others };
    let room = TcpOptions::ROOM.saturating_sub(bare.wire_bytes() + cookie);
    let padding = match others {
        TcpOptions { sack_permitted: true, timestamps: None, .. } => 2,
        TcpOptions { window_scale: Some(_), .. } => 1,
        _ => 0,
    };
    let fits = |counters: &usize| option_bytes(*counters) <= room + padding;
    (0..=EcnCounters::MAX_COUNTERS).rev().find(fits)
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
    /// As many counters as fit into `room` bytes, at least the `least` that have changed. Blocks
    /// behind the second give way to changed counters (`tcp_options_fit_accecn`).
    pub(super) fn of(room: u32, least: usize, blocks: usize) -> Option<Self> {
        let fewest_blocks = if least > 0 { blocks.min(2) } else { blocks };
        (fewest_blocks..=blocks).rev().find_map(|blocks| {
            let counters = (least..=EcnCounters::MAX_COUNTERS).rev();
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
    use crate::fast_open::FastOpenCookie;
    use crate::segment::Timestamps;

    /// Room beside timestamps, bytes: 40 less 12.
    const ROOM: u32 = 28;

    fn fit(room: u32, least: usize, blocks: usize) -> Option<(usize, usize, u64)> {
        let fit = CountersFit::of(room, least, blocks)?;
        Some((fit.counters, fit.blocks, fit.bytes()))
    }

    /// One block takes 12 of the 28 bytes with its padding. Three counters take 11 more, of which 2
    /// replace that padding: 12 + 12 = 24.
    #[test]
    fn all_counters_fit_beside_one_block() {
        assert_eq!(fit(ROOM, 0, 0), Some((3, 0, 12)));
        assert_eq!(fit(ROOM, 3, 1), Some((3, 1, 24)));
    }

    /// Two blocks take 20 of the 28 bytes: 8 are left, for 2 counters of 8 bytes. The third
    /// counter has no room: if it has changed, and there are only two blocks, there is no option.
    #[test]
    fn two_counters_fit_beside_two_blocks_and_timestamps() {
        assert_eq!(fit(ROOM, 2, 2), Some((2, 2, 28)));
        assert_eq!(fit(ROOM, 3, 2), None);
    }

    /// Three blocks take all 28 bytes: the empty option fits into their padding, and two changed
    /// counters replace the third block. Three do not fit even then.
    #[test]
    fn a_third_block_gives_way_to_changed_counters() {
        assert_eq!(fit(ROOM, 0, 3), Some((0, 3, 28)));
        assert_eq!(fit(ROOM, 2, 3), Some((2, 2, 28)));
        assert_eq!(fit(ROOM, 3, 3), None);
        // Without timestamps: 28 bytes of blocks and 12 of counters are all 40.
        assert_eq!(fit(40, 3, 3), Some((3, 3, 40)));
        assert_eq!(fit(40, 1, 4), Some((1, 4, 40)));
    }

    /// A report for a gateway takes 12 of the 28 bytes. Beside one block, 4 bytes are left of 16:
    /// with the padding of the block, one counter of 5 bytes fits, and three that have changed do
    /// not. Without a block, three take 12 bytes.
    #[test]
    fn one_counter_fits_beside_a_block_and_a_report() {
        assert_eq!(fit(ROOM - 12, 0, 1), Some((1, 1, 16)));
        assert_eq!(fit(ROOM - 12, 3, 1), None);
        assert_eq!(fit(ROOM - 12, 3, 0), Some((3, 0, 12)));
    }

    /// A SYN-ACK of Linux has 20 bytes of other options: MSS 4, SACK permitted 2, timestamps 10,
    /// window scale 3, padding 1. A cookie of 8, 12 or 16 bytes adds 12, 16 or 20 with its padding.
    /// Three counters take 11 of the 20 bytes that are left, and two take 8 of 8. One takes 5 of 4,
    /// because it replaces the padding. No byte is left beside the longest cookie.
    #[test]
    fn a_syn_ack_has_what_fits() {
        let linux = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps::default()),
            ..TcpOptions::default()
        };
        let with_cookie = |options: TcpOptions, len: usize| TcpOptions {
            fast_open: FastOpenCookie::new(&vec![9; len]),
            ..options
        };
        assert_eq!(counters_of_syn_ack(&linux), Some(3));
        let beside_cookies = [8, 12, 16].map(|len| counters_of_syn_ack(&with_cookie(linux, len)));
        assert_eq!(beside_cookies, [Some(2), Some(1), None]);
        // Without window scale there is no padding: MSS 4, timestamps 12 and cookie 20 leave 4.
        let unscaled = TcpOptions { window_scale: None, ..linux };
        assert_eq!(counters_of_syn_ack(&with_cookie(unscaled, 16)), Some(0));
    }
}
