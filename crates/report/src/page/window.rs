//! A connection's windows: what its sender could send, its outstanding data, and, shaded, the
//! sender's bound.

use super::connection::{Drawing, HEIGHT, bytes, legend_with_count};
use super::legend::LegendEntry;
use crate::figure::{Axis, Colour, Figure, Point, Series, SeriesShape, Shade};
use crate::thin::{self, Extent};
use crate::{LevelPoint, SenderBound, WindowPoint, format};

/// Names of the curves.
const CWND: &str = "cwnd";
const SSTHRESH: &str = "ssthresh";
const FLIGHT: &str = "flight size";
const OFFERED: &str = "offered receive window";
/// Name for all causes without a colour of their own.
const OTHER: &str = "other causes";
/// An offered window that is more than this many times all else would flatten what is of interest.
const MAX_WINDOW_RATIO: f64 = 3.0;
/// A shaded stretch is as long in the page as this number of points of a curve.
const POINTS_PER_SHADE: usize = 4;

/// A stretch of time with one bound of the sender.
#[derive(Clone, Copy)]
struct Stretch {
    from: f64,
    to: f64,
    bound: SenderBound,
}

impl Drawing<'_> {
    /// The figure of windows.
    pub(super) fn window(&self) -> Figure {
        let kept = self.kept_changes();
        let curves = [
            self.change_curve(&kept, SSTHRESH, |p| p.ssthresh.map_or(f64::NAN, |b| b as f64)),
            self.level_curve(&self.view.offered, OFFERED),
            self.level_curve(&self.view.flight, FLIGHT),
            self.change_curve(&kept, CWND, |p| p.cwnd as f64),
        ];
        let curves = curves.into_iter().filter(|series| !series.points.is_empty());
        let near = self.offers_far_more().then(|| (0.0, MAX_WINDOW_RATIO * self.peak()));
        Figure {
            title: format!("Windows, and what bounded the sender over time, {}", self.name()),
            x: self.time.axis(),
            y: Axis { range: near, ..bytes("bytes") },
            height: HEIGHT,
            shades: self.bound_shades(),
            series: curves.chain(self.cause_dots(&kept)).collect(),
            marks: Vec::new(),
            references: Vec::new(),
        }
    }

    fn change_curve(&self, kept: &[usize], name: &str, value: fn(&WindowPoint) -> f64) -> Series {
        let changes = kept.iter().map(|&i| &self.view.window[i]);
        let points = changes.map(|p| Point::new(p.at.as_secs_f64(), value(p)));
        let (shape, colour) = style(name);
        Series { name: name.to_owned(), shape, colour, points: points.collect() }
    }

    fn level_curve(&self, levels: &[LevelPoint], name: &str) -> Series {
        let extent = |p: &LevelPoint| Extent::of(p.at.as_secs_f64(), p.bytes as f64);
        let extents: Vec<_> = levels.iter().map(extent).collect();
        let kept = thin::thin_to_envelope(&extents, self.page.detail.points).into_iter();
        let points = kept.map(|i| Point::new(extents[i].x, extents[i].high)).collect();
        let (shape, colour) = style(name);
        Series { name: name.to_owned(), shape, colour, points }
    }

    /// The greatest congestion window and flight.
    fn peak(&self) -> f64 {
        let windows = self.view.window.iter().map(|p| p.cwnd);
        windows.chain(self.view.flight.iter().map(|p| p.bytes)).max().unwrap_or(0) as f64
    }

    /// Most of the curve of the offered window is out of sight.
    fn offers_far_more(&self) -> bool {
        self.peak() > 0.0 && self.offered_most() > MAX_WINDOW_RATIO * self.peak()
    }

    fn offered_most(&self) -> f64 {
        self.view.offered.iter().map(|p| p.bytes).max().unwrap_or(0) as f64
    }

    /// The extremes of cwnd and of ssthresh, and the changes of cause.
    fn kept_changes(&self) -> Vec<usize> {
        let (window, detail) = (&self.view.window, self.page.detail);
        let extents = |value: fn(&WindowPoint) -> u64| -> Vec<_> {
            window.iter().map(|p| Extent::of(p.at.as_secs_f64(), value(p) as f64)).collect()
        };
        let cwnd = thin::thin_to_envelope(&extents(|p| p.cwnd), detail.points);
        // A threshold that becomes finite is a change of cause, so infinity needs no entry here.
        let ssthresh =
            thin::thin_to_envelope(&extents(|p| p.ssthresh.unwrap_or(0)), detail.points / 4);
        let changes: Vec<usize> = (0..window.len())
            .filter(|&i| i == 0 || window[i].cause != window[i - 1].cause)
            .collect();
        let drawn = thin::evenly(changes.len(), 2 * detail.events);
        let drawn: Vec<usize> = drawn.into_iter().map(|i| changes[i]).collect();
        thin::union(thin::union(cwnd, &ssthresh), &drawn)
    }

    /// A dot on cwnd at each change that is drawn, by cause.
    fn cause_dots(&self, kept: &[usize]) -> Vec<Series> {
        let causes = &self.page.causes;
        let drawn: Vec<&WindowPoint> = kept.iter().map(|&i| &self.view.window[i]).collect();
        let series = causes.groups().map(|group| {
            let points = drawn.iter().filter(|p| causes.is_in_group(&p.cause, group));
            let name = group.unwrap_or(OTHER);
            Series {
                name: self.page.label(name),
                shape: causes.dot_shape(name),
                colour: causes.colour(name),
                points: points.map(|p| Point::new(p.at.as_secs_f64(), p.cwnd as f64)).collect(),
            }
        });
        series.filter(|s| !s.points.is_empty()).collect()
    }

    /// Shades of the sender's bounds, one for each kind.
    fn bound_shades(&self) -> Vec<Shade> {
        let all = self.bound_stretches();
        let drawn = at_most(&all, self.page.detail.points / POINTS_PER_SHADE);
        let shades = SenderBound::ALL.into_iter().map(|bound| Shade {
            name: format!("bound by {}", bound.name()),
            colour: bound.colour(),
            spans: drawn.iter().filter(|s| s.bound == bound).map(|s| (s.from, s.to)).collect(),
        });
        shades.filter(|shade| !shade.spans.is_empty()).collect()
    }

    fn bound_stretches(&self) -> Vec<Stretch> {
        let pairs = self.view.bounds.windows(2);
        let stretch = |pair: &[crate::BoundPoint]| {
            let (from, to) = (pair[0].at.as_secs_f64(), pair[1].at.as_secs_f64());
            pair[0].bound.filter(|_| from < to).map(|bound| Stretch { from, to, bound })
        };
        pairs.filter_map(stretch).collect()
    }

    pub(super) fn window_entries(&self) -> Vec<LegendEntry> {
        let view = self.view;
        let curves = [
            ("line", CWND, !view.window.is_empty()),
            ("line", FLIGHT, !view.flight.is_empty()),
            ("line", OFFERED, !view.offered.is_empty()),
            ("dashed", SSTHRESH, view.window.iter().any(|p| p.ssthresh.is_some())),
        ];
        let curves = curves.into_iter().filter(|(.., is_there)| *is_there);
        let entry = |(form, name, _): (&'static str, &str, bool)| {
            let text = match name == OFFERED && self.offers_far_more() {
                true => format!("{name} (to {})", format::bytes(self.offered_most() as u64)),
                false => name.to_owned(),
            };
            LegendEntry::new(form, style(name).1, text)
        };
        curves.map(entry).chain(self.bound_entries()).chain(self.cause_entries()).collect()
    }

    /// Each cause with its share of the time in which something was wanted of the sender.
    fn bound_entries(&self) -> Vec<LegendEntry> {
        let all = self.bound_stretches();
        let time = |bound: Option<SenderBound>| -> f64 {
            let of_bound = all.iter().filter(|s| bound.is_none_or(|bound| s.bound == bound));
            of_bound.map(|s| s.to - s.from).sum()
        };
        let entries = SenderBound::ALL.into_iter().filter_map(|bound| {
            let share = time(Some(bound)) / time(None);
            let text = format!("bound by {} ({:.0} %)", bound.name(), share * 100.0);
            // Not what would be shown as nothing.
            (share >= 0.005).then(|| LegendEntry::new("shade", bound.colour(), text))
        });
        entries.collect()
    }

    fn cause_entries(&self) -> Vec<LegendEntry> {
        let causes = &self.page.causes;
        let entries = causes.groups().filter_map(|group| {
            let of_group = |p: &&WindowPoint| causes.is_in_group(&p.cause, group);
            let count = self.view.window.iter().filter(of_group).count();
            let name = group.unwrap_or(OTHER);
            let form = if causes.dot_shape(name) == SeriesShape::Dots { "dots" } else { "squares" };
            let text = legend_with_count(name, count, usize::MAX);
            (count > 0).then(|| LegendEntry::new(form, causes.colour(name), text))
        });
        entries.collect()
    }
}

/// Style of a curve. A window has the colour of its bound on the sender.
fn style(name: &str) -> (SeriesShape, Colour) {
    match name {
        CWND => (SeriesShape::Step, SenderBound::CongestionWindow.colour()),
        OFFERED => (SeriesShape::Step, SenderBound::ReceiveWindow.colour()),
        SSTHRESH => (SeriesShape::DashedStep, Colour::Muted),
        _ => (SeriesShape::Step, Colour::Ink),
    }
}

/// The stretches or, if there are more than `max`, as many slices of the time, each with the bound
/// that took most of it.
fn at_most(all: &[Stretch], max: usize) -> Vec<Stretch> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    if all.len() <= max || max == 0 {
        return all[..all.len().min(max)].to_vec();
    }
    let width = (last.to - first.from) / max as f64;
    let mut drawn: Vec<Stretch> = Vec::new();
    let mut start = 0;
    for n in 0..max {
        let (from, to) = (first.from + n as f64 * width, first.from + (n + 1) as f64 * width);
        start += all[start..].iter().take_while(|s| s.to <= from).count();
        let Some(bound) = most_of(all[start..].iter().take_while(|s| s.from < to), from, to) else {
            continue;
        };
        match drawn.last_mut() {
            Some(before) if before.bound == bound && before.to >= from => before.to = to,
            _ => drawn.push(Stretch { from, to, bound }),
        }
    }
    drawn
}

/// The bound that took most of a slice; `None` if all bounds together take less than half of it.
fn most_of<'a>(
    stretches: impl Iterator<Item = &'a Stretch>,
    from: f64,
    to: f64,
) -> Option<SenderBound> {
    let mut times = [0.0; SenderBound::ALL.len()];
    for stretch in stretches {
        times[stretch.bound as usize] += stretch.to.min(to) - stretch.from.max(from);
    }
    let taken: f64 = times.iter().sum();
    let most = SenderBound::ALL
        .into_iter()
        .max_by(|a, b| times[*a as usize].total_cmp(&times[*b as usize]));
    most.filter(|_| taken >= (to - from) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_fine_is_drawn_by_what_took_most() {
        let stretch = |from, to, bound| Stretch { from, to, bound };
        let (path, cwnd) = (SenderBound::Path, SenderBound::CongestionWindow);
        // A hundred times a quarter of path and three quarters of cwnd, then path alone.
        let mut all: Vec<Stretch> = (0..100)
            .map(f64::from)
            .flat_map(|n| [stretch(n, n + 0.25, path), stretch(n + 0.25, n + 1.0, cwnd)])
            .collect();
        all.push(stretch(100.0, 200.0, path));
        let drawn = at_most(&all, 20);
        let shown: Vec<_> = drawn.iter().map(|s| (s.from, s.to, s.bound)).collect();
        assert_eq!(shown, [(0.0, 100.0, cwnd), (100.0, 200.0, path)]);
        assert_eq!(at_most(&all, 300).len(), 201);
        // Where nothing is wanted, nothing is drawn.
        let apart = [stretch(0.0, 1.0, path), stretch(1.0, 2.0, cwnd), stretch(9.0, 10.0, path)];
        let drawn = at_most(&apart, 2);
        assert!(drawn.is_empty());
    }
}
