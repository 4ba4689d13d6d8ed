//! The schemes side by side: what share of the page was there, when.

use super::Context;
use super::chart::UprightLine;
use super::legend::{LegendEntry, Names, legend_markup};
use super::waterfall::limit_lines;
use crate::figure::{Axis, AxisUnit, Colour, Figure, Point, Reference, Series, SeriesShape};
use crate::thin::{self, Extent};
use crate::{LimitView, ObjectSpan, format};
use maud::{Markup, html};
use units::Instant;

const HEIGHT: u32 = 300;
/// End of the axis of shares: above the curves, which end at 1, two labels of limits have room.
const TOP: f64 = 1.17;

impl Context<'_> {
    /// The section: a figure for each group of loads, such as a world or a kind of visit, with a
    /// curve for each scheme there.
    pub(super) fn progress(&self) -> Markup {
        let shown = &self.report.schemes[..self.report.schemes.len().min(self.detail.schemes)];
        let places = Names::collect(shown.iter().map(|scheme| scheme.place.as_str()), usize::MAX);
        let figures = places.iter().map(|place| (place, self.progress_figure(place)));
        let figures: Vec<(&str, Figure)> =
            figures.filter(|(_, figure)| !figure.series.is_empty()).collect();
        html! {
            @if !figures.is_empty() {
                section aria-labelledby="progress" {
                    h2 #progress { "Progress of the page" }
                    p.note {
                        "Bytes of finished objects as a share of all, each added when its last "
                        "byte arrives."
                    }
                    @for (place, figure) in figures {
                        @let entries: Vec<LegendEntry> = figure.series.iter().map(legend_entry).collect();
                        figure {
                            @if !place.is_empty() { h5 { bdi { (self.label(place)) } } }
                            (self.time.canvas(&figure, "progress").into_markup())
                            figcaption { (legend_markup(&entries, self.detail.label)) }
                        }
                    }
                }
            }
        }
    }

    fn progress_figure(&self, place: &str) -> Figure {
        let here = self.report.schemes.iter().find(|scheme| scheme.place == place);
        let bound = here.and_then(|scheme| scheme.limit.as_ref()).unwrap_or(&self.report.limit);
        let limit = Series {
            name: "limit".to_owned(),
            shape: SeriesShape::DashedStep,
            colour: Colour::Ink,
            points: self.share_done(&bound.objects),
        };
        let schemes = self.report.schemes.iter().take(self.detail.schemes);
        let schemes = schemes.filter(|scheme| scheme.place == place).map(|scheme| Series {
            name: self.label(&scheme.name),
            shape: match self.schemes.index_of(&scheme.name) {
                Some(nth) if nth >= Colour::COUNT => SeriesShape::DashedStep,
                _ => SeriesShape::Step,
            },
            colour: self.scheme_colour(&scheme.name),
            points: self.share_done(&scheme.objects),
        });
        let whose =
            if place.is_empty() { String::new() } else { format!(", {}", self.label(place)) };
        Figure {
            title: format!("Share of the page's bytes done over time, by scheme{whose}"),
            x: self.time.axis(),
            y: Axis {
                unit: AxisUnit::Share,
                label: "done".into(),
                range: Some((0.0, TOP)),
                ..Axis::default()
            },
            height: HEIGHT,
            shades: Vec::new(),
            series: schemes.chain([limit]).filter(|s| s.points.len() > 1).collect(),
            marks: Vec::new(),
            references: limit_references(bound),
        }
    }

    /// Steps from zero; objects without a size count as one byte, so that they count at all.
    fn share_done(&self, objects: &[ObjectSpan]) -> Vec<Point> {
        let weight = |o: &ObjectSpan| u128::from(o.bytes.max(1));
        let total: u128 = objects.iter().map(weight).sum();
        let mut done: Vec<(Instant, u128)> =
            objects.iter().filter_map(|o| Some((o.done?, weight(o)))).collect();
        done.sort_unstable();
        let mut sum = 0;
        let steps = done.into_iter().map(|(at, bytes)| {
            sum += bytes;
            Point::new(at.as_secs_f64(), sum as f64 / total as f64)
        });
        let points: Vec<Point> = [Point::new(0.0, 0.0)].into_iter().chain(steps).collect();
        let extents: Vec<_> = points.iter().map(|p| Extent::of(p.x, p.y)).collect();
        let kept = thin::thin_to_envelope(&extents, self.detail.points);
        kept.into_iter().map(|i| points[i]).collect()
    }
}

/// Upright lines at the limit's two instants.
fn limit_references(limit: &LimitView) -> Vec<Reference> {
    let reference = |UprightLine { name, at, colour, .. }| {
        let at = at?.as_secs_f64();
        Some(Reference {
            at,
            upright: true,
            label: format!("{name} {}", format::seconds(at)),
            colour,
        })
    };
    limit_lines(limit).into_iter().filter_map(reference).collect()
}

fn legend_entry(series: &Series) -> LegendEntry {
    let form = if series.shape == SeriesShape::Step { "line" } else { "dashed" };
    LegendEntry::new(form, series.colour, series.name.as_str())
}
