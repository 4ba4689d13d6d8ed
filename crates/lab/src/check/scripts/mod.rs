//! `headstart lab check scripts`: packetdrill's own scripts, unchanged, against a scheme.
//!
//! Every script below a folder is read and played. Scripts of the socket layer have a count of
//! their own. The output has the first difference of each script that differs, with the kernel's
//! reason if it is known (`reasons.rs`).

mod reasons;

use cmdline::{Appendix, Failure, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use script::model::DEFAULT_SCHEME;
use script::{RefusalKind, ScriptError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tcp::{LinuxVersion, Scheme};
use units::counted;

#[derive(Debug, clap::Args)]
pub(super) struct CheckScriptsArgs {
    /// A folder of packetdrill's scripts, like gtests/net/tcp of a checkout; its subfolders count,
    /// too
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Scheme to play scripts against that name none (`headstart schemes`)
    #[arg(long, value_name = "NAME", default_value = "linux", value_parser = parse_scheme)]
    scheme: Scheme,
    /// Version of Linux that scripts are played against that name none: 6.12, 6.18 or 7.0
    #[arg(long, value_name = "VERSION", default_value_t = LinuxVersion::default())]
    linux: LinuxVersion,
    /// Print JSON with every script instead of tables
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart lab check scripts packetdrill/gtests/net/tcp",
                "Plays all scripts of a checkout of google/packetdrill, and says which hold.",
            ),
            (
                "headstart lab check scripts packetdrill/gtests/net/tcp/slow_start --json",
                "Plays some of them, for a program to read.",
            ),
            (
                "headstart lab check scripts linux/tools/testing/selftests/net/packetdrill",
                "Plays the kernel's own scripts.",
            ),
        ],
        notes: NOTES.into(),
        exit: &[
            ("0", "every script that is of TCP holds"),
            ("1", "a script differs; each is listed with its first difference"),
            ("2", "the folder has no script, or a script cannot be read; the others are played"),
        ],
        see_also: &["headstart-lab-script"],
        more: &["docs/validation/kernel-scripts.md", "scripts/README.md"],
        ..Appendix::default()
    }
}

const NOTES: &str = "\
The scripts run unchanged and in virtual time. Their shell commands set what they set in the kernel; scripts/README.md lists \
the sysctls. Scripts of epoll, splice, sendfile, zero copy, control messages, MD5 and TCP_INQ are not of TCP, and summed \
apart. So are scripts of mechanisms that no scheme here has: windows that are taken back, probes of the path's MTU. Scripts of other systems, like FreeBSD, have a line of their own. A script holds if all of its assertions can be judged.";

fn parse_scheme(name: &str) -> Result<Scheme, String> {
    Scheme::parse(name).map_err(|error| error.to_string())
}

/// Outcome of a script.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum ScriptVerdict {
    Passes,
    /// All judged assertions hold, but not all were judged.
    NotAllAsked {
        /// Assertions about what this TCP does not keep.
        not_asked: usize,
    },
    Differs {
        line: u32,
        message: String,
        expected: String,
        actual: String,
        /// The kernel's reason, if it is known.
        reason: Option<String>,
    },
    NotOfTcp {
        line: u32,
        message: String,
    },
    /// About a mechanism of TCP that no scheme here has.
    NotModelled {
        line: u32,
        message: String,
    },
    /// A script for the TCP of another system than Linux.
    OtherSystem {
        line: u32,
        message: String,
    },
    Unreadable {
        line: u32,
        message: String,
    },
}

/// A script and its outcome.
#[derive(Clone, Debug, Serialize)]
struct PlayedScript {
    /// Below the folder.
    script: String,
    #[serde(flatten)]
    verdict: ScriptVerdict,
}

pub(super) fn run(args: &CheckScriptsArgs) -> Result<(), Failure> {
    let mut files = Vec::new();
    find(&args.folder, &mut files)
        .map_err(|error| Failure::input(format!("{}: {error}", args.folder.display())))?;
    files.sort();
    if files.is_empty() {
        let folder = args.folder.display();
        return Err(Failure::input(format!("{folder}: no script (*.pkt) in this folder")));
    }
    let played: Vec<_> = files.iter().map(|file| play_file(file, args)).collect();
    match args.json {
        true => stdout::print_json(&played)?,
        false => print(&played)?,
    }
    fail_if_any_failed(&played)
}

/// All `*.pkt` below `folder`, and folders below it that cannot be read.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Links are not followed: one may lead back.
        if entry.file_type()?.is_dir() {
            if find(&entry.path(), files).is_err() {
                files.push(entry.path());
            }
        } else if entry.path().extension().is_some_and(|extension| extension == "pkt") {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn play_file(file: &Path, args: &CheckScriptsArgs) -> PlayedScript {
    let below = file.strip_prefix(&args.folder).unwrap_or(file);
    let name = below.display().to_string();
    let verdict = match fs::read(file) {
        Err(error) => ScriptVerdict::Unreadable { line: 0, message: error.to_string() },
        Ok(text) => judge_script(&name, &text, args),
    };
    PlayedScript { script: name, verdict }
}

fn judge_script(name: &str, text: &[u8], args: &CheckScriptsArgs) -> ScriptVerdict {
    match script::parse(name, text) {
        Err(ScriptError { line, kind, message, .. }) => match kind {
            RefusalKind::NotOfTcp => ScriptVerdict::NotOfTcp { line, message },
            RefusalKind::NotModelled => ScriptVerdict::NotModelled { line, message },
            RefusalKind::OtherSystem => ScriptVerdict::OtherSystem { line, message },
            RefusalKind::Wrong => ScriptVerdict::Unreadable { line, message },
        },
        Ok(mut script) => {
            script.settings.linux.get_or_insert(args.linux);
            let own = script.settings.scheme.is_some();
            let scheme = (!own).then_some(&args.scheme);
            match script::run(&script, scheme) {
                Ok(report) if report.not_asked == 0 => ScriptVerdict::Passes,
                Ok(report) => ScriptVerdict::NotAllAsked { not_asked: report.not_asked },
                Err(mismatch) => {
                    // Reasons are the kernel's and of its model.
                    let is_linux = !own && args.scheme.name() == DEFAULT_SCHEME;
                    let reason = reasons::of(name, &mismatch);
                    ScriptVerdict::Differs {
                        line: mismatch.line,
                        message: mismatch.message,
                        expected: mismatch.expected,
                        actual: mismatch.actual,
                        reason: reason.filter(|_| is_linux),
                    }
                }
            }
        }
    }
}

fn fail_if_any_failed(played: &[PlayedScript]) -> Result<(), Failure> {
    let count = |which: fn(&ScriptVerdict) -> bool| {
        played.iter().filter(|script| which(&script.verdict)).count()
    };
    let unreadable = count(|verdict| matches!(verdict, ScriptVerdict::Unreadable { .. }));
    let differ = count(|verdict| matches!(verdict, ScriptVerdict::Differs { .. }));
    if unreadable > 0 {
        return Err(Failure::input(format!("{} cannot be read", counted(unreadable, "script"))));
    }
    match differ {
        0 => Ok(()),
        n => Err(Failure::failed(format!(
            "{n} of {} differ; docs/validation/kernel-scripts.md says what is known of these scripts",
            counted(played.len(), "script")
        ))),
    }
}

/// Counts of a folder.
#[derive(Clone, Copy, Debug, Default)]
struct FolderCount {
    scripts: usize,
    passes: usize,
    not_all_asked: usize,
    differs: usize,
    not_of_tcp: usize,
    not_modelled: usize,
    other_system: usize,
    unreadable: usize,
}

impl FolderCount {
    fn add(&mut self, verdict: &ScriptVerdict) {
        self.scripts += 1;
        *match verdict {
            ScriptVerdict::Passes => &mut self.passes,
            ScriptVerdict::NotAllAsked { .. } => &mut self.not_all_asked,
            ScriptVerdict::Differs { .. } => &mut self.differs,
            ScriptVerdict::NotOfTcp { .. } => &mut self.not_of_tcp,
            ScriptVerdict::NotModelled { .. } => &mut self.not_modelled,
            ScriptVerdict::OtherSystem { .. } => &mut self.other_system,
            ScriptVerdict::Unreadable { .. } => &mut self.unreadable,
        } += 1;
    }
}

fn print(played: &[PlayedScript]) -> Result<(), Failure> {
    let mut folders: BTreeMap<String, FolderCount> = BTreeMap::new();
    let mut all = FolderCount::default();
    for script in played {
        let folder = Path::new(&script.script)
            .parent()
            .map_or_else(String::new, |folder| folder.display().to_string());
        let folder = if folder.is_empty() { ".".to_owned() } else { folder };
        folders.entry(folder).or_default().add(&script.verdict);
        all.add(&script.verdict);
    }
    stdout::print_table(&folders_table(&folders, all))?;
    for script in played {
        stdout::print(&failure_explanation(script))?;
    }
    let other: BTreeSet<&str> = played.iter().filter_map(other_system).collect();
    for system in other {
        let count = played.iter().filter(|script| other_system(script) == Some(system)).count();
        stdout::print(&format!("\n{} of {system}, not played\n", counted(count, "script")))?;
    }
    let of_tcp = all.passes + all.not_all_asked + all.differs + all.unreadable;
    let share = if of_tcp > 0 { all.passes as f64 / of_tcp as f64 * 100.0 } else { 0.0 };
    stdout::print(&format!(
        "\n{} of {} hold ({share:.1} %), {} more as far as they can be judged, {} cannot be read; {} not of TCP, {} of \
         mechanisms that are not modelled\n",
        all.passes,
        counted(of_tcp, "script"),
        all.not_all_asked,
        all.unreadable,
        all.not_of_tcp,
        all.not_modelled
    ))
}

fn folders_table(folders: &BTreeMap<String, FolderCount>, all: FolderCount) -> Table {
    let columns = [
        Column::new("folder", Quantity::Text, "Where the scripts are"),
        Column::new("scripts", Quantity::Count, "All of them"),
        Column::new("passes", Quantity::Count, "Every event is as the script says"),
        Column::new(
            "not all asked",
            Quantity::Count,
            "Holds, but for assertions that cannot be judged",
        ),
        Column::new("differs", Quantity::Count, "An event is not"),
        Column::new("not of TCP", Quantity::Count, "About the socket layer"),
        Column::new("not modelled", Quantity::Count, "About a mechanism that no scheme here has"),
        Column::new("other system", Quantity::Count, "For the TCP of another system than Linux"),
        Column::new("unreadable", Quantity::Count, "Something in it is not known"),
    ];
    let number = |n: usize| Cell::Number((n as f64).into());
    let row = |folder: &str, count: &FolderCount, is_reference| Row {
        cells: vec![
            Cell::Text(folder.to_owned()),
            number(count.scripts),
            number(count.passes),
            number(count.not_all_asked),
            number(count.differs),
            number(count.not_of_tcp),
            number(count.not_modelled),
            number(count.other_system),
            number(count.unreadable),
        ],
        is_reference,
    };
    let mut rows: Vec<_> =
        folders.iter().map(|(folder, count)| row(folder, count, false)).collect();
    rows.push(row("all", &all, false));
    Table { columns: columns.into(), rows }
}

/// The other system that the script is of.
fn other_system(played: &PlayedScript) -> Option<&str> {
    match &played.verdict {
        ScriptVerdict::OtherSystem { message, .. } => Some(message),
        _ => None,
    }
}

/// Explains why a script does not pass.
fn failure_explanation(played: &PlayedScript) -> String {
    let script = &played.script;
    match &played.verdict {
        ScriptVerdict::Passes | ScriptVerdict::OtherSystem { .. } => String::new(),
        ScriptVerdict::NotAllAsked { not_asked } => {
            format!("\n{script}: holds, but {} not judged\n", counted(*not_asked, "assertion"))
        }
        ScriptVerdict::Differs { line, message, expected, actual, reason } => {
            let reason = reason.as_deref().unwrap_or("not known");
            format!(
                "\n{script}:{line}: {message}\n  expected: {expected}\n    actual: {actual}\n    reason: {reason}\n"
            )
        }
        ScriptVerdict::NotOfTcp { line, message } => {
            format!("\n{script}:{line}: not of TCP: {message}\n")
        }
        ScriptVerdict::NotModelled { line, message } => {
            format!("\n{script}:{line}: not modelled: {message}\n")
        }
        ScriptVerdict::Unreadable { line, message } => {
            format!("\n{script}:{line}: cannot be read: {message}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script whose link leads nowhere cannot be read, and those beside it are played.
    #[test]
    fn one_file_that_cannot_be_read_is_a_verdict() {
        let name = format!("headstart-check-scripts-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let link = folder.join("a.pkt");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink("/nowhere", &link).unwrap();
        fs::write(folder.join("b.pkt"), "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n").unwrap();
        let args = CheckScriptsArgs {
            folder,
            scheme: Scheme::parse("linux").unwrap(),
            json: false,
            linux: LinuxVersion::default(),
        };
        let mut files = Vec::new();
        find(&args.folder, &mut files).unwrap();
        files.sort();
        let verdicts: Vec<_> = files.iter().map(|file| play_file(file, &args).verdict).collect();
        fs::remove_dir_all(&args.folder).unwrap();
        assert!(matches!(verdicts[0], ScriptVerdict::Unreadable { line: 0, .. }), "{verdicts:?}");
        assert!(matches!(verdicts[1], ScriptVerdict::Passes), "{verdicts:?}");
    }
}
