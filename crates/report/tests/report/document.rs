//! Documents: all their parts are there, nothing from outside gets through, and the page is
//! bounded.

use report::{
    Axis, Block, Colour, Column, Document, Figure, HeatGroup, HeatMap, HeatRow, HeatScale,
    MAX_HTML_BYTES, Point, Quantity, Row, Section, Series, SeriesShape, Table,
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
            shape: SeriesShape::Line,
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
    let list = Block::List(vec!["first & last".to_owned()]);
    let blocks = vec![
        list,
        text,
        Block::Table(table),
        Block::Figure(figure(3)),
        Block::Heat(heat(3, false)),
    ];
    let page = document(blocks.clone()).to_html();
    for shown in [
        "A &amp; B",
        "a fact",
        "said &lt;so&gt;",
        "<li><bdi>first &amp; last</bdi></li>",
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

/// The page shows 512 of 600 columns, 500 of the first group and 12 of the second, and notes how
/// many are missing. It shows 24 of 30 columns of a table, and 1024 of 1030 rows.
#[test]
fn what_is_left_out_is_told() {
    let mut map = heat(0, true);
    map.groups = [("first", 500), ("second", 100), ("vacant", 0)]
        .map(|(title, count)| HeatGroup {
            title: title.to_owned(),
            columns: (0..count).map(|n| format!("{title} {n}")).collect(),
        })
        .to_vec();
    map.rows[0].values = vec![Some(1.0); 600];
    map.rows = vec![map.rows[0].clone(); 1030];
    let column = |n: usize| Column {
        title: format!("column {n}"),
        quantity: Quantity::Text,
        help: String::new(),
    };
    let table = Table { columns: (0..30).map(column).collect(), rows: Vec::new() };
    let small = HeatMap { rows: map.rows[..1].to_vec(), ..map.clone() };
    let page = document(vec![Block::Heat(small), Block::Table(table)]).to_html();
    for shown in [
        "colspan=\"500\"",
        "colspan=\"12\"",
        "88 more columns left out.",
        "6 more columns left out.",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("colspan=\"100\"") && !page.contains("vacant"));
    map.groups.truncate(0);
    let page = document(vec![Block::Heat(map)]).to_html();
    assert!(page.contains("6 more rows left out."));
}

#[test]
fn the_page_is_bounded_whatever_the_document() {
    let blocks = || (0..2000).map(|_| Block::Figure(figure(5000)));
    let page = document(blocks().collect()).to_html();
    assert!(page.len() <= MAX_HTML_BYTES, "{}", page.len());
}

fn words(title: &str, text: &str) -> Table {
    let column = |title: &str| Column {
        title: title.to_owned(),
        quantity: Quantity::Text,
        help: String::new(),
    };
    let cells = [title, text].map(|text| report::Cell::Text(text.to_owned()));
    Table {
        columns: vec![column("claim"), column("verdict")],
        rows: vec![Row { cells: cells.to_vec(), is_reference: false }],
    }
}

/// A text of two thousand characters is there to its last word; a name of as many is not.
#[test]
fn texts_are_shown_whole() {
    let long = "word ".repeat(400) + "last";
    let page =
        document(vec![Block::Table(words(&long, &long)), Block::Text(long.clone())]).to_html();
    assert_eq!(page.matches(&long).count(), 2, "in the second column, and as a paragraph");
    assert!(page.contains("…"), "the name gives way");
}

/// Words that name a section or a document lead there, wherever they stand.
#[test]
fn texts_lead_to_sections_and_documents() {
    let mut page = document(vec![
        Block::Table(words("FS-1", "as FS-2, see docs/papers.md#how")),
        Block::Text("not FS-22".to_owned()),
    ]);
    page.sections.push(Section { heading: "FS-1".to_owned(), blocks: Vec::new() });
    page.sections.push(Section { heading: "FS-2".to_owned(), blocks: Vec::new() });
    page.facts = vec!["said in docs/papers.md".to_owned()];
    page.links = report::Links {
        documents: "file:///usr/share/doc/headstart".to_owned(),
        sections: vec!["FS-1".to_owned(), "FS-2".to_owned()],
    };
    let html = page.to_html();
    for link in [
        r##"<a href="#part1">FS-1</a>"##,
        r##"<a href="#part2">FS-2</a>,"##,
        r#"<a href="file:///usr/share/doc/headstart/docs/papers.md#how">docs/papers.md#how</a>"#,
        r#"said in <a href="file:///usr/share/doc/headstart/docs/papers.md">docs/papers.md</a>"#,
    ] {
        assert!(html.contains(link), "{link}");
    }
    assert!(html.contains("not FS-22") && html.contains(r#"<h2 id="part2"><bdi>FS-2</bdi>"#));
    page.links = report::Links::default();
    assert!(!page.to_html().contains("<a "), "nothing is asked for");
}

/// Values far from the middle still differ: each of the steps has a class of its own, and the
/// legend shows where it begins. 16 is 2^4; below 1 the same factors divide.
#[test]
fn heat_does_not_saturate_early() {
    let mut map = heat(0, false);
    map.scale = HeatScale {
        middle: 1.0,
        steps: &[1.1, 1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0],
        is_ratio: true,
        least: 0.0,
    };
    map.groups[0].columns = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    map.rows[0].values = [3.0, 5.0, 20.0, 0.05].map(Some).to_vec();
    let page = document(vec![Block::Heat(map)]).to_html();
    for shown in [
        r#"<td class="b4 first" data-v="3">3.00</td>"#,
        r#"<td class="b5" data-v="5">5.00</td>"#,
        r#"<td class="b7" data-v="20">20.00</td>"#,
        r#"<td class="g7" data-v="0.05">0.05</td>"#,
        r#"<li class="b8">≥ 32.00</li>"#,
        r#"<li class="g4">≤ 0.50</li>"#,
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

/// Where rows are schemes, each has its colour on the page, and series are forms.
#[test]
fn ranges_of_schemes_have_their_colours() {
    let range = || Some(report::Range { value: 1.0, min: 1.0, max: 1.0, ..Default::default() });
    let row =
        |label: &str| report::RangeRow { label: label.to_owned(), values: vec![range(), range()] };
    let ranges = report::Ranges {
        title: "t".to_owned(),
        rows: vec![row("fs"), row("linux")],
        series: vec!["sim".to_owned(), "kernel".to_owned()],
        colours: report::RangeColours::Schemes,
        ..Default::default()
    };
    let page = Document {
        schemes: vec!["linux".to_owned(), "fs".to_owned()],
        ..document(vec![Block::Ranges(ranges)])
    };
    let html = page.to_html();
    let lanes: Vec<&str> = html.split(r#"class="lane "#).skip(1).map(|lane| &lane[..2]).collect();
    assert_eq!(lanes, ["c1", "c1", "c0", "c0"]);
    assert_eq!(html.matches(r#"class="value dots""#).count(), 2);
    assert_eq!(html.matches(r#"class="value squares""#).count(), 2);
}
