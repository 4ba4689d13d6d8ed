//! Answers as text: for each claim its conclusion, its figures and remarks.

use super::shown;
use cmdline::{Failure, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use reproduction::papers::{ClaimAnswer, ClaimVerdict, FigureLine};
use units::counted;

/// Columns of running text.
const WIDTH: usize = 100;

/// Prints the answers, and how many of each there are.
pub(super) fn print(answers: &[ClaimAnswer]) -> Result<(), Failure> {
    for answer in answers {
        let head = wrap_text(&claim_summary(answer), "       ");
        stdout::print(&format!("{head}  {}\n", answer.claim.source))?;
        if !answer.findings.lines.is_empty() {
            stdout::print_table(&figures_table(answer))?;
        }
        stdout::print(&format!("{}\n", wrap_text(&format!("  {}", answer.note()), "  ")))?;
    }
    let count = |verdict| answers.iter().filter(|answer| answer.verdict == verdict).count();
    let holds = |answer: &&ClaimAnswer| answer.verdict == ClaimVerdict::Holds;
    let by_error_bars = answers.iter().filter(holds).filter(|a| !a.by_error_bars().is_empty());
    let by_reading = answers.iter().filter(|answer| answer.holds_by_reading()).count();
    let read = match by_reading {
        0 => String::new(),
        n => format!("{n} of those that hold do so under the chosen reading of their paper only\n"),
    };
    let short = match answers.iter().filter(|answer| answer.differs_in_quick_alone).count() {
        0 => String::new(),
        n => format!(
            "of those that differ {} in full: this quick run has too few seeds\n",
            so_many(n, "hold")
        ),
    };
    stdout::print(&format!(
        "{}: {} ({} of them by error bars alone), {}, {} pending\n{read}{short}",
        counted(answers.len(), "claim"),
        so_many(count(ClaimVerdict::Holds), "hold"),
        by_error_bars.count(),
        so_many(count(ClaimVerdict::Differs), "differ"),
        count(ClaimVerdict::Pending)
    ))
}

/// A number of things with a verb: `1 holds`, `2 hold`.
fn so_many(n: usize, what: &str) -> String {
    let singular = if n == 1 { "s" } else { "" };
    format!("{n} {what}{singular}")
}

/// The claim, and whether it holds.
pub(super) fn claim_summary(answer: &ClaimAnswer) -> String {
    let verdict = answer.verdict.name().to_uppercase();
    let by = match (answer.holds_by_reading(), answer.differs_in_quick_alone) {
        (true, _) => " BY READING",
        (_, true) => " IN THIS QUICK RUN",
        _ => "",
    };
    format!("{}  {verdict}{by}  {}", answer.claim.id, answer.claim.text)
}

/// The figures of a claim as a table; those by default beside ours where the chosen reading has
/// others.
pub(super) fn figures_table(answer: &ClaimAnswer) -> Table {
    let mut columns = vec![
        Column::new("figure", Quantity::Text, "What it is a figure of"),
        Column::new("paper", Quantity::Text, "The paper's figure, or where it says that it lies"),
        Column::new("ours", Quantity::Text, "Measured here: mean ± standard error"),
    ];
    let has_default = answer.by_default.is_some();
    columns.extend(if has_default { beside_default().to_vec() } else { vec![ns2()] });
    let heading = "Whether ours ± 2 standard errors meets the paper's";
    columns.push(Column::new("verdict", Quantity::Text, heading));
    let row = |(nth, line): (usize, &FigureLine)| {
        let mut cells = vec![line.label.clone(), shown::paper(line), shown::our_figure(line)];
        match answer.line_by_default(nth) {
            Some(plain) => cells.extend([shown::by_default(plain, line), shown::ns2(plain)]),
            None if has_default => cells.extend([shown::dash(), shown::dash()]),
            None => cells.push(shown::ns2(line)),
        }
        cells.push(shown::holds_label(line).to_owned());
        Row { cells: cells.into_iter().map(Cell::Text).collect(), is_reference: false }
    };
    Table { columns, rows: answer.findings.lines.iter().enumerate().map(row).collect() }
}

fn ns2() -> Column {
    Column::new("ns-2", Quantity::Text, "Measured with ns-2.35")
}

/// The columns beside ours where the chosen reading has other figures.
fn beside_default() -> [Column; 2] {
    let heading = "Measured here under the plans as they stand, before the paper was read otherwise; with its case, if another one decides";
    let theirs = "Measured with ns-2.35, on the plans as they stand: to compare with the default";
    [
        Column::new("default", Quantity::Text, heading),
        Column::new("ns-2, default", Quantity::Text, theirs),
    ]
}

/// Text in lines of at most [`WIDTH`] characters, those after the first with an indent.
fn wrap_text(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut line = String::from(if text.starts_with("  ") { "  " } else { "" });
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if line.chars().count() + word.chars().count() > WIDTH {
            out += line.trim_end();
            out.push('\n');
            line = indent.to_owned();
        }
        line += word;
        line.push(' ');
    }
    out + line.trim_end() + "\n"
}
