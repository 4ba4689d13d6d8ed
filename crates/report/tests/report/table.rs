//! The table in its three renderings.

use report::{
    CausesRow, Cell, Column, Median, MilestoneCells, Quantity, RaceRow, Row, Table, Terminal,
    VariantRow,
};

fn median(value: f64, interval: (f64, f64)) -> Option<Median> {
    Some(Median { value, interval: Some(interval) })
}

fn race() -> Table {
    let linux = RaceRow {
        scheme: "linux".to_owned(),
        page_s: median(1.2345, (1.21, 1.3)),
        page_extremes_s: Some((1.2, 1.4)),
        ratio_to_limit: median(1.7, (1.6, 1.8)),
        gain: median(-0.052, (-0.061, -0.044)),
        bound_by: Some(("rwnd".to_owned(), 0.614)),
        retransmissions: Some(3.0.into()),
        timeouts: Some(0.0.into()),
        drops: Some(2.5.into()),
        harm: Some(0.0.into()),
        ..RaceRow::default()
    };
    let limit = RaceRow {
        scheme: "limit".to_owned(),
        is_limit: true,
        page_s: Some(0.7261.into()),
        ..RaceRow::default()
    };
    Table::race(&[linux, limit], "page done")
}

/// Every cell by the rule of numbers, columns aligned right except the first.
#[test]
fn a_race_on_a_terminal() {
    let expected = "\
scheme  page done        min – max  × limit                   gain  bound by   retrans.  timeouts  drops   harm
──────  ─────────  ───────────────  ───────  ─────────────────────  ─────────  ────────  ────────  ─────  ─────
linux     1.234 s  1.200 – 1.400 s     1.70  −5.2 % (−6.1 to −4.4)  rwnd 61 %         3         0    2.5  0.0 %
limit      726 ms                –        –                      –  –                 –         –      –      –
";
    // 1.2345 has no exact binary form and lies just below the half, hence 1.234.
    assert_eq!(race().to_text(Terminal::default()), expected);
}

#[test]
fn ascii_holds_nothing_but_ascii_and_stays_aligned() {
    let text = race().to_text(Terminal { ascii: true, ..Terminal::default() });
    assert!(text.is_ascii());
    assert!(text.contains("1.200 - 1.400 s") && text.contains("x limit"));
    let lines: Vec<&str> = text.lines().collect();
    // The last column is aligned right, so all lines have one length.
    assert!(lines.iter().all(|l| l.len() == lines[0].len()), "{text}");
}

#[test]
fn styles_appear_only_on_request_and_dim_the_limit() {
    assert!(!race().to_text(Terminal::default()).contains('\x1b'));
    let styled = race().to_text(Terminal { styled: true, ..Terminal::default() });
    let lines: Vec<&str> = styled.lines().collect();
    assert!(lines[0].starts_with("\x1b[1mscheme") && lines[0].ends_with("\x1b[0m"));
    assert!(lines[2].starts_with("linux"));
    assert!(lines[3].starts_with("\x1b[2mlimit"));
}

fn named(names: &[&str]) -> Table {
    let column =
        |title: &str, quantity| Column { title: title.to_owned(), quantity, help: String::new() };
    let row = |name: &&str| Row {
        cells: vec![Cell::Text((*name).to_owned()), Cell::Number(1.0.into())],
        is_reference: false,
    };
    Table {
        columns: vec![column("name", Quantity::Text), column("n", Quantity::Count)],
        rows: names.iter().map(row).collect(),
    }
}

/// 108 columns of text in a terminal of 80 are two bands of columns.
#[test]
fn what_does_not_fit_beside_follows_below() {
    let text = |width| race().to_text(Terminal { width: Some(width), ..Terminal::default() });
    let expected = "\
scheme  page done        min – max  × limit                   gain  bound by
──────  ─────────  ───────────────  ───────  ─────────────────────  ─────────
linux     1.234 s  1.200 – 1.400 s     1.70  −5.2 % (−6.1 to −4.4)  rwnd 61 %
limit      726 ms                –        –                      –  –

scheme  retrans.  timeouts  drops   harm
──────  ────────  ────────  ─────  ─────
linux          3         0    2.5  0.0 %
limit          –         –      –      –
";
    assert_eq!(text(80), expected);
    let whole = race().to_text(Terminal::default());
    let width = whole.lines().map(|line| line.chars().count()).max().unwrap();
    assert_eq!((text(width) == whole, text(width - 1) == whole), (true, false));
    // However narrow: each column by itself beside the name.
    assert_eq!(text(1).matches("scheme").count(), 9);
}

/// Where several columns name a row, all of them stand in every band that has room for them.
#[test]
fn every_band_says_whose_numbers_it_has() {
    let row = |on: &str| RaceRow {
        scheme: "linux".to_owned(),
        world: Some(on.to_owned()),
        page_s: Some(1.2345.into()),
        page_extremes_s: Some((1.2, 1.4)),
        ..RaceRow::default()
    };
    let table = Table::race(&[row("sim"), row("kernel")], "page done");
    let text = table.to_text(Terminal { width: Some(31), ..Terminal::default() });
    assert!(text.starts_with("scheme  on      page done\n"), "{text}");
    assert!(text.contains("\nscheme  on            min – max\n"), "{text}");
}

/// Ideographs take two columns, combining marks none (Unicode annex 11): "速い" is four columns
/// wide, "e\u{301}" one.
#[test]
fn alignment_counts_columns_not_characters() {
    let text = named(&["速い", "e\u{301}", "ab"]).to_text(Terminal::default());
    let expected = "name  n\n────  ─\n速い  1\ne\u{301}     1\nab    1\n";
    assert_eq!(text, expected);
}

/// A name from outside cannot move the cursor, colour the terminal or break the line.
#[test]
fn control_characters_never_reach_the_terminal() {
    let text = named(&["a\x1b[31m\r\nb\t\u{9b}"]).to_text(Terminal::default());
    assert!(!text.contains(['\x1b', '\r', '\t', '\u{9b}']));
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn markdown_escapes_its_own_syntax() {
    let text = named(&["a|b_<i>"]).to_markdown();
    assert_eq!(text, "| name | n |\n| :-- | --: |\n| a\\|b\\_&lt;i> | 1 |\n");
}

/// Rows shorter or longer than the head are no reason to panic.
#[test]
fn ragged_rows_are_filled_and_cut() {
    let mut table = named(&["a", "b"]);
    table.rows[0].cells.truncate(1);
    table.rows[1].cells.push(Cell::Undefined);
    assert_eq!(table.to_text(Terminal::default()), "name  n\n────  ─\na     –\nb     1\n");
    assert_eq!(Table::default().to_text(Terminal::default()), "\n\n");
}

/// Two variants of one scheme; the first gains nothing over itself, whatever its row says.
fn variants() -> [VariantRow; 2] {
    let row = |time: f64, gain, bound: &str| RaceRow {
        scheme: "linux".to_owned(),
        page_s: Some(time.into()),
        ratio_to_limit: Some(1.5.into()),
        gain: median(gain, (gain - 0.01, gain + 0.01)),
        bound_by: Some((bound.to_owned(), 0.5)),
        milestones: vec![MilestoneCells {
            name: "document".to_owned(),
            time_s: Some((time / 2.0).into()),
            gain: median(gain, (gain - 0.2, gain + 0.01)),
        }],
        ..RaceRow::default()
    };
    let variant =
        |variant: &str, is_first, row| VariantRow { variant: variant.into(), is_first, row };
    [variant("1.1", true, row(0.8, 0.5, "path")), variant("2", false, row(0.6, 0.25, "rounds"))]
}

#[test]
fn variants_of_a_race_stand_below_one_another() {
    let text = Table::comparison(&variants(), "http", "load").to_text(Terminal::default());
    let expected = "\
scheme  http    load                      gain  × limit  bound by
──────  ────  ──────  ────────────────────────  ───────  ───────────
linux   1.1   800 ms                         –     1.50  path 50 %
linux   2     600 ms  +25.0 % (+24.0 to +26.0)     1.50  rounds 50 %
";
    assert_eq!(text, expected);
    let text = Table::compared_milestones(&variants(), "http").to_text(Terminal::default());
    let expected = "\
scheme  http  document     gain
──────  ────  ────────  ───────
linux   1.1     400 ms        –
linux   2       300 ms  +25.0 %
";
    assert_eq!(text, expected);
}

#[test]
fn worlds_and_visits_name_the_lines_of_variants_too() {
    let mut rows = variants();
    rows[1].row.world = Some("kernel".to_owned());
    rows[1].row.visit = Some("repeated".to_owned());
    let table = Table::comparison(&rows, "path", "load");
    let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles[..4], ["scheme", "visit", "on", "path"]);
    assert_eq!(table.rows[0].cells[1..3], [Cell::Undefined, Cell::Undefined]);
    assert_eq!(table.rows[1].cells[2], Cell::Text("kernel".to_owned()));
}

#[test]
fn causes_are_times() {
    let row = |variant: &str, page_s, path| CausesRow {
        variant: variant.to_owned(),
        page_s,
        causes: vec![("path".to_owned(), path), ("rounds".to_owned(), page_s - path)],
    };
    let rows = [row("1.1", 0.8, 0.3), row("2", 0.6, 0.25)];
    let expected = "\
http    load    path  rounds
────  ──────  ──────  ──────
1.1   800 ms  300 ms  500 ms
2     600 ms  250 ms  350 ms
";
    assert_eq!(Table::causes(&rows, "http", "load").to_text(Terminal::default()), expected);
}
