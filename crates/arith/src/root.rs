//! Integer roots.

/// The largest `r` with `r^3 <= n`, bit by bit from the top (at most 22 steps).
pub fn cube_root(n: u64) -> u64 {
    let mut root = 0_u64;
    for bit in (0..22).rev() {
        let candidate = root | 1 << bit;
        if u128::from(candidate).pow(3) <= u128::from(n) {
            root = candidate;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::cube_root;
    use proptest::prelude::*;

    #[test]
    fn roots_worked_by_hand() {
        assert_eq!(cube_root(0), 0);
        assert_eq!(cube_root(7), 1);
        assert_eq!(cube_root(8), 2);
        assert_eq!(cube_root(26), 2);
        assert_eq!(cube_root(27), 3);
        assert_eq!(cube_root(1 << 60), 1 << 20);
        // 2642245^3 = 18446724184312856125 < 2^64 <= 2642246^3.
        assert_eq!(cube_root(u64::MAX), 2_642_245);
    }

    proptest! {
        #[test]
        fn it_is_the_floor(n: u64) {
            let r = u128::from(cube_root(n));
            prop_assert!(r.pow(3) <= u128::from(n));
            prop_assert!((r + 1).pow(3) > u128::from(n));
        }
    }
}
