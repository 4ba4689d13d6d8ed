//! Which shard a connection belongs to.

use super::SHARDS;
use capture::{Observed, TcpEnd};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::net::IpAddr;

/// The shard of a segment's connection: the same for both directions.
#[inline]
pub(super) fn shard_of(segment: &Observed) -> usize {
    let (source, destination) = (word(&segment.source), word(&segment.destination));
    let mut hasher = FxHasher::default();
    hasher.write_u64(source.min(destination));
    hasher.write_u64(source.max(destination));
    // Its lower bits are the worse ones; the table of a shard uses others.
    (hasher.finish() >> 40) as usize % SHARDS
}

/// An end in a word: all of one of IPv4.
#[inline]
fn word(end: &TcpEnd) -> u64 {
    match end.ip {
        IpAddr::V4(ip) => u64::from(u32::from(ip)) << 16 | u64::from(end.port),
        IpAddr::V6(ip) => {
            let bits = u128::from(ip);
            (bits as u64 ^ (bits >> 64) as u64).rotate_left(16) ^ u64::from(end.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(port: u16, back: bool, v6: bool) -> Observed {
        let ip = |host: u16| match v6 {
            false => IpAddr::from([10, 0, 0, host as u8]),
            true => IpAddr::from([0x2001, 2, 0, 0, 0, 0, 0, host]),
        };
        let ends = [TcpEnd { ip: ip(1), port: 80 }, TcpEnd { ip: ip(2), port }];
        let [source, destination] = if back { [ends[1], ends[0]] } else { ends };
        Observed { source, destination, ..Observed::default() }
    }

    #[test]
    fn both_directions_are_of_one_shard_and_shards_have_much_the_same() {
        for v6 in [false, true] {
            let mut counts = [0; SHARDS];
            for port in 1_000..9_000 {
                let shard = shard_of(&segment(port, false, v6));
                assert_eq!(shard, shard_of(&segment(port, true, v6)));
                counts[shard] += 1;
            }
            // 8,000 connections: 1,000 each, with a deviation of 30.
            assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        }
    }
}
