//! The hosts that have reported samples, by their labels of seven bits.

use super::survival::Weighted;

/// A set of reporters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReporterSet(u128);

impl ReporterSet {
    /// Collects the reporters of these samples.
    pub(super) fn of<'a>(samples: impl IntoIterator<Item = &'a Weighted>) -> Self {
        Self(samples.into_iter().fold(0, |bits, sample| bits | 1 << sample.reporter))
    }

    /// Returns the same without one of them.
    pub(super) const fn without(self, reporter: u8) -> Self {
        Self(self.0 & !(1 << reporter))
    }

    /// Returns the number of reporters.
    pub(super) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the labels of all reporters, in their order.
    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let next = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            (next < u128::BITS).then_some(next as u8)
        })
    }
}
