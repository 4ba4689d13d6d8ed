//! Figures of claims as text.

use reproduction::papers::{
    Bearing, ClaimInterval, FigureLine, Measured, PERCENT, Paper, PrintedUnit, SECONDS,
};

/// A dash where there is nothing.
const NOTHING: &str = "–";

/// The paper's figure of a line.
pub(super) fn paper(line: &FigureLine) -> String {
    match line.paper {
        Paper::Silent => NOTHING.to_owned(),
        Paper::Value(value) => with_unit(&number_text(value, value, line.unit), line.unit),
        Paper::Within(within) => with_unit(&interval(within, line.unit), line.unit),
    }
}

fn interval(within: ClaimInterval, unit: PrintedUnit) -> String {
    let ClaimInterval { least, most } = within;
    let shown = |bound: f64| number_text(bound, bound, unit);
    match (least.is_finite(), most.is_finite()) {
        (true, true) if least == most => shown(least),
        (true, true) => format!("{} to {}", shown(least), shown(most)),
        (true, false) => format!("≥ {}", shown(least)),
        (false, true) => format!("≤ {}", shown(most)),
        (false, false) => "any".to_owned(),
    }
}

/// ns-2's figure of a line.
pub(super) fn ns2(line: &FigureLine) -> String {
    match line.ns2 {
        Some(value) => with_unit(&number_text(value, value, line.unit), line.unit),
        None => NOTHING.to_owned(),
    }
}

/// Our figure of a line, with its standard error if it has one.
pub(super) fn our_figure(line: &FigureLine) -> String {
    let unit = line.unit;
    match line.ours {
        Some(Measured { mean, .. }) if !mean.is_finite() => NOTHING.to_owned(),
        None => NOTHING.to_owned(),
        Some(Measured { mean, standard_error: 0.0 }) => {
            with_unit(&number_text(mean, mean, unit), unit)
        }
        Some(Measured { mean, standard_error }) => {
            let error = number_text(standard_error, mean, unit);
            with_unit(&format!("{} ± {error}", number_text(mean, mean, unit)), unit)
        }
    }
}

/// A dash.
pub(super) fn dash() -> String {
    NOTHING.to_owned()
}

/// Our figure of a line by default, with its case where that of our line is another one.
pub(super) fn by_default(plain: &FigureLine, line: &FigureLine) -> String {
    let figure = our_figure(plain);
    match plain.label == line.label {
        true => figure,
        false => format!("{figure} ({})", case_of_label(&plain.label)),
    }
}

/// The case that a label names: what stands in its last brackets; without any, all of it.
fn case_of_label(label: &str) -> &str {
    let bracketed = label.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')'));
    bracketed.map_or(label, |(case, _)| case)
}

/// Whether a line holds, in a word that needs no colour.
pub(super) fn holds_label(line: &FigureLine) -> &'static str {
    match (line.bearing, line.holds()) {
        (Bearing::Verdict, Some(true)) if line.holds_by_error_bars() => "inside by error bars",
        (Bearing::Verdict, Some(true)) => "inside",
        (Bearing::Verdict, Some(false)) => "OUTSIDE",
        (Bearing::Also, Some(true)) => "also inside",
        (Bearing::Also, Some(false)) => "also OUTSIDE",
        _ => "",
    }
}

fn with_unit(number: &str, unit: PrintedUnit) -> String {
    match unit {
        "" => number.to_owned(),
        unit => format!("{number} {unit}"),
    }
}

/// A number with the decimals that suit the unit and a figure of size `like`.
fn number_text(value: f64, like: f64, unit: PrintedUnit) -> String {
    let decimals = match unit {
        PERCENT => 1,
        SECONDS => 3,
        _ if like.abs() >= 100.0 => 0,
        _ if like.abs() >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use reproduction::papers::{Measured, PERCENT};

    #[test]
    fn a_figure_by_default_says_its_case_if_it_is_another() {
        let line = |label: &str| FigureLine::new(label, PERCENT).ours(Measured::exact(5.0));
        let ours = line("loss, the rate that decides (70 Mbit/s)");
        let other = line("loss, the rate that decides (50 Mbit/s), points");
        assert_eq!(by_default(&other, &ours), "5.0 % (50 Mbit/s)");
        assert_eq!(by_default(&ours, &ours), "5.0 %");
    }
}
