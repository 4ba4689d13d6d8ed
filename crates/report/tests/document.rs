//! Documents: all their parts are there, nothing from outside gets through, and the page is bounded.

use report::{
    Axis, Block, Colour, Column, Document, Figure, HeatGroup, HeatMap, HeatRow, HeatScale,
    MAX_HTML_BYTES, Point, Quantity, Row, Section, Series, Shape, Table,
};

fn figure(points: usize) -> Figure {
    let points = (0..points).map(|n| Point::new(n as f64, (n % 97) as f64));
    Figure {
        title: "A <figure>".to_owned(),
        x: Axis { label: "x".to_owned(), ..Axis::default() },
        y: Axis { label: "y".to_owned(), ..Axis::default() },
        height: 200,
        series: vec![Series {
            name: "a curve".to_owned(),
            shape: Shape::Line,
            colour: Colour::Hue(0),
            points: points.collect(),
        }],
        ..Figure::default()
    }
}

fn heat(columns: usize, is_dense: bool) -> HeatMap {
    let values = (0..columns).map(|n| (n != 1).then_some(n as f64));
    HeatMap {
        title: "Times".to_owned(),
        row_head: "scheme".to_owned(),
        groups: vec![HeatGroup {
            title: "sizes".to_owned(),
            columns: (0..columns).map(|n| format!("c{n}")).collect(),
        }],
        rows: vec![HeatRow { title: "<linux>".to_owned(), values: values.collect() }],
        quantity: Quantity::Ratio,
        scale: HeatScale { middle: 1.0, steps: &[0.5, 1.0, 2.0], is_ratio: false, least: -9.0 },
        is_dense,
    }
}

fn document(blocks: Vec<Block>) -> Document {
    Document {
        title: "A & B".to_owned(),
        facts: vec!["a fact".to_owned()],
        sections: vec![Section { heading: "One".to_owned(), blocks }],
        ..Document::default()
    }
}

#[test]
fn all_parts_are_shown_and_escaped() {
    let column =
        |title: &str, quantity| Column { title: title.to_owned(), quantity, help: String::new() };
    let table = Table {
        columns: vec![column("name", Quantity::Text)],
        rows: vec![Row { cells: vec![report::Cell::Text("x < y".into())], is_reference: false }],
    };
    let text = Block::Text("said <so>".to_owned());
    let blocks =
        vec![text, Block::Table(table), Block::Figure(figure(3)), Block::Heat(heat(3, false))];
    let page = document(blocks.clone()).to_html();
    for shown in [
        "A &amp; B",
        "a fact",
        "said &lt;so&gt;",
        "x &lt; y",
        "A &lt;figure&gt;",
        "a curve",
        "&lt;linux&gt;",
        // 0 is two steps below the middle, nothing is undefined, 2 is two steps above it.
        r#"<td class="g2 first" data-v="0">0.00</td>"#,
        r#"<td class="none">–</td>"#,
        r#"<td class="b2" data-v="2">2.00</td>"#,
        // So the legend says: a step below the middle begins at 0.5, the third above it at 3.
        r#"<li class="g1">≤ 0.50</li>"#,
        r#"<li class="b3">≥ 3.00</li>"#,
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert_eq!(page, document(blocks).to_html());
}

#[test]
fn a_dense_heat_map_says_its_values_on_hover_only() {
    let page = document(vec![Block::Heat(heat(4, true))]).to_html();
    assert!(page.contains(r#"<td class="b3" title="c3: 3.00"></td>"#), "{page}");
}

#[test]
fn the_page_is_bounded_whatever_the_document() {
    let blocks = || (0..2000).map(|_| Block::Figure(figure(5000)));
    let page = document(blocks().collect()).to_html();
    assert!(page.len() <= MAX_HTML_BYTES, "{}", page.len());
}
