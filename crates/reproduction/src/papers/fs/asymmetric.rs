//! FS-9: a fast way down, and a slow way up that an upload shares with the acknowledgements.

use super::{NS_TICK, PAPER, PARAMETERS};
use crate::papers::book::{Book, ExperimentRecord};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PERCENT, SECONDS};

const QUEUE: &str = "topology.up.queue.kind";
const UPLOAD: &str = "workload.upload.parameters";
/// Windows of the upload: the one that is judged, and those shown beside.
const WINDOW: &str = "window=20+ssthresh=20";
const OTHERS: [(&str, &str); 2] =
    [("window=8+ssthresh=8", "8 KB"), ("window=32+ssthresh=32", "32 KB")];

pub(super) const FS_9: Experiment = Experiment {
    name: "FS-9",
    plan: include_str!("../../../../../plans/papers/FS-9.toml"),
    read: second_burst,
    quick: Quick { repeats: 20, keep: &[] },
};

fn second_burst(run: &RunRecords<'_>, readings: &mut Readings) {
    let second = || run.of("bursty").filter(|flow| flow.flow == 1);
    readings.set_mean("second", second().map(Flow::time_to_ack));
    readings.set_mean("second.received", second().map(Flow::time_to_receive));
}

/// A cell of the paper's table.
struct PaperTime {
    queue: &'static str,
    scheme: &'static str,
    /// Mean and standard error, in seconds.
    seconds: (f64, f64),
}

const fn paper(queue: &'static str, scheme: &'static str, mean: f64, error: f64) -> PaperTime {
    PaperTime { queue, scheme, seconds: (mean, error) }
}

/// Table 2.
const TABLE: [PaperTime; 4] = [
    paper("droptail", "newreno", 24.47, 0.46),
    paper("droptail", "fs-pdrop", 11.79, 0.35),
    paper("acks-first", "newreno", 7.33, 0.56),
    paper("acks-first", "fs-pdrop", 4.74, 0.58),
];

/// One column of the table under one set of open choices.
#[derive(Clone, Copy)]
struct Column<'a> {
    record: &'a ExperimentRecord,
    parameters: &'a str,
    upload: &'a str,
    queue: &'a str,
}

impl Column<'_> {
    fn time(self, scheme: &str) -> Samples {
        let Self { record, parameters, upload, queue } = self;
        let at = [(PARAMETERS, parameters), (UPLOAD, upload), (QUEUE, queue), ("scheme", scheme)];
        record.samples(&at, "second")
    }

    fn gain(self) -> Measured {
        self.time("fs-pdrop").gain_over(&self.time("newreno"))
    }

    fn samples_saved(self) -> Samples {
        self.time("newreno").minus(&self.time("fs-pdrop"))
    }
}

/// Returns the findings on claim FS-9.
pub(super) fn fs_9(book: &Book) -> Findings {
    let fifo =
        Column { record: book.of("FS-9"), parameters: PAPER, upload: WINDOW, queue: "droptail" };
    let first = Column { queue: "acks-first", ..fifo };
    let mut findings = Findings::default();
    let substantial = ClaimInterval::at_least(20.0);
    for (column, name) in [(fifo, "FIFO"), (first, "acks-first")] {
        let label = format!("gain of fs-pdrop, {name}");
        findings.line(FigureLine::new(label, PERCENT).ours(column.gain()).must(substantial));
    }
    let more = fifo.samples_saved().mean().less(first.samples_saved().mean());
    let label = "saved under FIFO less saved under acks-first";
    findings.line(FigureLine::new(label, SECONDS).ours(more).must(ClaimInterval::at_least(0.0)));
    for PaperTime { queue, scheme, seconds: (mean, error) } in TABLE {
        let line = FigureLine::new(format!("{scheme}, {queue}"), SECONDS);
        let ours = Column { queue, ..fifo }.time(scheme).mean();
        findings.line(line.ours(ours).also(ClaimInterval::around(mean, error)));
    }
    for (column, name) in [(fifo, "FIFO"), (first, "acks-first")] {
        let label = format!("gain of fs-pdrop, {name}, tick 100 ms");
        let gain = Column { parameters: NS_TICK, ..column }.gain();
        findings.line(FigureLine::new(label, PERCENT).ours(gain).also(substantial));
        for (upload, window) in OTHERS {
            let label = format!("gain of fs-pdrop, {name}, upload's window {window}");
            let gain = Column { upload, ..column }.gain();
            findings.line(FigureLine::new(label, PERCENT).ours(gain).also(substantial));
        }
    }
    findings
}
