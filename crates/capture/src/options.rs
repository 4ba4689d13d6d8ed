//! TCP options as a capture shows them, in 36 bytes.

use segment::{RawOptions, SackBlocks, TcpOptions, Timestamps, option_kind as kind};
use std::fmt;
use units::SeqNum;

/// Bits of `present`.
const HAS_MSS: u8 = 1;
const HAS_SCALE: u8 = 2;
const SACK_PERMITTED: u8 = 4;
const HAS_TIMESTAMPS: u8 = 8;
const CUT: u8 = 16;
/// The upper three bits count the SACK blocks, of which there are four at most. Another value means
/// that the words hold an experiment instead.
const ONE_BLOCK: u8 = 32;
const BLOCKS: u8 = 7 * ONE_BLOCK;
const HAS_EXPERIMENT: u8 = 5 * ONE_BLOCK;

/// The first options of nearly every segment: two no-operations, and timestamps (RFC 7323 appendix
/// A).
pub(crate) const STAMPED: [u8; 4] = [kind::NOOP, kind::NOOP, kind::TIMESTAMPS, 10];
/// Size of an experiment that is kept, bytes: its identifier and its data.
const EXPERIMENT: usize = 14;
/// Two sequence numbers: a SACK block, or two words of something else.
type Pair = (SeqNum, SeqNum);
/// Index of the timestamps. With timestamps, a header of 60 bytes has room for three SACK blocks
/// (RFC 2018 §3).
const STAMPS_AT: usize = SackBlocks::MAX - 1;

/// The options of one segment. Options that only a SYN may carry are read from any segment.
#[derive(Clone, Copy)]
pub struct CapturedOptions {
    /// SACK blocks, or an experiment in the first two, and after them timestamps. The other pairs
    /// hold stale values.
    pairs: [Pair; SackBlocks::MAX],
    /// These two are valid only with their bit in `present`.
    mss: u16,
    scale: u8,
    present: u8,
}

impl Default for CapturedOptions {
    fn default() -> Self {
        let pairs = [(SeqNum(0), SeqNum(0)); SackBlocks::MAX];
        Self { pairs, mss: 0, scale: 0, present: 0 }
    }
}

impl CapturedOptions {
    /// Returns the maximum segment size (RFC 9293 §3.7.1).
    pub const fn mss(&self) -> Option<u16> {
        if self.has_bit(HAS_MSS) { Some(self.mss) } else { None }
    }

    /// Returns the shift of later windows, as on the wire; a shift above 14 means 14 (RFC 7323
    /// §2.3).
    pub const fn window_scale(&self) -> Option<u8> {
        if self.has_bit(HAS_SCALE) { Some(self.scale) } else { None }
    }

    /// Returns true if the sender accepts selective acknowledgements (RFC 2018 §2).
    pub const fn sack_permitted(&self) -> bool {
        self.has_bit(SACK_PERMITTED)
    }

    /// Returns the timestamps (RFC 7323 §3).
    pub const fn timestamps(&self) -> Option<Timestamps> {
        let (value, echo) = self.pairs[STAMPS_AT];
        if self.has_bit(HAS_TIMESTAMPS) {
            Some(Timestamps { value: value.0, echo: echo.0 })
        } else {
            None
        }
    }

    /// Returns the selective acknowledgements in the order of the wire, which has a D-SACK first
    /// (RFC 2883 §4).
    #[inline]
    pub fn sack(&self) -> &[(SeqNum, SeqNum)] {
        match self.present & BLOCKS {
            HAS_EXPERIMENT => &[],
            blocks => self.pairs.get(..usize::from(blocks / ONE_BLOCK)).unwrap_or_default(),
        }
    }

    /// Returns an experiment of kind 254 and 16 bytes (RFC 6994): its identifier, and the 12 bytes
    /// after it. SACK blocks in the same header replace it; of several experiments the first is
    /// returned.
    pub fn experiment(&self) -> Option<(u16, [u8; 12])> {
        if self.present & BLOCKS != HAS_EXPERIMENT {
            return None;
        }
        let [(a, b), (c, d), ..] = self.pairs;
        let mut value = [0; 12];
        for (to, word) in value.as_chunks_mut::<4>().0.iter_mut().zip([b, c, d]) {
            *to = word.0.to_be_bytes();
        }
        Some((u16::try_from(a.0).ok()?, value))
    }

    /// Returns true if options are missing: the snap length has cut them, or one is invalid. The
    /// readable ones are kept.
    pub const fn are_cut(&self) -> bool {
        self.has_bit(CUT)
    }

    /// Reads the options of a header; `cut`: some are missing.
    #[inline]
    pub(crate) fn read(&mut self, bytes: &[u8], cut: bool) {
        // Nearly every segment has only these (RFC 7323 appendix A).
        if let Ok([head @ .., a, b, c, d, e, f, g, h]) = <&[u8; 12]>::try_from(bytes)
            && *head == STAMPED
        {
            let [value, echo] = [[*a, *b, *c, *d], [*e, *f, *g, *h]].map(u32::from_be_bytes);
            self.set_timestamps(value, echo);
        } else {
            self.present = 0;
            if !bytes.is_empty() {
                self.take_all(bytes);
            }
        }
        self.present |= if cut { CUT } else { 0 };
    }

    /// Sets timestamps as the only option.
    #[inline]
    pub(crate) fn set_timestamps(&mut self, value: u32, echo: u32) {
        self.present = HAS_TIMESTAMPS;
        self.keep_timestamps(value, echo);
    }

    #[inline]
    fn keep_timestamps(&mut self, value: u32, echo: u32) {
        self.pairs[STAMPS_AT] = (SeqNum(value), SeqNum(echo));
    }

    // This stays out of line: for most segments the caller has read everything.
    #[inline(never)]
    fn take_all(&mut self, bytes: &[u8]) {
        let mut all = RawOptions::new(bytes);
        for option in &mut all {
            self.decode_option(option);
        }
        if !all.rest().is_empty() {
            self.present |= CUT;
        }
    }

    /// Takes one option, kind and length included.
    #[inline]
    fn decode_option(&mut self, option: &[u8]) {
        match *option {
            [kind::TIMESTAMPS, _, a, b, c, d, e, f, g, h] => {
                let (value, echo) =
                    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                self.keep_timestamps(value, echo);
                self.present |= HAS_TIMESTAMPS;
            }
            [kind::SACK, _, ref ranges @ ..] if ranges.len().is_multiple_of(8) => {
                if self.present & BLOCKS == HAS_EXPERIMENT {
                    self.present &= !BLOCKS;
                }
                self.take_sack(ranges);
            }
            [kind::EXPERIMENT_2, _, ref value @ ..] => self.take_experiment(value),
            [kind::MSS, _, a, b] => {
                self.mss = u16::from_be_bytes([a, b]);
                self.present |= HAS_MSS;
            }
            [kind::WINDOW_SCALE, _, shift] => {
                self.scale = shift;
                self.present |= HAS_SCALE;
            }
            [kind::SACK_PERMITTED, _] => self.present |= SACK_PERMITTED,
            [
                kind::TIMESTAMPS
                | kind::SACK
                | kind::MSS
                | kind::WINDOW_SCALE
                | kind::SACK_PERMITTED,
                ..,
            ] => self.present |= CUT,
            _ => {}
        }
    }

    fn take_sack(&mut self, ranges: &[u8]) {
        for [a, b, c, d, e, f, g, h] in ranges.as_chunks::<8>().0 {
            let left = u32::from_be_bytes([*a, *b, *c, *d]);
            self.push_block(SeqNum(left), SeqNum(u32::from_be_bytes([*e, *f, *g, *h])));
        }
    }

    /// Appends a block if there is room: a fifth is dropped, and a fourth beside timestamps.
    fn push_block(&mut self, left: SeqNum, right: SeqNum) {
        let room = if self.has_bit(HAS_TIMESTAMPS) { STAMPS_AT } else { SackBlocks::MAX };
        let next = usize::from((self.present & BLOCKS) / ONE_BLOCK);
        if next < room {
            self.pairs[next] = (left, right);
            self.present += ONE_BLOCK;
        }
    }

    /// An option of another length is another experiment's.
    fn take_experiment(&mut self, value: &[u8]) {
        if self.present & BLOCKS != 0 || value.len() != EXPERIMENT {
            return;
        }
        let (id, words) = value.split_at(2);
        let mut words = words.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word));
        let mut next = || SeqNum(words.next().unwrap_or_default());
        let id = SeqNum(id.iter().fold(0, |id, byte| id << 8 | u32::from(*byte)));
        self.pairs[0] = (id, next());
        self.pairs[1] = (next(), next());
        self.present |= HAS_EXPERIMENT;
    }

    const fn has_bit(&self, bit: u8) -> bool {
        self.present & bit != 0
    }
}

impl PartialEq for CapturedOptions {
    fn eq(&self, other: &Self) -> bool {
        self.present == other.present
            && self.sack() == other.sack()
            && self.experiment() == other.experiment()
            && self.timestamps() == other.timestamps()
            && self.mss() == other.mss()
            && self.window_scale() == other.window_scale()
    }
}

impl Eq for CapturedOptions {}

impl From<&TcpOptions> for CapturedOptions {
    fn from(options: &TcpOptions) -> Self {
        let bit = |is: bool, bit| if is { bit } else { 0 };
        let present = bit(options.mss.is_some(), HAS_MSS)
            | bit(options.window_scale.is_some(), HAS_SCALE)
            | bit(options.sack_permitted, SACK_PERMITTED)
            | bit(options.timestamps.is_some(), HAS_TIMESTAMPS);
        let mut captured = Self {
            mss: options.mss.unwrap_or_default(),
            scale: options.window_scale.unwrap_or_default(),
            present,
            ..Self::default()
        };
        if let Some(Timestamps { value, echo }) = options.timestamps {
            captured.keep_timestamps(value, echo);
        }
        for (left, right) in options.sack.as_slice() {
            captured.push_block(*left, *right);
        }
        captured
    }
}

impl fmt::Debug for CapturedOptions {
    /// Formats only the options that are present.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        self.mss().map(|mss| map.entry(&"mss", &mss));
        self.window_scale().map(|scale| map.entry(&"window_scale", &scale));
        self.timestamps().map(|timestamps| map.entry(&"timestamps", &timestamps));
        if self.sack_permitted() {
            map.entry(&"sack_permitted", &true);
        }
        if !self.sack().is_empty() {
            map.entry(&"sack", &self.sack());
        }
        self.experiment().map(|experiment| map.entry(&"experiment", &experiment));
        if self.are_cut() {
            map.entry(&"cut", &true);
        }
        map.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind 254, 16 bytes: identifier 0x4853, then 1 to 12.
    const EXPERIMENT: [u8; 16] = [254, 16, 0x48, 0x53, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    /// Kind 5, 10 bytes: from 100 to 200.
    const SACK: [u8; 10] = [5, 10, 0, 0, 0, 100, 0, 0, 0, 200];

    fn read(bytes: &[u8]) -> CapturedOptions {
        let mut options = CapturedOptions::default();
        options.read(bytes, false);
        options
    }

    #[test]
    fn an_experiment_is_told_and_is_no_sack_block() {
        let options = read(&EXPERIMENT);
        assert_eq!(options.experiment(), Some((0x4853, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])));
        assert!(options.sack().is_empty());
        assert!(!options.are_cut());
        // One option has another kind, and one is a byte shorter.
        let other = [&[253][..], &EXPERIMENT[1..]].concat();
        let short = [&[254, 15][..], &EXPERIMENT[2..15]].concat();
        for none in [other, short, vec![]] {
            assert_eq!(read(&none).experiment(), None, "{none:?}");
        }
    }

    #[test]
    fn sack_blocks_win_over_an_experiment_on_either_side_of_them() {
        let pads = [1, 1];
        for bytes in [[&EXPERIMENT[..], &pads, &SACK].concat(), [&SACK[..], &EXPERIMENT].concat()] {
            let options = read(&bytes);
            assert_eq!(*options.sack(), [(SeqNum(100), SeqNum(200))]);
            assert_eq!(options.experiment(), None);
        }
        // Two blocks alone are no experiment.
        let two = [&[5, 18][..], &SACK[2..], &SACK[2..]].concat();
        assert_eq!(read(&two).experiment(), None);
    }

    /// 2 + 4 × 8 bytes of blocks alone; 10 bytes of timestamps and 2 + 3 × 8 of blocks, in either
    /// order.
    #[test]
    fn blocks_and_timestamps_share_their_room() {
        let block = |n: u8| [0, 0, n, 0, 0, 0, n, 9];
        let pair = |n: u32| (SeqNum(n << 8), SeqNum(n << 8 | 9));
        let four = [&[5, 34][..], &[1, 2, 3, 4].map(block).concat()].concat();
        assert_eq!(*read(&four).sack(), [1, 2, 3, 4].map(pair));
        assert_eq!(read(&four).timestamps(), None);
        let three = [&[5, 26][..], &[1, 2, 3].map(block).concat()].concat();
        let stamps = [8, 10, 0, 0, 0, 7, 0, 0, 0, 8];
        for bytes in [[&three[..], &stamps].concat(), [&stamps[..], &three].concat()] {
            let options = read(&bytes);
            assert_eq!(*options.sack(), [1, 2, 3].map(pair));
            assert_eq!(options.timestamps(), Some(Timestamps { value: 7, echo: 8 }));
        }
    }

    /// These options cannot have been on a wire: the fourth block has no room beside timestamps.
    #[test]
    fn a_fourth_block_beside_timestamps_is_dropped() {
        let timestamps = Some(Timestamps { value: 7, echo: 8 });
        let mut options = TcpOptions { timestamps, ..TcpOptions::default() };
        (1..=4).for_each(|n| options.sack.push(SeqNum(n), SeqNum(10 * n)));
        let captured = CapturedOptions::from(&options);
        assert_eq!(captured.sack(), &options.sack.as_slice()[..3]);
        assert_eq!(captured.timestamps(), timestamps);
    }
}
