//! Answers as one HTML page: a section for each claim, with its figures and curves.

use super::table;
use cmdline::installed;
use report::{
    Axis, AxisUnit, Badge, Block, Cell, Colour, Column, Document, Figure, Hues, Links, Point,
    Quantity, Role, Row, Section, Series, SeriesShape, Table,
};
use reproduction::papers::{Band, ClaimAnswer, ClaimVerdict, Curve, Plot, PlotAxis};

const HEIGHT: u32 = 300;

/// The page of these answers; `made` says how they were come by.
pub(super) fn document(answers: &[ClaimAnswer], made: &str) -> Document {
    let facts = vec![
        made.to_owned(),
        "A claim holds if our mean ± 2 standard errors meets the paper's interval in every line that \
         decides."
            .to_owned(),
        "Curves: ours, bars: standard errors; dots: ns-2; shaded: the paper".to_owned(),
        installed::explained_in(&["docs/papers.md", "docs/validation/claims.md"]),
    ];
    let claims = answers.iter().map(|answer| answer.claim.id.to_owned());
    let links = Links { documents: installed::documents(), sections: claims.collect() };
    let plots = answers.iter().flat_map(|answer| &answer.findings.plots);
    let hues = Hues::of(&plots.map(names).collect::<Vec<_>>());
    let sections = answers.iter().map(|answer| section(answer, &hues));
    let sections = [overview_section(answers)].into_iter().chain(sections);
    Document {
        title: "The papers' claims".to_owned(),
        facts,
        sections: sections.collect(),
        links,
        ..Document::default()
    }
}

fn overview_section(answers: &[ClaimAnswer]) -> Section {
    let columns = [
        Column::new("claim", Quantity::Text, "Its name"),
        Column::new("verdict", Quantity::Text, "What follows from our figures"),
        Column::new("what is claimed", Quantity::Text, "In short"),
    ];
    let text = |text: &str| Cell::Text(text.to_owned());
    let row = |answer: &ClaimAnswer| Row {
        cells: vec![text(answer.claim.id), text(answer_label(answer)), text(answer.claim.text)],
        is_reference: answer.verdict == ClaimVerdict::Pending,
    };
    let table = Table { columns: columns.into(), rows: answers.iter().map(row).collect() };
    Section { heading: "Verdicts".to_owned(), blocks: vec![Block::Table(table)] }
}

const fn answer_label(answer: &ClaimAnswer) -> &'static str {
    match answer.verdict {
        ClaimVerdict::Holds => "✓ holds",
        ClaimVerdict::Differs if answer.differs_in_quick_alone => "✗ differs in this quick run",
        ClaimVerdict::Differs => "✗ differs",
        ClaimVerdict::Pending => "… pending",
    }
}

fn section(answer: &ClaimAnswer, hues: &Hues<'_>) -> Section {
    let claim = answer.claim;
    let colour = match answer.verdict {
        ClaimVerdict::Holds => Colour::Role(Role::Good),
        ClaimVerdict::Differs if answer.differs_in_quick_alone => Colour::Muted,
        ClaimVerdict::Differs => Colour::Role(Role::Bad),
        ClaimVerdict::Pending => Colour::Muted,
    };
    let mut blocks = vec![
        Block::Badge(Badge { text: answer_label(answer).to_owned(), colour }),
        Block::Text(format!("{}. {}.", claim.text, claim.source)),
    ];
    if !answer.findings.lines.is_empty() {
        blocks.push(Block::Table(table::figures_table(answer)));
    }
    blocks.push(Block::List(answer.notes()));
    blocks.extend(answer.findings.plots.iter().map(|plot| Block::Figure(plot_figure(plot, hues))));
    Section { heading: claim.id.to_owned(), blocks }
}

/// Names of a plot's curves; what ns-2 has is called as what we have.
fn names(plot: &Plot) -> Vec<&str> {
    plot.ours.iter().chain(&plot.ns2).map(|curve| curve.name.as_str()).collect()
}

fn plot_figure(plot: &Plot, hues: &Hues<'_>) -> Figure {
    let bands = plot.bands.iter().map(band_series);
    let ours = plot.ours.iter().map(|own| Series {
        name: own.name.clone(),
        shape: SeriesShape::Line,
        colour: hues.colour(&own.name),
        points: curve_points(own),
    });
    let ns2 = plot.ns2.iter().map(|theirs| Series {
        name: format!("{}, ns-2", theirs.name),
        shape: SeriesShape::Dots,
        colour: hues.colour(&theirs.name),
        points: curve_points(theirs),
    });
    Figure {
        title: plot.title.clone(),
        x: axis(plot.x),
        y: axis(plot.y),
        height: HEIGHT,
        series: bands.chain(ours).chain(ns2).collect(),
        ..Figure::default()
    }
}

fn curve_points(curve: &Curve) -> Vec<Point> {
    let point = |p: &reproduction::papers::CurvePoint| {
        let (mean, error) = (p.y.mean, p.y.standard_error);
        let extent = (error > 0.0).then_some((mean - error, mean + error));
        Point { x: p.x, y: mean, extent }
    };
    curve.points.iter().map(point).collect()
}

fn band_series(band: &Band) -> Series {
    let point = |(x, (low, high)): &(f64, (f64, f64))| Point {
        x: *x,
        y: f64::midpoint(*low, *high),
        extent: Some((*low, *high)),
    };
    Series {
        name: band.name.clone(),
        shape: SeriesShape::Band,
        colour: Colour::Muted,
        points: band.points.iter().map(point).collect(),
    }
}

fn axis(PlotAxis { label, unit }: PlotAxis) -> Axis {
    let (label, unit) = match unit {
        "s" => (label.to_owned(), AxisUnit::Seconds),
        "" => (label.to_owned(), AxisUnit::Number),
        unit => (format!("{label}, {unit}"), AxisUnit::Number),
    };
    Axis { label, unit, ..Axis::default() }
}
