//! The time axes of a page: one common to all schemes, one per scheme.

use crate::figure::axis::Span;
use crate::figure::{Axis, AxisUnit};
use crate::{LimitView, ObjectSpan, RaceReport, SchemeView};
use units::Instant;

/// From the start of the load to a last instant that is to be seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeRange {
    end_s: f64,
}

/// Room at the right, so that what ends last is not drawn on the edge.
const ROOM: f64 = 1.03;

impl TimeRange {
    /// Long enough for every object under every scheme and under the limit.
    pub(crate) fn of_report(report: &RaceReport) -> Self {
        let loads = report.schemes.iter().flat_map(load_instants);
        Self::until(loads.chain(limit_instants(&report.limit)))
    }

    /// Long enough for everything that happened under one scheme.
    pub(crate) fn of_scheme(scheme: &SchemeView) -> Self {
        let sequence = scheme.connections.iter().flat_map(|c| &c.sequence).map(|p| p.at);
        let window = scheme.connections.iter().flat_map(|c| &c.window).map(|p| p.at);
        Self::until(load_instants(scheme).chain(sequence).chain(window))
    }

    fn until(instants: impl Iterator<Item = Instant>) -> Self {
        let end = instants.max().unwrap_or(Instant::ZERO).as_secs_f64();
        Self { end_s: if end > 0.0 { end * ROOM } else { 1.0 } }
    }

    /// The axis for a figure.
    pub(crate) fn axis(&self) -> Axis {
        let range = Some((0.0, self.end_s));
        Axis { label: LABEL.to_owned(), unit: AxisUnit::Seconds, range, ..Axis::default() }
    }

    /// The same, settled.
    pub(crate) fn span(&self) -> Span {
        Span::time(self.end_s)
    }
}

/// What every time axis measures.
pub(crate) const LABEL: &str = "time since the load began";

/// An instant for a tooltip, to the microsecond.
pub(crate) fn exact(at: Instant) -> String {
    let micros = at.as_nanos() / 1_000;
    format!("{}.{:03} ms", micros / 1_000, micros % 1_000)
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
