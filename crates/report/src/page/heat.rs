//! Heat maps as tables whose cells have one of [`HeatScale::STEPS`] classes of colour each way,
//! with a legend.

use super::document::Bounds;
use crate::document::{HeatMap, HeatRow, HeatScale};
use crate::format;
use crate::palette::HEAT_STEPS;
use crate::quantity::{Estimate, Quantity};
use crate::text::label;
use maud::{Markup, html};

impl HeatMap {
    pub(super) fn to_markup(&self, bounds: Bounds) -> Markup {
        let heads = self.columns(bounds);
        let all = self.groups.iter().map(|group| group.columns.len()).sum::<usize>();
        let left_out = [
            (all - heads.len(), "more column"),
            (self.rows.len().saturating_sub(bounds.rows), "more row"),
        ];
        html! {
            p.heat-title { (label(&self.title, 4 * bounds.label)) }
            (self.scale.legend_markup(self.quantity))
            div.more { div.scroll tabindex="0" role="region" aria-label=(label(&self.title, bounds.label)) {
                table.heat.sortable[!self.is_dense].dense[self.is_dense] {
                    thead {
                        tr { th scope="col" rowspan=(if self.is_dense { 1 } else { 2 }) { (label(&self.row_head, bounds.label)) } (self.group_heads(bounds)) }
                        @if !self.is_dense {
                            tr { @for (first, head) in &heads { th.first[*first] scope="col" { (head) } } }
                        }
                    }
                    tbody {
                        @for row in self.rows.iter().take(bounds.rows) { (self.row_markup(row, &heads, bounds)) }
                    }
                }
            } }
            @for (count, what) in left_out.into_iter().filter(|(count, _)| *count > 0) {
                p.note { (units::counted(count, what)) " left out." }
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
            @for (title, columns) in self.groups_shown(bounds) {
                th.first.group scope="colgroup" colspan=(columns) { (label(title, bounds.label)) }
            }
        }
    }

    /// Titles of the groups that have a column shown, each with how many.
    fn groups_shown(&self, bounds: Bounds) -> Vec<(&str, usize)> {
        let mut room = bounds.columns;
        let groups = self.groups.iter().map(|group| {
            let columns = group.columns.len().min(room);
            room -= columns;
            (group.title.as_str(), columns)
        });
        groups.filter(|(_, columns)| *columns > 0).collect()
    }

    fn row_markup(&self, row: &HeatRow, heads: &[(bool, String)], bounds: Bounds) -> Markup {
        html! {
            tr {
                th scope="row" { bdi { (label(&row.title, bounds.label)) } }
                @for (at, (first, head)) in heads.iter().enumerate() {
                    (self.cell_markup(row.values.get(at).copied().flatten(), *first, head))
                }
            }
        }
    }

    fn cell_markup(&self, value: Option<f64>, first: bool, head: &str) -> Markup {
        let shown =
            value.map_or_else(|| format::UNDEFINED.to_owned(), |v| format_value(v, self.quantity));
        let class = value.map_or("none".to_owned(), |v| self.scale.class(v));
        let value = value.filter(|value| value.is_finite());
        html! {
            @if self.is_dense {
                td.(class).first[first] title={ (head) ": " (shown) } {}
            } @else {
                td.(class).first[first] data-v=[value] { (shown) }
            }
        }
    }
}

fn format_value(value: f64, quantity: Quantity) -> String {
    format::estimate(Estimate { mean: value, standard_error: None }, quantity)
}

impl HeatScale {
    /// Steps of colour to either side of the middle.
    pub const STEPS: usize = HEAT_STEPS;

    /// `h0` for the middle, `g1` … `g8` below it, `b1` … `b8` above.
    fn class(&self, value: f64) -> String {
        match self.step(value) {
            0 => "h0".to_owned(),
            n if n < 0 => format!("g{}", -n),
            n => format!("b{n}"),
        }
    }

    /// Number of steps that `value` has passed, from −[`HeatScale::STEPS`] to [`HeatScale::STEPS`];
    /// 0 if it is no number.
    fn step(&self, value: f64) -> i32 {
        let is_above = value >= self.middle;
        let distance = match (self.is_ratio, is_above) {
            (true, true) => value / self.middle,
            (true, false) => self.middle / value,
            (false, _) => (value - self.middle).abs(),
        };
        let started =
            self.steps.iter().take(Self::STEPS).filter(|step| distance >= **step).count() as i32;
        if is_above { started } else { -started }
    }

    /// Where a step begins, below or above the middle.
    fn step_bound(&self, step: f64, is_above: bool) -> f64 {
        match (self.is_ratio, is_above) {
            (true, true) => self.middle * step,
            (true, false) => self.middle / step,
            (false, true) => self.middle + step,
            (false, false) => self.middle - step,
        }
    }

    /// The steps in a row, each with where it begins: from the best over the middle to the worst.
    fn legend_markup(&self, quantity: Quantity) -> Markup {
        let steps = || self.steps.iter().take(Self::STEPS).enumerate();
        let at = |step: f64, is_above| format_value(self.step_bound(step, is_above), quantity);
        html! {
            ul.scale {
                @for (n, step) in steps().rev().filter(|(_, step)| self.step_bound(**step, false) >= self.least) {
                    li.{ "g" (n + 1) } { "≤ " (at(*step, false)) }
                }
                li.h0 { (format_value(self.middle, quantity)) }
                @for (n, step) in steps() { li.{ "b" (n + 1) } { "≥ " (at(*step, true)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_steps_of_ratios_or_differences() {
        let ratio =
            HeatScale { middle: 1.0, steps: &[1.25, 2.0, 4.0], is_ratio: true, least: -9.0 };
        // 0.8 is 1 / 1.25; 0.3 is 1 / 3.3.
        let steps = [1.0, 1.24, 1.25, 3.9, 4.0, 100.0, 0.81, 0.8, 0.3, 0.01].map(|v| ratio.step(v));
        assert_eq!(steps, [0, 0, 1, 2, 3, 3, 0, -1, -2, -3]);
        let difference =
            HeatScale { middle: 1.0, steps: &[0.5, 1.0], is_ratio: false, least: -9.0 };
        let steps = [1.0, 1.4, 1.5, 2.0, 9.0, 0.5, -3.0, f64::NAN].map(|v| difference.step(v));
        assert_eq!(steps, [0, 0, 1, 2, 2, -1, -2, 0]);
    }
}
