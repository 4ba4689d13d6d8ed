//! `headstart check traces`: kinds of retransmissions beside the labels of captures that another analyser has
//! labelled (TCPRS, Swaro 2014).
//!
//! A folder has one folder per capture: `NAME.pcap` and `tcpretransmissions.log`. Labels are evidence, not
//! proof: the table says where both agree, and `--list` lists where they do not.

mod labels;

use crate::analyze::Feed;
use crate::failure::Failure;
use crate::stdout;
use cmdline::Appendix;
use labels::{Label, LabelClass};
use report::{Cell, Column, Quantity, Row, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};
use trace::{
    ConnectionTrace, EngineConfig, Retransmission, RetransmissionKind, TraceSink, TracedSender,
};
use units::Duration;

#[derive(Debug, clap::Args)]
pub(super) struct CheckTracesArgs {
    /// The folder of labelled captures
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What TCP the servers run, as for `headstart analyze`
    #[arg(long, value_name = "NAME", default_value = "linux-sack")]
    sender: String,
    /// List every retransmission on which both do not agree
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[(
            "headstart check traces labelled/ --list",
            "Compares a folder of labelled captures, and lists each retransmission on which both differ.",
        )],
        notes: "A folder has one folder per capture, with NAME.pcap and tcpretransmissions.log."
            .into(),
        exit: &[
            ("0", "enough labels agree"),
            ("1", "too few labels agree, or a capture is damaged"),
            ("2", "the input is wrong"),
        ],
        see_also: &["headstart-analyze"],
        ..Appendix::default()
    }
}

/// Part of the labels that have to agree, in per cent.
const LEAST: u64 = 95;

pub(super) fn run(args: &CheckTracesArgs) -> Result<(), Failure> {
    let (mut agreement, mut all_read) = (Agreement::default(), Ok(()));
    for (name, capture, log) in captures(&args.folder)? {
        let labels = match std::fs::read_to_string(&log) {
            Ok(text) => labels::read(&text)
                .map_err(|why| Failure::Input(format!("{}: {why}", log.display())))?,
            // Captures without retransmissions have no log.
            Err(_) => Vec::new(),
        };
        let (found, read) = retransmissions(&capture, &args.sender)?;
        all_read = all_read.and(read);
        agreement.compare(&name, &labels, found);
    }
    if args.json {
        stdout::print_json(&agreement)?;
    } else {
        agreement.print(args.list)?;
    }
    agreement.verdict().and(all_read)
}

/// The captures of a folder, by name: the capture and its log.
fn captures(folder: &Path) -> Result<Vec<(String, PathBuf, PathBuf)>, Failure> {
    let unreadable = |error| Failure::Input(format!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            continue;
        };
        let capture = path.join(format!("{name}.pcap"));
        if capture.is_file() {
            found.push((name, capture, path.join("tcpretransmissions.log")));
        }
    }
    found.sort_unstable();
    if found.is_empty() {
        return Err(Failure::Input(format!("{}: no folder NAME with NAME.pcap", folder.display())));
    }
    Ok(found)
}

#[derive(Default)]
struct Collect(Vec<Retransmission>);

impl TraceSink for Collect {
    fn on_connection(&mut self, _: &ConnectionTrace) {}

    fn on_retransmission(&mut self, _: &TracedSender, again: &Retransmission) {
        self.0.push(*again);
    }
}

/// The retransmissions of a capture, and whether all of it could be read.
fn retransmissions(
    capture: &Path,
    sender: &str,
) -> Result<(Vec<Retransmission>, Result<(), Failure>), Failure> {
    let mut feed = Feed::open(&[capture.to_owned()]);
    let config = EngineConfig::default();
    let models = feed.models(sender, &config, 1)?;
    let (found, read) = feed.run(EngineConfig { models, ..config }, Collect::default())?;
    Ok((found.0, read))
}

/// Labels beside kinds.
#[derive(Debug, Default, Serialize)]
struct Agreement {
    classes: Vec<ClassAgreement>,
    /// Labelled and not found.
    missing: u64,
    /// Retransmissions of payload found and not labelled.
    unlabelled: u64,
    differences: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ClassAgreement {
    label: &'static str,
    /// Found as these kinds, in the order of the kinds' list.
    kinds: [u64; RetransmissionKind::COUNT],
    agree: u64,
    differ: u64,
}

/// Times of labels are whole microseconds, printed with less.
const TOLERANCE: Duration = Duration::from_micros(3);

impl Agreement {
    fn compare(&mut self, name: &str, labels: &[Label], mut found: Vec<Retransmission>) {
        for label in labels {
            let near = |again: &Retransmission| {
                let (a, b) = (again.at, label.at);
                a.saturating_since(b).max(b.saturating_since(a)) <= TOLERANCE
            };
            let Some(index) = found.iter().position(near) else {
                self.missing += 1;
                self.differences.push(format!(
                    "{name}: {} seq {}: not found",
                    label.at.as_secs_f64(),
                    label.seq
                ));
                continue;
            };
            let again = found.remove(index);
            self.count(name, label, &again);
        }
        self.unlabelled += found.iter().filter(|again| again.len > 0).count() as u64;
    }

    fn count(&mut self, name: &str, label: &Label, again: &Retransmission) {
        let class = label.class;
        if !self.classes.iter().any(|known| known.label == class.name()) {
            let (kinds, agree, differ) = ([0; RetransmissionKind::COUNT], 0, 0);
            self.classes.push(ClassAgreement { label: class.name(), kinds, agree, differ });
        }
        let Some(known) = self.classes.iter_mut().find(|known| known.label == class.name()) else {
            return;
        };
        known.kinds[again.kind as usize] += 1;
        if class.agrees_with(again.kind) {
            known.agree += 1;
        } else {
            known.differ += 1;
            self.differences.push(format!(
                "{name}: {:.6} seq {}: labelled {} (rtype {}), found {}",
                label.at.as_secs_f64(),
                label.seq,
                class.name(),
                label.rtype,
                again.kind.name()
            ));
        }
    }

    fn print(&mut self, list: bool) -> Result<(), Failure> {
        self.classes.sort_unstable_by_key(|class| class.label);
        let kinds = RetransmissionKind::ALL
            .map(|kind| Column::new(kind.name(), Quantity::Count, "Found as this kind"));
        let columns = std::iter::once(Column::new("label", Quantity::Text, "What the label says"))
            .chain(kinds)
            .chain([
                Column::new("agree", Quantity::Count, "The kind is one that the label may mean"),
                Column::new("differ", Quantity::Count, "It is not"),
            ])
            .collect();
        let number = |n: &u64| Cell::Number((*n as f64).into());
        let rows = self.classes.iter().map(|class| {
            let mut cells = vec![Cell::Text(class.label.to_owned())];
            cells.extend(class.kinds.iter().chain([&class.agree, &class.differ]).map(number));
            Row { cells, is_reference: false }
        });
        stdout::print_table(&Table { columns, rows: rows.collect() })?;
        let (missing, more) = (self.missing, self.unlabelled);
        stdout::print(&format!(
            "\n{missing} labelled and not found, {more} found and not labelled\n"
        ))?;
        if list {
            stdout::print(&format!("\n{}\n", self.differences.join("\n")))?;
        }
        Ok(())
    }

    /// Held if all is found and enough of the labels that say a kind agree.
    fn verdict(&self) -> Result<(), Failure> {
        let known = self.classes.iter().filter(|class| class.label != LabelClass::Unknown.name());
        let (agree, differ) =
            known.fold((0, 0), |sum, class| (sum.0 + class.agree, sum.1 + class.differ));
        let (total, missing, more) = (agree + differ, self.missing, self.unlabelled);
        if agree * 100 < total * LEAST {
            let what = format!("{agree} of {total} labels agree, less than {LEAST} %");
            return Err(Failure::Failed(what));
        }
        if missing + more > 0 {
            let what = format!("{missing} labelled and not found, {more} found and not labelled");
            return Err(Failure::Failed(what));
        }
        Ok(())
    }
}
