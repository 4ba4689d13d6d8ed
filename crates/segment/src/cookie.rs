//! The Fast Open option (RFC 7413 §2).

use crate::raw_options::RawOptions;
use std::fmt;

const KIND: u8 = 34;
/// The experimental option that early stacks used (RFC 6994; RFC 7413 appendix A).
const EXPERIMENT: u8 = 254;
const IDENTIFIER: [u8; 2] = [0xF9, 0x89];

/// A Fast Open option: a cookie of 4 to 16 bytes, or a request for one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FastOpenCookie {
    bytes: [u8; Self::LONGEST],
    len: u8,
    experimental: bool,
}

impl FastOpenCookie {
    /// Bytes of the longest cookie.
    pub const LONGEST: usize = 16;
    /// Bytes of the longest option as written.
    pub const LONGEST_OPTION: usize = Self::LONGEST + 4;
    /// Asks for a cookie.
    pub const REQUEST: Self = Self { bytes: [0; Self::LONGEST], len: 0, experimental: false };

    /// Creates a cookie of 4 to 16 bytes, an even number, or a request from no bytes; `None` for
    /// other lengths.
    pub fn new(cookie: &[u8]) -> Option<Self> {
        let len = cookie.len();
        if len != 0 && (!(4..=Self::LONGEST).contains(&len) || !len.is_multiple_of(2)) {
            return None;
        }
        let mut bytes = [0; Self::LONGEST];
        bytes[..len].copy_from_slice(cookie);
        Some(Self { bytes, len: len as u8, experimental: false })
    }

    /// Returns the cookie in the form of `other`: the option of RFC 7413, or the experimental one.
    #[must_use]
    pub const fn in_form_of(self, other: Self) -> Self {
        Self { experimental: other.experimental, ..self }
    }

    /// Returns the cookie in the form of the experimental option.
    #[must_use]
    pub const fn as_experiment(self) -> Self {
        Self { experimental: true, ..self }
    }

    /// True if the cookie has the form of the experimental option.
    pub const fn is_experimental(&self) -> bool {
        self.experimental
    }

    /// The cookie's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// True if the option asks for a cookie.
    pub const fn is_request(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the option, without padding.
    pub const fn wire_bytes(&self) -> u32 {
        self.len as u32 + if self.experimental { 4 } else { 2 }
    }

    /// Writes the option, kind and length included, and returns its number of bytes.
    pub fn write(&self, out: &mut [u8; Self::LONGEST_OPTION]) -> usize {
        let length = self.wire_bytes() as usize;
        out[0] = if self.experimental { EXPERIMENT } else { KIND };
        out[1] = length as u8;
        out[2..4].copy_from_slice(&IDENTIFIER);
        out[length - usize::from(self.len)..length].copy_from_slice(self.as_bytes());
        length
    }

    /// Finds the option among the options of a header.
    pub fn find(options: &[u8]) -> Option<Self> {
        RawOptions::new(options).find_map(|option| match *option {
            [KIND, _, ref cookie @ ..] => Self::new(cookie),
            [EXPERIMENT, _, a, b, ref cookie @ ..] if [a, b] == IDENTIFIER => {
                Self::new(cookie).map(|cookie| Self { experimental: true, ..cookie })
            }
            _ => None,
        })
    }
}

impl fmt::Debug for FastOpenCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.experimental { "FOEXP " } else { "FO " })?;
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_option_is_written_as_the_rfc_draws_it() {
        // RFC 7413 §2: kind 34, length 2 + cookie; appendix A: kind 254, length 4 + cookie, 0xF989.
        let cookie = FastOpenCookie::new(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let mut out = [0; FastOpenCookie::LONGEST_OPTION];
        assert_eq!(cookie.write(&mut out), 10);
        assert_eq!(out[..10], [34, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(FastOpenCookie::REQUEST.write(&mut out), 2);
        assert_eq!(out[..2], [34, 2]);
        let old = FastOpenCookie::find(&[1, 1, 254, 8, 0xF9, 0x89, 9, 9, 9, 9]).unwrap();
        assert_eq!(old.as_bytes(), [9; 4]);
        assert_eq!(cookie.in_form_of(old).write(&mut out), 12);
        assert_eq!(out[..12], [254, 12, 0xF9, 0x89, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn absurd_lengths_are_no_cookies() {
        for len in [1, 2, 3, 5, 7, 17, 18] {
            assert_eq!(FastOpenCookie::new(&vec![7; len]), None, "{len}");
        }
        assert_eq!(FastOpenCookie::find(&[34, 3, 1]), None);
        assert_eq!(FastOpenCookie::find(&[34, 10, 1]), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(cookie in prop::collection::vec(any::<u8>(), 2..=8), experimental: bool) {
            let even: Vec<u8> = cookie.iter().flat_map(|byte| [*byte, !byte]).collect();
            let cookie = FastOpenCookie::new(&even).unwrap();
            let cookie = FastOpenCookie { experimental, ..cookie };
            let mut out = [0; FastOpenCookie::LONGEST_OPTION];
            let length = cookie.write(&mut out);
            prop_assert_eq!(FastOpenCookie::find(&out[..length]), Some(cookie));
        }

        #[test]
        fn any_bytes_are_read_or_not(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(found) = FastOpenCookie::find(&bytes) {
                prop_assert!(found.as_bytes().len() <= FastOpenCookie::LONGEST);
            }
        }
    }
}
