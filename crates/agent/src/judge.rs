//! Whether warm starts do harm: their retransmissions against those of all other connections, in blocks of so many
//! warm starts. The verdict of one block counts; what was before it is forgotten.

use crate::contract::Summary;

/// When windows are to be left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Retransmissions by segments sent: so many times as much as those of other connections.
    pub ratio: f64,
    /// Warm starts of a block.
    pub connections: u64,
}

/// What has closed since the last verdict.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judge {
    warm: Part,
    others: Part,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    closed: u64,
    sent: u64,
    again: u64,
}

impl Judge {
    /// Takes a connection into account; why windows are to be left alone from now on, if they are.
    pub fn add(&mut self, summary: &Summary, limit: &Limit) -> Option<String> {
        let part = if summary.is_warm { &mut self.warm } else { &mut self.others };
        part.closed += 1;
        part.sent += u64::from(summary.sent);
        part.again += u64::from(summary.retransmitted);
        // Without others there is nothing to compare with: the block goes on.
        if self.warm.closed < limit.connections || self.others.sent == 0 {
            return None;
        }
        let Self { warm, others } = std::mem::take(self);
        (warm.rate() > limit.ratio * others.rate_at_least_one()).then(|| {
            format!(
                "{} warm starts sent {:.2} % again, {} other connections {:.2} %: more than {} times as much",
                warm.closed,
                warm.rate() * 100.0,
                others.closed,
                others.rate() * 100.0,
                limit.ratio
            )
        })
    }
}

impl Part {
    fn rate(&self) -> f64 {
        self.again as f64 / self.sent.max(1) as f64
    }

    /// None may be chance: one is taken for none.
    fn rate_at_least_one(&self) -> f64 {
        self.again.max(1) as f64 / self.sent.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { ratio: 2.0, connections: 3 };

    fn closed(is_warm: bool, sent: u32, retransmitted: u32) -> Summary {
        let cold = Summary::from_bytes(&[0; Summary::SIZE]).unwrap();
        Summary { is_warm, sent, retransmitted, ..cold }
    }

    #[test]
    fn more_than_twice_as_much_over_a_block_is_too_much() {
        let mut judge = Judge::default();
        assert_eq!(judge.add(&closed(false, 100, 5), &LIMIT), None);
        for again in [0, 11] {
            assert_eq!(judge.add(&closed(true, 100, again), &LIMIT), None);
        }
        // 30 of 300 are twice 5 of 100: not more.
        assert_eq!(judge.add(&closed(true, 100, 19), &LIMIT), None);
        // A new block, where 31 of 300 are more.
        assert_eq!(judge.add(&closed(false, 100, 5), &LIMIT), None);
        for again in [0, 12] {
            assert_eq!(judge.add(&closed(true, 100, again), &LIMIT), None);
        }
        let why = judge.add(&closed(true, 100, 19), &LIMIT).unwrap();
        assert!(
            why.starts_with("3 warm starts sent 10.33 % again, 1 other connections 5.00 %"),
            "{why}"
        );
    }

    #[test]
    fn without_others_there_is_no_verdict_and_one_loss_of_many_is_none() {
        let mut judge = Judge::default();
        for _ in 0..10 {
            assert_eq!(judge.add(&closed(true, 100, 50), &LIMIT), None);
        }
        // 500 of 1000 against at least 1 of 100.
        assert!(judge.add(&closed(false, 100, 0), &LIMIT).is_some());
        judge.add(&closed(false, 10, 0), &LIMIT);
        judge.add(&closed(true, 10, 1), &LIMIT);
        judge.add(&closed(true, 10, 1), &LIMIT);
        // 3 of 30 against at least 1 of 10.
        assert_eq!(judge.add(&closed(true, 10, 1), &LIMIT), None);
    }
}
