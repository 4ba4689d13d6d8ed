//! Random choices from a seed.

use rand_core::Rng;
use rand_pcg::Pcg32;

/// A source of random choices; the same seed and stream make the same choices.
pub(crate) struct Dice(Pcg32);

impl Dice {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg32::new(seed, stream))
    }

    /// A number below `limit`, which is at least 1.
    pub(crate) fn draw_below(&mut self, limit: u64) -> u64 {
        u64::from(self.0.next_u32()) % limit.max(1)
    }

    /// A number from `from` up to and with `to`.
    pub(crate) fn draw_between(&mut self, from: u64, to: u64) -> u64 {
        from + self.draw_below(to.saturating_sub(from) + 1)
    }

    /// True in `percent` of 100 throws.
    pub(crate) fn draw_chance(&mut self, percent: u64) -> bool {
        self.draw_below(100) < percent
    }

    /// One of `list`, which is not empty.
    pub(crate) fn draw_one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.draw_below(list.len() as u64) as usize]
    }
}
