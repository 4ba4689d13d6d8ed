//! First and repeated visits of a page.

use super::{Again, Contestant, Load};
use tcp::Scheme;
use units::Duration;

/// How often a client visits a page, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visits {
    /// Visits, at least 1.
    pub count: u32,
    /// From the end of a visit to the beginning of the next.
    pub idle: Duration,
    /// Servers behind each of the page's hosts, at least 1: the n-th visit goes to the n-th of them,
    /// in turn. They share a gateway, under schemes that ask one.
    pub site: u32,
    /// Each visit opens connections of its own, whatever HTTP keeps alive, as a browser does that was closed between.
    pub reconnects: bool,
}

impl Default for Visits {
    /// One visit.
    fn default() -> Self {
        Self { count: 1, idle: Duration::ZERO, site: 1, reconnects: false }
    }
}

/// Which visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// The kinds there are.
    pub fn kinds(self) -> &'static [VisitKind] {
        match self.count {
            0 | 1 => &[VisitKind::First],
            _ => &[VisitKind::First, VisitKind::Repeated],
        }
    }
}

impl Contestant {
    /// From the visits of each repeat.
    pub(super) fn new(scheme: &Scheme, repeats: impl Iterator<Item = Vec<Load>>) -> Self {
        let mut visits: Vec<Again> = Vec::new();
        for loads in repeats {
            for (n, load) in loads.into_iter().enumerate() {
                if visits.len() == n {
                    visits.push(Again { loads: Vec::new(), harm: Vec::new() });
                }
                visits[n].loads.push(load);
                visits[n].harm.push(None);
            }
        }
        let mut visits = visits.into_iter();
        let first = visits.next().unwrap_or(Again { loads: Vec::new(), harm: Vec::new() });
        Self {
            name: scheme.name().to_owned(),
            loads: first.loads,
            harm: first.harm,
            again: visits.collect(),
        }
    }

    /// Loads and harm of each visit of a kind.
    pub fn visits(&self, kind: VisitKind) -> Vec<(&[Load], &[Option<f64>])> {
        match kind {
            VisitKind::First => vec![(&self.loads, &self.harm)],
            VisitKind::Repeated => self.again.iter().map(|v| (&v.loads[..], &v.harm[..])).collect(),
        }
    }

    /// Loads of every visit, in order.
    pub(super) fn by_visit(&self) -> impl Iterator<Item = &[Load]> {
        std::iter::once(&self.loads[..]).chain(self.again.iter().map(|visit| &visit.loads[..]))
    }

    /// Every load.
    pub fn all_loads(&self) -> impl Iterator<Item = &Load> {
        self.by_visit().flatten()
    }

    /// Notes the harm of a repeat's visit.
    pub(super) fn set_harm(&mut self, (visit, repeat): (usize, usize), harm: Option<f64>) {
        match visit.checked_sub(1) {
            None => self.harm[repeat] = harm,
            Some(n) => self.again[n].harm[repeat] = harm,
        }
    }
}
