//! A path is asked for, as a handshake begins or a connection opens.

use super::field::{constant, get, of};
use super::key::PrefixKey;

/// Request for a path that the gateway may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathInquiry {
    /// The path.
    pub path: PrefixKey,
    /// When, on `CLOCK_MONOTONIC`, nanoseconds.
    pub at_ns: u64,
    /// A handshake begins: an answer can be in time for that connection. Otherwise it is for the
    /// next one.
    pub can_be_in_time: bool,
}

impl PathInquiry {
    /// Bytes of an inquiry.
    pub const SIZE: usize = of("inquiry", "").1;

    /// Decodes an entry of the ring buffer; `None` if the bytes are not an inquiry.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..Self::SIZE)?;
        let trigger = u32::from_ne_bytes(get!(bytes, "inquiry", "trigger", 4));
        Some(Self {
            path: PrefixKey::from_bytes(&get!(bytes, "inquiry", "path", PrefixKey::SIZE))?,
            at_ns: u64::from_ne_bytes(get!(bytes, "inquiry", "at_ns", 8)),
            can_be_in_time: trigger == constant("INQUIRY_HANDSHAKE"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_short_is_nothing() {
        assert_eq!(PathInquiry::from_bytes(&[0; PathInquiry::SIZE - 1]), None);
        let zeros = PathInquiry::from_bytes(&[0; PathInquiry::SIZE]).unwrap();
        assert!(zeros.can_be_in_time);
    }
}
