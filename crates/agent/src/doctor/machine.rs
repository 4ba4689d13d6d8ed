//! The machine as an agent finds it: kernel, files, settings of TCP, and other programs at the same
//! hooks.

use crate::config::options::AgentOptions;
use crate::interface::question::AgentStatus;
use libbpf_rs::ProgramType;
use libbpf_rs::query::ProgInfoIter;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// TCP settings that affect warm starts.
const SETTINGS: [&str; 9] = [
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_available_congestion_control",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_no_metrics_save",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_rmem",
    "net/core/default_qdisc",
    "net/core/rmem_max",
    "kernel/bpf_stats_enabled",
];

/// Possible paths of the unit (systemd.unit(5)), as packages and `make install` put it.
const UNITS: [&str; 4] = [
    "/etc/systemd/system/headstart-agent.service",
    "/usr/local/lib/systemd/system/headstart-agent.service",
    "/usr/lib/systemd/system/headstart-agent.service",
    "/lib/systemd/system/headstart-agent.service",
];

/// See the module.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Version of the kernel, as `uname -r` prints it, and architecture.
    pub kernel: String,
    /// Name of the distribution, from `/etc/os-release`.
    pub distribution: String,
    /// This program.
    pub version: &'static str,
    /// Files of an agent, there or not.
    pub files: Vec<InstalledFile>,
    /// The configuration of the service.
    pub config: ConfigState,
    /// Settings and their values; `None` where the kernel has none.
    pub settings: Vec<(&'static str, Option<String>)>,
    /// Programs of others at the same kind of hook (sockops), by name; `None` if that may not be
    /// seen.
    pub others: Option<Vec<String>>,
    /// The program of the agent that answers.
    pub running: Option<RunningProgram>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledFile {
    /// Name of the file's purpose.
    pub what: &'static str,
    /// Its path, whether it exists or not.
    pub path: PathBuf,
    /// Its size, bytes; `None`: it is not there.
    pub bytes: Option<u64>,
}

/// State of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigState {
    /// There is none, so all is as the command line says.
    Missing,
    /// It is sound.
    Sound,
    /// An agent would refuse it, for this reason.
    Refused(String),
}

/// State of a running process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunningProgram {
    /// Its file was replaced, or removed, since it was started.
    pub is_replaced: bool,
    /// The configuration was changed since it was started.
    pub has_older_config: bool,
}

/// Returns the options of a file, if it is sound.
pub(super) fn read_config(file: &Path) -> (Option<AgentOptions>, ConfigState) {
    if !file.exists() {
        return (None, ConfigState::Missing);
    }
    match AgentOptions::read(file) {
        Ok(options) => (Some(options), ConfigState::Sound),
        Err(why) => (None, ConfigState::Refused(why)),
    }
}

impl Machine {
    /// Inspects the machine. `state`: where an agent with the configuration keeps its memory.
    pub(super) fn inspect(
        config: &Path,
        is: ConfigState,
        state: Option<PathBuf>,
        status: Option<&AgentStatus>,
    ) -> Self {
        let unit = UNITS.iter().map(Path::new).find(|unit| unit.exists());
        let program = std::env::current_exe().unwrap_or_default();
        let state = state.unwrap_or_else(|| "/var/lib/headstart/agent.redb".into());
        let files = [
            ("program", program),
            ("unit", unit.map_or_else(|| UNITS[0].into(), Path::to_owned)),
            ("configuration", config.to_owned()),
            ("memory", state),
        ];
        let files = files.map(|(what, path)| {
            let bytes = fs::metadata(&path).ok().map(|file| file.len());
            InstalledFile { what, path, bytes }
        });
        Self {
            kernel: [read("/proc/sys/kernel/osrelease"), read("/proc/sys/kernel/arch")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            distribution: distribution(&read("/etc/os-release").unwrap_or_default()),
            version: env!("CARGO_PKG_VERSION"),
            files: files.into(),
            config: is,
            settings: SETTINGS.map(|name| (name, setting(name))).into(),
            others: foreign_sock_ops(),
            running: status.map(|status| running_program(status.pid, config)),
        }
    }

    /// Returns a setting by the end of its name.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(full, _)| full.ends_with(name))?;
        found.1.as_deref()
    }
}

fn read(file: &str) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

fn setting(name: &str) -> Option<String> {
    let value = read(&format!("/proc/sys/{name}"))?;
    Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the name for people of os-release(5).
fn distribution(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.map_or_else(|| "unknown".to_owned(), |name| name.trim_matches('"').to_owned())
}

/// Returns the programs of others at the hook; a process without CAP_SYS_ADMIN sees none, not even
/// those of an agent.
fn foreign_sock_ops() -> Option<Vec<String>> {
    const OURS: [&str; 5] = ["attend", "leave", "widen", "report", "hs_window"];
    let mut seen = ProgInfoIter::default().peekable();
    seen.peek()?;
    let names = seen.filter(|program| program.ty == ProgramType::SockOps);
    let names = names.map(|program| program.name.to_string_lossy().into_owned());
    Some(names.filter(|name| !OURS.contains(&name.as_str())).collect())
}

/// Describes the program of a running process: whether its file was replaced, and whether the
/// configuration has changed since its start.
fn running_program(pid: u32, config: &Path) -> RunningProgram {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let modified = |file: &Path| fs::metadata(file).and_then(|file| file.modified()).ok();
    let started = modified(Path::new(&format!("/proc/{pid}")));
    let is_later = |changed: SystemTime| started.is_some_and(|started| changed > started);
    RunningProgram {
        is_replaced: program.to_string_lossy().ends_with(" (deleted)"),
        has_older_config: modified(config).is_some_and(is_later),
    }
}

#[cfg(test)]
impl Machine {
    /// Returns a machine with which nothing is wrong.
    pub(super) fn healthy() -> Self {
        let settings = SETTINGS.map(|name| match name {
            "net/ipv4/tcp_congestion_control" => (name, Some("cubic".to_owned())),
            "net/ipv4/tcp_available_congestion_control" => (name, Some("reno cubic".to_owned())),
            "net/ipv4/tcp_slow_start_after_idle" => (name, Some("1".to_owned())),
            "net/ipv4/tcp_wmem" => (name, Some("4096 16384 4194304".to_owned())),
            _ => (name, None),
        });
        Self {
            kernel: "6.12".to_owned(),
            distribution: "Debian".to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            files: vec![],
            config: ConfigState::Sound,
            settings: settings.into(),
            others: Some(vec![]),
            running: Some(RunningProgram::default()),
        }
    }

    /// Returns the machine with another value of a setting.
    pub(super) fn with_setting(mut self, name: &str, value: &str) -> Self {
        let found = self.settings.iter_mut().find(|(full, _)| full.ends_with(name)).unwrap();
        found.1 = Some(value.to_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_has_its_name_for_people() {
        let text = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n";
        assert_eq!(distribution(text), "Debian GNU/Linux 13 (trixie)");
        assert_eq!(distribution(""), "unknown");
    }

    #[test]
    fn a_configuration_is_missing_sound_or_refused() {
        let file =
            std::env::temp_dir().join(format!("headstart-doctor-{}.toml", std::process::id()));
        let _ = fs::remove_file(&file);
        assert_eq!(read_config(&file).1, ConfigState::Missing);
        fs::write(&file, "cap = 20\n").unwrap();
        assert_eq!(read_config(&file).1, ConfigState::Sound);
        fs::write(&file, "cap = 0\n").unwrap();
        let (options, ConfigState::Refused(why)) = read_config(&file) else { panic!() };
        fs::remove_file(&file).unwrap();
        assert!(options.is_none() && why.ends_with(":1: cap: 0 is not from 1 to 1024"), "{why}");
    }

    #[test]
    fn this_process_runs_its_own_file() {
        let running = running_program(std::process::id(), Path::new("/nonexistent"));
        assert_eq!(running, RunningProgram::default());
    }
}
