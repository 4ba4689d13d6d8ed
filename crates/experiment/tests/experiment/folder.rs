//! Folders of results: the same bytes on any number of jobs and in any parts; refusals.

use experiment::plan::Plan;
use experiment::results::{
    Folder, Manifest, Merge, ResultsError, Shard, Summary, TableFormat, Workers, make_runs,
    write_tables,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tcp::ack::AckSample;
use tcp::registry::Make;
use tcp::startup::{Phase, StartUp, StartUpDescriptor, register};
use tcp::window::Window;

/// An empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("headstart-results-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Twelve runs with losses, random arrivals and sizes; `bytes` is how long they take.
fn plan(bytes: &str) -> String {
    format!(
        "repeats = 3\nschemes = [\"newreno\", \"linux\"]\n\
         [topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"20mbit\", delay = \"5ms\", queue = \"20p\", loss = 0.001 }}\n\
         [workload.short]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = {{ kind = \"poisson\", mean_gap = \"20ms\", flows = 20, \
         size = {{ kind = \"exponential\", mean = \"{bytes}\" }} }}\n\
         [[sweep]]\nkey = \"topology.bottleneck.queue\"\nvalues = [\"10p\", \"40p\"]\n"
    )
}

/// Makes a part of a plan's runs, and the tables.
fn sweep(text: &str, shard: Shard, (out, jobs): (&Path, usize)) -> Result<Summary, ResultsError> {
    let plan = Plan::read("plan.toml", text, &|name| Err(name.to_owned())).unwrap();
    let mut manifest = Manifest::new(&plan, shard);
    let folder = Folder::open(out, &manifest, false)?;
    let (_, todo) = folder.split(shard.runs(plan.run_count()));
    let stop = AtomicBool::new(false);
    let mut steps = 0;
    make_runs(&plan, out, &todo, Workers { jobs, stop: &stop }, &mut || steps += 1)?;
    assert_eq!(steps, todo.len(), "a step for each run");
    let (done, todo) = folder.split(shard.runs(plan.run_count()));
    assert!(todo.is_empty(), "all runs of the part have a result");
    manifest.done = done.len();
    manifest.write(out)?;
    write_tables(out, &plan, &done, TableFormat::Csv)
}

fn merge(parts: &[PathBuf], out: &Path) -> Result<(), ResultsError> {
    let merge = Merge::of(parts, false)?;
    let text = merge.manifest().plan.clone();
    let plan = Plan::outline("plan.toml", &text).unwrap();
    let folder = Folder::open(out, merge.manifest(), false)?;
    let merged = merge.link_into(&folder)?;
    write_tables(out, &plan, &merged.done, TableFormat::Csv)?;
    merged.manifest.write(out)
}

/// Every file under a folder, by its path in it.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    files
}

#[track_caller]
fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (contents(a), contents(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(bytes == &b[name], "{} differs", name.display());
    }
}

#[test]
fn neither_jobs_nor_parts_change_a_byte() {
    let folder = folder("same");
    let [one, three, merged] = ["one", "three", "merged"].map(|name| folder.join(name));
    let text = plan("20kB");
    let summary = sweep(&text, Shard::WHOLE, (&one, 1)).unwrap();
    sweep(&text, Shard::WHOLE, (&three, 3)).unwrap();
    assert_same(&one, &three);
    let parts: Vec<PathBuf> = (1..=5).rev().map(|n| folder.join(format!("part{n}"))).collect();
    for (part, number) in parts.iter().zip((1..=5).rev()) {
        sweep(&text, Shard { number, count: 5 }, (part, 1)).unwrap();
    }
    merge(&parts, &merged).unwrap();
    assert_same(&one, &merged);
    // The values read back from the runs are those that were written.
    let outline = Plan::outline("plan.toml", &text).unwrap();
    let read = Summary::read(&merged, &outline, &(0..12).collect::<Vec<_>>()).unwrap();
    assert!(read.cells().eq(summary.cells()), "4 cells with their entries");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn merging_wants_all_parts_of_one_plan_once() {
    let folder = folder("merge");
    let [a, b, other, out] = ["a", "b", "other", "out"].map(|name| folder.join(name));
    let second = Shard { number: 2, count: 2 };
    sweep(&plan("5kB"), Shard { number: 1, count: 2 }, (&a, 2)).unwrap();
    sweep(&plan("5kB"), second, (&b, 2)).unwrap();
    sweep(&plan("6kB"), second, (&other, 2)).unwrap();
    let refused = |parts: &[&PathBuf], why: &str| {
        let parts: Vec<PathBuf> = parts.iter().map(|part| (*part).clone()).collect();
        match merge(&parts, &out) {
            Err(ResultsError::Refused(printed)) => {
                assert!(printed.contains(why), "{why}: {printed}")
            }
            otherwise => panic!("{why}: {otherwise:?}"),
        }
    };
    refused(&[], "folders of all parts");
    refused(&[&a], "missing: part 2/2");
    refused(&[&a, &a], "part 1/2 is");
    refused(&[&a, &other], "another plan");
    refused(&[&folder], "no manifest.json");
    // Only a run that is lost is repeated.
    fs::remove_dir_all(b.join("runs/000001")).unwrap();
    sweep(&plan("5kB"), second, (&b, 2)).unwrap();
    merge(&[a, b], &out).unwrap();
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_folder_belongs_to_one_plan_and_one_process() {
    let folder = folder("owner");
    let out = folder.join("out");
    let refused = |opened: Result<Folder, ResultsError>, why: &str| match opened {
        Err(ResultsError::Refused(printed)) => assert!(printed.contains(why), "{why}: {printed}"),
        _ => panic!("opened in spite of: {why}"),
    };
    let (text, other) = (plan("5kB"), plan("6kB"));
    let of = |text| Manifest::new(&Plan::outline("plan.toml", text).unwrap(), Shard::WHOLE);
    let held = Folder::open(&out, &of(&text), false).unwrap();
    of(&text).write(held.path()).unwrap();
    refused(Folder::open(&out, &of(&text), false), "another headstart");
    drop(held);
    refused(Folder::open(&out, &of(&other), false), "--force");
    refused(Folder::open(&folder, &of(&text), true), "another folder");
    Folder::open(&out, &of(&other), true).unwrap();
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn tables_are_there_in_one_format() {
    let (out, text) = (folder("formats"), plan("5kB"));
    sweep(&text, Shard::WHOLE, (&out, 1)).unwrap();
    let plan = Plan::outline("plan.toml", &text).unwrap();
    let done: Vec<usize> = (0..plan.run_count()).collect();
    for (format, ending) in [(TableFormat::Parquet, "parquet"), (TableFormat::Csv, "csv")] {
        write_tables(&out, &plan, &done, format).unwrap();
        let entries = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let mut tables: Vec<_> = entries.filter(|path| path.is_file()).collect();
        tables.retain(|path| path.file_name().is_some_and(|name| name != "manifest.json"));
        assert_eq!(tables.len(), 5);
        assert!(tables.iter().all(|path| path.extension().is_some_and(|is| is == ending)));
    }
    fs::remove_dir_all(&out).unwrap();
}

/// After any end of a process that has taken a folder, the same command takes it again.
#[test]
fn a_folder_that_was_taken_belongs_to_its_plan_at_once() {
    let (out, parts) = (folder("taken"), [folder("taken-1"), folder("taken-2")]);
    let of = |text: &str| {
        Manifest::new(
            &Plan::read("plan.toml", text, &|_| Err(String::new())).unwrap(),
            Shard::WHOLE,
        )
    };
    let (text, other) = (plan("8kB"), plan("9kB"));
    drop(Folder::open(&out, &of(&text), false).unwrap());
    drop(Folder::open(&out, &of(&text), false).unwrap());
    let shown = Manifest::read(&out).unwrap().unwrap();
    assert_eq!((shown.done, shown.plan), (0, text.clone()));
    drop(Folder::open(&out, &of(&other), true).unwrap());
    drop(Folder::open(&out, &of(&other), false).unwrap());
    // A merge that was interrupted behind its first step.
    for (number, part) in (1..).zip(&parts) {
        sweep(&text, Shard { number, count: 2 }, (part, 1)).unwrap();
    }
    let whole = folder("taken-whole");
    let started = Merge::of(&parts, false).unwrap();
    drop(Folder::open(&whole, started.manifest(), false).unwrap());
    merge(&parts, &whole).unwrap();
    assert_eq!(Manifest::read(&whole).unwrap().unwrap().done, 12);
}

#[test]
fn what_cannot_be_written_is_refused_before_any_run() {
    let folder = folder("unwritable");
    let text = plan("5kB");
    let manifest = Manifest::new(&Plan::outline("plan.toml", &text).unwrap(), Shard::WHOLE);
    let refused = |out: &Path, what: &str| match Folder::open(out, &manifest, false) {
        Err(ResultsError::Refused(printed)) => {
            assert!(printed.contains(what) && printed.contains("with --out"), "{what}: {printed}");
        }
        _ => panic!("opened in spite of {what}"),
    };
    // A file in the way of the folder, of the folder of runs, and a folder in the way of a table.
    // Tests may run as root, to whom every file is writable, so permissions prove nothing here.
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    refused(&file, "cannot be a folder");
    refused(&file.join("below"), "cannot be a folder");
    for (name, is_folder) in [("runs", false), ("summary.csv", true), ("manifest.json", true)] {
        let out = folder.join(format!("with-{name}"));
        drop(Folder::open(&out, &manifest, false).unwrap());
        manifest.write(&out).unwrap();
        let path = out.join(name);
        match is_folder {
            true => {
                let _ = fs::remove_file(&path);
                fs::create_dir(&path).unwrap();
            }
            false => {
                fs::remove_dir(&path).unwrap();
                fs::write(&path, "").unwrap();
            }
        }
        match name {
            // Read first, to see whose folder it is.
            "manifest.json" => assert!(Folder::open(&out, &manifest, false).is_err()),
            _ => refused(&out, name),
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A start-up that unwinds without a panic, as one does that a program has registered.
struct Unwinding;

impl StartUp for Unwinding {
    fn on_ack(&mut self, _: &mut Window, _: &AckSample) -> Phase {
        std::panic::resume_unwind(Box::new("of the start-up"))
    }
}

/// The caller gets what the start-up unwinds with, and no run counts as failed.
#[test]
fn a_start_up_that_unwinds_ends_the_sweep() {
    static UNWINDING: StartUpDescriptor = StartUpDescriptor::new(
        "unwinding",
        "unwinds",
        "this test",
        Make::Alone(&|_| Box::new(Unwinding)),
    );
    register(&UNWINDING).unwrap();
    let text = plan("30kB").replace("\"linux\"", "\"linux+startup=unwinding\"");
    let out = folder("unwinding");
    let swept = std::panic::catch_unwind(|| sweep(&text, Shard::WHOLE, (&out, 2)).map(drop));
    let payload = swept.expect_err("no run ends");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"of the start-up"));
    assert_eq!(Manifest::read(&out).unwrap().map(|manifest| manifest.failed.len()), Some(0));
}
