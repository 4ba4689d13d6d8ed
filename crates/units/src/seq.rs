//! The 32-bit sequence numbers of the wire.

use std::ops::Add;

/// A TCP sequence number (RFC 9293 §3.4): arithmetic modulo 2^32, so there is no order between
/// any two, only between two that are less than 2^31 apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNum(pub u32);

impl SeqNum {
    /// Signed distance from `other` to `self`; positive if `self` is later.
    pub const fn distance_from(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }

    /// True if `self` comes before `other`.
    pub const fn precedes(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }
}

impl Add<u32> for SeqNum {
    type Output = Self;
    fn add(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        let before = SeqNum(u32::MAX - 4);
        let after = before + 10;
        assert_eq!(after, SeqNum(5));
        assert!(before.precedes(after));
        assert_eq!(after.distance_from(before), 10);
        assert_eq!(before.distance_from(after), -10);
    }
}
