//! Measurements of set-ups that also exist as plans of the papers' claims. They are stalls of bulk
//! transfers beside fast starts (FS-6), bursts over an asymmetric path (FS-9, Table 2), and shares
//! of transfers to two hosts (BS-3).
//!
//! A row changes the values that its columns name, and the plan gives the rest: side links, starts,
//! idle times. A file with another column of a set-up is refused, as is a value that cannot be run.
//! Figures must agree within 10 % or two standard errors of the difference. None of
//! these files comes with headstart: the open choices are the plans', and a file that was measured
//! with others will show it.

mod shares;
mod stalls;
mod uploads;

use super::file_name;
use super::paper::{estimate, over_runs};
use super::{
    Cases, CheckError, Fields, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal, over_seeds,
    within,
};
use crate::papers::{Readings, RunRecords, readings_of};
use experiment::plan::Plan;
use serde::de::DeserializeOwned;
pub(super) use shares::SharesSuite;
pub(super) use stalls::StallsSuite;
use units::Duration;
pub(super) use uploads::UploadsSuite;

/// Agreement demanded of a mean.
const BOUND: f64 = 0.1;
/// Bound on the number of runs.
const MAX_RUNS: u32 = 1000;

/// Returns a case for each row of the files, as `planned` has it from the file's name and the row.
///
/// # Errors
/// If a file has a column of a set-up that is not among `columns`, or no row that can be compared.
fn cases_of<R: DeserializeOwned>(
    tables: &[&Ns2Table],
    columns: &[&str],
    planned: impl Fn(&str, R) -> Result<PlannedRow, Refusal>,
) -> Result<Cases, CheckError> {
    for table in tables {
        table.only_set_up_by(columns)?;
    }
    Cases::of_rows(tables, |file, row| planned(file, row)?.case(file))
}

/// A figure of a row: the compared metric, ns-2's mean and standard error, the reading of ours.
struct Figure {
    metric: Ns2Metric,
    ns2: (f64, f64),
    reading: &'static str,
    /// Value of one unit of the reading in the metric's unit.
    scale: f64,
}

/// The plan that a row runs, and its key.
struct PlannedRow {
    key: Fields,
    /// The plan of its one cell.
    plan: String,
    runs: u32,
    read: fn(&RunRecords<'_>, &mut Readings),
    figures: Vec<Figure>,
}

impl PlannedRow {
    /// Returns the case; a plan that cannot be run is the row's fault.
    fn case(self, file: &str) -> Result<Ns2Case, Refusal> {
        if !(1..=MAX_RUNS).contains(&self.runs) {
            let why = format!("runs {} is not between 1 and {MAX_RUNS}", self.runs);
            return Err(Refusal::Impossible(why));
        }
        for figure in &self.figures {
            let (mean, error) = figure.ns2;
            if !(mean.is_finite() && mean >= 0.0 && error.is_finite() && error >= 0.0) {
                let name = figure.metric.name;
                return Err(Refusal::Impossible(format!("{name} {mean} ± {error} is no figure")));
            }
        }
        read_plan(&self.plan).map_err(Refusal::Impossible)?;
        let key = self.key.clone();
        Ok(Ns2Case { file: file.to_owned(), key, run: Box::new(move || self.compare()) })
    }

    /// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
    fn compare(&self) -> Result<Vec<Ns2Comparison>, String> {
        let plan = read_plan(&self.plan)?;
        let ours = over_seeds(u64::from(self.runs), |seed| {
            readings_of(&plan, &plan.run(seed as usize - 1), self.read)
        })?;
        let compare = |figure: &Figure| {
            let (mean, error) = figure.ns2;
            let value = |readings: &Readings| readings.value(figure.reading) * figure.scale;
            let both = [estimate(mean, error), over_runs(&ours, value)];
            Ns2Comparison::within(figure.metric, both, BOUND)
        };
        Ok(self.figures.iter().map(compare).collect())
    }
}

fn read_plan(text: &str) -> Result<Plan<'_>, String> {
    let no_files = |name: &str| Err(format!("{name}: plans of claims name no files"));
    Plan::read("plan", text, &no_files).map_err(|error| error.to_string())
}

/// The first cell of one of the papers' plans, with lines of it replaced.
struct PlanText(String);

impl PlanText {
    /// Returns the plan without its sweep, with `runs` repeats of one scheme.
    fn of(plan: &str, scheme: &str, runs: u32) -> Self {
        let text = plan.split("[[sweep]]").next().unwrap_or(plan);
        let mut cell = Self(text.to_owned());
        cell.set("", "repeats", &runs.to_string());
        cell.set("", "schemes", &format!("[{scheme:?}]"));
        cell
    }

    /// Gives the first `key` of a table another value; the table without a name is the plan's own.
    fn set(&mut self, table: &str, key: &str, value: &str) {
        let header = format!("[{table}]");
        let mut inside = table.is_empty();
        let mut lines: Vec<String> = Vec::new();
        let mut done = false;
        for line in self.0.lines() {
            if line.starts_with('[') {
                inside = line.trim_end() == header;
            }
            let here =
                inside && !done && line.split('=').next().is_some_and(|name| name.trim() == key);
            done |= here;
            lines.push(if here { format!("{key} = {value}") } else { line.to_owned() });
        }
        debug_assert!(done, "the plan has no {table}.{key}");
        self.0 = lines.join("\n");
    }
}

/// Returns the plan's limit of a queue in which as many packets wait as a column says: `30`, `30p`,
/// or `inf`. The limit counts the packet in service too.
fn queue_limit(column: &str, text: &str) -> Result<String, Refusal> {
    if text == "inf" {
        return Ok(text.to_owned());
    }
    let waiting = text.strip_suffix('p').unwrap_or(text).parse::<u32>().map_err(|_| {
        let why = format!("{column} {text:?} is no number of waiting packets, like 30, nor inf");
        Refusal::Impossible(why)
    })?;
    within(column, f64::from(waiting), [1.0, 100_000.0]).map_err(Refusal::Impossible)?;
    Ok(format!("{}p", waiting + 1))
}

/// Returns a delay that a column gives, like `50ms`, spelled as in plans.
fn delay_of(column: &str, text: &str) -> Result<String, Refusal> {
    let delay: Duration = text.parse().map_err(|error: units::ParseUnitError| {
        Refusal::Impossible(format!("{column} {text:?}: {error}"))
    })?;
    within(column, delay.as_secs_f64(), [0.0, 10.0]).map_err(Refusal::Impossible)?;
    Ok(format!("{text:?}"))
}

/// Returns the parameters of a window that a column gives in packets; the first threshold is as
/// high.
fn window_of(column: &str, packets: u32) -> Result<String, Refusal> {
    within(column, f64::from(packets), [1.0, 10_000.0]).map_err(Refusal::Impossible)?;
    Ok(format!("window={packets}+ssthresh={packets}"))
}

/// Returns the tick that a file's name gives, spelled as in plans.
fn tick_of(file: &str) -> Result<String, Refusal> {
    let tick = file_name::tick_of(file).map_err(Refusal::Impossible)?;
    Ok(format!("{}us", tick.as_nanos() / 1000))
}

/// Returns the scheme as ns-2's bursty connections use it: at most four packets at one send
/// opportunity.
fn bursty(scheme: &str) -> String {
    format!("{scheme}+maxburst=4")
}

#[cfg(test)]
mod tests {
    use super::super::{Selection, prepare, read};
    use super::*;

    fn prepared(name: &str, text: &str) -> Result<(usize, String), String> {
        let file = read(name, text).map_err(|e| e.to_string())?;
        let prepared = prepare(&[file], &Selection::default()).map_err(|e| e.to_string())?;
        Ok((prepared.len(), prepared.skipped.join("; ")))
    }

    #[test]
    fn a_plan_is_changed_where_its_table_says_so() {
        let mut text = PlanText("a = 1\n[x]\nb = 2\n[y]\nb = 3\n".to_owned());
        text.set("y", "b", "4");
        text.set("", "a", "0");
        assert_eq!(text.0, "a = 0\n[x]\nb = 2\n[y]\nb = 4");
    }

    #[test]
    fn each_kind_of_file_is_known_by_its_columns() {
        let stalls =
            "nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se\n1,fs,2,3.5,0.2\n2,tahoefs,2,1,0\n";
        let (count, skipped) = prepared("ns2-fs6-stall-tick500ms.csv", stalls).unwrap();
        assert!(count == 1 && skipped.contains("tahoefs"), "{count} {skipped}");
        let uploads = "sched,acksize,nup,upwin,upqueue,proto,runs,first_mean,first_se,second_mean,second_se\n\
                       fifo,40,1,20,30,newreno,2,0.5,0.1,24.5,0.5\n";
        assert_eq!(prepared("ns2-fs9-table2.csv", uploads), Ok((1, String::new())));
        let shares = "delay,ncross,proto,runs,A_kbps_mean,A_kbps_se,BC_over_A_mean,BC_over_A_se\n\
                      50ms,2,sack,2,300,10,1.9,0.1\n";
        assert_eq!(prepared("ns2-bs3-shares.csv", shares), Ok((1, String::new())));
    }

    #[test]
    fn what_cannot_have_been_measured_is_refused_by_line() {
        let stalls =
            |row: &str| format!("nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se\n{row}\n");
        for (row, word) in
            [("0,fs,2,3.5,0.2", "nbulk"), ("1,fs,0,3.5,0.2", "runs"), ("1,fs,2,NaN,0.2", "maxgap")]
        {
            let error = prepared("stall.csv", &stalls(row)).unwrap_err();
            assert!(error.starts_with("stall.csv:2:") && error.contains(word), "{error}");
        }
    }

    /// A row that cannot have been measured is left out with its line; the row beside it is
    /// compared.
    #[test]
    fn one_row_out_of_range_leaves_the_others() {
        let stalls = "nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se\n";
        let table2 = "sched,acksize,nup,upwin,upqueue,proto,runs,first_mean,first_se,second_mean,second_se\n";
        let shares = "delay,ncross,proto,runs,A_kbps_mean,A_kbps_se,BC_over_A_mean,BC_over_A_se\n";
        for (columns, bad, good, word) in [
            (stalls, "0,fs,2,3.5,0.2", "1,fs,2,3.5,0.2", "nbulk 0"),
            (stalls, "1,fs,2,3.5,", "1,fs,2,3.5,0.2", "float"),
            (table2, "fifo,6,1,20,30,fs,2,1,0,1,0", "fifo,40,1,20,30,fs,2,1,0,1,0", "acksize 6"),
            (table2, "fifo,40,0,20,30,fs,2,1,0,1,0", "fifo,40,1,20,30,fs,2,1,0,1,0", "nup 0"),
            (shares, "50ms,0,sack,2,300,10,1.9,0.1", "50ms,2,sack1,2,300,10,1.9,0.1", "ncross 0"),
        ] {
            let (count, skipped) = prepared("x.csv", &format!("{columns}{bad}\n{good}\n")).unwrap();
            let message = skipped.starts_with("x.csv:2:") && skipped.contains(word);
            assert!(count == 1 && message, "{count}: {skipped}");
            let error = prepared("x.csv", &format!("{columns}{bad}\n")).unwrap_err();
            assert!(error.starts_with("x.csv:2:") && error.contains("no row"), "{error}");
        }
    }

    /// A column of a set-up that no row can change refuses the file, whose rows would be compared
    /// with another set-up.
    #[test]
    fn a_column_of_another_set_up_is_refused_by_name() {
        for (columns, row) in [
            ("nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se", "1,fs,2,3.5,0.2"),
            (
                "sched,acksize,nup,upwin,upqueue,proto,runs,first_mean,first_se,\
                 second_mean,second_se",
                "fifo,40,1,20,30,fs,2,1,0,1,0",
            ),
            (
                "delay,ncross,proto,runs,A_kbps_mean,A_kbps_se,BC_over_A_mean,BC_over_A_se",
                "50ms,2,sack,2,300,10,1.9,0.1",
            ),
        ] {
            // Further figures are no set-up.
            let text = format!("{columns},drops_mean\n{row},7\n");
            assert_eq!(prepared("x.csv", &text), Ok((1, String::new())));
            let error = prepared("x.csv", &format!("{columns},loss\n{row},0.1\n")).unwrap_err();
            assert!(error.starts_with("x.csv:1:") && error.contains("\"loss\""), "{error}");
        }
    }

    /// The suite of stalls has drop-tail queues alone; a name with another discipline is reported.
    #[test]
    fn red_in_a_name_is_told_where_queues_are_drop_tail() {
        let text = "nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se\n1,fs,2,3.5,0.2\n";
        for (name, message) in [("fsred-stall.csv", 1), ("measured-stall.csv", 0)] {
            let prepared = prepare(&[read(name, text).unwrap()], &Selection::default()).unwrap();
            assert_eq!((prepared.len(), prepared.notes.len()), (1, message), "{name}");
        }
    }

    /// The figures come from the plan that the row changes. Under the plan's own values a stall of
    /// the bulk transfer by `fs` lasts seconds (FS-6), so ns-2's row of another length lies
    /// outside.
    #[test]
    fn a_row_is_run_by_its_plan() {
        let text = "nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se\n1,fs-pdrop,3,90,0\n";
        let file = read("stall-tick500ms.csv", text).unwrap();
        let prepared = prepare(&[file], &Selection::default()).unwrap();
        let rows = prepared.run(&|| ()).unwrap();
        assert_eq!(rows.len(), 1);
        assert!(rows[0].ours > 0.0 && rows[0].ours < 30.0, "{}", rows[0].ours);
        assert_eq!(rows[0].verdict, super::super::Ns2Verdict::Outside);
    }

    /// The plan that is run contains the tick from the name and the burst limit of ns-2's bursty
    /// connections.
    #[test]
    fn the_tick_of_a_name_and_bursts_of_four_are_in_the_plan() {
        assert_eq!(tick_of("stall-tick0.5s.csv").ok().as_deref(), Some("500000us"));
        assert!(tick_of("stall-tick5x.csv").is_err());
        let text = "nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se\n1,fs,2,3.5,0.2\n";
        let file = read("stall-tick5x.csv", text).unwrap();
        assert!(prepare(&[file], &Selection::default()).is_err());
        let scheme = tcp::Scheme::parse(&bursty("fs")).unwrap();
        assert_eq!(scheme.config().max_burst, Some(4));
    }
}
