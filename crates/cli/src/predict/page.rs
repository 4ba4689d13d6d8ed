//! `--report`: a forecast as one HTML page: the distribution of times, gains, and the replay beside
//! the capture.

use super::running::ServerScheme;
use super::shown::{self, PathsEvidence};
use cmdline::installed;
use forecast::{ForecastResult, ForecastRow};
use report::{
    Axis, AxisUnit, Block, Colour, Document, Figure, Links, Point, Scale, Section, Series,
    SeriesShape,
};
use units::Duration;

const HEIGHT: u32 = 320;

pub(super) fn document(
    evidence: &PathsEvidence,
    running: &ServerScheme,
    result: &ForecastResult,
) -> Document {
    let now = running.name();
    let section =
        |heading: &str, blocks: Vec<Block>| Section { heading: heading.to_owned(), blocks };
    let queues = shown::queue_warning(result).map(Block::Text);
    let mut facts: Vec<String> = evidence.sentence().lines().map(str::to_owned).collect();
    facts.push(running.sentence());
    facts.push(installed::explained_in(&["docs/predict.md"]));
    Document {
        title: "What the transfers of a capture would take".to_owned(),
        facts,
        sections: vec![
            section(
                "Times",
                std::iter::once(Block::Table(shown::times(result))).chain(queues).collect(),
            ),
            section("How many transfers take how long", vec![Block::Figure(distribution(result))]),
            section(&format!("Time over that of {now}"), gain_blocks(result, now)),
            section(
                "The model itself",
                vec![
                    Block::Text(shown::fit_summary(result, now)),
                    Block::Text(ON_THE_LINE.to_owned()),
                    Block::Figure(captured_and_replayed(result, now)),
                ],
            ),
        ],
        schemes: result.rows.iter().map(|row| row.scheme.clone()).collect(),
        links: Links { documents: installed::documents(), ..Links::default() },
    }
}

/// The ratios and how they come about, or why there are none.
fn gain_blocks(result: &ForecastResult, now: &str) -> Vec<Block> {
    shown::refusal_text(result, now).map_or_else(
        || {
            let how = Block::Text(shown::how_computed(result, now));
            vec![Block::Table(shown::by_group(result, now)), how]
        },
        |why| vec![Block::Text(why)],
    )
}

const ON_THE_LINE: &str =
    "A dot is a transfer. On the line the replay took as long as the capture; above it, longer.";

fn seconds_axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), unit: AxisUnit::Seconds, scale: Scale::Log, ..Axis::default() }
}

/// The share of transfers that took no longer: a curve for the capture, and one for each scheme.
fn distribution(result: &ForecastResult) -> Figure {
    let curve = |row: &ForecastRow, shape, colour| Series {
        name: row.scheme.clone(),
        shape,
        colour,
        points: cumulative(&row.took),
    };
    let schemes = result.rows.iter().enumerate();
    let schemes = schemes.map(|(n, row)| curve(row, SeriesShape::Step, Colour::Hue(n)));
    let captured = curve(&result.captured, SeriesShape::DashedStep, Colour::Ink);
    Figure {
        title: "Share of transfers that take no longer".to_owned(),
        x: seconds_axis("time of a transfer"),
        y: Axis {
            label: "transfers".to_owned(),
            unit: AxisUnit::Share,
            scale: Scale::Linear,
            range: Some((0.0, 1.0)),
        },
        height: HEIGHT,
        series: std::iter::once(captured).chain(schemes).collect(),
        ..Figure::default()
    }
}

/// Transfers that did not end keep the curve below 1.
fn cumulative(took: &[Option<Duration>]) -> Vec<Point> {
    let mut times: Vec<Duration> = took.iter().flatten().copied().collect();
    times.sort_unstable();
    let share = |rank: usize| (rank + 1) as f64 / took.len() as f64;
    times.iter().enumerate().map(|(n, time)| Point::new(time.as_secs_f64(), share(n))).collect()
}

/// Each transfer: captured, and replayed under what the servers run.
fn captured_and_replayed(result: &ForecastResult, now: &str) -> Figure {
    let Some(replayed) = result.rows.first() else { return Figure::default() };
    let both = result.captured.took.iter().zip(&replayed.took);
    let ended = both.filter_map(|(captured, replayed)| Some(((*captured)?, (*replayed)?)));
    let mut dots: Vec<Point> = ended
        .map(|(captured, replayed)| Point::new(captured.as_secs_f64(), replayed.as_secs_f64()))
        .collect();
    dots.sort_by(|a, b| a.x.total_cmp(&b.x));
    let all = || dots.iter().flat_map(|dot| [dot.x, dot.y]);
    let ends = [all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)];
    let line = Series {
        name: "as long as captured".to_owned(),
        shape: SeriesShape::Line,
        colour: Colour::Muted,
        points: ends.map(|end| Point::new(end, end)).to_vec(),
    };
    let cloud = Series {
        name: "transfers".to_owned(),
        shape: SeriesShape::Dots,
        colour: Colour::Hue(0),
        points: dots,
    };
    Figure {
        title: format!("Replayed under {now}, over captured"),
        x: seconds_axis("captured"),
        y: seconds_axis("replayed"),
        height: HEIGHT,
        series: vec![line, cloud],
        ..Figure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of four transfers did not end: 1, 2 and 3 s are the times of a quarter, half, and three
    /// quarters.
    #[test]
    fn what_did_not_end_keeps_the_curve_below_one() {
        let s = Duration::from_secs;
        let points = cumulative(&[Some(s(2)), None, Some(s(1)), Some(s(3))]);
        let at: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(at, [(1.0, 0.25), (2.0, 0.5), (3.0, 0.75)]);
        assert!(cumulative(&[]).is_empty());
    }
}
