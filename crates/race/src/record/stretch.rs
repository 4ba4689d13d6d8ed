//! Stretches of time, told by what begins and ends.

use units::Instant;

/// From an instant to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First instant.
    pub from: Instant,
    /// First instant after.
    pub to: Instant,
}

/// Something begins (+1) or ends (−1).
pub(crate) type Edge = (Instant, i64);

impl Stretch {
    /// Where more things have begun than ended. What ends at an instant at which another begins leaves no gap.
    pub(crate) fn covered(mut edges: Vec<Edge>) -> Vec<Self> {
        edges.sort_by_key(|(at, change)| (*at, -change));
        let mut stretches = Vec::new();
        let (mut depth, mut from) = (0, Instant::ZERO);
        for (at, change) in edges {
            if depth == 0 && change > 0 {
                from = at;
            }
            depth += change;
            if depth == 0 && at > from {
                stretches.push(Self { from, to: at });
            }
        }
        stretches
    }

    /// The part of it from `start` on and before `end`; `None` if there is none.
    pub(crate) fn within(self, start: Instant, end: Instant) -> Option<Self> {
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
        // 1 to 4 and 2 to 5 overlap, 5 to 6 follows at once, 8 to 9 stands alone, 9 to 9 is nothing.
        let edges = [(1, 1), (4, -1), (2, 1), (5, -1), (5, 1), (6, -1), (8, 1), (9, -1)];
        let covered = Stretch::covered(edges.map(|(nanos, change)| (at(nanos), change)).to_vec());
        let stretch = |from, to| Stretch { from: at(from), to: at(to) };
        assert_eq!(covered, [stretch(1, 6), stretch(8, 9)]);
        assert_eq!(covered[0].within(at(3), at(5)), Some(stretch(3, 5)));
        assert_eq!(covered[0].within(at(6), at(9)), None);
    }
}
