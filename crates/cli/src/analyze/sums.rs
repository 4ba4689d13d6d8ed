//! Sums of runs, and their join: `--mergeable` writes `sums.json`, and `--merge` reads it.

use super::account::ReadingAccount;
use super::args::{AnalyzeArgs, AnalyzeJson};
use super::packets;
use super::reading::ReadCapture;
use super::reply::{json_of, reply};
use super::summary::SummarySink;
use super::words::words;
use cmdline::request::CommandReply;
use cmdline::{Failure, FirstFailure, stdout};
use findings::FindingsSums;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use trace::EngineCounters;
use units::counted;

/// The file of a run's sums in its folder.
const FILE: &str = "sums.json";

/// The file of sums in the folder `out`, if they are wanted. One of an earlier run is removed, or
/// refused if it would stay.
pub(super) fn place(out: &Path, is_wanted: bool) -> Result<Option<PathBuf>, Failure> {
    let file = out.join(FILE);
    if is_wanted {
        return match fs::remove_file(&file) {
            Err(why) if why.kind() != ErrorKind::NotFound => Err(unwritable(&file, &why)),
            _ => Ok(Some(file)),
        };
    }
    match file.exists() {
        true => Err(Failure::input(format!(
            "--out {}: holds {FILE}, which would stay as another run has left it; remove it, or add --mergeable",
            out.display()
        ))),
        false => Ok(None),
    }
}

fn unwritable(file: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("cannot write {}: {why}", file.display()))
}

/// The version that wrote a file. The rest may have another form, so it is read afterwards.
#[derive(Deserialize)]
struct SumsHeader {
    headstart: String,
}

/// All that the results of a run are computed from.
#[derive(Deserialize)]
struct RunSums {
    findings: Box<FindingsSums>,
    summary: SummarySink,
    counters: EngineCounters,
    read: ReadCapture,
}

/// [`RunSums`] of a run that is over, without its findings.
pub(super) struct SumsOfRun<'a> {
    pub(super) file: &'a Path,
    pub(super) summary: &'a SummarySink,
    pub(super) counters: &'a EngineCounters,
    pub(super) read: &'a ReadCapture,
}

/// [`SumsHeader`] and [`RunSums`] on their way to a file.
#[derive(Serialize)]
struct WrittenSums<'a> {
    headstart: &'a str,
    findings: &'a FindingsSums,
    summary: &'a SummarySink,
    counters: &'a EngineCounters,
    read: &'a ReadCapture,
}

impl SumsOfRun<'_> {
    /// Writes the file.
    pub(super) fn write(&self, findings: &FindingsSums) -> Result<(), Failure> {
        let Self { file, summary, counters, read } = *self;
        let headstart = env!("CARGO_PKG_VERSION");
        let sums = WrittenSums { headstart, findings, summary, counters, read };
        let written = File::create(file).and_then(|out| {
            let mut out = BufWriter::new(out);
            serde_json::to_writer(&mut out, &sums)?;
            out.flush()
        });
        written.map_err(|why| unwritable(file, &why))
    }
}

/// The results of several runs.
pub(super) struct MergedRuns {
    findings: FindingsSums,
    summary: SummarySink,
    counters: EngineCounters,
    read: ReadCapture,
}

/// Reads the runs of these folders, and adds them up.
pub(super) fn merged(folders: &[PathBuf]) -> Result<MergedRuns, Failure> {
    let mut all = MergedRuns {
        findings: FindingsSums::default(),
        summary: SummarySink::default(),
        counters: EngineCounters::default(),
        read: ReadCapture::default(),
    };
    for (n, folder) in folders.iter().enumerate() {
        if folders[..n].contains(folder) {
            return Err(Failure::input(format!("--merge: {} is named twice", folder.display())));
        }
        all.add(RunSums::read(folder)?);
    }
    Ok(all)
}

impl RunSums {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        let shown = path.display();
        let text = fs::read(&path).map_err(|why| {
            let way_out = "run headstart analyze with --out and --mergeable";
            Failure::input(format!("--merge: {shown}: {why}; {way_out}"))
        })?;
        let no_sums = |why| Failure::input(format!("--merge: {shown}: no sums of a run: {why}"));
        let SumsHeader { headstart } = serde_json::from_slice(&text).map_err(no_sums)?;
        let ours = env!("CARGO_PKG_VERSION");
        if headstart != ours {
            return Err(Failure::input(format!(
                "--merge: {shown}: by headstart {headstart}, this is {ours}; analyse the capture again"
            )));
        }
        serde_json::from_slice(&text).map_err(no_sums)
    }
}

impl MergedRuns {
    fn add(&mut self, run: RunSums) {
        let RunSums { findings, summary, counters, read } = run;
        self.findings.add(*findings);
        self.summary.add(&summary);
        let EngineCounters { segments, of_others, connections, evicted, backwards, clock_set } =
            counters;
        self.counters.segments += segments;
        self.counters.of_others += of_others;
        self.counters.connections += connections;
        self.counters.evicted += evicted;
        self.counters.backwards += backwards;
        self.counters.clock_set += clock_set;
        self.read.add(&read);
    }

    /// The answer to a request.
    pub(super) fn answer(self) -> Result<CommandReply, Failure> {
        let Self { findings, summary, counters, read } = self;
        let account = ReadingAccount::of(&summary, &counters, &read);
        let reply = reply(&findings.finish(), &summary, &account, &read)?;
        Ok(CommandReply { failure: verdict(&read), ..reply })
    }
}

/// Fails if a run could not read all of its captures.
fn verdict(read: &ReadCapture) -> Result<(), Failure> {
    match read.is_damaged {
        true => {
            let packets = counted(read.counters.packets, "packet");
            Err(Failure::failed(format!("the results are of {packets} that could be read")))
        }
        false => Ok(()),
    }
}

/// `--merge`: prints the results of several runs.
pub(super) fn print_merged(args: &AnalyzeArgs) -> Result<(), Failure> {
    if args.json() == Some(AnalyzeJson::Connections) {
        return Err(Failure::input(
            "--merge has sums, no connections: use --json=findings; the tables of each run have its connections",
        ));
    }
    let MergedRuns { findings, summary, counters, read } = merged(&args.merge)?;
    let account = ReadingAccount::of(&summary, &counters, &read);
    let found = findings.finish();
    let mut ended = FirstFailure::default();
    if args.json().is_some() {
        ended.note(json_of(&found, &account).and_then(|json| stdout::print(&json)));
    } else {
        let words = words(&found) + &account.warnings();
        ended.note(stdout::print(&format!("{words}\n")));
        ended.note(summary.print(&account.counts(&summary), &packets::unusual(&read.counters)));
    }
    ended.note(verdict(&read));
    ended.end()
}
