//! Options as they stand in a header: kind, length, value (RFC 9293 §3.1).

/// The options in a header, kind and length included, without padding. Reading stops at the first
/// malformed one.
#[derive(Clone, Copy, Debug)]
pub struct RawOptions<'a>(&'a [u8]);

/// Kinds of options, by their names in the register of IANA.
pub mod kind {
    /// The end of the options (RFC 9293 §3.1).
    pub const END: u8 = 0;
    /// One byte of padding (RFC 9293 §3.1).
    pub const NOOP: u8 = 1;
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub const MSS: u8 = 2;
    /// Window scale (RFC 7323 §2).
    pub const WINDOW_SCALE: u8 = 3;
    /// SACK permitted (RFC 2018 §2).
    pub const SACK_PERMITTED: u8 = 4;
    /// SACK (RFC 2018 §3).
    pub const SACK: u8 = 5;
    /// Timestamps (RFC 7323 §3).
    pub const TIMESTAMPS: u8 = 8;
    /// Accurate ECN, with the counter of ECT(0) first (RFC 9768 §3.2.3).
    pub const ACC_ECN_0: u8 = 172;
    /// Accurate ECN, with the counter of ECT(1) first (RFC 9768 §3.2.3).
    pub const ACC_ECN_1: u8 = 174;
    /// Experiments, distinguished by the identifier that follows (RFC 6994).
    pub const EXPERIMENT: u8 = 253;
    /// The same: the second kind for experiments (RFC 4727 §4).
    pub const EXPERIMENT_2: u8 = 254;
}

impl<'a> RawOptions<'a> {
    /// The options of a header behind its first 20 bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes that have not been read. After the last option they are empty if all were
    /// well formed.
    pub const fn rest(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> Iterator for RawOptions<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let (&kind, rest) = self.0.split_first()?;
            match kind {
                kind::END => {
                    self.0 = &[];
                    return None;
                }
                kind::NOOP => self.0 = rest,
                _ => {
                    let length = usize::from(*rest.first()?);
                    let option = self.0.get(..length).filter(|option| option.len() >= 2)?;
                    self.0 = &self.0[length..];
                    return Some(option);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading ends with the options, or at the first that is malformed: it has no length, a length
    /// below two, or one past the end of the header.
    #[test]
    fn what_is_no_option_stays_unread() {
        struct Case {
            bytes: &'static [u8],
            read: &'static [&'static [u8]],
            rest: &'static [u8],
        }
        let cases = [
            Case { bytes: &[1, 4, 2, 1, 0, 9, 9], read: &[&[4, 2]], rest: &[] },
            Case { bytes: &[2, 4, 5, 180, 1], read: &[&[2, 4, 5, 180]], rest: &[] },
            Case { bytes: &[4, 2, 8], read: &[&[4, 2]], rest: &[8] },
            Case { bytes: &[4, 2, 8, 1], read: &[&[4, 2]], rest: &[8, 1] },
            Case { bytes: &[8, 10, 1], read: &[], rest: &[8, 10, 1] },
            Case { bytes: &[], read: &[], rest: &[] },
        ];
        for Case { bytes, read, rest } in cases {
            let mut options = RawOptions::new(bytes);
            let found: Vec<_> = options.by_ref().collect();
            assert_eq!((&found[..], options.rest()), (read, rest), "{bytes:?}");
        }
    }
}
