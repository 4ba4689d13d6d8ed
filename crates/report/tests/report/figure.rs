//! Figures as files of their own.

use report::{
    Axis, AxisUnit, Colour, Figure, FigureMark, Point, Reference, Scale, Series, SeriesShape,
    Symbol,
};

fn figure() -> Figure {
    let point = |x: f64, y: f64| Point { x, y, extent: Some((y * 0.9, y * 1.1)) };
    let axis =
        |label: &str, unit, scale| Axis { label: label.to_owned(), unit, scale, range: None };
    Figure {
        title: "Time over size".to_owned(),
        x: axis("size", AxisUnit::Bytes, Scale::Log),
        y: axis("time", AxisUnit::Seconds, Scale::Linear),
        height: 300,
        shades: Vec::new(),
        series: vec![Series {
            name: "measured".to_owned(),
            shape: SeriesShape::Line,
            colour: Colour::Hue(0),
            points: vec![point(1e3, 0.1), point(1e4, 0.2), point(1e5, 0.5)],
        }],
        marks: vec![FigureMark {
            x: 1e4,
            y: 0.2,
            symbol: Symbol::Diamond,
            colour: Colour::Hue(1),
            text: "a <mark>".to_owned(),
        }],
        references: vec![Reference {
            at: 0.4,
            upright: false,
            label: "bound".to_owned(),
            colour: Colour::Muted,
        }],
    }
}

#[test]
fn a_figure_is_one_svg_file_of_the_size_asked_for() {
    let svg = figure().to_svg(640);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
    assert!(svg.contains(r#"viewBox="0 0 640 320""#), "300 and a legend of 20");
    assert!(svg.contains("a &lt;mark&gt;") && svg.contains("bound") && svg.contains("100 kB"));
    assert_eq!(svg, figure().to_svg(640));
}

/// A series of one point each is drawn larger, in the figure and in its legend, and keeps its form.
#[test]
fn large_dots_keep_their_form() {
    let points = vec![Point::new(1e4, 0.2)];
    let series = |shape| Series {
        shape,
        colour: Colour::Hue(0),
        points: points.clone(),
        ..Series::default()
    };
    let shapes = [SeriesShape::LargeDots, SeriesShape::LargeSquares];
    let svg = Figure { series: shapes.map(series).into(), ..figure() }.to_svg(640);
    assert!(
        svg.contains(r#"class="dots large c0""#) && svg.contains(r#"class="squares large c0""#)
    );
}

/// The y axis ends 4 % above the greatest value, 0.5 × 1.1 = 0.55, so at 0.572. The last error bar
/// runs from 0.45 to 0.55: from (1 − 0.45/0.572) = 0.21329 of the height up by 0.1/0.572 = 0.17483.
#[test]
fn error_bars_reach_from_low_to_high() {
    let svg = figure().to_svg(640);
    let spans = svg.split(r#"class="spans c0""#).nth(1).unwrap();
    let d = spans.split(r#"d=""#).nth(1).unwrap().split('"').next().unwrap();
    assert!(d.ends_with("v-17483"), "{d}");
}

/// On a logarithmic axis from 800 to 125,000 the middle of three decades' ends lies in the middle.
#[test]
fn a_logarithmic_axis_spreads_equal_ratios_equally() {
    let svg = figure().to_svg(640);
    let mark = svg.split(r##"href="#m-diamond""##).nth(1).unwrap();
    assert!(mark.split('>').next().unwrap().contains(r#"x="50%""#), "{mark}");
}

/// A gap in the data is a gap in the line: the pen is lifted once after the first point.
#[test]
fn values_that_are_not_finite_break_a_line() {
    let mut figure = figure();
    figure.series[0].points[1] = Point::new(5e3, f64::NAN);
    figure.series[0].points.push(Point::new(2e5, 0.5));
    let svg = figure.to_svg(640);
    let line = svg.split(r#"class="line c0""#).nth(1).unwrap();
    let d = line.split(r#"d=""#).nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(d.matches(['M', 'm']).count(), 2, "{d}");
}

#[test]
fn an_empty_figure_is_still_a_figure() {
    let svg = Figure::default().to_svg(0);
    assert!(svg.starts_with("<svg ") && !svg.contains("NaN") && !svg.contains("inf"));
}

/// Strings of a figure are cleaned and escaped by the figure itself; a text of several lines stays
/// one.
#[test]
fn strings_of_a_figure_stay_text() {
    let hostile = "</svg><script>\u{202e}\x1b\"";
    let mut figure = figure();
    figure.title = hostile.to_owned();
    figure.x.label = hostile.to_owned();
    figure.series[0].name = hostile.to_owned();
    figure.marks[0].text = format!("{hostile}\n{hostile}");
    figure.references[0].label = hostile.to_owned();
    let svg = figure.to_svg(640);
    assert!(!svg.contains("<script") && !svg.contains(['\u{202e}', '\x1b', '\u{240a}']));
    assert_eq!(svg.matches("</svg>").count(), svg.matches("<svg").count());
}
