//! Time against harm: every scheme as a dot, by either measure of harm.

use race::BASELINE;
use race::scoreboard::{Board, HarmScore, MeanBounds, Score};
use report::{Axis, AxisUnit, Block, Colour, Figure, Point, Reference, Scale, Series, SeriesShape};

/// A measure of harm over all cells.
struct Measure {
    title: &'static str,
    label: &'static str,
    mean: fn(&HarmScore) -> Option<f64>,
    interval: fn(&HarmScore) -> Option<MeanBounds>,
}

const MEASURES: [Measure; 2] = [
    Measure {
        title: "Time over linux's against harm",
        label: "harm",
        mean: |harm| harm.harm,
        interval: |harm| harm.harm_interval,
    },
    Measure {
        title: "Time over linux's against harm over fair",
        label: "harm over fair",
        mean: |harm| harm.harm_over_fair,
        interval: |harm| harm.harm_over_fair_interval,
    },
];

/// Height of a plot, CSS pixels.
const HEIGHT: u32 = 320;

const HOW_TO_READ: &str = "Left is faster, below is gentler: what is left of a dot and below it is better in both. Strokes are 95 % \
    intervals of harm. Point at a dot for its scheme.";

/// Both plots, or nothing where no cell has a background.
pub(super) fn blocks(board: &Board) -> Vec<Block> {
    let figures: Vec<Block> = MEASURES
        .iter()
        .filter_map(|measure| score_figure(board, measure))
        .map(Block::Figure)
        .collect();
    let text = (!figures.is_empty()).then(|| Block::Text(HOW_TO_READ.to_owned()));
    text.into_iter().chain(figures).collect()
}

fn score_figure(board: &Board, measure: &Measure) -> Option<Figure> {
    let series: Vec<Series> =
        board.schemes.iter().enumerate().filter_map(score_dot(measure)).collect();
    let line = |upright, at, label: &str| Reference {
        at,
        upright,
        label: label.to_owned(),
        colour: Colour::Muted,
    };
    (!series.is_empty()).then(|| Figure {
        title: measure.title.to_owned(),
        x: Axis {
            label: "time over linux's, geometric mean".to_owned(),
            unit: AxisUnit::Number,
            scale: Scale::Log,
            range: None,
        },
        y: Axis {
            label: measure.label.to_owned(),
            unit: AxisUnit::Share,
            scale: Scale::Linear,
            range: None,
        },
        height: HEIGHT,
        series,
        references: vec![line(true, 1.0, BASELINE), line(false, 0.0, "")],
        ..Figure::default()
    })
}

/// The dot of the n-th scheme.
fn score_dot(measure: &Measure) -> impl Fn((usize, &Score)) -> Option<Series> + '_ {
    |(n, score)| {
        let extent = (measure.interval)(&score.harm).map(|MeanBounds { low, high }| (low, high));
        let y = (measure.mean)(&score.harm)?;
        // The form distinguishes schemes whose hues repeat.
        let shape =
            if n < Colour::COUNT { SeriesShape::LargeDots } else { SeriesShape::LargeSquares };
        Some(Series {
            name: score.name.clone(),
            shape,
            colour: Colour::Hue(n),
            points: vec![Point { x: score.time.over_linux, y, extent }],
        })
    }
}
