//! Statistics of the kernel on running programs and maps: run times and fill.

use crate::memory::paths;
use crate::os::lock::lock;
use libbpf_rs::{MapCore, MapHandle};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::fd::RawFd;
use std::sync::Mutex;

/// Run time of a program by the kernel's statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramTime {
    /// Its name.
    pub program: String,
    /// Number of runs.
    pub runs: u64,
    /// Total run time, seconds.
    pub time_s: f64,
}

/// Entries of a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapFill {
    /// Its name.
    pub map: String,
    /// Number of entries now.
    pub entries: u64,
    /// Largest number of entries.
    pub most: u32,
}

/// See the module; for any thread, while the programs are loaded.
#[derive(Debug)]
pub(crate) struct KernelGauges {
    maps: Vec<(String, MapHandle)>,
    programs: Mutex<Vec<ProgramFile>>,
}

/// An open file that is a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramFile {
    pub(crate) name: String,
    pub(crate) file: RawFd,
}

impl KernelGauges {
    pub(crate) const fn new(maps: Vec<(String, MapHandle)>, programs: Vec<ProgramFile>) -> Self {
        Self { maps, programs: Mutex::new(programs) }
    }

    /// Replaces the programs, because others are loaded now.
    pub(crate) fn replace_programs(&self, programs: &[ProgramFile]) {
        *lock(&self.programs) = programs.to_vec();
    }

    /// Returns the run times of the programs; none unless the kernel measures them.
    pub(crate) fn programs(&self) -> Vec<ProgramTime> {
        let files = lock(&self.programs).clone();
        let times = files.into_iter().filter_map(|ProgramFile { name, file }| {
            let text = fs::read_to_string(format!("/proc/self/fdinfo/{file}")).ok()?;
            measured_run(&text, name)
        });
        times.collect()
    }

    /// Returns the number of entries of each map.
    pub(crate) fn maps(&self) -> Vec<MapFill> {
        let fill = |(name, map): &(String, MapHandle)| MapFill {
            map: name.clone(),
            entries: paths::count(map) as u64,
            most: map.max_entries(),
        };
        self.maps.iter().map(fill).collect()
    }
}

/// Parses `/proc/PID/fdinfo` of a program (`bpf_prog_show_fdinfo` of the kernel); `None` if it has
/// no measured run.
fn measured_run(text: &str, program: String) -> Option<ProgramTime> {
    let number = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.trim().parse::<u64>().ok()
    };
    let runs = number("run_cnt").filter(|count| *count > 0)?;
    Some(ProgramTime { program, runs, time_s: number("run_time_ns")? as f64 / 1e9 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_counted_has_run_for_so_long() {
        let text =
            "pos:\t0\nprog_type:\t27\nprog_jited:\t1\nrun_time_ns:\t1500000000\nrun_cnt:\t3\n";
        let ran_for = measured_run(text, "attend".to_owned()).unwrap();
        assert_eq!((ran_for.runs, ran_for.time_s), (3, 1.5));
        assert_eq!(measured_run(&text.replace("run_cnt:\t3", "run_cnt:\t0"), String::new()), None);
        assert_eq!(measured_run("pos:\t0\n", String::new()), None);
    }
}
