//! SYN cookies (Bernstein 1996; RFC 4987 §3.6). When the backlog is full, the contents of a SYN are
//! encoded in the numbers of the SYN-ACK, which the peer returns, and no state is kept.
//!
//! The layout is Linux's. Eight bits of the number count minutes; 24 are a keyed hash plus the
//! index of the segment size. If the peer has timestamps, the lowest six bits of ours carry the
//! other options; otherwise there are none. A guess succeeds once in 2^29, and only while SYNs have
//! overflowed recently.

use super::secret::Secret;
use crate::segment::{Flags, Segment, TcpOptions, Timestamps};
use crate::tuple::FourTuple;
use units::{Duration, Instant, SeqNum};

/// Duration of a count of the clock, and number of counts for which a cookie is valid.
const TICK: Duration = Duration::from_secs(64);
const MAX_TICKS: u32 = 2;
/// Segment sizes over IPv4 and IPv6 (Linux `msstab`): a cookie has the largest one that does not
/// exceed the peer's.
const SIZES: [[u16; 4]; 2] = [[536, 1300, 1440, 1460], [1220, 1420, 1440, 8940]];
/// Bits of a timestamp that carry options.
const OPTION_BITS: u32 = 6;
const SHIFT_MASK: u32 = 0xF;
const NO_SHIFT: u32 = 0xF;
const SACK: u32 = 0x10;
const ECN: u32 = 0x20;
const HASH_MASK: u32 = 0x00FF_FFFF;

/// The time at which the last cookie was sent: only then are cookies accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SynCookies {
    last_given: Option<Instant>,
}

impl SynCookies {
    /// True if cookies were sent recently enough to be returned.
    pub(super) fn are_out(&self, now: Instant) -> bool {
        self.last_given.is_some_and(|at| now.saturating_since(at) < TICK * u64::from(MAX_TICKS))
    }

    /// Returns the sequence number of a SYN-ACK that answers `syn`.
    pub(super) fn issue_cookie(
        &mut self,
        now: Instant,
        secret: &Secret,
        (tuple, syn): (&FourTuple, &Segment),
    ) -> SeqNum {
        self.last_given = Some(now);
        let size = syn.options.mss.unwrap_or(0);
        let index = sizes(tuple).iter().rposition(|known| *known <= size).unwrap_or(0) as u32;
        let count = count(now);
        let body = hash(secret, (tuple, syn.seq), Some(count)).wrapping_add(index) & HASH_MASK;
        SeqNum(base(secret, tuple, syn.seq).wrapping_add(count << 24).wrapping_add(body))
    }

    /// Returns the SYN that the peer must have sent, if `segment` acknowledges a cookie of ours:
    /// number, segment size and options.
    pub(super) fn take(
        &self,
        now: Instant,
        secret: &Secret,
        (tuple, segment): (&FourTuple, &Segment),
    ) -> Option<Segment> {
        if !self.are_out(now) || !segment.has(Flags::ACK) || segment.has(Flags::SYN) {
            return None;
        }
        let irs = segment.seq + u32::MAX;
        let cookie = (segment.ack + u32::MAX).0.wrapping_sub(base(secret, tuple, irs));
        let age = count(now).wrapping_sub(cookie >> 24) & 0xFF;
        if age >= MAX_TICKS {
            return None;
        }
        let made = hash(secret, (tuple, irs), Some(count(now).wrapping_sub(age)));
        let index = cookie.wrapping_sub(made) & HASH_MASK;
        let mss = *sizes(tuple).get(index as usize)?;
        Some(encoded_by(irs, mss, segment))
    }
}

/// Returns the SYN as far as the cookie and the echoed timestamp show it.
fn encoded_by(irs: SeqNum, mss: u16, segment: &Segment) -> Segment {
    let mut options = TcpOptions { mss: Some(mss), ..TcpOptions::default() };
    let mut flags = Flags::SYN;
    if let Some(ts) = segment.options.timestamps {
        let option_bits = ts.echo;
        options.timestamps = Some(Timestamps { value: ts.value, echo: 0 });
        options.sack_permitted = option_bits & SACK != 0;
        let shift = option_bits & SHIFT_MASK;
        options.window_scale = (shift != NO_SHIFT).then_some(shift as u8);
        if option_bits & ECN != 0 {
            // An ACE field of 2 or more answers a SYN-ACK of Accurate ECN (RFC 9768 §5.1).
            flags = flags.with_ace(if segment.flags.ace() > 1 { 7 } else { 3 });
        }
    }
    // A window never scales in a SYN; the one of the ACK is read with it at once.
    Segment { seq: irs, flags, options, window: segment.window, ..Segment::default() }
}

/// Returns the timestamp `clock` with the options of a SYN-ACK in its lowest bits, never later than
/// `clock`.
pub(super) fn marked(clock: u32, agreed: &TcpOptions, ecn: bool) -> u32 {
    let shift = agreed.window_scale.map_or(NO_SHIFT, u32::from).min(NO_SHIFT);
    let sack = if agreed.sack_permitted { SACK } else { 0 };
    let option_bits = shift | sack | if ecn { ECN } else { 0 };
    let carried = clock >> OPTION_BITS << OPTION_BITS | option_bits;
    if carried.wrapping_sub(clock) as i32 > 0 {
        carried.wrapping_sub(1 << OPTION_BITS)
    } else {
        carried
    }
}

fn sizes(tuple: &FourTuple) -> [u16; 4] {
    SIZES[usize::from(tuple.remote.is_ipv6())]
}

fn count(now: Instant) -> u32 {
    (now.as_nanos() / TICK.as_nanos()) as u32
}

fn hash(secret: &Secret, of: (&FourTuple, SeqNum), count: Option<u32>) -> u32 {
    secret.hash("syn cookie", (of.0, of.1.0, count)) as u32
}

/// Returns the offset that separates the numbers of one connection from those of others.
fn base(secret: &Secret, tuple: &FourTuple, irs: SeqNum) -> u32 {
    hash(secret, (tuple, irs), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{IpAddr, Ipv4Addr};

    const SECRET: Secret = Secret::Key([3; 16]);

    fn tuple(port: u16) -> FourTuple {
        let remote = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
        FourTuple { local_port: 80, remote, remote_port: port }
    }

    fn syn(seq: u32, mss: u16) -> Segment {
        let options = TcpOptions { mss: Some(mss), ..TcpOptions::default() };
        Segment { seq: SeqNum(seq), flags: Flags::SYN, options, ..Segment::default() }
    }

    fn ack(seq: u32, cookie: SeqNum) -> Segment {
        Segment { seq: SeqNum(seq) + 1, ack: cookie + 1, flags: Flags::ACK, ..Segment::default() }
    }

    fn after(secs: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(secs)
    }

    #[test]
    fn a_cookie_comes_back_with_its_segment_size_and_is_no_one_elses() {
        let mut cookies = SynCookies::default();
        let given = cookies.issue_cookie(after(100), &SECRET, (&tuple(7), &syn(5000, 1452)));
        let back = |now, port, segment| cookies.take(now, &SECRET, (&tuple(port), &segment));
        let segment = back(after(101), 7, ack(5000, given)).unwrap();
        // The largest size of the table that is not above 1452 is 1440.
        assert_eq!((segment.seq, segment.options.mss), (SeqNum(5000), Some(1440)));
        assert_eq!(back(after(101), 8, ack(5000, given)), None, "another port");
        assert_eq!(back(after(101), 7, ack(5001, given)), None, "another number");
        assert_eq!(back(after(101), 7, ack(5000, given + 0x100)), None, "a guess");
        // 100 s is in the second count of 64 s, 191 s in the third: the last in which it is good.
        assert!(back(after(191), 7, ack(5000, given)).is_some());
        assert_eq!(back(after(192), 7, ack(5000, given)), None, "too old");
    }

    #[test]
    fn without_an_overflow_nothing_is_a_cookie() {
        let mut flooded = SynCookies::default();
        let given = flooded.issue_cookie(after(1), &SECRET, (&tuple(7), &syn(5000, 1460)));
        let calm = SynCookies::default();
        assert_eq!(calm.take(after(1), &SECRET, (&tuple(7), &ack(5000, given))), None);
    }

    #[test]
    fn few_guesses_open_anything() {
        // 2 counts and 4 sizes of 2^32 numbers: of 2^20 guesses 2^-9 are expected to open.
        let mut cookies = SynCookies::default();
        cookies.issue_cookie(after(100), &SECRET, (&tuple(7), &syn(1, 1460)));
        let opened = (0..1_u32 << 20)
            .map(|n| ack(n.wrapping_mul(2_654_435_761), SeqNum(n.wrapping_mul(40_503))))
            .filter(|guess| cookies.take(after(100), &SECRET, (&tuple(7), guess)).is_some());
        assert_eq!(opened.count(), 0);
    }

    proptest! {
        /// Options go out in a timestamp and come back, and it is never in the future.
        #[test]
        fn a_timestamp_carries_the_options(clock: u32, shift in prop::option::of(0..=14_u8), sack: bool, ecn: bool) {
            let options = TcpOptions { window_scale: shift, sack_permitted: sack, ..TcpOptions::default() };
            let echo = marked(clock, &options, ecn);
            let late = clock.wrapping_sub(echo);
            prop_assert!(late < 64, "{late} ticks");
            let timestamps = Some(Timestamps { value: 9, echo });
            let back = Segment { options: TcpOptions { timestamps, ..TcpOptions::default() }, ..ack(0, SeqNum(0)) };
            let segment = encoded_by(SeqNum(0), 1460, &back);
            prop_assert_eq!(segment.options.window_scale, shift);
            prop_assert_eq!(segment.options.sack_permitted, sack);
            prop_assert_eq!(segment.has(Flags::ECE), ecn);
        }
    }
}
