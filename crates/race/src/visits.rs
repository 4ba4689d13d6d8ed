//! First and repeated visits of a page.

use link::path::PathSpec;
use netsim::Duplex;
use units::{Duration, Rate};

/// Number and paths of a client's visits to a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visits {
    /// Visits, at least 1.
    pub count: u32,
    /// From the end of a visit to the beginning of the next.
    pub idle: Duration,
    /// Servers behind each of the page's hosts, at least 1: the n-th visit goes to the n-th of
    /// them, in turn. They share a gateway, under schemes that ask one.
    pub site: u32,
    /// Each visit opens connections of its own, whatever HTTP keeps alive, as a browser does that
    /// was closed between.
    pub reconnects: bool,
    /// Another line that some of the visits cross; `None`: all cross the race's path.
    pub other: Option<Alternation>,
}

/// Visits that alternate between the race's path and another line. The other line is first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alternation {
    /// The other line.
    pub line: OtherLine,
    /// Successive visits over one line, at least 1.
    pub every: u32,
}

/// A line beside the race's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OtherLine {
    /// The path of a second client, whose address is in the same /24 as the first client's.
    Neighbour(PathSpec),
    /// The race's path, with both directions at this rate. Its client is the same.
    Rate(Rate),
}

/// The line that a visit crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// The race's path.
    Path,
    /// [`Visits::other`].
    Other,
}

impl Default for Visits {
    /// One visit.
    fn default() -> Self {
        Self { count: 1, idle: Duration::ZERO, site: 1, reconnects: false, other: None }
    }
}

/// Kind of visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VisitKind {
    /// The first.
    First,
    /// All after it.
    Repeated,
}

impl VisitKind {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Repeated => "repeated",
        }
    }
}

impl Visits {
    /// True if connections stay open from one visit to the next, as far as HTTP lets them.
    pub const fn keep_open(self) -> bool {
        self.count > 1 && !self.reconnects
    }

    /// The line that the `n`-th visit crosses, from 0.
    pub fn crossing(self, n: u32) -> Crossing {
        match self.other {
            Some(other) if (n / other.every.max(1)).is_multiple_of(2) => Crossing::Other,
            _ => Crossing::Path,
        }
    }

    /// The path of a second client in the first one's /24, if there is one.
    pub const fn neighbour(self) -> Option<PathSpec> {
        match self.other {
            Some(Alternation { line: OtherLine::Neighbour(path), .. }) => Some(path),
            _ => None,
        }
    }

    /// The client that makes the `n`-th visit: 0 behind the race's path, 1 its neighbour.
    pub fn client(self, n: u32) -> usize {
        let is_neighbour = self.neighbour().is_some() && self.crossing(n) == Crossing::Other;
        usize::from(is_neighbour)
    }

    /// The loads of a client's visits, of those of all visits in their order.
    pub fn loads_of<T>(self, client: usize, loads: &mut [T]) -> Vec<&mut T> {
        let of_visits = (0..).zip(loads).filter(|(n, _)| self.client(*n) == client);
        of_visits.map(|(_, load)| load).collect()
    }

    /// Rates of the first client's line in the `n`-th visit; `None` if they never change.
    pub fn rates(self, n: u32, path: &PathSpec) -> Option<Duplex<Rate>> {
        let Some(Alternation { line: OtherLine::Rate(rate), .. }) = self.other else { return None };
        Some(match self.crossing(n) {
            Crossing::Other => Duplex::symmetric(rate),
            Crossing::Path => Duplex { forward: path.down(), reverse: path.up() },
        })
    }

    /// The kinds there are.
    pub fn kinds(self) -> &'static [VisitKind] {
        match self.count {
            0 | 1 => &[VisitKind::First],
            _ => &[VisitKind::First, VisitKind::Repeated],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alternating(line: OtherLine, every: u32) -> Visits {
        Visits { count: 8, other: Some(Alternation { line, every }), ..Visits::default() }
    }

    /// Pairs of visits alternate, the other line first. A neighbour is another client of a constant
    /// rate.
    #[test]
    fn visits_alternate_and_begin_with_the_other_line() {
        let path: PathSpec = "20mbit,80ms,100p,up=5mbit".parse().expect("a path");
        let visits = alternating(OtherLine::Neighbour(path), 2);
        let clients: Vec<_> = (0..8).map(|n| visits.client(n)).collect();
        assert_eq!(clients, [1, 1, 0, 0, 1, 1, 0, 0]);
        assert_eq!(visits.rates(0, &path), None);
        // The same client sees one rate both ways on the other line, and the path's own rates after
        // it.
        let slow = Rate::from_mbps(2);
        let visits = alternating(OtherLine::Rate(slow), 1);
        assert_eq!((visits.client(0), visits.client(1)), (0, 0));
        assert_eq!(visits.rates(0, &path), Some(Duplex::symmetric(slow)));
        let own = Duplex { forward: Rate::from_mbps(20), reverse: Rate::from_mbps(5) };
        assert_eq!(visits.rates(1, &path), Some(own));
        // All visits cross the path by default.
        assert!((0..3).all(|n| Visits::default().crossing(n) == Crossing::Path));
    }
}
