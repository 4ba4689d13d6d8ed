//! The time axes of a page: one common to all schemes, one per scheme.

use crate::figure::axis::Span;
use crate::figure::canvas::Canvas;
use crate::figure::{Axis, AxisUnit, Figure};
use crate::format;
use crate::{LimitView, ObjectSpan, RaceReport, SchemeView};
use units::Instant;

/// From the start of the load to a last instant that is to be seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeRange {
    end_s: f64,
    /// End of the part that is in sight at first.
    home_s: f64,
}

/// Room at the right, so that the last event is not drawn on the border.
const ROOM: f64 = 1.03;
/// If events after the load stretch the axis by more than this factor, they are out of sight at
/// first.
const STRETCH: f64 = 2.0;
/// The time after the load that is in sight then, as a factor of the load's.
const AFTER_LOAD: f64 = 1.15;

impl TimeRange {
    /// Long enough for every object under every scheme and under the limit. If all loads end early,
    /// the part in sight ends with them.
    pub(crate) fn of_report(report: &RaceReport) -> Self {
        let loads = report.schemes.iter().flat_map(load_instants);
        let range = Self::until(loads.chain(limit_instants(&report.limit)));
        let done: Option<Vec<Instant>> = report.schemes.iter().map(|one| one.page_done).collect();
        range.up_to(done.and_then(|done| done.into_iter().chain(report.limit.page).max()))
    }

    /// Long enough for everything that happened under one scheme. The part in sight may end with
    /// its load.
    pub(crate) fn of_scheme(scheme: &SchemeView) -> Self {
        let sequence = scheme.connections.iter().flat_map(|c| &c.sequence).map(|p| p.at);
        let window = scheme.connections.iter().flat_map(|c| &c.window).map(|p| p.at);
        Self::until(load_instants(scheme).chain(sequence).chain(window)).up_to(scheme.page_done)
    }

    /// The range with only the loads in sight, if later events would stretch it.
    fn up_to(self, done: Option<Instant>) -> Self {
        match done.map_or(0.0, Instant::as_secs_f64) {
            done if done > 0.0 && self.end_s > STRETCH * ROOM * done => {
                Self { home_s: done * AFTER_LOAD, ..self }
            }
            _ => self,
        }
    }

    fn until(instants: impl Iterator<Item = Instant>) -> Self {
        let end = instants.max().unwrap_or(Instant::ZERO).as_secs_f64();
        let end_s = if end > 0.0 { end * ROOM } else { 1.0 };
        Self { end_s, home_s: end_s }
    }

    /// The axis for a figure.
    pub(crate) fn axis(&self) -> Axis {
        let range = Some((0.0, self.end_s));
        Axis { label: LABEL.to_owned(), unit: AxisUnit::Seconds, range, ..Axis::default() }
    }

    /// The axis for a waterfall.
    pub(crate) fn time_span(&self) -> Span {
        Span::of(&self.axis(), std::iter::empty()).with_home(self.home_s)
    }

    /// A figure along this axis, linked with others.
    pub(crate) fn canvas(&self, figure: &Figure, link: &str) -> Canvas {
        figure.to_canvas(Some(link), Some(self.home_s))
    }

    /// Whether an object begins after the part in sight.
    pub(crate) fn is_out_of_sight(&self, object: &ObjectSpan) -> bool {
        first_instant(object).as_secs_f64() > self.home_s
    }

    /// The objects that end after the part in sight, in words; `None` if there is none.
    pub(crate) fn objects_out_of_sight(&self, objects: &[ObjectSpan]) -> Option<String> {
        let ends = objects.iter().filter_map(|object| object_instants(object).max());
        let later: Vec<Instant> = ends.filter(|at| at.as_secs_f64() > self.home_s).collect();
        let last = format_instant(*later.iter().max()?);
        Some(format!("{} until {last}", units::counted(later.len(), "later object")))
    }
}

/// Label of all time axes.
pub(crate) const LABEL: &str = "time since the load began";

/// An instant by the rule of all times of the page.
pub(crate) fn format_instant(at: Instant) -> String {
    format::seconds(at.as_secs_f64())
}

/// An instant of a packet, to the microsecond: the next packet may follow within a millisecond.
pub(crate) fn format_exact(at: Instant) -> String {
    let micros = (at.as_nanos() + 500) / 1_000;
    format!("{}.{:03} ms", micros / 1_000, micros % 1_000)
}

/// The first instant of a row.
fn first_instant(object: &ObjectSpan) -> Instant {
    object.revealed.map_or(object.discovered, |at| at.min(object.discovered))
}

fn load_instants(scheme: &SchemeView) -> impl Iterator<Item = Instant> {
    let objects = scheme.objects.iter().flat_map(object_instants);
    let milestones = scheme.milestones.iter().filter_map(|milestone| milestone.at);
    objects.chain(milestones).chain(scheme.page_done)
}

fn limit_instants(limit: &LimitView) -> impl Iterator<Item = Instant> {
    limit.objects.iter().flat_map(object_instants).chain(limit.document).chain(limit.page)
}

fn object_instants(object: &ObjectSpan) -> impl Iterator<Item = Instant> {
    let later = [object.requested, object.first_byte, object.done].into_iter().flatten();
    later.chain([object.discovered])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_of_packets_are_rounded_to_microseconds() {
        let shown = |nanos| format_exact(Instant::from_nanos(nanos));
        assert_eq!((shown(1_999_499), shown(1_999_500)), ("1.999 ms".into(), "2.000 ms".into()));
    }
}
