//! Stretches of time, built from their begins and ends.

use units::Instant;

/// Interval from an instant to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First instant.
    pub from: Instant,
    /// First instant after.
    pub to: Instant,
}

/// A stretch begins (+1) or ends (−1).
pub(crate) type StretchBound = (Instant, i64);

impl Stretch {
    /// Returns the time that lies in at least one of them. If one ends at the instant at which
    /// another begins, there is no gap.
    pub(crate) fn union(stretches: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut sorted: Vec<Self> = stretches.collect();
        sorted.sort_by_key(|stretch| stretch.from);
        let mut union: Vec<Self> = Vec::with_capacity(sorted.len());
        for stretch in sorted {
            match union.last_mut() {
                Some(last) if stretch.from <= last.to => last.to = last.to.max(stretch.to),
                _ => union.push(stretch),
            }
        }
        union
    }

    /// The part of it from `start` on and before `end`; `None` if there is none.
    pub(crate) fn clipped_to(self, start: Instant, end: Instant) -> Option<Self> {
        let (from, to) = (self.from.max(start), self.to.min(end));
        (from < to).then_some(Self { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn what_overlaps_or_touches_is_one_stretch() {
        // 1 to 4 and 2 to 5 overlap, 3 to 4 is within, 5 to 6 follows at once, 8 to 9 stands alone.
        let stretch = |from, to| Stretch { from: at(from), to: at(to) };
        let all = [(1, 4), (5, 6), (8, 9), (2, 5), (3, 4)].map(|(from, to)| stretch(from, to));
        let union = Stretch::union(all.into_iter());
        assert_eq!(union, [stretch(1, 6), stretch(8, 9)]);
        assert_eq!(union[0].clipped_to(at(3), at(5)), Some(stretch(3, 5)));
        assert_eq!(union[0].clipped_to(at(6), at(9)), None);
    }
}
