//! `headstart lab check traces`: kinds of retransmissions beside the labels of captures that
//! another analyser has labelled (TCPRS, Swaro 2014).
//!
//! A folder has one folder per capture: a capture of any name, and `tcpretransmissions.log`. Labels
//! are evidence, not proof: the table says where both agree, and `--list` lists where they do not.

mod found;
mod labels;

use cmdline::{Appendix, Failure, remark, stdout};
use found::{FoundRetransmission, LabelledFolder, labelled_folders, retransmissions};
use labels::{Label, LabelClass, LabelLog};
use report::{Cell, Column, Quantity, Row, Table};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::PathBuf;
use trace::{Retransmission, RetransmissionKind};
use units::{Instant, counted};

#[derive(Debug, clap::Args)]
pub(super) struct CheckTracesArgs {
    /// The folder of labelled captures
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// TCP of the servers, as for `headstart analyze`
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
            "headstart lab check traces labelled/ --list",
            "Compares a folder of labelled captures, and lists each retransmission on which both differ.",
        )],
        notes: "A folder has one folder per capture, with tcpretransmissions.log and a capture: NAME.pcap, or else all \
                files that are captures, whatever their names. A label means the retransmission of its connection and \
                sequence number at its time. A label that cannot be read is left out, and its line is named."
            .into(),
        exit: &[
            ("0", "enough labels agree"),
            ("1", "too few labels agree, a capture is damaged, or a folder or a file in it cannot be read"),
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
    for mut labelled in labelled_folders(&args.folder)? {
        let labels = read_labels(&mut labelled, &mut agreement)?;
        let LabelledFolder { name, captures, troubles, .. } = labelled;
        let (found, read) = match captures.is_empty() {
            true => (Vec::new(), Ok(())),
            false => retransmissions(&captures, &args.sender)?,
        };
        for trouble in &troubles {
            remark(&format!("headstart: {trouble}"));
        }
        if !troubles.is_empty() {
            agreement.unreadable.push(name.clone());
        } else if captures.is_empty() {
            agreement.without_capture.push(name.clone());
        }
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

/// The labels of a folder. Faults of labels are reported. A log that cannot be read is a fault of
/// the folder.
fn read_labels(
    LabelledFolder { log, troubles, .. }: &mut LabelledFolder,
    agreement: &mut Agreement,
) -> Result<Vec<Label>, Failure> {
    let LabelLog { labels, left_out, notes } = match std::fs::read_to_string(&*log) {
        Ok(text) => labels::read(&text)
            .map_err(|why| Failure::Input(format!("{}: {why}", log.display())))?,
        // Captures without retransmissions have no log.
        Err(error) if error.kind() == ErrorKind::NotFound => LabelLog::default(),
        Err(error) => {
            // A folder that cannot be read is reported once.
            if troubles.is_empty() {
                troubles.push(format!("{}: {error}", log.display()));
            }
            LabelLog::default()
        }
    };
    for (line, what) in &notes {
        remark(&format!("headstart: {}: line {line}: {what}", log.display()));
    }
    agreement.unreadable_labels += left_out;
    Ok(labels)
}

/// Position of a difference: the folder, seconds since 1970 and the sequence number.
fn difference_position(name: &str, at: Instant, seq: Option<u32>) -> String {
    let nanos = at.as_nanos();
    let (seconds, micros) = (nanos / 1_000_000_000, nanos / 1000 % 1_000_000);
    let seq = seq.map_or_else(String::new, |seq| format!(" seq {seq}"));
    format!("{name}: {seconds}.{micros:06}{seq}")
}

/// Labels beside kinds.
#[derive(Debug, Default, Serialize)]
struct Agreement {
    classes: Vec<ClassAgreement>,
    /// Labelled and not found.
    missing: u64,
    /// Retransmissions of payload found and not labelled.
    unlabelled: u64,
    /// Labels that cannot be read.
    unreadable_labels: u64,
    /// Folders without a capture; their labels are missing.
    without_capture: Vec<String>,
    /// Folders that cannot be read completely: themselves, their log, or a file that may be a
    /// capture.
    unreadable: Vec<String>,
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

impl Agreement {
    fn compare(&mut self, name: &str, labels: &[Label], mut found: Vec<FoundRetransmission>) {
        for label in labels {
            let near = found.iter().enumerate();
            let near = near.filter_map(|(n, found)| Some((label.distance(found)?, n))).min();
            let Some((_, index)) = near else {
                self.missing += 1;
                self.differences
                    .push(format!("{}: not found", difference_position(name, label.at, label.seq)));
                continue;
            };
            let again = found.remove(index).again;
            self.count(name, label, &again);
        }
        for FoundRetransmission { ends: [a, b], again } in found {
            if again.len > 0 {
                self.unlabelled += 1;
                let (at, kind) =
                    (difference_position(name, again.at, Some(again.seq)), again.kind.name());
                self.differences
                    .push(format!("{at}: found {kind} between {a} and {b}, not labelled"));
            }
        }
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
                "{}: labelled {} (rtype {}), found {}",
                difference_position(name, label.at, label.seq),
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
        if self.unreadable_labels > 0 {
            let left_out = counted(self.unreadable_labels, "label");
            stdout::print(&format!("{left_out} left out that cannot be read\n"))?;
        }
        if !self.without_capture.is_empty() {
            let folders = counted(self.without_capture.len() as u64, "folder");
            let names = self.without_capture.join(", ");
            stdout::print(&format!("{folders} without a capture: {names}\n"))?;
        }
        if !self.unreadable.is_empty() {
            stdout::print(&format!("{}\n", self.unread_folders()))?;
        }
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
        if !self.unreadable.is_empty() {
            return Err(Failure::Failed(self.unread_folders()));
        }
        Ok(())
    }

    /// Describes the folders that could not be read.
    fn unread_folders(&self) -> String {
        let folders = counted(self.unreadable.len() as u64, "folder");
        format!("{folders} not read as a whole: {}", self.unreadable.join(", "))
    }
}
