//! The start of an agent: alone, or taking over from a running agent. Afterwards the two do not
//! differ.
//!
//! A new agent finds what is wrong while the running agent can still go on. From the running
//! agent's end on, an agent without metrics or without a state file is better than none.

use super::running_agent::RunningAgent;
use super::state::in_force;
use crate::canary::ramp::Ramp;
use crate::canary::state::CanaryState;
use crate::canary::totals::ConnectionTotals;
use crate::config::AgentConfig;
use crate::interface::control_socket::Control;
use crate::interface::handover::PATIENCE;
use crate::interface::metrics::{MetricsAddress, MetricsListener};
use crate::memory::paths;
use crate::memory::state_file::StateFile;
use crate::os::clock::{monotonic_ns, since};
use crate::os::log::{Level, say};
use crate::programs::links::Attached;
use crate::programs::load_options::{LoadOptions, Mode};
use crate::programs::loader::{Loaded, SharedMaps};
use crate::programs::mode::{self, Outcome};
use crate::site::Site;
use libbpf_rs::MapCore;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::thread;
use std::time::Duration;

/// Longest time from the last word of an agent to the end of its process. The new agent counts no
/// connections meanwhile.
const LAST_MOMENT_NS: u64 = 10_000_000_000;
/// Time between two attempts to listen.
const RETRY: Duration = Duration::from_millis(20);

/// An agent's parts when it starts to hook connections.
pub(super) struct StartedAgent {
    pub(super) loaded: Loaded,
    pub(super) inheritance: Inheritance,
    pub(super) endpoints: Endpoints,
    /// `None`: nothing is kept on disk.
    pub(super) state_file: Option<StateFile>,
    /// `None`: no gateway is asked.
    pub(super) site: Option<Site>,
}

/// Addresses at which others connect to it.
pub(super) struct Endpoints {
    pub(super) control: Control,
    pub(super) metrics: Option<MetricsListener>,
}

/// State that an agent starts with: its own, or the running agent's.
#[derive(Default)]
pub(super) struct Inheritance {
    /// `None`: its programs are in no link yet.
    pub(super) attached: Option<Attached>,
    pub(super) totals: ConnectionTotals,
    pub(super) canary: CanaryState,
    pub(super) ramp: Ramp,
}

/// Starts alone.
///
/// # Errors
/// If it cannot work here.
pub(super) fn start_alone(config: &AgentConfig) -> Result<StartedAgent, String> {
    let control = Control::listen(&config.socket)?;
    let metrics = listen_for_metrics(config).map_err(no_metrics)?;
    let state_file = open_state_file(config, Duration::ZERO)?;
    let loaded = load(config, &SharedMaps::default())?;
    Ok(StartedAgent {
        site: join(config, &loaded)?,
        loaded,
        inheritance: Inheritance::default(),
        endpoints: Endpoints { control, metrics },
        state_file,
    })
}

/// Takes over from `running_agent` without a gap.
///
/// # Errors
/// If it cannot work here; then the running agent goes on.
pub(super) fn take_over(
    mut running_agent: RunningAgent,
    config: &mut AgentConfig,
) -> Result<StartedAgent, String> {
    config.state.as_deref().map_or(Ok(()), StateFile::check)?;
    let mut loaded = load(config, running_agent.maps())?;
    let site = join(config, &loaded)?;
    let ahead = listen_ahead(config).map_err(no_metrics)?;
    let inheritance = inherit(&mut running_agent, config, &mut loaded)?;
    let control = Control::replace(&config.socket)?;
    say(Level::Notice, &running_agent.end());
    // The running agent lets go of its file and its address as its process ends, a moment after its
    // last word.
    let state_file = open_state_file(config, PATIENCE).unwrap_or_else(log_and_skip);
    let metrics = match ahead {
        None => listen_after(config).map_err(no_metrics).unwrap_or_else(log_and_skip),
        ahead => ahead,
    };
    if state_file.is_none() {
        config.state = None;
    }
    Ok(StartedAgent {
        loaded,
        inheritance,
        endpoints: Endpoints { control, metrics },
        state_file,
        site,
    })
}

fn log_and_skip<T>(why: String) -> Option<T> {
    say(Level::Error, &format!("{why}; the agent goes on without"));
    None
}

fn listen_for_metrics(config: &AgentConfig) -> io::Result<Option<MetricsListener>> {
    config.metrics.as_ref().map(MetricsAddress::listen).transpose()
}

/// Listens while the running agent, whose address may be the same, still lives. `None`: the address
/// is free later, or metrics are not wanted. A socket in the file system would replace the running
/// agent's.
fn listen_ahead(config: &AgentConfig) -> io::Result<Option<MetricsListener>> {
    if !matches!(config.metrics, Some(MetricsAddress::Tcp(_))) {
        return Ok(None);
    }
    match listen_for_metrics(config) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
        found => found,
    }
}

/// Listens as [`listen_for_metrics`] does, as soon as the process of the running agent has ended.
fn listen_after(config: &AgentConfig) -> io::Result<Option<MetricsListener>> {
    let begun = monotonic_ns();
    loop {
        let found = listen_for_metrics(config);
        let is_taken = matches!(&found, Err(error) if error.kind() == ErrorKind::AddrInUse);
        if !is_taken || since(begun, monotonic_ns()) > LAST_MOMENT_NS {
            return found;
        }
        thread::sleep(RETRY);
    }
}

fn no_metrics(error: impl Display) -> String {
    format!("cannot serve metrics: {error}")
}

/// Opens the state file, if the configuration has one. `patience`: as in [`StateFile::open`].
fn open_state_file(config: &AgentConfig, patience: Duration) -> Result<Option<StateFile>, String> {
    let open = |file| StateFile::open(file, config.load.max_paths, patience);
    config.state.as_deref().map(open).transpose()
}

/// Joins the site whose gateways it asks for unknown paths.
fn join(config: &AgentConfig, loaded: &Loaded) -> Result<Option<Site>, String> {
    let Some(gateways) = config.site.clone() else { return Ok(None) };
    Site::join(gateways, loaded.paths()?, &config.load.settings).map(Some)
}

/// Loads the programs, and logs what is missing.
fn load(config: &AgentConfig, shared: &SharedMaps) -> Result<Loaded, String> {
    let Outcome { loaded, less, left_out } = mode::load(&config.load, shared)?;
    if let Some(why) = less {
        say(Level::Warning, &format!("first windows alone (mode window): {why}"));
    }
    for why in left_out {
        say(Level::Warning, &format!("without {why}"));
    }
    if loaded.mode() == Mode::Window && config.load.settings.mark != 0 {
        say(Level::Warning, "mark: mode window marks nothing");
    }
    Ok(loaded)
}

/// Takes everything over. If that fails, the running agent goes on.
fn inherit(
    running_agent: &mut RunningAgent,
    config: &mut AgentConfig,
    loaded: &mut Loaded,
) -> Result<Inheritance, String> {
    let paths = loaded.paths()?;
    if paths.max_entries() != config.load.max_paths {
        say(Level::Warning, "max-paths is as it was until the agent is restarted");
        config.load.max_paths = paths.max_entries();
    }
    let links = running_agent.take_links();
    let handover_state = running_agent.handover_state()?;
    let (canary, mut ramp) = (handover_state.canary(), handover_state.ramp);
    ramp.next_stage();
    // Another one would take other connections of the same peers.
    config.load.settings.salt = handover_state.salt;
    paths::import(&paths, &handover_state.paths);
    let load = LoadOptions { settings: in_force(config, ramp, &canary), ..config.load.clone() };
    let turned = loaded.program_settings().and_then(|program_settings| {
        program_settings.stop_networks(canary.stopped_networks())?;
        program_settings.apply(&load)
    });
    turned.map_err(|error| format!("the kernel refuses the settings: {error}"))?;
    let attached = loaded.take_over_links(links, &config.cgroups, &config.except_cgroups)?;
    Ok(Inheritance { attached: Some(attached), totals: handover_state.totals(), canary, ramp })
}
