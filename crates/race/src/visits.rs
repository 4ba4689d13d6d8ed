//! First and repeated visits of a page.

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
