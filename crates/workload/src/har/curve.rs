//! Bytes that had been delivered by each instant of a recording.
//!
//! A recording has the times of a response's first and last byte. In between, its bytes are taken
//! to be delivered evenly. Times are milliseconds from the first request.

/// Delivery of one response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) from_ms: f64,
    pub(super) to_ms: f64,
    pub(super) bytes: f64,
}

/// Cumulative bytes over time: linear between its points, constant before the first and behind the
/// last.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    times_ms: Vec<f64>,
    bytes: Vec<f64>,
}

/// Responses without a duration are taken to last a microsecond: a curve has no steps.
const SHORTEST_MS: f64 = 1e-3;
/// Smaller differences in bytes between two points of a curve are rounding errors.
const MIN_BYTES: f64 = 1e-3;

impl Curve {
    pub(super) fn new(deliveries: &[Delivery]) -> Self {
        let mut changes: Vec<(f64, f64)> = Vec::with_capacity(2 * deliveries.len());
        for one in deliveries {
            let to_ms = one.to_ms.max(one.from_ms + SHORTEST_MS);
            let bytes_per_ms = one.bytes / (to_ms - one.from_ms);
            changes.extend([(one.from_ms, bytes_per_ms), (to_ms, -bytes_per_ms)]);
        }
        changes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut curve = Self::default();
        let (mut bytes_per_ms, mut bytes) = (0.0_f64, 0.0);
        for (at_ms, change) in changes {
            if let Some(before_ms) = curve.times_ms.last() {
                bytes += bytes_per_ms.max(0.0) * (at_ms - before_ms);
            }
            bytes_per_ms += change;
            curve.times_ms.push(at_ms);
            curve.bytes.push(bytes);
        }
        curve
    }

    /// Bytes delivered by an instant.
    pub(super) fn bytes_at(&self, at_ms: f64) -> f64 {
        interpolate(&self.times_ms, &self.bytes, at_ms)
    }

    /// The time at which `bytes` had been delivered, milliseconds; `None` if there are fewer.
    pub(super) fn time_ms_of(&self, bytes: f64) -> Option<f64> {
        let all = *self.bytes.last()?;
        (bytes <= all).then(|| interpolate(&self.bytes, &self.times_ms, bytes))
    }

    /// The time between two instants in which nothing was delivered, milliseconds.
    pub(super) fn idle_ms(&self, from_ms: f64, to_ms: f64) -> f64 {
        let points: Vec<(f64, f64)> = self.points_back(from_ms, to_ms).collect();
        let idle = points.windows(2).filter(|pair| pair[0].1 - pair[1].1 < MIN_BYTES);
        idle.map(|pair| pair[0].0 - pair[1].0).sum()
    }

    /// The points between two instants, both included, the last first: milliseconds and bytes.
    pub(super) fn points_back(
        &self,
        from_ms: f64,
        to_ms: f64,
    ) -> impl Iterator<Item = (f64, f64)> + '_ {
        let inner = self.times_ms.partition_point(|t| *t <= from_ms)
            ..self.times_ms.partition_point(|t| *t < to_ms);
        let inner = inner.rev().map(|index| (self.times_ms[index], self.bytes[index]));
        let ends = [to_ms, from_ms].map(|at_ms| (at_ms, self.bytes_at(at_ms)));
        ends.into_iter().take(1).chain(inner).chain([ends[1]])
    }
}

/// The value at `x` of the line through points in order of `xs`.
fn interpolate(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let next = xs.partition_point(|known| *known < x);
    match (next.checked_sub(1), xs.get(next)) {
        (_, None) => ys.last().copied().unwrap_or(0.0),
        (None, Some(_)) => ys[0],
        (Some(before), Some(after)) => {
            let share = (x - xs[before]) / (after - xs[before]);
            ys[before] + share * (ys[next] - ys[before])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Curve, Delivery};

    /// 100 bytes from 0 to 10 ms and 300 from 5 to 15: ten a millisecond, then forty, then thirty.
    fn two() -> Curve {
        Curve::new(&[
            Delivery { from_ms: 5.0, to_ms: 15.0, bytes: 300.0 },
            Delivery { from_ms: 0.0, to_ms: 10.0, bytes: 100.0 },
        ])
    }

    #[test]
    fn responses_add_up() {
        let curve = two();
        let expected =
            [(-1.0, 0.0), (2.0, 20.0), (5.0, 50.0), (7.0, 130.0), (12.0, 310.0), (99.0, 400.0)];
        for (at, bytes) in expected {
            assert!((curve.bytes_at(at) - bytes).abs() < 1e-6, "{at}: {}", curve.bytes_at(at));
        }
        assert!((curve.time_ms_of(130.0).unwrap() - 7.0).abs() < 1e-6);
        assert_eq!(curve.time_ms_of(401.0), None);
    }

    #[test]
    fn points_are_those_between_the_ends() {
        let points: Vec<f64> = two().points_back(5.0, 12.0).map(|(at, _)| at).collect();
        assert_eq!(points, [12.0, 10.0, 5.0]);
    }

    #[test]
    fn nothing_delivered_is_nothing() {
        let curve = Curve::new(&[]);
        assert_eq!((curve.bytes_at(3.0), curve.time_ms_of(1.0)), (0.0, None));
        let at_once = Curve::new(&[Delivery { from_ms: 2.0, to_ms: 2.0, bytes: 9.0 }]);
        assert_eq!((at_once.bytes_at(2.0), at_once.bytes_at(2.1)), (0.0, 9.0));
    }
}
