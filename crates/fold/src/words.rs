//! A state as words, and words as bytes: sixty-four words share a mask that says which of them are not zero. These follow it,
//! each in as many bytes as it needs for seven bits a byte; how many these are is in the lowest bits of the first one.

use alloc::vec::Vec;

/// Words that share a mask.
const GROUP: u32 = u64::BITS;
/// Words that are longer have a byte more than eight.
const SHORT_BITS: u32 = 56;
/// Codes of times that lie apart from all others: never yet, and never.
const ZERO: u64 = 0;
const NEVER: u64 = 1;
/// Of two numbers that are as far apart as two can be, but for one.
const FARTHEST: u64 = u64::MAX - 1;

/// Writes the state of values, or reads it back into others.
///
/// # Examples
/// ```
/// use fold::{Foldable, Folding};
///
/// let mut bytes = Vec::new();
/// Folding::write(&mut bytes).each(&mut 7_u64).each(&mut Some(300_u32));
/// // Eight bytes say which of 7, "some" and 300 are not zero, and they take 1, 1 and 2.
/// assert_eq!(bytes.len(), 12);
/// let (mut number, mut option) = (0_u64, None::<u32>);
/// Folding::read(&bytes).each(&mut number).each(&mut option);
/// assert_eq!((number, option), (7, Some(300)));
/// ```
#[derive(Debug)]
pub struct Folding<'a> {
    way: Way<'a>,
    /// Words that the group has room for.
    left: u32,
    /// Which of its words are not zero: of those so far, from the highest bit down, or of those to come, from the lowest up.
    mask: u64,
    /// The time visited last: others are near.
    time: u64,
    refused: bool,
}

#[derive(Debug)]
enum Way<'a> {
    /// The mask of the group goes to `mask_at`.
    Write {
        bytes: &'a mut Vec<u8>,
        mask_at: usize,
    },
    Read {
        bytes: &'a [u8],
    },
}

impl<'a> Folding<'a> {
    /// Writes behind what is in `bytes`; all of it is there when this is dropped.
    pub const fn write(bytes: &'a mut Vec<u8>) -> Self {
        Self::new(Way::Write { bytes, mask_at: 0 })
    }

    /// Reads what was written. Behind its end there are zeros.
    pub const fn read(bytes: &'a [u8]) -> Self {
        Self::new(Way::Read { bytes })
    }

    const fn new(way: Way<'a>) -> Self {
        Self { way, left: 0, mask: 0, time: 0, refused: false }
    }

    /// It reads: what it visits is replaced.
    pub const fn reads(&self) -> bool {
        matches!(self.way, Way::Read { .. })
    }

    /// A state was visited that cannot be folded: what was written is of no use.
    pub const fn refuse(&mut self) {
        self.refused = true;
    }

    /// Something has refused.
    pub const fn is_refused(&self) -> bool {
        self.refused
    }

    /// Visits a part of the state.
    #[inline]
    pub fn each<T: crate::Foldable + ?Sized>(&mut self, part: &mut T) -> &mut Self {
        part.fold(self);
        self
    }

    /// Visits what there may be; where it is read, it is read into a `fresh` one.
    #[inline]
    pub fn option<T: crate::Foldable>(
        &mut self,
        option: &mut Option<T>,
        fresh: impl FnOnce() -> T,
    ) -> &mut Self {
        let mut is_some = u64::from(option.is_some());
        self.word(&mut is_some);
        if self.reads() {
            *option = (is_some == 1).then(fresh);
        }
        if let Some(value) = option {
            value.fold(self);
        }
        self
    }

    /// Visits a word. Small ones take fewer bytes, and zero a bit.
    // Most are zero: that costs no call.
    #[inline(always)]
    pub fn word(&mut self, word: &mut u64) {
        if self.left == 0 {
            self.begin_group();
        }
        self.left -= 1;
        match &mut self.way {
            Way::Write { bytes, .. } => {
                let is_some = *word != 0;
                self.mask = self.mask >> 1 | u64::from(is_some) << (GROUP - 1);
                if is_some {
                    write_word(bytes, *word);
                }
            }
            Way::Read { bytes } => {
                let is_some = self.mask & 1 == 1;
                self.mask >>= 1;
                *word = if is_some { read_word(bytes) } else { 0 };
            }
        }
    }

    #[cold]
    fn begin_group(&mut self) {
        self.end_group();
        self.left = GROUP;
        match &mut self.way {
            Way::Write { bytes, mask_at } => {
                *mask_at = bytes.len();
                bytes.extend([0; size_of::<u64>()]);
                self.mask = 0;
            }
            Way::Read { bytes } => {
                self.mask = first_bytes(bytes);
                skip(bytes, size_of::<u64>());
            }
        }
    }

    /// Writes the mask of the group, if there is one.
    fn end_group(&mut self) {
        if let Way::Write { bytes, mask_at } = &mut self.way
            && let Some(room) = bytes[*mask_at..].first_chunk_mut()
            && self.mask != 0
        {
            *room = (self.mask >> self.left).to_le_bytes();
        }
    }

    /// Visits a number that is small, or near to the largest one, which stands for "none" or "no limit".
    #[inline]
    pub fn number(&mut self, number: &mut u64) {
        let mut word = zigzag(*number);
        self.word(&mut word);
        *number = unzigzag(word);
    }

    /// Visits a time, which is near to the one before it, or zero, or the largest.
    #[inline]
    pub fn time(&mut self, time: &mut u64) {
        let last = self.time;
        let mut word = match *time {
            0 => ZERO,
            u64::MAX => NEVER,
            time => match zigzag(time.wrapping_sub(last)) {
                // No room is left above: the words that the ends would have otherwise.
                FARTHEST => zigzag(0_u64.wrapping_sub(last)) + 2,
                u64::MAX => zigzag(u64::MAX - last) + 2,
                near => near + 2,
            },
        };
        self.word(&mut word);
        *time = match word {
            ZERO => 0,
            NEVER => u64::MAX,
            word => match last.wrapping_add(unzigzag(word - 2)) {
                0 => last.wrapping_add(unzigzag(FARTHEST)),
                u64::MAX => last.wrapping_add(unzigzag(u64::MAX)),
                time => time,
            },
        };
        if !matches!(word, ZERO | NEVER) {
            self.time = *time;
        }
    }

    /// Visits a number of which another one is known that is mostly the same: only the difference is written.
    #[inline]
    pub fn near(&mut self, number: &mut u64, known: u64) {
        let mut difference = number.wrapping_sub(known);
        self.number(&mut difference);
        *number = known.wrapping_add(difference);
    }
}

/// Small whether the number is a little above or a little below zero, modulo 2^64.
const fn zigzag(number: u64) -> u64 {
    number << 1 ^ ((number as i64) >> 63) as u64
}

const fn unzigzag(word: u64) -> u64 {
    word >> 1 ^ (word & 1).wrapping_neg()
}

/// A word that is not zero.
#[inline(never)]
fn write_word(bytes: &mut Vec<u8>, word: u64) {
    let bits = u64::BITS - word.leading_zeros();
    let begin = bytes.len();
    if bits > SHORT_BITS {
        bytes.push(0);
        bytes.extend_from_slice(&word.to_le_bytes());
    } else {
        let len = bits.div_ceil(7);
        bytes.extend_from_slice(&(word << len | 1 << (len - 1)).to_le_bytes());
        bytes.truncate(begin + len as usize);
    }
}

#[inline(never)]
fn read_word(bytes: &mut &[u8]) -> u64 {
    let first = first_bytes(bytes);
    let len = first.trailing_zeros() + 1;
    if len > 8 {
        skip(bytes, 1);
        let word = first_bytes(bytes);
        skip(bytes, size_of::<u64>());
        return word;
    }
    skip(bytes, len as usize);
    let unused = u64::BITS - 8 * len;
    first << unused >> unused >> len
}

/// The next eight bytes as a word; zeros behind the end.
#[inline]
fn first_bytes(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[inline]
fn skip(bytes: &mut &[u8], len: usize) {
    *bytes = bytes.get(len..).unwrap_or(&[]);
}

/// All that was visited is written.
impl Drop for Folding<'_> {
    fn drop(&mut self) {
        self.end_group();
    }
}
