//! Whether warm starts do harm: what they send again against what those of the control group send again, size by size, in blocks of so
//! many warm starts. The verdict of one block counts; what was before it is forgotten.
//!
//! Of each size the connections of the control group tell how much of what is sent goes again anyway; that, of what the warm ones
//! have sent, is expected. More than so many times as much is too much, unless it may be chance: unless the interval of
//! 95 % reaches down to what was expected. Where too few are in the control group, all other connections stand in for them.

use crate::compare::{ConfidenceInterval, FEWEST, Z};
use crate::contract::ConnectionSummary;
use crate::totals::{SIZES, class_of};

/// When windows are to be left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarmLimit {
    /// Retransmissions by segments sent: so many times as much as those of other connections.
    pub ratio: f64,
    /// Warm starts of a block.
    pub connections: u64,
}

/// What has closed since the last verdict.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judge {
    warm: Side,
    control_group: Side,
    /// In the control group without a memory, or cold for want of one.
    cold: Side,
}

/// By size.
#[derive(Clone, Copy, Debug, Default)]
struct Side([Part; SIZES.len() + 1]);

/// Sums over connections of their segments sent and sent again.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    closed: u64,
    sent: f64,
    again: f64,
    sent_squared: f64,
    again_squared: f64,
    product: f64,
}

impl Judge {
    /// Takes a connection into account; why windows are to be left alone from now on, if they are.
    pub fn add(&mut self, summary: &ConnectionSummary, limit: &HarmLimit) -> Option<String> {
        self.side_of(summary).0[class_of(summary.bytes_acked)].add(summary);
        let (others, are) = self.others();
        // Without others there is nothing to compare with: the block goes on.
        if self.warm.all().closed < limit.connections || others.all().sent == 0.0 {
            return None;
        }
        let warm = std::mem::take(self).warm;
        let by = times_as_much(&warm, &others)?;
        (by.estimate > limit.ratio && by.low > 1.0).then(|| {
            format!(
                "{} warm starts sent {:.2} % again, {:.1} ({:.1} to {:.1}) times as much as {} {are}, size by size: more than {}",
                warm.all().closed,
                warm.all().rate() * 100.0,
                by.estimate,
                by.low,
                by.high,
                others.all().closed,
                limit.ratio
            )
        })
    }

    /// Whoever has begun warm, at first or after idle, may have done harm.
    fn side_of(&mut self, summary: &ConnectionSummary) -> &mut Side {
        if summary.is_warm || summary.restarts > 0 {
            &mut self.warm
        } else if summary.in_control_group && summary.would > 0 {
            &mut self.control_group
        } else {
            &mut self.cold
        }
    }

    fn others(&self) -> (Side, &'static str) {
        if self.control_group.all().closed >= FEWEST {
            return (self.control_group, "of the control group");
        }
        let mut all = self.control_group;
        for (part, cold) in all.0.iter_mut().zip(&self.cold.0) {
            part.merge(cold);
        }
        (all, "other connections")
    }
}

/// What `warm` has sent again by what `others` would have, of the same sizes; `None` if it has sent nothing again. The
/// interval takes connections for independent, and a single retransmission for chance.
fn times_as_much(warm: &Side, others: &Side) -> Option<ConfidenceInterval> {
    let whole = others.all();
    let again = warm.all().again;
    if again == 0.0 {
        return None;
    }
    // Sizes of which there are few are judged by all.
    let mut rest = Part::default();
    let (mut expected, mut error) = (0.0, 0.0);
    let mut expect = |sent: f64, by: &Part| {
        expected += sent * by.rate_at_least_one();
        error += (sent / by.sent).powi(2) * by.scatter();
    };
    for (warm, other) in warm.0.iter().zip(&others.0) {
        if other.closed >= FEWEST && other.again > 0.0 {
            expect(warm.sent, other);
        } else {
            rest.merge(warm);
        }
    }
    expect(rest.sent, &whole);
    let own: f64 = warm.0.iter().map(Part::scatter).sum();
    let half = Z * (own / again.powi(2) + error / expected.powi(2)).sqrt();
    let estimate = again / expected;
    Some(ConfidenceInterval {
        estimate,
        low: estimate * (-half).exp(),
        high: estimate * half.exp(),
    })
}

impl Side {
    fn all(&self) -> Part {
        let mut all = Part::default();
        self.0.iter().for_each(|part| all.merge(part));
        all
    }
}

impl Part {
    fn add(&mut self, summary: &ConnectionSummary) {
        let (sent, again) = (f64::from(summary.sent), f64::from(summary.retransmitted));
        self.merge(&Self {
            closed: 1,
            sent,
            again,
            sent_squared: sent * sent,
            again_squared: again * again,
            product: sent * again,
        });
    }

    fn merge(&mut self, other: &Self) {
        self.closed += other.closed;
        self.sent += other.sent;
        self.again += other.again;
        self.sent_squared += other.sent_squared;
        self.again_squared += other.again_squared;
        self.product += other.product;
    }

    fn rate(&self) -> f64 {
        self.again / self.sent.max(1.0)
    }

    /// None may be chance: one is taken for none.
    fn rate_at_least_one(&self) -> f64 {
        self.again.max(1.0) / self.sent.max(1.0)
    }

    /// Squared standard error of what was sent again, of a ratio estimate: squares, added up, of how far each connection
    /// is from the common rate. Not below that of one retransmission.
    fn scatter(&self) -> f64 {
        let rate = self.rate();
        let squares =
            self.again_squared - 2.0 * rate * self.product + rate * rate * self.sent_squared;
        squares.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: HarmLimit = HarmLimit { ratio: 2.0, connections: 3 };

    fn closed(is_warm: bool, sent: u32, retransmitted: u32) -> ConnectionSummary {
        let cold = ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).unwrap();
        ConnectionSummary { is_warm, sent, retransmitted, ..cold }
    }

    fn control(sent: u32, retransmitted: u32) -> ConnectionSummary {
        ConnectionSummary {
            in_control_group: true,
            would: 20,
            ..closed(false, sent, retransmitted)
        }
    }

    #[test]
    fn more_than_twice_as_much_over_a_block_is_too_much() {
        let mut judge = Judge::default();
        assert_eq!(judge.add(&closed(false, 1000, 50), &LIMIT), None);
        for again in [100, 100] {
            assert_eq!(judge.add(&closed(true, 1000, again), &LIMIT), None);
        }
        // 300 of 3000 are twice 50 of 1000: not more.
        assert_eq!(judge.add(&closed(true, 1000, 100), &LIMIT), None);
        // A new block, where 310 of 3000 are more.
        assert_eq!(judge.add(&closed(false, 1000, 50), &LIMIT), None);
        for again in [100, 100] {
            assert_eq!(judge.add(&closed(true, 1000, again), &LIMIT), None);
        }
        let why = judge.add(&closed(true, 1000, 110), &LIMIT).unwrap();
        assert!(
            why.starts_with("3 warm starts sent 10.33 % again, 2.1 (")
                && why.contains("times as much as 1 other connections"),
            "{why}"
        );
    }

    #[test]
    fn what_may_be_chance_is_no_harm() {
        let mut judge = Judge::default();
        // One of 100 goes again of the others; of the warm ones 9 of 300, all by one connection.
        judge.add(&closed(false, 100, 1), &LIMIT);
        judge.add(&closed(true, 100, 9), &LIMIT);
        judge.add(&closed(true, 100, 0), &LIMIT);
        // 3 were expected: three times as much. At a rate of 0.03 their squares are (9 - 3)² + 2 · 3² = 54, of 9² two thirds; those
        // of the others 1 of 1²: the interval begins at 3 · e^(-1.96 √(2/3 + 1)) = 0.24.
        assert_eq!(judge.add(&closed(true, 100, 0), &LIMIT), None);
    }

    #[test]
    fn like_is_held_against_like() {
        // Control group: short ones send nothing again, long ones a tenth. All warm ones are long and send a tenth again: by
        // the mean of all its connections (100 of 11,000) ten times as much, by their own size as much as expected.
        let limit = HarmLimit { ratio: 2.0, connections: 20 };
        let long =
            |summary: ConnectionSummary| ConnectionSummary { bytes_acked: 1_000_000, ..summary };
        let mut judge = Judge::default();
        for _ in 0..100 {
            judge.add(&control(100, 0), &limit);
        }
        for _ in 0..10 {
            judge.add(&long(control(100, 10)), &limit);
        }
        let all =
            (0..20).map(|_| judge.add(&long(closed(true, 100, 10)), &limit)).collect::<Vec<_>>();
        assert!(all.iter().all(Option::is_none), "{all:?}");
        // A loss of three in ten is three times as much, and not chance: the interval's half is that of the scatter of at
        // least 1 on both sides, 1.96 √(1/600² + (1/100)²) in logarithms.
        for _ in 0..10 {
            judge.add(&long(control(100, 10)), &limit);
        }
        let why = (0..20).find_map(|_| judge.add(&long(closed(true, 100, 30)), &limit)).unwrap();
        assert!(why.contains("3.0 (2.9 to 3.1) times as much as 10 of the control group"), "{why}");
    }

    #[test]
    fn first_visits_count_only_where_too_few_are_control() {
        let limit = HarmLimit { ratio: 2.0, connections: 1 };
        let mut judge = Judge::default();
        // First visits send a half again, the control group a hundredth.
        judge.add(&closed(false, 1000, 500), &limit);
        for _ in 0..9 {
            judge.add(&control(100, 1), &limit);
        }
        assert_eq!(judge.clone().add(&closed(true, 1000, 200), &limit), None);
        judge.add(&control(100, 1), &limit);
        assert!(
            judge
                .add(&closed(true, 1000, 200), &limit)
                .unwrap()
                .contains("10 of the control group")
        );
    }

    #[test]
    fn a_warm_start_after_idle_is_one_too() {
        let limit = HarmLimit { ratio: 2.0, connections: 1 };
        let mut judge = Judge::default();
        judge.add(&closed(false, 1000, 10), &limit);
        let restarted = ConnectionSummary { restarts: 1, ..closed(false, 1000, 100) };
        assert!(judge.add(&restarted, &limit).is_some());
    }

    #[test]
    fn without_others_there_is_no_verdict_and_one_loss_of_many_is_none() {
        let mut judge = Judge::default();
        for _ in 0..10 {
            assert_eq!(judge.add(&closed(true, 100, 50), &LIMIT), None);
        }
        // 500 of 1000 against at least 1 of 100: fifty times, and seven times (50 · e^-1.96) if that one was chance.
        assert!(judge.add(&closed(false, 100, 0), &LIMIT).is_some());
        judge.add(&closed(false, 10, 0), &LIMIT);
        judge.add(&closed(true, 10, 1), &LIMIT);
        judge.add(&closed(true, 10, 1), &LIMIT);
        // 3 of 30 against at least 1 of 10.
        assert_eq!(judge.add(&closed(true, 10, 1), &LIMIT), None);
    }
}
