//! Heat maps as tables whose cells have one of [`STEPS`] classes of colour each way.

use super::document::Bounds;
use crate::document::{HeatMap, HeatRow, HeatScale};
use crate::format;
use crate::quantity::Estimate;
use crate::text::label;
use maud::{Markup, html};

/// Steps of colour from the middle to either end; the palette has a class for each.
const STEPS: i32 = 4;

impl HeatMap {
    pub(super) fn to_markup(&self, bounds: Bounds) -> Markup {
        let heads = self.columns(bounds);
        html! {
            div.scroll tabindex="0" role="region" aria-label=(label(&self.title, bounds.label)) {
                table.heat.dense[self.is_dense] {
                    caption { (label(&self.title, 4 * bounds.label)) }
                    thead {
                        tr { th scope="col" rowspan=(if self.is_dense { 1 } else { 2 }) {} (self.group_heads(bounds)) }
                        @if !self.is_dense {
                            tr { @for (_, head) in &heads { th scope="col" { (head) } } }
                        }
                    }
                    tbody {
                        @for row in self.rows.iter().take(bounds.rows) { (self.row(row, &heads, bounds)) }
                    }
                }
            }
        }
    }

    /// Heads of the columns shown, and whether one begins a group.
    fn columns(&self, bounds: Bounds) -> Vec<(bool, String)> {
        let columns = self.groups.iter().flat_map(|group| {
            let columns = group.columns.iter().enumerate();
            columns.map(|(at, head)| (at == 0, label(head, 4 * bounds.label)))
        });
        columns.take(bounds.columns).collect()
    }

    fn group_heads(&self, bounds: Bounds) -> Markup {
        html! {
            @for group in self.groups.iter().filter(|group| !group.columns.is_empty()) {
                th.first scope="colgroup" colspan=(group.columns.len()) {
                    (label(&group.title, bounds.label))
                }
            }
        }
    }

    fn row(&self, row: &HeatRow, heads: &[(bool, String)], bounds: Bounds) -> Markup {
        html! {
            tr {
                th scope="row" { bdi { (label(&row.title, bounds.label)) } }
                @for (at, (first, head)) in heads.iter().enumerate() {
                    (self.cell(row.values.get(at).copied().flatten(), (*first, head)))
                }
            }
        }
    }

    fn cell(&self, value: Option<f64>, (first, head): (bool, &str)) -> Markup {
        let estimate = |mean| Estimate { mean, standard_error: None };
        let shown = value.map(|v| format::estimate(estimate(v), self.quantity));
        let shown = shown.unwrap_or_else(|| format::UNDEFINED.to_owned());
        let class = value.map_or("none".to_owned(), |v| self.scale.class(v));
        html! {
            @if self.is_dense {
                td.(class).first[first] title={ (head) ": " (shown) } {}
            } @else {
                td.(class).first[first] { (shown) }
            }
        }
    }
}

impl HeatScale {
    /// `h0` for the middle, `g1` … `g4` towards low, `b1` … `b4` towards high.
    fn class(&self, value: f64) -> String {
        let step = self.step(value);
        match step {
            0 => "h0".to_owned(),
            n if n < 0 => format!("g{}", -n),
            n => format!("b{n}"),
        }
    }

    /// From −[`STEPS`] to [`STEPS`], the nearest.
    fn step(&self, value: f64) -> i32 {
        let place = |v: f64| if self.is_log { libm::log(v) } else { v };
        let end = if value < self.middle { self.low } else { self.high };
        let share = (place(value) - place(self.middle)) / (place(end) - place(self.middle));
        let steps = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) * f64::from(STEPS) };
        let steps = (steps + 0.5) as i32;
        if value < self.middle { -steps } else { steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_steps_of_equal_ratios_or_differences() {
        let ratio = HeatScale { low: 0.5, middle: 1.0, high: 4.0, is_log: true };
        // ln 2 / ln 4 is half of the way up: two steps of four. 2^(-1/4) is a quarter of the way down.
        let steps = [1.0, 2.0, 4.0, 100.0, 0.5, 0.840_9, 0.01].map(|v| ratio.step(v));
        assert_eq!(steps, [0, 2, 4, 4, -4, -1, -4]);
        let difference = HeatScale { low: -1.0, middle: 0.0, high: 2.0, is_log: false };
        let steps = [0.0, 1.0, 2.0, -0.5, f64::NAN].map(|v| difference.step(v));
        assert_eq!(steps, [0, 2, 4, -2, 0]);
    }
}
