//! Findings of a claim: labelled figures of the paper, of ns-2 and of ours, checks of ours against
//! the paper's intervals, and the result that follows.

use super::curve::Plot;
use super::sample::Measured;
use super::unit::PrintedUnit;

/// Interval in which a figure has to lie by the paper, bounds included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClaimInterval {
    /// Smallest; minus infinity without bound.
    pub least: f64,
    /// Largest; infinity without bound.
    pub most: f64,
}

impl ClaimInterval {
    /// Returns the interval from `least` to `most`.
    pub const fn between(least: f64, most: f64) -> Self {
        Self { least, most }
    }

    /// Returns the interval of `least` or more.
    pub const fn at_least(least: f64) -> Self {
        Self { least, most: f64::INFINITY }
    }

    /// Returns the interval of `most` or less.
    pub const fn at_most(most: f64) -> Self {
        Self { least: f64::NEG_INFINITY, most }
    }

    /// Returns the interval around a paper's mean with its standard error: the mean ± 2 of them.
    pub const fn around(mean: f64, standard_error: f64) -> Self {
        Self { least: mean - 2.0 * standard_error, most: mean + 2.0 * standard_error }
    }

    /// Returns true if it contains a figure.
    pub fn contains(&self, figure: f64) -> bool {
        (self.least..=self.most).contains(&figure)
    }

    /// Returns true if mean ± 2 standard errors have a point in common with it. Undefined figures
    /// have none.
    pub fn meets(&self, ours: Measured) -> bool {
        let reach = 2.0 * ours.standard_error;
        ours.mean.is_finite() && ours.mean + reach >= self.least && ours.mean - reach <= self.most
    }
}

/// Returns, of figures that all have to lie in `within`, the one that lies furthest outside or
/// closest to its bounds, with its item. If this one meets the interval, all do; if its mean lies
/// in it, all means do.
pub fn furthest_out<T>(
    within: ClaimInterval,
    figures: impl IntoIterator<Item = (T, Measured)>,
) -> Option<(T, Measured)> {
    let out = |ours: &Measured| {
        let reach = 2.0 * ours.standard_error;
        match ours.mean.is_nan() {
            true => f64::INFINITY,
            false => (within.least - ours.mean - reach).max(ours.mean - reach - within.most),
        }
    };
    // Outside comes before inside by error bars alone, and this before inside.
    let rank = |ours: &Measured| (!within.meets(*ours), !within.contains(ours.mean));
    let order = |a: &Measured, b: &Measured| rank(a).cmp(&rank(b)).then(out(a).total_cmp(&out(b)));
    figures.into_iter().max_by(|(_, a), (_, b)| order(a, b))
}

/// The paper's statement about a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paper {
    /// The paper gives no figure.
    Silent,
    /// Its own figure.
    Value(f64),
    /// Interval that the figure lies in.
    Within(ClaimInterval),
}

/// Effect of a line on the claim's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearing {
    /// The claim holds only if it does.
    Verdict,
    /// Checked and printed under the claim without effect on its result.
    Also,
    /// The line is printed and decides nothing.
    Shown,
}

/// One labelled figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureLine {
    /// The quantity that the figure measures.
    pub label: String,
    /// Unit of all its figures.
    pub unit: PrintedUnit,
    /// The paper's figure or interval.
    pub paper: Paper,
    /// ns-2's, where it was measured.
    pub ns2: Option<f64>,
    /// Our figure.
    pub ours: Option<Measured>,
    /// Our figure by means alone, if it counts cases that meet an interval.
    pub by_means: Option<f64>,
    /// Effect of the line on the claim's result.
    pub bearing: Bearing,
}

impl FigureLine {
    /// Creates a line that is shown and has no figures yet.
    pub fn new(label: impl Into<String>, unit: PrintedUnit) -> Self {
        let (paper, ns2, ours, by_means) = (Paper::Silent, None, None, None);
        Self { label: label.into(), unit, paper, ns2, ours, by_means, bearing: Bearing::Shown }
    }

    /// Sets the paper's own figure.
    #[must_use]
    pub fn paper(self, value: f64) -> Self {
        Self { paper: Paper::Value(value), ..self }
    }

    /// Adds ns-2's figure, if it is known.
    #[must_use]
    pub fn ns2(self, value: Option<f64>) -> Self {
        Self { ns2: value, ..self }
    }

    /// Sets our figure.
    #[must_use]
    pub fn ours(self, ours: Measured) -> Self {
        Self { ours: Some(ours), ..self }
    }

    /// Sets our figure without error bars, for a count of cases that meet an interval.
    #[must_use]
    pub fn by_means(self, value: f64) -> Self {
        Self { by_means: Some(value), ..self }
    }

    /// Requires our figure to meet an interval if the claim is to hold.
    #[must_use]
    pub fn must(self, within: ClaimInterval) -> Self {
        Self { paper: Paper::Within(within), bearing: Bearing::Verdict, ..self }
    }

    /// Checks our figure against an interval; the outcome is printed under the claim.
    #[must_use]
    pub fn also(self, within: ClaimInterval) -> Self {
        Self { paper: Paper::Within(within), bearing: Bearing::Also, ..self }
    }

    /// Returns true if ours meets the paper's statement; `None` if there is none.
    pub fn holds(&self) -> Option<bool> {
        match (self.paper, self.bearing) {
            (Paper::Within(within), Bearing::Verdict | Bearing::Also) => {
                Some(self.ours.is_some_and(|ours| within.meets(ours)))
            }
            _ => None,
        }
    }
}

impl FigureLine {
    /// Returns true if ours meets the paper's statement with error bars alone: the mean itself lies
    /// outside, or too few of the means lie inside.
    pub fn holds_by_error_bars(&self) -> bool {
        let (Paper::Within(within), Some(ours)) = (self.paper, self.ours) else { return false };
        let means_hold =
            within.contains(ours.mean) && self.by_means.is_none_or(|share| within.contains(share));
        self.holds() == Some(true) && !means_hold
    }
}

/// Everything found about a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Its figures, in the order printed.
    pub lines: Vec<FigureLine>,
    /// Its curves, for the report.
    pub plots: Vec<Plot>,
}

impl Findings {
    /// Adds a line.
    pub fn line(&mut self, line: FigureLine) -> &mut Self {
        self.lines.push(line);
        self
    }

    /// Adds curves.
    pub fn plot(&mut self, plot: Plot) -> &mut Self {
        self.plots.push(plot);
        self
    }

    /// Returns true if every deciding line meets its interval, and there is at least one.
    pub fn hold(&self) -> bool {
        let mut of_verdict = self.lines.iter().filter(|line| line.bearing == Bearing::Verdict);
        let any = of_verdict.clone().next().is_some();
        any && of_verdict.all(|line| line.holds() == Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::PLAIN;
    use super::*;

    const fn measured(mean: f64, standard_error: f64) -> Measured {
        Measured { mean, standard_error }
    }

    #[test]
    fn two_standard_errors_reach_an_interval_and_no_more() {
        let interval = ClaimInterval::between(50.0, 65.0);
        assert!(interval.meets(measured(48.0, 1.0)) && interval.meets(measured(67.0, 1.0)));
        assert!(!interval.meets(measured(47.9, 1.0)) && !interval.meets(measured(67.1, 1.0)));
        assert!(interval.meets(measured(50.0, 0.0)) && !interval.meets(measured(49.99, 0.0)));
    }

    #[test]
    fn a_mean_outside_of_the_interval_holds_by_its_error_bars_alone() {
        let line = |mean, error| {
            FigureLine::new("x", PLAIN)
                .ours(measured(mean, error))
                .must(ClaimInterval::at_most(10.0))
        };
        // 15.4 - 2 * 2.8 = 9.8 is inside, 15.4 is not.
        assert!(line(15.4, 2.8).holds() == Some(true) && line(15.4, 2.8).holds_by_error_bars());
        // A mean inside needs no error bars; one far outside does not hold with them.
        assert!(!line(10.0, 2.8).holds_by_error_bars() && !line(16.0, 2.8).holds_by_error_bars());
    }

    #[test]
    fn the_furthest_out_is_the_one_that_decides() {
        let within = ClaimInterval::between(-5.0, 5.0);
        let figures =
            [("a", measured(6.0, 1.0)), ("b", measured(-7.5, 1.0)), ("c", measured(1.0, 0.0))];
        assert_eq!(furthest_out(within, figures).unwrap().0, "b");
        // All three meet it; the mean of the second does not lie in it, so it decides.
        let by_error_bars =
            [("a", measured(4.9, 0.0)), ("b", measured(6.0, 2.0)), ("c", measured(1.0, 0.0))];
        assert_eq!(furthest_out(within, by_error_bars).unwrap().0, "b");
        let undefined = [("a", Measured::NOTHING), ("b", measured(100.0, 0.0))];
        assert_eq!(furthest_out(within, undefined).unwrap().0, "a");
    }

    #[test]
    fn what_is_undefined_meets_nothing() {
        assert!(!ClaimInterval::at_least(f64::NEG_INFINITY).meets(measured(f64::NAN, 0.0)));
        assert!(!ClaimInterval::at_most(1.0).meets(measured(f64::NEG_INFINITY, 0.0)));
    }

    #[test]
    fn a_claim_holds_if_all_of_its_verdict_do_whatever_else_is_shown() {
        let line = |mean| FigureLine::new("x", PLAIN).ours(measured(mean, 0.0));
        let mut findings = Findings::default();
        assert!(!findings.hold(), "nothing found, nothing held");
        findings.line(line(1.0).must(ClaimInterval::at_least(1.0)));
        findings.line(line(1.0).also(ClaimInterval::at_least(2.0)));
        assert!(findings.hold());
        findings.line(line(1.0).must(ClaimInterval::at_least(2.0)));
        assert!(!findings.hold());
    }
}
