//! The answer to a claim, as it is printed: figures, result, note.

use super::book::Book;
use super::choices::{self, ClaimStanding, PaperTable};
use super::claim::{How, PaperClaim};
use super::finding::{Bearing, FigureLine, Findings, Paper};
use super::sample::Measured;
use super::unit::PrintedUnit;
use serde::{Serialize, Serializer};
use units::counted;

/// The result of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimVerdict {
    /// Our figures meet all of its intervals.
    Holds,
    /// One of them does not hold.
    Differs,
    /// It cannot be answered yet.
    Pending,
}

impl ClaimVerdict {
    /// Returns the result's printed name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "differs",
            Self::Pending => "pending",
        }
    }
}

/// A claim, answered.
#[derive(Clone, Debug)]
pub struct ClaimAnswer {
    /// The claim.
    pub claim: &'static PaperClaim,
    /// The figures found for the claim.
    pub findings: Findings,
    /// The result that follows from the findings.
    pub verdict: ClaimVerdict,
    /// The answer by default, if the chosen reading of the paper changes the runs of the claim.
    pub by_default: Option<ClaimByDefault>,
    /// Source of an answer that does not come from the claim's own conditions: the user's captures
    /// or log.
    pub given: Option<&'static str>,
    /// Name of each experiment and how many repeats of its cells there are, each with another seed.
    pub seeds: Vec<(&'static str, usize)>,
    /// It differs because this run is quick: with all repeats and points it holds, which was seen
    /// when the reading was chosen.
    pub differs_in_quick_alone: bool,
}

/// The answer to a claim under the plans as they stand.
#[derive(Clone, Debug)]
pub struct ClaimByDefault {
    /// The figures found for the claim.
    pub findings: Findings,
    /// The result that follows from the findings.
    pub verdict: ClaimVerdict,
}

impl ClaimAnswer {
    /// Draws the conclusion from the findings. `by_default`: findings under the plans as they
    /// stand, if the chosen reading changes them.
    pub(super) fn new(
        claim: &'static PaperClaim,
        mut findings: Findings,
        by_default: Option<Findings>,
        book: &Book,
    ) -> Self {
        if let Some(by_default) = &by_default {
            let both = findings.plots.iter_mut().zip(&by_default.plots);
            both.for_each(|(plot, plain)| plot.keep_ns2_beside(plain));
        }
        let repeats = |name| book.of(name).cells.first().map_or(0, |cell| cell.repeats.len());
        let experiments = claim.experiments().iter().map(|experiment| experiment.name);
        let seeds = experiments.map(|name| (name, repeats(name))).collect();
        let verdict = match (&claim.how, findings.hold()) {
            (How::Pending, _) => ClaimVerdict::Pending,
            (_, true) => ClaimVerdict::Holds,
            (_, false) => ClaimVerdict::Differs,
        };
        let given = match claim.how {
            How::Site(_) => book.has_given_captures().then_some("From the captures given"),
            How::Log(_) => book.has_given_log().then_some("From the log given"),
            How::Experiments(..) | How::Theory(_) | How::Pending => None,
        };
        let by_default = by_default.map(|findings| {
            let holds = findings.hold();
            let verdict = if holds { ClaimVerdict::Holds } else { ClaimVerdict::Differs };
            ClaimByDefault { findings, verdict }
        });
        let is_short = book.is_quick() && given.is_none() && verdict == ClaimVerdict::Differs;
        let differs_in_quick_alone = is_short
            && choices::table_of(claim)
                .is_some_and(|table| table.holds_in_full.iter().any(|id| id == claim.id));
        Self { claim, findings, verdict, by_default, given, seeds, differs_in_quick_alone }
    }

    /// Returns the chosen reading of its paper, if it changes the runs of the claim.
    pub fn reading(&self) -> Option<String> {
        let table = choices::table_of(self.claim).filter(|_| self.by_default.is_some())?;
        table.chosen().ok().map(|reading| table.named(&reading))
    }

    /// Returns true if it holds under the chosen reading and not by default.
    pub fn holds_by_reading(&self) -> bool {
        let differs = |by_default: &ClaimByDefault| by_default.verdict == ClaimVerdict::Differs;
        self.verdict == ClaimVerdict::Holds && self.by_default.as_ref().is_some_and(differs)
    }

    /// Returns a line by default, under the plans as they stand. Where a line has the case that
    /// decides, it may have another case, and says so in its label.
    pub fn line_by_default(&self, line: usize) -> Option<&FigureLine> {
        let lines = &self.by_default.as_ref()?.findings.lines;
        // The same function made both, from the same cells.
        let same = lines.len() == self.findings.lines.len();
        lines.get(line).filter(|_| same)
    }

    /// Returns the plans of the claim that no reading changes, because no result depends on them.
    fn unchanged_plans(&self) -> Vec<&'static str> {
        let Some(table) = choices::table_of(self.claim) else { return Vec::new() };
        let names = self.claim.experiments().iter().map(|experiment| experiment.name);
        names.filter(|name| !table.judged.contains_key(*name)).collect()
    }

    /// Returns the conditions, and if it differs, where and why: one of these a string.
    pub fn notes(&self) -> Vec<String> {
        let PaperClaim { conditions, why, .. } = *self.claim;
        // The note on why our figures differ does not apply to the user's own captures.
        let (conditions, why) = self.given.map_or((conditions, why), |given| (given, ""));
        let mut notes = vec![format!("{conditions}{}.", self.seeds_in_words())];
        if let Some(reading) = self.reading() {
            notes.push(format!("Read with {reading}, which goes before these conditions."));
            if let beside @ [_, ..] = &self.unchanged_plans()[..] {
                notes.push(format!("Run as it stands: {}.", beside.join(", ")));
            }
        }
        if self.verdict == ClaimVerdict::Differs {
            notes.push(format!("Differs in: {}.", self.failing_labels().join("; ")));
            if self.differs_in_quick_alone {
                // Neither other readings nor a cause explain that.
                let run = format!("headstart lab papers {}", self.claim.id);
                notes.push(format!(
                    "This quick run has too few seeds for it: in full it holds. Run `{run}`."
                ));
                return notes;
            }
            notes.extend(self.other_readings_result());
        }
        if let Some(by_default) = self.by_default.as_ref().filter(|_| self.holds_by_reading()) {
            let lines: Vec<&str> =
                failing_lines(&by_default.findings).map(|line| line.label.as_str()).collect();
            let lines = lines.join("; ");
            notes
                .push(format!("Holds under this reading only. By default it differs in: {lines}."));
        }
        if self.verdict == ClaimVerdict::Differs || self.holds_by_reading() {
            notes.extend(Some(why.to_owned()).filter(|why| !why.is_empty()));
        }
        let by_error_bars = self.by_error_bars();
        if self.verdict == ClaimVerdict::Holds && !by_error_bars.is_empty() {
            let lines = by_error_bars.join("; ");
            notes.push(format!("Holds by error bars alone, the mean lies outside, in: {lines}."));
        }
        notes
    }

    /// Returns all notes in one.
    pub fn note(&self) -> String {
        self.notes().join(" ")
    }

    /// Returns the labels of the lines that hold by their error bars alone, of the lines that
    /// decide the claim.
    pub fn by_error_bars(&self) -> Vec<&str> {
        let so =
            |line: &&FigureLine| line.bearing == Bearing::Verdict && line.holds_by_error_bars();
        self.findings.lines.iter().filter(so).map(|line| line.label.as_str()).collect()
    }

    /// Returns the number of lines that decide the claim, and those of them that fail.
    pub(super) fn verdict_lines(&self) -> (usize, Vec<&FigureLine>) {
        let of_verdict = |line: &&FigureLine| line.bearing == Bearing::Verdict;
        (
            self.findings.lines.iter().filter(of_verdict).count(),
            failing_lines(&self.findings).collect(),
        )
    }

    /// Returns the labels of the lines that keep it from holding.
    fn failing_labels(&self) -> Vec<&str> {
        failing_lines(&self.findings).map(|line| line.label.as_str()).collect()
    }

    /// Returns the result of a claim that differs under the other readings that were tried.
    fn other_readings_result(&self) -> Option<String> {
        let table = choices::table_of(self.claim)?;
        let standing = table.differs.get(self.claim.id)?;
        Some(summary(table, standing))
    }

    /// Returns a text such as `; 20 seeds (FS-1), 50 (FS-4)`.
    fn seeds_in_words(&self) -> String {
        let summary: Vec<String> = match self.seeds.as_slice() {
            [] => return String::new(),
            [(_, n)] => vec![counted(*n, "seed")],
            several => several
                .iter()
                .map(|(name, n)| format!("{} ({name})", counted(*n, "seed")))
                .collect(),
        };
        format!("; {}", summary.join(", "))
    }
}

/// Returns the deciding lines that do not hold.
fn failing_lines(findings: &Findings) -> impl Iterator<Item = &FigureLine> {
    let failed =
        |line: &&FigureLine| line.bearing == Bearing::Verdict && line.holds() == Some(false);
    findings.lines.iter().filter(failed)
}

/// Says under which reading a claim holds that differs by default, and what that reading breaks.
fn summary(table: &PaperTable, standing: &ClaimStanding) -> String {
    let Some(reading) = &standing.holds_under else {
        let tried = standing.run_under.unwrap_or(table.tried);
        return format!("Differs under every one of {tried} readings.");
    };
    let would = match standing.quick_alone {
        true => "In quick runs alone it holds",
        false => "It would hold",
    };
    match standing.breaks.is_empty() {
        true => format!("{would} with {reading}."),
        false => format!("{would} with {reading}, which breaks {}.", standing.breaks.join(", ")),
    }
}

/// One figure without error.
#[derive(Serialize)]
struct Figure {
    label: String,
    value: f64,
    unit: PrintedUnit,
}

/// One of ours; not a number becomes null.
#[derive(Serialize)]
struct OurFigure {
    label: String,
    value: f64,
    unit: PrintedUnit,
    se: f64,
}

/// The columns of the JSON.
#[derive(Serialize)]
struct Row {
    id: &'static str,
    claim: &'static str,
    paper: Vec<Figure>,
    ns2: Vec<Figure>,
    ours: Vec<OurFigure>,
    verdict: ClaimVerdict,
    /// The chosen reading, where it changes the runs of the claim.
    reading: Option<String>,
    /// True if it differs in this quick run only.
    differs_in_quick_alone: bool,
    /// Result and figures under the default reading of that paper.
    default_verdict: Option<ClaimVerdict>,
    default: Vec<OurFigure>,
    /// Deciding lines that hold although our mean lies outside.
    by_error_bars: Vec<String>,
    note: String,
}

impl Serialize for ClaimAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lines = &self.findings.lines;
        let by_default = self.by_default.iter().flat_map(|found| &found.findings.lines);
        // ns-2 was run on the plans as they stand.
        let plain = self.by_default.as_ref().map_or(lines, |found| &found.findings.lines);
        let ns2 = plain.iter().filter_map(|line| {
            Some(Figure { label: label_of(line), value: line.ns2?, unit: line.unit })
        });
        let row = Row {
            id: self.claim.id,
            claim: self.claim.text,
            paper: lines.iter().flat_map(of_paper).collect(),
            ns2: ns2.collect(),
            ours: lines.iter().filter_map(our_figure).collect(),
            verdict: self.verdict,
            reading: self.reading(),
            differs_in_quick_alone: self.differs_in_quick_alone,
            default_verdict: self.by_default.as_ref().map(|found| found.verdict),
            default: by_default.filter_map(our_figure).collect(),
            by_error_bars: self.by_error_bars().into_iter().map(str::to_owned).collect(),
            note: self.note(),
        };
        row.serialize(serializer)
    }
}

fn our_figure(line: &FigureLine) -> Option<OurFigure> {
    let Measured { mean: value, standard_error: se } = line.ours?;
    Some(OurFigure { label: label_of(line), value, unit: line.unit, se })
}

/// Returns the label; for a line that does not decide the claim, it says so.
fn label_of(line: &FigureLine) -> String {
    match line.bearing {
        Bearing::Also => format!("also: {}", line.label),
        Bearing::Verdict | Bearing::Shown => line.label.clone(),
    }
}

/// Returns the paper's figures on a line: its value, or each bound of its interval.
fn of_paper(line: &FigureLine) -> Vec<Figure> {
    let label = label_of(line);
    let figure = |label: String, value| Figure { label, value, unit: line.unit };
    match line.paper {
        Paper::Silent => Vec::new(),
        Paper::Value(value) => vec![figure(label, value)],
        Paper::Within(within) if within.least == within.most => vec![figure(label, within.least)],
        Paper::Within(within) => {
            let bounds = [("at least", within.least), ("at most", within.most)];
            let finite = bounds.into_iter().filter(|(_, bound)| bound.is_finite());
            finite.map(|(which, bound)| figure(format!("{label}, {which}"), bound)).collect()
        }
    }
}
