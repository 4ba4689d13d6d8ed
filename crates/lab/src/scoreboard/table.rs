//! The board as tables: what schemes are ranked by, and what they lost time to.

use race::scoreboard::{Board, LimitScore, MeanBounds, Score, StateScore, TimeScore};
use report::{Cell, Column, Quantity, Row, Table};

/// The limits, then the schemes, the best first.
pub(super) fn scores(board: &Board) -> Table {
    let columns = vec![
        Column::new("scheme", Quantity::Text, "How the servers send"),
        Column::new("× linux", Quantity::Ratio, "Time over linux's, geometric mean over cells"),
        Column::new("95 %", Quantity::Text, "Interval of that mean, over cells drawn like these"),
        Column::new("median", Quantity::Ratio, "Median over cells of time over linux's"),
        Column::new("of perfect", Quantity::Share, "Gain over linux in parts of perfect start's"),
        Column::new(
            "× limit",
            Quantity::Ratio,
            "Time over the limit without handshakes, geometric mean over cells",
        ),
        Column::new("p95", Quantity::Ratio, "95th percentile of time over that limit"),
        Column::new(
            "RTTs",
            Quantity::Ratio,
            "Time less that limit in round trips of the path, mean over cells",
        ),
        Column::new("RTTs median", Quantity::Ratio, "Its median"),
        Column::new(
            "harm",
            Quantity::Gain,
            "Time that the background took over that beside linux, less one",
        ),
        Column::new("harm 95 %", Quantity::Text, "Interval of that mean"),
        Column::new("harm p95", Quantity::Gain, "Its 95th percentile"),
        Column::new(
            "over fair",
            Quantity::Gain,
            "Time that the background took over what fair sharing would leave, less one",
        ),
        Column::new("over fair 95 %", Quantity::Text, "Interval of that mean"),
        Column::new("over fair p95", Quantity::Gain, "Its 95th percentile"),
        Column::new(
            "loss",
            Quantity::Gain,
            "Share of the background's packets dropped, less that beside linux",
        ),
        Column::new("unfinished", Quantity::Count, "Transfers not over after 600 s"),
    ];
    let limits = board.limits.iter().map(|limit| limit_row(limit, columns.len()));
    let perfect = Row { is_reference: true, ..score_row(&board.perfect_start) };
    let rows = limits.chain([perfect]).chain(board.schemes.iter().map(score_row)).collect();
    Table { columns, rows }
}

/// Times by what was there before and by load, with the parts of perfect start's gain.
pub(super) fn states(board: &Board) -> Table {
    let mut columns = vec![Column::new("scheme", Quantity::Text, "How the servers send")];
    columns.extend(board.perfect_start.states.iter().map(|state| {
        let title = format!("{}: {}", state.load, state.before);
        Column::new(title, Quantity::Text, "Time over linux's (part of perfect start's gain)")
    }));
    let row = |score: &Score| {
        let name = Cell::Text(score.name.clone());
        let cells = [name].into_iter().chain(score.states.iter().map(state));
        Row { cells: cells.collect(), is_reference: false }
    };
    let perfect = Row { is_reference: true, ..row(&board.perfect_start) };
    Table { columns, rows: [perfect].into_iter().chain(board.schemes.iter().map(row)).collect() }
}

fn state(score: &StateScore) -> Cell {
    let Some(time) = score.over_linux else { return Cell::Undefined };
    Cell::Text(match score.share_of_perfect_start {
        Some(share) => format!("{time:.2} ({:.0} %)", share * 100.0).replace('-', "−"),
        None => format!("{time:.2}"),
    })
}

fn limit_row(limit: &LimitScore, columns: usize) -> Row {
    let mut cells = times(limit.name, &limit.time, None);
    cells.resize(columns, Cell::Undefined);
    Row { cells, is_reference: true }
}

fn score_row(score: &Score) -> Row {
    let harm = &score.harm;
    let mut cells = times(&score.name, &score.time, score.share_of_perfect_start);
    cells.extend([
        or_undefined(harm.harm),
        percent_bounds_cell(harm.harm_interval),
        or_undefined(harm.harm_p95),
        or_undefined(harm.harm_over_fair),
        percent_bounds_cell(harm.harm_over_fair_interval),
        or_undefined(harm.harm_over_fair_p95),
        or_undefined(harm.harm_loss),
        number_cell(score.unfinished as f64),
    ]);
    Row { cells, is_reference: false }
}

fn times(name: &str, time: &TimeScore, share_of_perfect_start: Option<f64>) -> Vec<Cell> {
    let MeanBounds { low, high } = time.over_linux_interval;
    vec![
        Cell::Text(name.to_owned()),
        number_cell(time.over_linux),
        Cell::Text(format!("{low:.3}–{high:.3}")),
        number_cell(time.over_linux_median),
        or_undefined(share_of_perfect_start),
        number_cell(time.over_limit),
        number_cell(time.over_limit_p95),
        number_cell(time.behind_rtts),
        number_cell(time.behind_rtts_median),
    ]
}

/// Causes of each scheme's lost time, in the order of the scores: sums over all cells and seeds.
pub(super) fn causes_table(board: &Board) -> Table {
    let columns = vec![
        Column::new("scheme", Quantity::Text, "How the servers send"),
        Column::new("lost SYNs", Quantity::Count, "SYNs and SYN-ACKs retransmitted"),
        Column::new("timeouts", Quantity::Count, "Expiries of retransmission timers"),
        Column::new("of data", Quantity::Count, "Those of them that were not for SYNs"),
        Column::new(
            "waited [s]",
            Quantity::Count,
            "Seconds that these timers ran, of all connections",
        ),
        Column::new("probes", Quantity::Count, "Tail-loss probes sent"),
        Column::new("retransmitted", Quantity::Count, "Segments retransmitted, SYNs among them"),
        Column::new(
            "with lost SYNs",
            Quantity::Count,
            "Cells in which a SYN or SYN-ACK was retransmitted",
        ),
        Column::new("with timeouts", Quantity::Count, "Cells in which a timer ran out"),
    ];
    let row = |score: &Score| {
        let of = &score.causes;
        let cells_with = |count: fn(&race::scoreboard::CauseCounts) -> u64| {
            score.cells.iter().filter(|cell| count(&cell.causes) > 0).count() as u64
        };
        let counts = [
            of.lost_syns,
            of.timeouts,
            of.data_timeouts,
            of.timeout_seconds.round() as u64,
            of.probes,
            of.retransmitted,
            cells_with(|causes| causes.lost_syns),
            cells_with(|causes| causes.timeouts),
        ];
        let name = Cell::Text(score.name.clone());
        let counts = counts.into_iter().map(|count| number_cell(count as f64));
        Row { cells: [name].into_iter().chain(counts).collect(), is_reference: false }
    };
    Table { columns, rows: board.schemes.iter().map(row).collect() }
}

fn number_cell(value: f64) -> Cell {
    Cell::Number(value.into())
}

fn or_undefined(value: Option<f64>) -> Cell {
    value.map_or(Cell::Undefined, number_cell)
}

fn percent_bounds_cell(bounds: Option<MeanBounds>) -> Cell {
    let written =
        |MeanBounds { low, high }| format!("{:+.1} – {:+.1} %", 100.0 * low, 100.0 * high);
    bounds.map_or(Cell::Undefined, |bounds| Cell::Text(written(bounds).replace('-', "−")))
}
