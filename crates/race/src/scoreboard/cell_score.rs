//! Results of a scheme in one cell, over the seeds that it was run under.

use super::TIME_LIMIT;
use super::causes::CauseCounts;
use super::cell_setup::CellReference;
use super::run::TransferOutcome;
use serde::Serialize;
use units::Duration;

/// A scheme in one cell. Over several seeds, ratios are geometric means and differences means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellScore {
    /// Seconds; `None` if any transfer was not over.
    pub time_s: Option<f64>,
    /// Transfers that were not over, of all seeds.
    pub unfinished: u32,
    /// Time over the limit without handshakes.
    pub over_limit: f64,
    /// Time over `linux`'s under the same seed.
    pub over_linux: f64,
    /// Time less that limit, in round trips of the path.
    pub behind_rtts: f64,
    /// The background's time over that beside `linux`, less one; `None` without a background.
    pub harm: Option<f64>,
    /// The background's time over its time alone, over the same ratio under fair sharing, less one.
    pub harm_over_fair: Option<f64>,
    /// The share of the background's packets dropped, less that beside `linux`.
    pub harm_loss: Option<f64>,
    /// Causes of its lost time, over all seeds.
    pub causes: CauseCounts,
}

/// A cell's runs under each seed.
#[derive(Clone, Copy)]
pub(super) struct CellRuns<'a> {
    pub(super) reference: CellReference,
    /// The background's time beside nothing.
    pub(super) alone: &'a [Option<Duration>],
    pub(super) scheme: &'a [TransferOutcome],
    /// Outcomes of the baseline.
    pub(super) linux: &'a [TransferOutcome],
}

impl CellScore {
    pub(super) fn of(runs: CellRuns<'_>) -> Self {
        let CellRuns { reference, scheme, .. } = runs;
        let limit = nanos(reference.limit_without_handshake);
        let rtt = nanos(reference.rtt);
        let times = || scheme.iter().map(|one| Some(time(one)));
        let unfinished = scheme.iter().filter(|one| one.completion.is_none()).count() as u32;
        // All are there, so their means are.
        let of_all = |mean: Option<f64>| mean.unwrap_or(f64::NAN);
        Self {
            time_s: geometric(times()).filter(|_| unfinished == 0).map(|time| time / 1e9),
            unfinished,
            over_limit: of_all(geometric(times().map(|t| Some(t? / limit)))),
            over_linux: of_all(geometric(runs.pairs(|one| Some(time(one))).map(ratio))),
            behind_rtts: of_all(mean_of_present(times().map(|t| Some((t? - limit) / rtt)))),
            harm: geometric(runs.pairs(background).map(ratio)).map(|ratio| ratio - 1.0),
            harm_over_fair: geometric(runs.over_fair()).map(|ratio| ratio - 1.0),
            harm_loss: mean_of_present(
                runs.pairs(loss).map(|pair| pair.map(|(one, linux)| one - linux)),
            ),
            causes: scheme.iter().map(|one| one.causes).sum(),
        }
    }
}

/// A value of a scheme's outcome and of the baseline's.
type Pair = Option<(f64, f64)>;

impl<'a> CellRuns<'a> {
    fn pairs(self, value: fn(&TransferOutcome) -> Option<f64>) -> impl Iterator<Item = Pair> + 'a {
        let pairs = self.scheme.iter().zip(self.linux);
        pairs.map(move |(one, linux)| Some((value(one)?, value(linux)?)))
    }

    /// For each seed, the background's time over its time alone, over the same ratio under fair
    /// sharing.
    fn over_fair(self) -> impl Iterator<Item = Option<f64>> + 'a {
        let fair = self.reference.fair;
        let over = move |(one, alone): (&TransferOutcome, &Option<Duration>)| {
            Some(background(one)? / nanos((*alone)?) / fair)
        };
        self.scheme.iter().zip(self.alone).map(over)
    }
}

fn ratio(pair: Pair) -> Option<f64> {
    pair.map(|(one, linux)| one / linux)
}

fn nanos(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

fn time(outcome: &TransferOutcome) -> f64 {
    nanos(outcome.completion.unwrap_or(TIME_LIMIT).min(TIME_LIMIT))
}

/// A background that never had its bytes counts with the time limit; a background that is absent
/// sent none.
fn background(outcome: &TransferOutcome) -> Option<f64> {
    (outcome.background_packets > 0).then(|| nanos(outcome.background.unwrap_or(TIME_LIMIT)))
}

fn loss(outcome: &TransferOutcome) -> Option<f64> {
    let packets = outcome.background_packets;
    (packets > 0).then(|| outcome.background_drops as f64 / packets as f64)
}

/// Arithmetic mean of the present values; `None` if there is none.
fn mean_of_present(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Geometric mean of the present, positive values. A single one is its own mean to the last bit.
fn geometric(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    match values[..] {
        [one] => Some(one),
        _ => mean_of_present(values.into_iter().map(|v| Some(v.ln()))).map(f64::exp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(ms: Option<u64>, background: Option<(u64, u64)>) -> TransferOutcome {
        TransferOutcome {
            completion: ms.map(Duration::from_millis),
            background: background.map(|(ms, _)| Duration::from_millis(ms)),
            background_packets: background.map_or(0, |_| 100),
            background_drops: background.map_or(0, |(_, drops)| drops),
            causes: CauseCounts {
                lost_syns: 1,
                timeouts: 2,
                data_timeouts: 1,
                timeout_seconds: 0.25,
                probes: 3,
                retransmitted: 4,
            },
        }
    }

    /// The limit is at 100 ms without a handshake; a fair transfer makes the background take 1.25
    /// times as long.
    fn score(scheme: &[TransferOutcome], linux: &[TransferOutcome], alone: &[u64]) -> CellScore {
        let alone: Vec<_> = alone.iter().map(|ms| Some(Duration::from_millis(*ms))).collect();
        CellScore::of(CellRuns {
            reference: CellReference {
                rtt: Duration::from_millis(50),
                limit: Duration::from_millis(150),
                limit_without_handshake: Duration::from_millis(100),
                fair: 1.25,
            },
            alone: &alone,
            scheme,
            linux,
        })
    }

    fn near(a: Option<f64>, b: f64) {
        assert!((a.unwrap() - b).abs() < 1e-12, "{a:?} {b}");
    }

    #[test]
    fn a_cell_by_hand() {
        // The transfer takes 300 ms against 100 ms of the limit, four round trips of 50 ms more,
        // and 200 ms of linux. The background takes 1.1 s instead of 1 s and loses 3 of 100 packets
        // instead of 1. Alone it takes 0.8 s, so 1 s beside a fair transfer: a tenth more, too.
        let one = outcome(Some(300), Some((1100, 3)));
        let linux = outcome(Some(200), Some((1000, 1)));
        let cell = score(&[one], &[linux], &[800]);
        assert_eq!((cell.over_limit, cell.over_linux, cell.behind_rtts), (3.0, 1.5, 4.0));
        near(cell.harm, 0.1);
        near(cell.harm_over_fair, 0.1);
        near(cell.harm_loss, 0.02);
        assert_eq!((cell.time_s, cell.unfinished), (Some(0.3), 0));
        let cell = score(&[outcome(None, None)], &[linux], &[800]);
        // 600 s over 100 ms.
        assert_eq!((cell.over_limit, cell.harm, cell.time_s), (6000.0, None, None));
        assert_eq!((cell.harm_over_fair, cell.unfinished), (None, 1));
    }

    /// `linux` stalls for 3 s, so that its background has the path for itself: 0.8 s, as alone.
    /// Beside a transfer that takes its fair share at once the background takes 1 s. Harm holds a
    /// quarter against it, harm over fair nothing; that of `linux` itself is 0.8 / 1 − 1.
    #[test]
    fn a_stall_of_linux_makes_nobody_unfair() {
        let (one, linux) =
            (outcome(Some(200), Some((1000, 0))), outcome(Some(3200), Some((800, 0))));
        let cell = score(&[one], &[linux], &[800]);
        near(cell.harm, 0.25);
        near(cell.harm_over_fair, 0.0);
        near(score(&[linux], &[linux], &[800]).harm_over_fair, -0.2);
    }

    /// Twice `linux`'s time under one seed and half of it under the other cancel. Behind the limit
    /// of 100 ms are 300 ms and nothing: 3 round trips in the mean. The background takes 1.2 times
    /// as long, then 0.9 / 1.2 of that.
    #[test]
    fn seeds_of_a_cell_are_averaged_by_hand() {
        let scheme = [outcome(Some(400), Some((1200, 4))), outcome(Some(100), Some((900, 0)))];
        let linux = [outcome(Some(200), Some((1000, 2))), outcome(Some(200), Some((1200, 0)))];
        let cell = score(&scheme, &linux, &[800, 800]);
        assert!((cell.over_linux - 1.0).abs() < 1e-12 && (cell.over_limit - 2.0).abs() < 1e-12);
        near(cell.time_s, 0.2);
        assert_eq!(cell.behind_rtts, 3.0);
        near(cell.harm, 0.9f64.sqrt() - 1.0);
        near(cell.harm_loss, 0.01);
        // 1.2 and 0.9 over 1 of a fair one.
        near(cell.harm_over_fair, 1.08f64.sqrt() - 1.0);
        let CauseCounts { lost_syns, timeouts, data_timeouts, timeout_seconds, .. } = cell.causes;
        assert_eq!((lost_syns, timeouts, data_timeouts, timeout_seconds), (2, 4, 2, 0.5));
        assert_eq!((cell.causes.probes, cell.causes.retransmitted), (6, 8));
    }
}
