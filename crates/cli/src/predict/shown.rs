//! Output of a forecast: words, tables and JSON.

use super::ServerScheme;
use cmdline::{Failure, stdout};
use forecast::{
    Forecast, ForecastGroup, ForecastResult, ForecastRow, GroupGain, MAX_ERROR, ModelFit,
};
use report::{Cell, Column, Median, Quantity, Row, Table};
use serde::Serialize;
use std::collections::BTreeSet;
use units::counted;

/// The replayed transfers, and the evidence about their paths.
#[derive(Debug, Serialize)]
pub(super) struct PathsEvidence {
    clients: u64,
    networks: u64,
    connections: u64,
    transfers: u64,
    servers: u64,
    /// Clients that have shown how fast their path is.
    rate_known: u64,
    /// Clients whose losses have shown how much the queue holds.
    queue_known: u64,
    /// The rate that others have.
    usual_rate_bps: u64,
    /// Quartiles over clients.
    rate_bps: [u64; 3],
    rtt_s: [f64; 3],
    /// Longest wait in the queue, as it is taken.
    queue_s: [f64; 3],
}

impl PathsEvidence {
    pub(super) fn of(forecast: &Forecast) -> Self {
        let count = |of: fn(&forecast::AccessEstimate) -> bool| {
            forecast.paths().filter(|(_, path)| of(path)).count() as u64
        };
        let connections = || forecast.paths().flat_map(|(client, _)| &client.connections);
        let servers: BTreeSet<_> = connections().map(|connection| connection.server).collect();
        let transfers = connections().map(|connection| connection.transfers.len() as u64);
        let known = forecast.paths().filter(|(_, path)| path.is_rate_known);
        Self {
            clients: forecast.paths().count() as u64,
            networks: forecast.networks() as u64,
            connections: connections().count() as u64,
            transfers: transfers.sum(),
            servers: servers.len() as u64,
            rate_known: count(|path| path.is_rate_known),
            queue_known: count(|path| path.is_queue_known),
            usual_rate_bps: forecast.usual_rate().as_bps(),
            rate_bps: quartiles(known.map(|(_, path)| path.rate.as_bps()).collect()),
            rtt_s: quartiles(forecast.paths().map(|(_, path)| path.rtt).collect())
                .map(units::Duration::as_secs_f64),
            queue_s: quartiles(
                forecast.paths().map(|(_, path)| path.rate.transmit_time(path.queue)).collect(),
            )
            .map(units::Duration::as_secs_f64),
        }
    }

    /// In words, two lines.
    pub(super) fn sentence(&self) -> String {
        let [_, rtt, _] = self.rtt_s;
        let mut text = format!(
            "{} over {} of {} in {} to {}. Round trips: {} in the median.",
            counted(self.transfers, "transfer"),
            counted(self.connections, "connection"),
            counted(self.clients, "client"),
            counted(self.networks, "network"),
            counted(self.servers, "server"),
            report::seconds(rtt),
        );
        text.push('\n');
        text += &self.of_rates();
        text.push(' ');
        text += &match self.queue_known {
            0 => "No losses have shown how much a queue holds.".to_owned(),
            known if known == self.clients => {
                "Losses have shown how much the queues hold.".to_owned()
            }
            known => format!("Losses have shown how much the queues of {known} hold."),
        };
        text
    }

    /// Sentence about the rates of paths.
    fn of_rates(&self) -> String {
        let shown = |bps: u64| report::written((bps as f64).into(), Quantity::Rate);
        let usual = shown(self.usual_rate_bps);
        match self.rate_known {
            0 => format!(
                "No client has shown how fast its path is, since no answer was long enough: {usual} is taken."
            ),
            known if known == self.clients => {
                format!(
                    "Rates of paths: {} in the median, all shown by packets.",
                    shown(self.rate_bps[1])
                )
            }
            known => format!(
                "{known} of {} have shown how fast their paths are: {} in the median, which is taken for the others.",
                counted(self.clients, "client"),
                shown(self.rate_bps[1]),
            ),
        }
    }
}

/// Quartiles of values; defaults if there are none.
fn quartiles<T: Ord + Copy + Default>(mut values: Vec<T>) -> [T; 3] {
    values.sort_unstable();
    [1, 2, 3].map(|quarter| {
        let rank = (values.len() * quarter).div_ceil(4).saturating_sub(1);
        values.get(rank).copied().unwrap_or_default()
    })
}

/// The form of the JSON; a change that a reader has to know of raises it.
const FORMAT: u32 = 2;

/// A forecast for programs.
pub(super) struct ForecastJson<'a> {
    pub(super) paths: &'a PathsEvidence,
    pub(super) running: &'a ServerScheme,
    pub(super) result: &'a ForecastResult,
}

impl Serialize for ForecastJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let ForecastResult { fit, captured, rows, draws, changing, refused } = self.result;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("format", &FORMAT)?;
        map.serialize_entry("paths", self.paths)?;
        map.serialize_entry("running", self.running)?;
        map.serialize_entry("fit", fit)?;
        map.serialize_entry("draws", draws)?;
        map.serialize_entry("changing", changing)?;
        map.serialize_entry("refused", refused)?;
        map.serialize_entry("captured", captured)?;
        map.serialize_entry("schemes", rows)?;
        map.end()
    }
}

/// Prints words and tables.
pub(super) fn print(
    evidence: &PathsEvidence,
    running: &ServerScheme,
    result: &ForecastResult,
) -> Result<(), Failure> {
    let now = running.name();
    stdout::print(&format!("{}\n{}\n\n", evidence.sentence(), running.sentence()))?;
    stdout::print_table(&times(result))?;
    if let Some(queues) = queue_warning(result) {
        stdout::print(&format!("\n{queues}\n"))?;
    }
    stdout::print(&format!("\n{}\n", fit_summary(result, now)))?;
    if let Some(why) = refusal_text(result, now) {
        return stdout::print(&format!("\n{why}\n"));
    }
    stdout::print(&format!("\nTime over that of {now}:\n\n"))?;
    stdout::print_table(&by_group(result, now))?;
    stdout::print(&format!("\n{}\n", how_computed(result, now)))
}

/// Explains ratios and intervals.
pub(super) fn how_computed(result: &ForecastResult, now: &str) -> String {
    format!(
        "A ratio is the geometric mean, over the transfers of {}, of the time under the scheme over the time under {now}, both \
         replayed. In brackets: the 95 % interval, by the scatter of networks and of replays, widened by the error of the replay under \
         {now} beside the capture. Without a ratio (–) that error is more than a third.",
        counted(result.draws, "replay")
    )
}

/// Explains why nothing is predicted, and what would help; `None` if something is.
pub(super) fn refusal_text(result: &ForecastResult, now: &str) -> Option<String> {
    let off = result.refused?;
    let (rates, cause) = match result.changing {
        0 => (
            "",
            "the model lacks something about these paths: another sender (name it with --sender), other traffic, or a capture \
             that was not made at the server (--vantage)",
        ),
        _ => (
            " if their rates do not change",
            "other traffic shares the paths of these clients, or their rates change much. The capture does not show what another \
             scheme would get of them",
        ),
    };
    Some(format!(
        "No prediction: under {now}, replayed transfers take {off:.2} times as long as the captured ones{rates}. A prediction needs {:.2} to \
         {MAX_ERROR:.2}. Probably {cause}. Capture at another time or for longer, or choose clients with --client. A trial of the \
         scheme on a part of the connections is certain.",
        1.0 / MAX_ERROR
    ))
}

/// Sentence about rows that depend on queues without evidence.
pub(super) fn queue_warning(result: &ForecastResult) -> Option<String> {
    let beyond = result.rows.iter().filter(|row| row.beyond > 0.0);
    let names: Vec<&str> = beyond.map(|row| row.scheme.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "beyond: transfers whose queues had to hold more than the capture has shown ({}). If queues are shorter, these lose packets and \
             take longer: try --queue.",
            names.join(", ")
        )
    })
}

/// Sentence about the quality of the model.
pub(super) fn fit_summary(result: &ForecastResult, now: &str) -> String {
    let ModelFit { quartiles, within_quarter, .. } = result.fit;
    let Some(([low, middle, high], near)) = quartiles.zip(within_quarter) else {
        return format!(
            "The model itself: under {now}, no simulated transfer ended, so its quality is not known."
        );
    };
    let changing = match result.changing {
        0 => String::new(),
        changing => format!(
            " The rate of the paths of {} changes: it is replayed as it was seen.",
            counted(changing, "transfer")
        ),
    };
    format!(
        "The model itself: under {now}, a simulated transfer takes {middle:.2} times as long as the captured one in the median. The middle \
         half takes {low:.2} to {high:.2} times as long. {:.0} % of transfers are within a quarter of their time.{changing}",
        near * 100.0,
    )
}

fn number_cell(value: f64) -> Cell {
    Cell::Number(value.into())
}

fn optional_cell(value: Option<f64>) -> Cell {
    value.map_or(Cell::Undefined, number_cell)
}

fn count_cell(value: u64) -> Cell {
    number_cell(value as f64)
}

/// Times of transfers, a row for the capture and for each scheme.
pub(super) fn times(result: &ForecastResult) -> Table {
    let column = Column::new;
    let columns = vec![
        column("scheme", Quantity::Text, "The scheme, or the capture itself"),
        column("median", Quantity::Time, "Median of the transfers' times"),
        column("mean", Quantity::Time, "Mean of the transfers' times"),
        column("95 %", Quantity::Time, "95 of 100 transfers took no longer"),
        column("of perfect", Quantity::Share, "Gain in parts of that of perfect start"),
        column("retrans.", Quantity::Count, "Segments that servers retransmitted"),
        column("timeouts", Quantity::Count, "Expiries of servers' retransmission timers"),
        column("unfinished", Quantity::Count, "Transfers that did not end"),
        column(
            "beyond",
            Quantity::Share,
            "Transfers over queues that held more than the capture has shown",
        ),
    ];
    let row = |of: &ForecastRow, is_reference| {
        let cells = vec![
            Cell::Text(of.scheme.clone()),
            optional_cell(of.median_s),
            optional_cell(of.mean_s),
            optional_cell(of.p95_s),
            optional_cell(of.share_of_perfect_start),
            count_cell(of.retransmissions),
            count_cell(of.timeouts),
            count_cell(of.unfinished),
            if is_reference { Cell::Undefined } else { number_cell(of.beyond) },
        ];
        Row { cells, is_reference }
    };
    let captured = std::iter::once(row(&result.captured, true));
    Table { columns, rows: captured.chain(result.rows.iter().map(|of| row(of, false))).collect() }
}

/// Gains, a row for each group of transfers and a column for each scheme but the first.
pub(super) fn by_group(result: &ForecastResult, now: &str) -> Table {
    let mut columns = vec![
        Column::new("transfers", Quantity::Text, "Which transfers"),
        Column::new("count", Quantity::Count, "How many"),
    ];
    let others = result.rows.iter().skip(1);
    columns.extend(others.clone().map(|of| {
        let help = format!("Geometric mean of time over that of {now}, with its 95 % interval");
        Column::new(of.scheme.clone(), Quantity::Ratio, help)
    }));
    let Some(first) = result.rows.first() else { return Table::default() };
    let row = |group: ForecastGroup| {
        let of = first.gain(group)?;
        let ratios = others.clone().map(|of| match of.gain(group) {
            Some(GroupGain { ratio: Some(value), interval, .. }) => {
                Cell::Median(Median { value: *value, interval: *interval })
            }
            _ => Cell::Undefined,
        });
        let head = [Cell::Text(group.name().to_owned()), number_cell(of.transfers as f64)];
        Some(Row { cells: head.into_iter().chain(ratios).collect(), is_reference: false })
    };
    Table { columns, rows: ForecastGroup::all().filter_map(row).collect() }
}
