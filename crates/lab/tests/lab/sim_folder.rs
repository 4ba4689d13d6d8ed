//! The folder of results: the same bytes whatever the number of jobs, interruptions and parts; what
//! is refused, what is kept.

use crate::run::{command, folder, headstart, stdout};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

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

/// Twelve runs with losses, random arrivals and sizes; `bytes` is how long they take.
fn plan(bytes: &str) -> String {
    format!(
        "repeats = 3\nschemes = [\"newreno\", \"linux\"]\n\
         [topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"20mbit\", delay = \"5ms\", queue = \"20p\", loss = 0.001 }}\n\
         [workload.short]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = {{ kind = \"poisson\", mean_gap = \"20ms\", flows = 50, \
         size = {{ kind = \"exponential\", mean = \"{bytes}\" }} }}\n\
         [workload.noise]\nfrom = \"sources\"\nto = \"sinks\"\nbackground = true\n\
         traffic = {{ kind = \"on-off\", rate = \"5mbit\", on = \"100ms\", off = \"100ms\" }}\n\
         [[sweep]]\nkey = \"topology.bottleneck.queue\"\nvalues = [\"10p\", \"40p\"]\n"
    )
}

fn written(folder: &Path, bytes: &str) -> String {
    let path = folder.join("plan.toml");
    fs::write(&path, plan(bytes)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn neither_jobs_nor_parts_change_a_byte() {
    let folder = folder("sim-same");
    let plan = written(&folder, "20kB");
    let [one, three, merged] = ["one", "three", "merged"].map(|name| folder.join(name));
    stdout(&["sim", &plan, "--jobs", "1", "--out", text(&one)]);
    stdout(&["sim", &plan, "--jobs", "3", "--out", text(&three)]);
    assert_same(&one, &three);
    let parts: Vec<PathBuf> = (1..=5).map(|n| folder.join(format!("part{n}"))).collect();
    for (n, part) in parts.iter().enumerate() {
        stdout(&["sim", &plan, "--shard", &format!("{}/5", n + 1), "--out", text(part)]);
    }
    let mut merge = vec!["merge", "--out", text(&merged)];
    merge.extend(parts.iter().rev().map(|part| text(part)));
    stdout(&merge);
    assert_same(&one, &merged);
}

#[test]
fn merging_an_incomplete_sweep_is_refused_with_the_way_out() {
    let folder = folder("sim-merge");
    let plan = written(&folder, "5kB");
    let [part, out] = ["part", "out"].map(|name| folder.join(name));
    stdout(&["sim", &plan, "--shard", "1/2", "--out", text(&part)]);
    let output = headstart(&["merge", text(&part), "--out", text(&out)]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("missing: part 2/2; or merge with --incomplete"), "{errors}");
    stdout(&["merge", text(&part), "--out", text(&out), "--incomplete"]);
}

/// `--force` deletes what the folder of the results holds, so no part may be that folder, under
/// whatever name.
#[test]
fn a_part_is_no_folder_for_the_results() {
    let folder = folder("sim-merge-part");
    let plan = written(&folder, "5kB");
    let [first, second] = ["part1", "part2"].map(|name| folder.join(name));
    stdout(&["sim", &plan, "--shard", "1/2", "--out", text(&first)]);
    stdout(&["sim", &plan, "--shard", "2/2", "--out", text(&second)]);
    let before = contents(&first);
    let other_name = second.join("../part1");
    for out in [&first, &other_name] {
        let output =
            headstart(&["merge", text(&first), text(&second), "--out", text(out), "--force"]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("that is the part"), "{errors}");
    }
    assert!(contents(&first) == before, "the part is as it was");
}

/// A part has lost a run that its manifest counts: without `--incomplete` that is a failure, not a
/// smaller result.
#[test]
fn a_run_that_is_gone_is_a_failure() {
    let folder = folder("sim-merge-gone");
    let plan = written(&folder, "5kB");
    let [part, out] = ["part", "out"].map(|name| folder.join(name));
    stdout(&["sim", &plan, "--out", text(&part)]);
    fs::remove_dir_all(part.join("runs/000003")).unwrap();
    let output = headstart(&["merge", text(&part), "--out", text(&out)]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("1 of 12 runs missing"), "{errors}");
    stdout(&["merge", text(&part), "--out", text(&out), "--incomplete"]);
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_stopped() {
    let folder = folder("sim-interrupt");
    // Long enough that some runs are left when the first is done.
    let plan = written(&folder, "2MB");
    let [whole, broken] = ["whole", "broken"].map(|name| folder.join(name));
    let mut sweep = command(&["sim", &plan, "--jobs", "1", "--out", text(&broken)]);
    let child = sweep.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !broken.join("runs/000000").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("the same command again"), "{errors}");
    let done = fs::read_dir(broken.join("runs")).unwrap().count();
    assert!((1..12).contains(&done), "{done} of 12 runs were done");
    stdout(&["sim", &plan, "--out", text(&broken)]);
    stdout(&["sim", &plan, "--out", text(&whole)]);
    assert_same(&whole, &broken);
}

#[test]
fn a_changed_plan_and_foreign_files_are_refused() {
    let folder = folder("sim-refuse");
    let (plan, out) = (written(&folder, "5kB"), folder.join("out"));
    stdout(&["sim", &plan, "--out", text(&out)]);
    fs::write(folder.join("plan.toml"), self::plan("6kB")).unwrap();
    let output = headstart(&["sim", &plan, "--out", text(&out)]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && errors.contains("--force"), "{errors}");
    stdout(&["sim", &plan, "--out", text(&out), "--force"]);
    // The folder of this test holds the plan and is no folder of results.
    let output = headstart(&["sim", &plan, "--out", text(&folder), "--force"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && errors.contains("another folder"), "{errors}");
}

#[test]
fn a_failed_cell_does_not_stop_the_others() {
    let folder = folder("sim-failed");
    let (plan, out) = (written(&folder, "5kB"), folder.join("out"));
    let late = "time_limit = \"2s\"\n".to_owned() + &self::plan("5kB");
    // With one value of the axis the arrivals alone take longer than the limit.
    let late = late.replace("topology.bottleneck.queue", "workload.short.traffic.mean_gap");
    let late = late.replace("[\"10p\", \"40p\"]", "[\"10ms\", \"1s\"]");
    fs::write(&plan, late).unwrap();
    let output = headstart(&["sim", &plan, "--out", text(&out)]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("6 of 12 runs failed"), "{errors}");
    assert!(
        errors.contains("workload.short.traffic.mean_gap=1s scheme=linux, repeat 2"),
        "{errors}"
    );
    let cells = fs::read_to_string(out.join("cells.csv")).unwrap();
    assert_eq!(cells.lines().count(), 7, "the other six are there");
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(manifest.contains("not finished at 2.000000000s"), "{manifest}");
}

/// Blocks of docs/sweeps.md that begin with ```` ```LANGUAGE ````.
fn documented(language: &str) -> Vec<String> {
    let page = fs::read_to_string(crate::run::root().join("docs/sweeps.md")).unwrap();
    let fence = format!("```{language}\n");
    let blocks = page.split(fence.as_str()).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Runs a command of the documentation in `folder`.
fn shell(folder: &Path, script: &str, variables: &[(&str, String)]) {
    // As `headstart`, which hands over.
    let launcher = folder.join("headstart");
    let hands_over =
        format!("#!/bin/sh\n[ \"$1\" = lab ] && shift && exec {} \"$@\"\n", crate::PROGRAM);
    fs::write(&launcher, hands_over).unwrap();
    fs::set_permissions(&launcher, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", text(folder), std::env::var("PATH").unwrap());
    let mut sh = Command::new("sh");
    sh.args(["-c", script]).current_dir(folder).env("PATH", path);
    let output = sh.envs(variables.iter().cloned()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {errors}");
}

#[test]
fn the_documented_ways_to_spread_a_sweep_give_what_one_machine_gives() {
    let folder = folder("sim-documented");
    let plan = written(&folder, "5kB");
    let whole = folder.join("whole");
    stdout(&["sim", &plan, "--out", text(&whole)]);
    let blocks = documented("sh");
    let [parallel, slurm, merge] = &blocks[..] else { panic!("{blocks:?}") };

    // GNU parallel substitutes each of its arguments for {}; so does this.
    let (run, merge_parts) = parallel.trim().split_once('\n').unwrap();
    let run = run.strip_prefix("parallel ").unwrap().split(" :::").next().unwrap();
    (1..=8).for_each(|n| shell(&folder, &run.replace("{}", &n.to_string()), &[]));
    shell(&folder, merge_parts, &[]);
    assert_same(&whole, &folder.join("all"));
    fs::remove_dir_all(folder.join("all")).unwrap();

    for n in 1..=16 {
        let task = ("SLURM_ARRAY_TASK_ID", n.to_string());
        shell(&folder, slurm, &[task, ("SLURM_CPUS_PER_TASK", "1".to_owned())]);
    }
    shell(&folder, merge, &[]);
    assert_same(&whole, &folder.join("all"));
    fs::remove_dir_all(folder.join("all")).unwrap();
    fs::remove_dir_all(folder.join("parts")).unwrap();

    let job = documented("yaml").remove(0).replace("/data/", "./");
    let command = job.lines().find_map(|line| line.trim().strip_prefix("- headstart lab sim"));
    let command = format!("headstart lab sim{}", command.unwrap());
    for n in 0..16 {
        shell(&folder, &command, &[("JOB_COMPLETION_INDEX", n.to_string())]);
    }
    shell(&folder, merge, &[]);
    assert_same(&whole, &folder.join("all"));
}
