//! Sums of a cell's repeats: times and retransmissions of stock Linux and of the agent.

use super::estimate::{RatioEstimate, RatioPart};
use super::verdict::HarmVerdict;
use race::{ClientTurn, Contestant, Crossing, MeasuredLoad, Visits};
use serde::Serialize;

/// One side's measured visits in one repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SideSum {
    pub(super) visits: u32,
    pub(super) seconds: f64,
    pub(super) segments: f64,
    pub(super) retransmitted: f64,
}

/// Both sides of one repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RepeatSums {
    pub(super) stock: SideSum,
    pub(super) agent: SideSum,
}

impl RepeatSums {
    /// Sums of stock Linux and of the agent, in this order.
    ///
    /// # Errors
    /// Fails like [`SideSum::of`], or if the world lacks one of them.
    pub(super) fn of(sides: &[Contestant], visits: Visits) -> Result<Self, String> {
        let [stock, agent] = sides else {
            return Err("the world lacks one of both schemes".to_owned());
        };
        Ok(Self { stock: SideSum::of(stock, visits)?, agent: SideSum::of(agent, visits)? })
    }
}

impl SideSum {
    /// The visits that count: those over the race's own path, without the client's first.
    ///
    /// # Errors
    /// The reason why a visit did not complete, or that the world did not count its segments.
    pub(super) fn of(contestant: &Contestant, visits: Visits) -> Result<Self, String> {
        let mut sum = Self::default();
        for load in contestant.counted().flat_map(|turn| counted_loads(turn, visits)) {
            sum.add(load).map_err(|why| format!("{}: {why}", contestant.name))?;
        }
        Ok(sum)
    }

    fn add(&mut self, load: &MeasuredLoad) -> Result<(), String> {
        let failure = || load.failure.clone().unwrap_or_else(|| "a visit has no time".to_owned());
        let page = load.page.ok_or_else(failure)?;
        let sent = load.sent.ok_or("no counter saw the segments at the link")?;
        self.visits += 1;
        self.seconds += page.as_secs_f64();
        self.segments += sent.all as f64;
        self.retransmitted += sent.retransmitted as f64;
        Ok(())
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            visits: self.visits + other.visits,
            seconds: self.seconds + other.seconds,
            segments: self.segments + other.segments,
            retransmitted: self.retransmitted + other.retransmitted,
        }
    }
}

fn counted_loads(turn: &ClientTurn, visits: Visits) -> impl Iterator<Item = &MeasuredLoad> {
    let all = (0..).zip(&turn.visits);
    let counts = move |n: u32| n > 0 && visits.crossing(n) == Crossing::Path;
    all.filter(move |(n, _)| counts(*n)).map(|(_, load)| load)
}

/// One side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HarmSide {
    /// Mean time of a visit, seconds.
    pub mean_s: f64,
    /// Data segments that the server sent on a connection, retransmissions included.
    pub segments: f64,
    /// Retransmitted data segments on a connection.
    pub retransmitted: f64,
}

impl HarmSide {
    fn of(sum: &SideSum, connections: u32) -> Self {
        let visits = f64::from(sum.visits.max(1));
        let of_connection = |count: f64| count / visits / f64::from(connections);
        Self {
            mean_s: sum.seconds / visits,
            segments: of_connection(sum.segments),
            retransmitted: of_connection(sum.retransmitted),
        }
    }
}

/// Results of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarmFigures {
    /// Repeats, each with a world of its own.
    pub repeats: u32,
    /// Visits that count, of each side.
    pub visits: u32,
    /// Linux without an agent.
    pub stock: HarmSide,
    /// Linux with the agent.
    pub agent: HarmSide,
    /// The agent's mean time over stock's.
    pub time_ratio: RatioEstimate,
    /// The agent's retransmitted segments minus stock's, over the segments that stock sent.
    pub extra_retransmissions: RatioEstimate,
    /// The figures, compared with their bounds.
    pub verdict: HarmVerdict,
}

impl HarmFigures {
    /// Figures of all repeats; `None` without any.
    pub(super) fn of(repeats: &[RepeatSums], connections: u32) -> Option<Self> {
        let part = |numerator, denominator| RatioPart { numerator, denominator };
        let ratio = |of: &dyn Fn(&RepeatSums) -> RatioPart| {
            RatioEstimate::of(&repeats.iter().map(of).collect::<Vec<_>>())
        };
        let time_ratio = ratio(&|both| part(both.agent.seconds, both.stock.seconds))?;
        let extra = |both: &RepeatSums| both.agent.retransmitted - both.stock.retransmitted;
        let extra_retransmissions = ratio(&|both| part(extra(both), both.stock.segments))?;
        let side = |of: fn(&RepeatSums) -> &SideSum| {
            let sum = repeats.iter().map(of).fold(SideSum::default(), SideSum::plus);
            (sum.visits, HarmSide::of(&sum, connections))
        };
        let (visits, stock) = side(|both| &both.stock);
        Some(Self {
            repeats: repeats.len() as u32,
            visits,
            stock,
            agent: side(|both| &both.agent).1,
            time_ratio,
            extra_retransmissions,
            verdict: HarmVerdict::of(&time_ratio, &extra_retransmissions),
        })
    }

    /// True if more repeats would hardly move the ratio of times.
    pub(super) fn is_known_within(&self, half_width: f64) -> bool {
        self.time_ratio.half_width.is_some_and(|half| half <= half_width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::path::PathSpec;
    use race::{Alternation, OtherLine, SentSegments, World};
    use units::Duration;

    fn load(ms: u64, all: u64, retransmitted: u64) -> MeasuredLoad {
        MeasuredLoad {
            page: Some(Duration::from_millis(ms)),
            sent: Some(SentSegments { all, retransmitted }),
            ..MeasuredLoad::default()
        }
    }

    fn contestant(visits: Vec<MeasuredLoad>) -> Contestant {
        let turn = ClientTurn { order: None, repeat: 0, is_redone: false, visits };
        Contestant { turns: vec![turn], ..Contestant::new("linux", World::Sim) }
    }

    /// The first visit does not count; the other two take 300 ms together.
    #[test]
    fn a_side_is_the_sum_of_its_repeated_visits() {
        let visits = Visits { count: 3, ..Visits::default() };
        let one = contestant(vec![load(500, 9, 9), load(100, 20, 1), load(200, 30, 2)]);
        let sum = SideSum::of(&one, visits).expect("all completed");
        assert_eq!((sum.visits, sum.segments, sum.retransmitted), (2, 50.0, 3.0));
        assert!((sum.seconds - 0.3).abs() < 1e-9);
    }

    /// Beside a neighbour, whose visits are the even ones, the odd ones count.
    #[test]
    fn a_neighbours_visits_do_not_count() {
        let path: PathSpec = "20mbit,80ms,100p".parse().expect("a path");
        let line = OtherLine::Neighbour(path);
        let other = Some(Alternation { line, every: 1 });
        let visits = Visits { count: 4, other, ..Visits::default() };
        let one = contestant(vec![load(1, 1, 0), load(2, 10, 0), load(4, 1, 0), load(8, 10, 0)]);
        let sum = SideSum::of(&one, visits).expect("all completed");
        assert_eq!((sum.visits, sum.segments), (2, 20.0));
        assert!((sum.seconds - 0.010).abs() < 1e-9);
    }

    #[test]
    fn what_is_missing_has_a_reason() {
        let visits = Visits { count: 2, ..Visits::default() };
        let broken = MeasuredLoad { failure: Some("reset".to_owned()), ..MeasuredLoad::default() };
        let why = SideSum::of(&contestant(vec![load(1, 1, 0), broken]), visits);
        assert_eq!(why, Err("linux: reset".to_owned()));
        let unseen = MeasuredLoad { sent: None, ..load(1, 1, 0) };
        let why = SideSum::of(&contestant(vec![load(1, 1, 0), unseen]), visits);
        assert!(why.is_err_and(|why| why.contains("no counter saw the segments")));
    }

    /// Two repeats of 10 visits over 2 connections: stock takes 1 s a visit and sends 100 segments,
    /// the agent takes 1.1 s and retransmits 3 more.
    #[test]
    fn figures_by_hand() {
        let side = |seconds, retransmitted| SideSum {
            visits: 10,
            seconds,
            segments: 1000.0,
            retransmitted,
        };
        let both = RepeatSums { stock: side(10.0, 20.0), agent: side(11.0, 50.0) };
        let figures = HarmFigures::of(&[both, both], 2).expect("two repeats");
        assert_eq!((figures.repeats, figures.visits), (2, 20));
        assert_eq!((figures.stock.mean_s, figures.agent.mean_s), (1.0, 1.1));
        assert_eq!((figures.stock.segments, figures.stock.retransmitted), (50.0, 1.0));
        assert_eq!(figures.agent.retransmitted, 2.5);
        assert!((figures.time_ratio.value - 1.1).abs() < 1e-9);
        assert!((figures.extra_retransmissions.value - 0.03).abs() < 1e-9);
        assert!(figures.is_known_within(0.01));
        assert_eq!(HarmFigures::of(&[], 2), None);
    }
}
