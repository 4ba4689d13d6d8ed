//! The schemes side by side: what share of the page was there, when.

use super::Context;
use super::legend::{Entry, legend};
use crate::figure::{Axis, Colour, Figure, Point, Reference, Series, Shape, Unit};
use crate::thin::{self, Extent};
use crate::{ObjectSpan, format};
use maud::{Markup, html};
use units::Instant;

const HEIGHT: u32 = 300;

impl Context<'_> {
    /// The section with the progress figure.
    pub(super) fn progress(&self) -> Markup {
        let figure = self.progress_figure();
        let entries: Vec<Entry> = figure.series.iter().map(entry).collect();
        html! {
            @if !figure.series.is_empty() {
                section aria-labelledby="progress" {
                    h2 #progress { "Progress of the page" }
                    p.note {
                        "Bytes of finished objects as a share of all, each counted when its last "
                        "byte arrives."
                    }
                    figure {
                        (figure.to_canvas(None).into_markup())
                        figcaption { (legend(&entries, self.detail.label)) }
                    }
                }
            }
        }
    }

    fn progress_figure(&self) -> Figure {
        let limit = Series {
            name: "limit".to_owned(),
            shape: Shape::DashedStep,
            colour: Colour::Ink,
            points: self.share_done(&self.report.limit.objects),
        };
        let schemes = self.report.schemes.iter().take(self.detail.schemes).enumerate();
        let schemes = schemes.map(|(at, scheme)| Series {
            name: self.label(&scheme.name),
            shape: if at < Colour::COUNT { Shape::Step } else { Shape::DashedStep },
            colour: Colour::Hue(at),
            points: self.share_done(&scheme.objects),
        });
        Figure {
            title: "Share of the page's bytes done over time, per scheme and for the limit".into(),
            x: self.time.axis(),
            y: Axis {
                unit: Unit::Share,
                label: "done".into(),
                range: Some((0.0, 1.02)),
                ..Axis::default()
            },
            height: HEIGHT,
            shades: Vec::new(),
            series: schemes.chain([limit]).filter(|s| s.points.len() > 1).collect(),
            marks: Vec::new(),
            references: self.limit_references(),
        }
    }

    /// Upright lines at the limit's two instants.
    pub(super) fn limit_references(&self) -> Vec<Reference> {
        let limit = &self.report.limit;
        let line = |name: &str, at: Option<Instant>| {
            let at = at?.as_secs_f64();
            let label = format!("limit, {name}: {}", format::seconds(at));
            Some(Reference { at, upright: true, label, colour: Colour::Muted })
        };
        [line("HTML", limit.html), line("page", limit.page)].into_iter().flatten().collect()
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
        let kept = thin::envelope(&extents, self.detail.points);
        kept.into_iter().map(|i| points[i]).collect()
    }
}

fn entry(series: &Series) -> Entry {
    let form = if series.shape == Shape::Step { "line" } else { "dashed" };
    Entry::new(form, series.colour, series.name.as_str())
}
