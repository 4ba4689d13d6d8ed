//! Two schemes' loads of the page beside each other: a row per object, a lane in it per scheme, one
//! axis of time.
//!
//! The lanes refer to the bars in the schemes' panels, so a choice of other schemes (`script.js`)
//! draws no bar again.

use super::Context;
use super::chart::{ChartRow, RowChart, UprightLine};
use super::legend::legend_markup;
use super::times::format_instant;
use super::waterfall::{bar_id, limit_lines, phase_entries};
use crate::ObjectSpan;
use crate::figure::Colour;
use maud::{Markup, html};
use svg::node::element::{Group, Path, Use};

/// A lane of a row.
struct Lane {
    class: &'static str,
    /// Beside the line at the end of its load.
    name: &'static str,
    /// Position in hundredths of a row.
    top: f64,
    height: f64,
}

const LANES: [Lane; 2] = [
    Lane { class: "upper", name: "above", top: 5.0, height: 45.0 },
    Lane { class: "lower", name: "below", top: 50.0, height: 45.0 },
];

impl Lane {
    /// Puts a whole row into the lane.
    fn transform(&self) -> String {
        format!("translate(0 {}) scale(1 {})", self.top, self.height / 100.0)
    }
}

impl Context<'_> {
    /// The section; nothing where two schemes are not to be had.
    pub(super) fn comparison(&self) -> Markup {
        let last = self.report.schemes.len().min(self.detail.schemes);
        let compared = self.report.compared.filter(|(a, b)| a != b && *a.max(b) < last);
        let compared =
            compared.filter(|(a, _)| !self.shown_objects(&self.report.schemes[*a]).is_empty());
        html! {
            @if let Some((upper, lower)) = compared {
                @let objects = self.shown_objects(&self.report.schemes[upper]);
                section aria-labelledby="compare" {
                    h2 #compare { "Two schemes side by side" (self.along_time()) }
                    p.note #choice { "Each object under two schemes: above " (self.scheme_name(upper, "upper")) ", below " (self.scheme_name(lower, "lower")) "." }
                    figure {
                        (self.comparison_chart([upper, lower]).into_markup())
                        figcaption { (legend_markup(&phase_entries(&objects), self.detail.label)) }
                    }
                }
            }
        }
    }

    fn scheme_name(&self, at: usize, lane: &str) -> Markup {
        let scheme = &self.report.schemes[at];
        html! { b data-lane=(lane) data-at=(at) { (self.label(&scheme.unique_title())) } }
    }

    fn comparison_chart(&self, [upper, lower]: [usize; 2]) -> RowChart {
        let schemes = &self.report.schemes;
        let limit = schemes[upper].limit.as_ref().unwrap_or(&self.report.limit);
        let colours = [upper, lower].map(|at| self.scheme_colour(&schemes[at].name));
        let own = LANES.iter().zip([upper, lower]).map(|(lane, at)| UprightLine {
            lane: lane.class,
            name: lane.name.to_owned(),
            at: schemes[at].page_done,
            colour: self.scheme_colour(&schemes[at].name),
        });
        let row = |object: &&ObjectSpan| ChartRow {
            cells: self.row_cells(object),
            text: format!("{}\n{}", self.label(&object.label), self.label(&object.host)),
            is_critical: false,
            is_later: self.time.is_out_of_sight(object),
            drawing: object_lanes([upper, lower], colours, object),
        };
        RowChart {
            is_comparison: true,
            title: format!(
                "Waterfalls of the page under {} and {}, row by row",
                self.label(&schemes[upper].unique_title()),
                self.label(&schemes[lower].unique_title())
            ),
            x: self.time.time_span(),
            rest: self.time.objects_out_of_sight(&schemes[upper].objects),
            link: None,
            rows: self.shown_objects(&schemes[upper]).iter().map(row).collect(),
            lines: limit_lines(limit).into_iter().chain(own).collect(),
        }
    }

    /// The end of a scheme's load, for the script: its share of the axis, and its time.
    pub(super) fn load_end(&self, at: usize) -> Option<LoadEnd> {
        let done = self.report.schemes[at].page_done?;
        let share = self.time.time_span().fraction(done.as_secs_f64());
        Some(LoadEnd { share: format!("{share:.6}"), text: format_instant(done) })
    }
}

/// The end of a load as the script moves its line.
pub(super) struct LoadEnd {
    pub(super) share: String,
    pub(super) text: String,
}

/// Both schemes' bars of an object, each lane with a border of its scheme's colour.
fn object_lanes(at: [usize; 2], colours: [Colour; 2], object: &ObjectSpan) -> Group {
    let bars = LANES.iter().zip(at.into_iter().zip(colours));
    bars.fold(Group::new(), |bars, (lane, (at, colour))| {
        let bar =
            Use::new().set("class", lane.class).set("href", format!("#{}", bar_id(at, object)));
        let edge = format!("M0 {}v{}", lane.top + lane.height * 0.1, lane.height * 0.8);
        let edge = Path::new()
            .set("class", format!("edge {} {}", lane.class, colour.class()))
            .set("d", edge);
        bars.add(bar.set("transform", lane.transform())).add(edge)
    })
}
