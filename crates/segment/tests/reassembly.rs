//! Compares the reassembly queue with a set of bytes.

use proptest::prelude::*;
use segment::receiver::{Arrival, Reassembly};
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reassembly_moves_over_exactly_the_bytes_that_arrived(
        pieces in prop::collection::vec((0u64..200, 1u64..30), 1..60)
    ) {
        let mut queue = Reassembly::default();
        let mut seen = BTreeSet::new();
        let mut rcv_nxt = 0;
        for (left, len) in pieces {
            let right = left + len;
            let known = (left..right).all(|b| seen.contains(&b));
            let before = rcv_nxt;
            let (arrival, duplicate) = queue.arrive(&mut rcv_nxt, left, right);
            prop_assert_eq!(matches!(arrival, Arrival::Duplicate), known);
            if let Some((l, r)) = duplicate {
                prop_assert!((l..r).all(|b| seen.contains(&b)), "reported what had not come");
            }
            seen.extend(left..right);
            let expected = (0..).find(|b| !seen.contains(b)).unwrap();
            prop_assert_eq!(rcv_nxt, expected);
            prop_assert!(rcv_nxt >= before);
            // SACK blocks: the range received last first, all of it received, none below `rcv_nxt`.
            let blocks: Vec<_> = queue.recent().collect();
            if left > rcv_nxt {
                prop_assert!(blocks[0].0 <= left && right <= blocks[0].1);
            }
            for (l, r) in blocks {
                prop_assert!(l > rcv_nxt && (l..r).all(|b| seen.contains(&b)));
                prop_assert!(!seen.contains(&(l - 1)) && !seen.contains(&r));
            }
        }
    }
}
