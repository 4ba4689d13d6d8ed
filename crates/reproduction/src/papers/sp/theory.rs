//! The optimal first window with and without the shift, over the share and the size.

use crate::papers::cases::{MAJORITY_SHARE, share_meeting};
use crate::papers::curve::{CurvePoint, Plot, PlotAxis};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::sample::Measured;
use crate::papers::unit::{PERCENT, PLAIN};
use arith::epoch::{PathShare, WindowChoice};

/// Largest share that is looked at.
const MAX_SHARE: u32 = 200;
/// Largest transfer, segments.
const MAX_SEGMENTS: u64 = 2000;
/// Figure 5's transfers and its shares.
const FIGURE_SIZES: [u64; 2] = [30, 100];
const FIGURE_SHARES: u32 = 100;
/// RFC 2414's first window with segments of 1 KB.
const RFC_2414: u32 = 4;

/// Returns a share of `capacity` segments, of a path whose receiver acknowledges each segment.
const fn share(capacity: u32) -> PathShare {
    PathShare { capacity, per_ack: 1 }
}

fn window(share: PathShare, segments: u64, shift: bool) -> u64 {
    share.initial_window(segments, WindowChoice { shift, not_below_bottom: false })
}

/// Returns every share with one and two segments per ACK.
fn path_shares() -> impl Iterator<Item = PathShare> {
    let of = |capacity| [1, 2].map(|per_ack| PathShare { capacity, per_ack });
    (1..=MAX_SHARE).flat_map(of)
}

fn largest(values: impl Iterator<Item = u64>) -> Measured {
    Measured::exact(values.max().unwrap_or(0) as f64)
}

/// Returns the findings on claim SP-1.
pub(super) fn sp_1() -> Findings {
    let mut findings = Findings::default();
    let sizes = || 1..=MAX_SEGMENTS;
    let excess = path_shares().flat_map(|share| {
        sizes().map(move |size| window(share, size, true).saturating_sub(u64::from(share.capacity)))
    });
    let line = FigureLine::new("segments above Wc, at most", PLAIN);
    findings.line(line.ours(largest(excess)).must(ClaimInterval::at_most(0.0)));
    for size in FIGURE_SIZES {
        let label =
            format!("steps of Wc from 1 to {FIGURE_SHARES} that leave the window, {size} segments");
        findings
            .line(FigureLine::new(label, PERCENT).ours(unchanged_share(size)).must(MAJORITY_SHARE));
        let label = format!("segments by which the window changes for each of Wc, {size} segments");
        findings.line(FigureLine::new(label, PLAIN).ours(slope(size)));
    }
    let below = (1..RFC_2414)
        .flat_map(|capacity| sizes().map(move |size| window(share(capacity), size, true)));
    let label = "first window where Wc is below RFC 2414's 4 segments, at most";
    findings
        .line(FigureLine::new(label, PLAIN).ours(largest(below)).also(ClaimInterval::at_most(3.0)));
    for per_ack in [1, 2] {
        let label =
            format!("round trips that the shift costs within an epoch, {per_ack} per ACK, at most");
        findings.line(
            FigureLine::new(label, PLAIN).ours(cost(per_ack)).also(ClaimInterval::at_most(1.0)),
        );
    }
    FIGURE_SIZES.iter().for_each(|size| _ = findings.plot(curves(*size)));
    findings
}

/// Returns the percentage of steps of the share by one segment that leave the window unchanged.
fn unchanged_share(size: u64) -> Measured {
    let step = |capacity| {
        let [before, after] = [capacity, capacity + 1].map(|c| window(share(c), size, true));
        Measured::exact(after.abs_diff(before) as f64)
    };
    let steps: Vec<Measured> = (1..FIGURE_SHARES).map(step).collect();
    share_meeting(ClaimInterval::at_most(0.0), &steps)
}

/// Returns the change of the window for each segment of the share, from the share whose one epoch
/// takes the whole transfer to the figure's largest.
fn slope(size: u64) -> Measured {
    let takes_all = |capacity: &u32| share(*capacity).epoch_size() >= size;
    let Some(first) = (1..FIGURE_SHARES).find(takes_all) else { return Measured::NOTHING };
    let [from, to] = [first, FIGURE_SHARES].map(|capacity| window(share(capacity), size, true));
    Measured::exact((to as f64 - from as f64) / f64::from(FIGURE_SHARES - first))
}

/// Returns the largest number of round trips that a transfer of less than an epoch takes longer
/// with the shift.
fn cost(per_ack: u32) -> Measured {
    let of_share = move |capacity: u32| {
        let share = PathShare { capacity, per_ack };
        let epoch = share.epoch_size();
        let extra = move |size| {
            let [without, with] =
                [false, true].map(|s| round_trips(window(share, size, s), size, per_ack));
            with.saturating_sub(without)
        };
        (1..epoch.min(MAX_SEGMENTS)).map(extra)
    };
    largest((1..=MAX_SHARE).flat_map(of_share))
}

/// Returns the number of round trips of a transfer that grows by a segment every `per_ack` round
/// trips and loses nothing.
fn round_trips(mut window: u64, segments: u64, per_ack: u32) -> u64 {
    let (mut sent, mut trips) = (0, 0);
    while sent < segments {
        sent += window;
        trips += 1;
        window += u64::from(trips % u64::from(per_ack) == 0);
    }
    trips
}

/// Plots Figure 5 for one size.
fn curves(size: u64) -> Plot {
    let title = format!("First window over the share, {size} segments (Figure 5)");
    let of = |shift| {
        let point = |capacity: u32| {
            let y = Measured::exact(window(share(capacity), size, shift) as f64);
            CurvePoint { x: f64::from(capacity), y }
        };
        (1..=FIGURE_SHARES).map(point).collect()
    };
    let mut plot = Plot::new(
        title,
        PlotAxis::new("Wc, segments", PLAIN),
        PlotAxis::new("first window, segments", PLAIN),
    );
    plot.smooth = true;
    plot.ours("with the shift", of(true)).ours("without", of(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example_takes_two_round_trips_either_way() {
        // 11 segments, Wc 10: from 9 two windows (9 + 10), with the shift from 5 (5 + 6).
        let [without, with] = [false, true].map(|shift| window(share(10), 11, shift));
        assert_eq!((without, with), (9, 5));
        assert_eq!([without, with].map(|w| round_trips(w, 11, 1)), [2, 2]);
    }

    #[test]
    fn windows_of_delayed_acks_grow_every_other_round_trip() {
        // Windows of 5 + 5 + 6 + 6 carry 22 segments, so 17 segments need the fourth.
        assert_eq!((round_trips(5, 16, 2), round_trips(5, 17, 2)), (3, 4));
    }
}
