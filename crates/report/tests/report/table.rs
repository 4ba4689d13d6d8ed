//! The table in its three renderings.

use report::{Cell, Column, Median, Quantity, RaceRow, Row, Table, Terminal};

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
    // The last column is aligned right, so all lines end in the same place.
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
