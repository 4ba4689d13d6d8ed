//! The TCP option by which a server publishes a connection's measurements of its path to any
//! observer of the packet. It is a report without a connection to the gateway (Zhang, Qiu & Keshav
//! 2000 §5.1, second way). The agent writes it (`crates/agent/bpf/report.h`).
//!
//! An experiment of RFC 6994 has kind 254, 16 bytes and the identifier [`ID`]. These fields follow
//! in network byte order:
//! - version and bound (four bits each)
//! - a byte of zeros
//! - window, rate, lowest round trip, segments sent, segments lost (two bytes each, [`scaled`])
//!
//! docs/adr/0030-tcp-option.md has the reasons for this layout.

use gateway_proto::v1::{Bound, Network, Report};
use ipnet::IpNet;

/// The identifier of the experiment (RFC 6994 §3), "HS". It is not registered.
pub const ID: u16 = 0x4853;
/// Version of the layout.
const VERSION: u8 = 1;

/// The content of the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathOption {
    /// The limit of the window, in the numbers of the protocol.
    pub bound: Bound,
    /// Window, bytes: the most that was in flight and delivered, or at which a loss happened.
    pub window: u64,
    /// Delivery rate, bytes per second; 0: not measured.
    pub rate: u64,
    /// Lowest round trip, microseconds; 0: not measured.
    pub min_rtt_us: u64,
    /// Segments with data sent, retransmissions included.
    pub sent: u64,
    /// Number of these segments that were retransmissions.
    pub lost: u64,
}

impl PathOption {
    /// Reads the bytes after the identifier. `None` for another version, or for impossible values;
    /// the gateway judges the rest as it judges every report.
    pub fn read(value: &[u8; 12]) -> Option<Self> {
        let [head, _, figures @ ..] = value;
        let bound = Bound::try_from(i32::from(head & 15)).ok()?;
        if head >> 4 != VERSION || bound == Bound::Unspecified {
            return None;
        }
        let mut all = [0; 5];
        for (figure, bytes) in all.iter_mut().zip(figures.as_chunks::<2>().0) {
            *figure = unscaled(u16::from_be_bytes(*bytes))?;
        }
        let [window, rate, min_rtt_us, sent, lost] = all;
        Some(Self { bound, window, rate, min_rtt_us, sent, lost })
    }

    /// Returns the bytes after the identifier.
    pub fn write(&self) -> [u8; 12] {
        let mut value = [0; 12];
        // All bounds have numbers below 16.
        value[0] = VERSION << 4 | (self.bound as i32 as u8 & 15);
        let figures = [self.window, self.rate, self.min_rtt_us, self.sent, self.lost];
        for (to, figure) in value[2..].as_chunks_mut::<2>().0.iter_mut().zip(figures) {
            *to = scaled(figure).to_be_bytes();
        }
        value
    }

    /// Returns its report of `network`.
    pub fn report(&self, network: IpNet) -> Report {
        let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Report {
            network: Some(Network::of(network)),
            window: self.window,
            rate: self.rate.saturating_mul(8),
            min_rtt_us: self.min_rtt_us,
            sent: count(self.sent),
            // Each is rounded down separately.
            lost: count(self.lost.min(self.sent)),
            bound: self.bound.into(),
            ..Report::default()
        }
    }
}

/// Encodes a number in 16 bits: exactly below 2048, above that rounded down, within 1/1024. The
/// upper six bits are an exponent, the lower ten the digits after the highest.
///
/// # Examples
/// ```
/// use gateway_observe::path_option::{scaled, unscaled};
/// // 144,800 is 141.4 times 2^10, so 1131 (1024 + 107) times 2^7: the eighth exponent.
/// assert_eq!(scaled(144_800), 8 << 10 | 107);
/// assert_eq!(unscaled(8 << 10 | 107), Some(144_768));
/// ```
pub const fn scaled(number: u64) -> u16 {
    let bits = u64::BITS - number.leading_zeros();
    let shift = bits.saturating_sub(11);
    let digits = (number >> shift) as u16;
    if digits < 1024 { digits } else { (shift as u16 + 1) << 10 | (digits & 1023) }
}

/// Decodes the number; `None` if it does not fit into 64 bits.
pub const fn unscaled(scaled: u16) -> Option<u64> {
    let (exponent, digits) = (scaled >> 10, (scaled & 1023) as u64);
    match exponent {
        0 => Some(digits),
        1..=54 => Some((1024 + digits) << (exponent - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Worked out by hand. 144,800 bytes are 8 << 10 | 107 (0x206b), and 2,500,000 bytes per second
    /// are 1220 << 11 (12 << 10 | 196: 0x30c4). 80,000 µs are 1250 << 6 (7 << 10 | 226: 0x1ce2);
    /// 139 and 2 stay the same.
    const BYTES: [u8; 12] = [0x11, 0, 0x20, 0x6b, 0x30, 0xc4, 0x1c, 0xe2, 0, 139, 0, 2];

    fn option() -> PathOption {
        PathOption {
            bound: Bound::Loss,
            window: 144_768,
            rate: 2_498_560,
            min_rtt_us: 80_000,
            sent: 139,
            lost: 2,
        }
    }

    #[test]
    fn the_layout_is_as_worked_out_by_hand() {
        assert_eq!(PathOption::read(&BYTES), Some(option()));
        assert_eq!(option().write(), BYTES);
        let written = PathOption { window: 144_800, rate: 2_500_000, ..option() }.write();
        assert_eq!(written, BYTES, "rounded down");
    }

    #[test]
    fn another_version_an_unknown_bound_and_impossible_figures_are_nothing() {
        for (at, byte) in [(0, 0x21), (0, 0x01), (0, 0x10), (0, 0x1f), (2, 0xdc), (10, 0xff)] {
            let mut bytes = BYTES;
            bytes[at] = byte;
            assert_eq!(PathOption::read(&bytes), None, "{byte:#x} at {at}");
        }
        // Bytes that a later version may use do not matter.
        let mut bytes = BYTES;
        bytes[1] = 0xff;
        assert_eq!(PathOption::read(&bytes), Some(option()));
    }

    #[test]
    fn a_report_never_says_that_more_was_lost_than_sent() {
        let network = "192.0.2.0/24".parse().unwrap();
        let report = PathOption { sent: 5, lost: 9, ..option() }.report(network);
        assert_eq!((report.sent, report.lost, report.rate), (5, 5, 8 * 2_498_560));
    }

    proptest! {
        #[test]
        fn a_scaled_number_is_within_a_thousandth_and_keeps_the_order(a: u64, b: u64, bits in 0..64_u32) {
            let (a, b) = (a >> bits, b >> bits);
            let back = unscaled(scaled(a)).unwrap();
            prop_assert!(back <= a && a - back <= a / 1024, "{a} {back}");
            let (less, more) = (a.min(b), a.max(b));
            prop_assert!(scaled(less) <= scaled(more), "{less} {more}");
        }

        #[test]
        fn what_was_read_is_written_as_it_was(value: [u8; 12]) {
            if let Some(option) = PathOption::read(&value) {
                let mut expected = value;
                expected[1] = 0;
                prop_assert_eq!(option.write(), expected);
            }
        }
    }
}
