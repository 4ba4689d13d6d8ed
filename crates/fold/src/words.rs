//! A state as words, and words as bytes: eight words share a byte that says which of them are not zero, and these follow as
//! varints of seven bits a byte (LEB128).

use alloc::vec::Vec;

/// Words that share a byte.
const GROUP: u32 = 8;
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
/// // One byte says which of 7, "some" and 300 are not zero, and they take 1, 1 and 2.
/// assert_eq!(bytes.len(), 5);
/// let (mut number, mut option) = (0_u64, None::<u32>);
/// Folding::read(&bytes).each(&mut number).each(&mut option);
/// assert_eq!((number, option), (7, Some(300)));
/// ```
#[derive(Debug)]
pub struct Folding<'a> {
    way: Way<'a>,
    /// Words of the group so far.
    count: u32,
    /// Which of its words are not zero.
    mask: u8,
    /// The time visited last: others are near.
    time: u64,
    refused: bool,
}

#[derive(Debug)]
enum Way<'a> {
    /// Behind `mask_at`, the byte of the group.
    Write {
        bytes: &'a mut Vec<u8>,
        mask_at: usize,
    },
    Read {
        bytes: &'a [u8],
    },
}

impl<'a> Folding<'a> {
    /// Writes behind what is in `bytes`.
    pub const fn write(bytes: &'a mut Vec<u8>) -> Self {
        Self::new(Way::Write { bytes, mask_at: 0 })
    }

    /// Reads what was written. Behind its end there are zeros.
    pub const fn read(bytes: &'a [u8]) -> Self {
        Self::new(Way::Read { bytes })
    }

    const fn new(way: Way<'a>) -> Self {
        Self { way, count: 0, mask: 0, time: 0, refused: false }
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
    #[inline]
    pub fn word(&mut self, word: &mut u64) {
        let place = self.count % GROUP;
        self.count += 1;
        match &mut self.way {
            Way::Write { bytes, mask_at } => {
                if place == 0 {
                    *mask_at = bytes.len();
                    bytes.push(0);
                }
                if *word != 0 {
                    bytes[*mask_at] |= 1 << place;
                    write_varint(bytes, *word);
                }
            }
            Way::Read { bytes } => {
                if place == 0 {
                    self.mask = take_byte(bytes);
                }
                *word = if self.mask >> place & 1 == 1 { read_varint(bytes) } else { 0 };
            }
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

fn write_varint(bytes: &mut Vec<u8>, mut word: u64) {
    while word >= 0x80 {
        bytes.push(word as u8 | 0x80);
        word >>= 7;
    }
    bytes.push(word as u8);
}

fn read_varint(bytes: &mut &[u8]) -> u64 {
    let (mut word, mut shift) = (0, 0);
    loop {
        let byte = take_byte(bytes);
        word |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte < 0x80 || shift > 63 {
            return word;
        }
    }
}

fn take_byte(bytes: &mut &[u8]) -> u8 {
    match bytes.split_first() {
        Some((&first, rest)) => {
            *bytes = rest;
            first
        }
        None => 0,
    }
}
