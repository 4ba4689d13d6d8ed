//! Two schemes' loads of the page beside each other: a row per object, a lane in it per scheme, one axis of time.
//!
//! The lanes refer to the bars in the schemes' panels, so a choice of other schemes (`script.js`) draws nothing anew.

use super::Context;
use super::legend::legend;
use super::times::LABEL;
use super::waterfall::{Milestone, bar_id, in_row, limit_lines, phase_entries, upright_lines};
use crate::ObjectSpan;
use crate::figure::Colour;
use crate::figure::canvas::Canvas;
use maud::{Markup, html};
use svg::node::element::{Group, Path, Use};

/// Heights of a row, on a wide and on a narrow page, and what stands above and below, as in `style.css`.
const ROW: u32 = 28;
const NARROW_ROW: u32 = 42;
const MARGINS: u32 = 58 + 40;

/// A lane of a row.
struct Lane {
    class: &'static str,
    /// Beside the line at the end of its load.
    name: &'static str,
    /// In hundredths of a row.
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
                section aria-labelledby="compare" {
                    h2 #compare { "Two schemes side by side" }
                    p.note #choice { "Each object under two schemes: above " (self.named(upper, "upper")) ", below " (self.named(lower, "lower")) "." }
                    figure {
                        (self.comparison_canvas(upper, lower).into_markup())
                        figcaption { (legend(&phase_entries(), self.detail.label)) }
                    }
                }
            }
        }
    }

    fn named(&self, at: usize, lane: &str) -> Markup {
        let scheme = &self.report.schemes[at];
        html! { b data-lane=(lane) data-at=(at) { (self.label(&scheme.title())) } }
    }

    fn comparison_canvas(&self, upper: usize, lower: usize) -> Canvas {
        let schemes = &self.report.schemes;
        let x = self.time.span();
        let objects = self.shown_objects(&schemes[upper]);
        let rows = || objects.iter().enumerate();
        let limit = schemes[upper].limit.as_ref().unwrap_or(&self.report.limit);
        let own = LANES.iter().zip([upper, lower]).map(|(lane, at)| Milestone {
            lane: lane.class,
            name: lane.name.to_owned(),
            at: schemes[at].page_done,
            colour: self.scheme_colour(&schemes[at].name),
        });
        let colours = [upper, lower].map(|at| self.scheme_colour(&schemes[at].name));
        Canvas {
            class: "waterfall compare",
            title: format!(
                "Waterfalls of the page under {} and {}, row by row",
                self.label(&schemes[upper].title()),
                self.label(&schemes[lower].title())
            ),
            height: MARGINS + ROW * objects.len() as u32,
            narrow_height: Some(MARGINS + NARROW_ROW * objects.len() as u32),
            x: (x, LABEL.to_owned()),
            y: None,
            link: None,
            curves: rows()
                .map(|(row, object)| {
                    lanes(row, objects.len(), [upper, lower], colours, object).into()
                })
                .collect(),
            marks: upright_lines(&x, limit_lines(limit).into_iter().chain(own)),
            gutter: rows()
                .map(|(row, object)| self.row_label(row, objects.len(), object).into())
                .collect(),
        }
    }

    /// What the tabs say of a scheme to who compares it with another: when its page was done.
    pub(super) fn done_s(&self, at: usize) -> Option<String> {
        Some(format!("{:.6}", self.report.schemes[at].page_done?.as_secs_f64()))
    }
}

/// Both schemes' bars of an object, each lane with an edge of its scheme's colour.
fn lanes(
    row: usize,
    of: usize,
    at: [usize; 2],
    colours: [Colour; 2],
    object: &ObjectSpan,
) -> Group {
    let bars = LANES.iter().zip(at.into_iter().zip(colours));
    let bars = bars.fold(Group::new(), |bars, (lane, (at, colour))| {
        let bar =
            Use::new().set("class", lane.class).set("href", format!("#{}", bar_id(at, object)));
        let edge = format!("M0 {}v{}", lane.top + lane.height * 0.1, lane.height * 0.8);
        let edge = Path::new()
            .set("class", format!("edge {} {}", lane.class, colour.class()))
            .set("d", edge);
        bars.add(bar.set("transform", lane.transform())).add(edge)
    });
    in_row(row, of, bars)
}
