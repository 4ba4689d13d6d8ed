//! Which shard a connection belongs to.

use super::SHARDS;
use crate::table::SegmentEnds;

/// The shard of a segment's connection: the same for both directions.
#[inline]
pub(super) const fn shard_of(ends: &SegmentEnds) -> usize {
    // Its lower bits are the worse ones; the table of a shard uses others.
    (ends.hash >> 40) as usize % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use capture::{Observed, TcpEnd};
    use std::net::IpAddr;

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
                let of = |back| shard_of(&SegmentEnds::of(&segment(port, back, v6)));
                let shard = of(false);
                assert_eq!(shard, of(true));
                counts[shard] += 1;
            }
            // 8,000 connections: 1,000 each, with a deviation of 30.
            assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        }
    }
}
