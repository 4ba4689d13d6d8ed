//! How an agent begins: by itself, or in the place of one that runs. Which of the two it is makes no difference afterwards.
//!
//! Whoever follows finds what is wrong while its predecessor can still go on. From the predecessor's end on, an agent without
//! metrics or without a state file is better than none.

use crate::attached::Attached;
use crate::canary::CanaryState;
use crate::config::AgentConfig;
use crate::control::Control;
use crate::handover::PATIENCE;
use crate::keeper::Keeper;
use crate::kernel::{Loaded, SharedMaps};
use crate::load::{LoadOptions, Mode};
use crate::log::{Level, say};
use crate::metrics::{MetricsAddress, MetricsListener};
use crate::mode::{self, Outcome};
use crate::paths;
use crate::predecessor::Predecessor;
use crate::ramp::Ramp;
use crate::shared::in_force;
use crate::site::Site;
use crate::totals::ConnectionTotals;
use libbpf_rs::MapCore;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// What an agent has when it begins to attend.
pub(crate) struct Begun {
    pub(crate) loaded: Loaded,
    pub(crate) inheritance: Inheritance,
    pub(crate) endpoints: Endpoints,
    /// `None`: nothing is kept on disk.
    pub(crate) keeper: Option<Keeper>,
    /// `None`: no gateway is asked.
    pub(crate) site: Option<Site>,
}

/// Where others reach it.
pub(crate) struct Endpoints {
    pub(crate) control: Control,
    pub(crate) metrics: Option<MetricsListener>,
}

/// What an agent begins with: of its own, or of the one that it follows.
#[derive(Default)]
pub(crate) struct Inheritance {
    /// `None`: its programs are in no link yet.
    pub(crate) attached: Option<Attached>,
    pub(crate) totals: ConnectionTotals,
    pub(crate) canary: CanaryState,
    pub(crate) ramp: Ramp,
}

/// By itself.
///
/// # Errors
/// Why it cannot work here.
pub(crate) fn begin(config: &AgentConfig) -> Result<Begun, String> {
    let control = Control::listen(&config.socket)?;
    let metrics = listen_for_metrics(config).map_err(no_metrics)?;
    let loaded = load(config, &SharedMaps::default())?;
    Ok(Begun {
        site: join(config, &loaded)?,
        loaded,
        inheritance: Inheritance::default(),
        endpoints: Endpoints { control, metrics },
        keeper: open_keeper(config, Duration::ZERO)?,
    })
}

/// In the place of `predecessor`, as if that had not ended.
///
/// # Errors
/// Why it cannot work here; then the predecessor goes on.
pub(crate) fn follow(
    mut predecessor: Predecessor,
    config: &mut AgentConfig,
) -> Result<Begun, String> {
    let mut loaded = load(config, predecessor.maps())?;
    let site = join(config, &loaded)?;
    let ahead = listen_ahead(config).map_err(no_metrics)?;
    let inheritance = inherit(&mut predecessor, config, &mut loaded)?;
    let control = Control::replace(&config.socket)?;
    say(Level::Notice, &predecessor.end());
    let metrics = ahead
        .map_or_else(|| listen_for_metrics(config).map_err(no_metrics), |ahead| Ok(Some(ahead)))
        .unwrap_or_else(without);
    // The predecessor hands its file over as it ends, which takes a moment longer than its last word.
    let keeper = open_keeper(config, PATIENCE).unwrap_or_else(without);
    if keeper.is_none() {
        config.state = None;
    }
    Ok(Begun { loaded, inheritance, endpoints: Endpoints { control, metrics }, keeper, site })
}

fn without<T>(why: String) -> Option<T> {
    say(Level::Error, &format!("{why}; the agent goes on without"));
    None
}

fn listen_for_metrics(config: &AgentConfig) -> io::Result<Option<MetricsListener>> {
    config.metrics.as_ref().map(MetricsAddress::listen).transpose()
}

/// While the predecessor lives, whose address may be the same; `None`: it is free later, or none is wanted. A socket in the file
/// system would take that of the predecessor away.
fn listen_ahead(config: &AgentConfig) -> io::Result<Option<MetricsListener>> {
    if !matches!(config.metrics, Some(MetricsAddress::Tcp(_))) {
        return Ok(None);
    }
    match listen_for_metrics(config) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(None),
        found => found,
    }
}

fn no_metrics(error: impl Display) -> String {
    format!("cannot serve metrics: {error}")
}

/// `patience`: as in [`Keeper::open`].
fn open_keeper(config: &AgentConfig, patience: Duration) -> Result<Option<Keeper>, String> {
    let open = |file| Keeper::open(file, config.load.max_paths, patience);
    config.state.as_deref().map(open).transpose()
}

/// Whom it asks of paths that it does not know.
fn join(config: &AgentConfig, loaded: &Loaded) -> Result<Option<Site>, String> {
    let Some(gateways) = config.site.clone() else { return Ok(None) };
    Site::join(gateways, loaded.paths()?, &config.load.settings).map(Some)
}

/// Loads the programs, and says what is missing.
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

/// Takes everything over. What goes wrong leaves the predecessor at work.
fn inherit(
    predecessor: &mut Predecessor,
    config: &mut AgentConfig,
    loaded: &mut Loaded,
) -> Result<Inheritance, String> {
    let paths = loaded.paths()?;
    if paths.max_entries() != config.load.max_paths {
        say(Level::Warning, "max-paths is as it was until the agent is stopped and started anew");
        config.load.max_paths = paths.max_entries();
    }
    let links = predecessor.take_links();
    let estate = predecessor.estate()?;
    let (canary, mut ramp) = (estate.canary(), estate.ramp);
    ramp.next_stage();
    // Another one would take other connections of the same peers.
    config.load.settings.salt = estate.salt;
    paths::import(&paths, &estate.paths);
    let load = LoadOptions { settings: in_force(config, ramp, &canary), ..config.load.clone() };
    let turned = loaded.knobs().and_then(|knobs| {
        knobs.stop_networks(canary.stopped_networks())?;
        knobs.turn(&load)
    });
    turned.map_err(|error| format!("the kernel refuses the settings: {error}"))?;
    let attached = loaded.take(links, &config.cgroups, &config.except_cgroups)?;
    Ok(Inheritance { attached: Some(attached), totals: estate.totals(), canary, ramp })
}
