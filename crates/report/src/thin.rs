//! Downsampling that keeps what a reader looks for.
//!
//! A page load makes thousands of points where a figure has hundreds of pixels. Curves keep, in
//! each slice of the axis, their first, last, lowest and highest point, so no peak, trough or end
//! is ever lost ([`envelope`]). Events (drops, retransmissions, changes of cause) are all kept up
//! to a budget. Above it they are thinned evenly, with the first and last among the survivors
//! ([`evenly`]); the caption then has both numbers.
//!
//! Both return indices, ascending, so that a caller can join several choices ([`union`]).

/// Position of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    /// Its position along the axis.
    pub(crate) x: f64,
    /// Its lowest value.
    pub(crate) low: f64,
    /// Its highest value.
    pub(crate) high: f64,
}

impl Extent {
    /// The extent of a point with one value.
    pub(crate) const fn of(x: f64, y: f64) -> Self {
        Self { x, low: y, high: y }
    }
}

/// Points an [`envelope`] may keep of one slice.
const PER_SLICE: usize = 4;

/// At most `max` of the points (four if `max` is 1 to 3, none if 0). Among them are the first, the
/// last, the lowest and the highest of all, and of each of `max / 4` equal slices. Points are
/// ascending in x.
pub(crate) fn thin_to_envelope(points: &[Extent], max: usize) -> Vec<usize> {
    if points.len() <= max || max == 0 {
        return (0..points.len().min(max)).collect();
    }
    let slices = (max / PER_SLICE).max(1);
    let mut kept = Vec::with_capacity(slices * PER_SLICE);
    let mut start = 0;
    while start < points.len() {
        let slice = slice_of(points, start, slices);
        let len =
            points[start..].iter().take_while(|p| in_slice(points, p.x, slices) == slice).count();
        keep_extremes(points, start..start + len.max(1), &mut kept);
        start += len.max(1);
    }
    kept
}

fn slice_of(points: &[Extent], at: usize, slices: usize) -> usize {
    in_slice(points, points[at].x, slices)
}

fn in_slice(points: &[Extent], x: f64, slices: usize) -> usize {
    let (first, last) = (points[0].x, points[points.len() - 1].x);
    if last <= first {
        return 0;
    }
    // `as` saturates; the last point would open one slice more.
    (((x - first) / (last - first) * slices as f64) as usize).min(slices - 1)
}

fn keep_extremes(points: &[Extent], range: std::ops::Range<usize>, kept: &mut Vec<usize>) {
    let (first, last) = (range.start, range.end - 1);
    let lowest = range.clone().reduce(|a, b| if points[b].low < points[a].low { b } else { a });
    let highest = range.reduce(|a, b| if points[b].high > points[a].high { b } else { a });
    let mut chosen = [first, lowest.unwrap_or(first), highest.unwrap_or(first), last];
    chosen.sort_unstable();
    for index in chosen {
        if kept.last() != Some(&index) {
            kept.push(index);
        }
    }
}

/// At most `max` of `len` events, spread evenly by index, the first and (from two on) last
/// included.
pub(crate) fn evenly(len: usize, max: usize) -> Vec<usize> {
    match max {
        _ if len <= max => (0..len).collect(),
        0 => Vec::new(),
        1 => vec![0],
        _ => (0..max).map(|i| i * (len - 1) / (max - 1)).collect(),
    }
}

/// Both choices, ascending, each index once.
pub(crate) fn union(mut a: Vec<usize>, b: &[usize]) -> Vec<usize> {
    a.extend_from_slice(b);
    a.sort_unstable();
    a.dedup();
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lone_peak_survives_a_thousandfold_thinning() {
        let mut points: Vec<Extent> = (0..4000).map(|i| Extent::of(f64::from(i), 1.0)).collect();
        points[1234].high = 9.0;
        points[2345].low = -9.0;
        let kept = thin_to_envelope(&points, 4);
        assert_eq!(kept, [0, 1234, 2345, 3999]);
    }

    #[test]
    fn events_are_spread_and_keep_their_ends() {
        assert_eq!(evenly(3, 5), [0, 1, 2]);
        // Steps of (10 − 1) / (4 − 1) = 3.
        assert_eq!(evenly(10, 4), [0, 3, 6, 9]);
        assert_eq!(evenly(10, 1), [0]);
        assert!(evenly(10, 0).is_empty());
    }

    fn points() -> impl Strategy<Value = Vec<Extent>> {
        let point = (0.0..1e3f64, -1e6..1e6f64, 0.0..1e6f64).prop_map(|(x, low, height)| Extent {
            x,
            low,
            high: low + height,
        });
        prop::collection::vec(point, 1..400).prop_map(|mut points| {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points
        })
    }

    fn lowest(points: &[Extent], kept: &[usize]) -> f64 {
        kept.iter().map(|&i| points[i].low).fold(f64::INFINITY, f64::min)
    }

    fn highest(points: &[Extent], kept: &[usize]) -> f64 {
        kept.iter().map(|&i| points[i].high).fold(f64::NEG_INFINITY, f64::max)
    }

    proptest! {
        /// The extremes and ends of all points and of each slice survive within the budget.
        #[test]
        fn extremes_survive(points in points(), max in 4usize..80) {
            let kept = thin_to_envelope(&points, max);
            prop_assert!(kept.len() <= max);
            prop_assert!(kept.windows(2).all(|w| w[0] < w[1]));
            prop_assert_eq!(kept.first(), Some(&0));
            prop_assert_eq!(kept.last(), Some(&(points.len() - 1)));
            let all: Vec<usize> = (0..points.len()).collect();
            for slice in 0..max / PER_SLICE {
                let inside = |i: &&usize| slice_of(&points, **i, max / PER_SLICE) == slice;
                let (of_all, of_kept): (Vec<usize>, Vec<usize>) =
                    (all.iter().filter(inside).copied().collect(), kept.iter().filter(inside).copied().collect());
                prop_assert_eq!(lowest(&points, &of_all), lowest(&points, &of_kept));
                prop_assert_eq!(highest(&points, &of_all), highest(&points, &of_kept));
            }
        }

        #[test]
        fn evenly_stays_in_budget_and_in_order(len in 0usize..2000, max in 0usize..200) {
            let kept = evenly(len, max);
            prop_assert_eq!(kept.len(), len.min(max));
            prop_assert!(kept.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(max < 2 || len == 0 || kept.last() == Some(&(len - 1)));
        }
    }
}
