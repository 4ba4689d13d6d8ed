//! A running agent: programs attached, summaries heard, questions answered, until it is told to stop.

use crate::clock::Moment;
use crate::compare;
use crate::config::AgentConfig;
use crate::contract::{ConnectionSettings, ConnectionSummary};
use crate::control::Control;
use crate::exchange::ExchangeDocument;
use crate::judge::Judge;
use crate::keeper::Keeper;
use crate::kernel::{Attached, Loaded};
use crate::knobs::Knobs;
use crate::later::Later;
use crate::load::Mode;
use crate::lock::lock;
use crate::log::{Level, say};
use crate::metrics::{MetricsAddress, MetricsListener};
use crate::mode::{self, Outcome};
use crate::paths;
use crate::question::{AgentAnswer, AgentStatus, Question};
use crate::schemes::HsControl;
use crate::totals::ConnectionTotals;
use ipnet::IpNet;
use libbpf_rs::{ErrorKind, MapHandle};
use sd_notify::NotifyState;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// How long the agent sleeps at most before it looks whether to stop.
const TICK: Duration = Duration::from_millis(250);

/// What first flights need to end, with a few round trips of a long path.
const FIRST_FLIGHTS: Duration = Duration::from_secs(1);

/// What others want of a running agent; they set it at any time.
#[derive(Debug, Default)]
pub struct AgentSignals {
    /// It shall end.
    pub stop: Arc<AtomicBool>,
    /// It shall read its configuration anew.
    pub reload: Arc<AtomicBool>,
}

/// What both threads know.
struct Shared {
    config: Mutex<AgentConfig>,
    paths: MapHandle,
    totals: Mutex<ConnectionTotals>,
    summaries_lost: AtomicU64,
    mode: Mode,
    schemes: Mutex<Vec<HsControl>>,
    knobs: Knobs,
    judge: Mutex<Judge>,
    /// Why windows are left alone.
    off: Mutex<Option<String>>,
    keeper: Option<Keeper>,
}

/// The programs as they are attached.
struct Work {
    /// Goes first: without links (before Linux 6.4) a congestion control is taken away by its map, which closes with the
    /// programs.
    attached: Attached,
    loaded: Loaded,
}

/// Attends to connections until it is wished to stop. `reread` tells what it is to do from now on.
///
/// # Errors
/// Why it cannot work here, or stopped working.
pub fn run(
    config: AgentConfig,
    wishes: &AgentSignals,
    reread: impl Fn() -> Result<AgentConfig, String>,
) -> Result<(), String> {
    let control = Control::listen(&config.socket)?;
    let metrics = config.metrics.as_ref().map(MetricsAddress::listen).transpose();
    let metrics = metrics.map_err(|error| format!("cannot serve metrics: {error}"))?;
    let Outcome { mut loaded, less, left_out } = mode::load(&config.load)?;
    if let Some(why) = less {
        say(Level::Warning, &format!("first windows alone (mode window): {why}"));
    }
    for why in left_out {
        say(Level::Warning, &format!("without {why}"));
    }
    if loaded.mode() == Mode::Window && config.load.settings.mark != 0 {
        say(Level::Warning, "mark: mode window marks nothing");
    }
    let shared = Arc::new(Shared {
        paths: loaded.paths()?,
        totals: Mutex::default(),
        summaries_lost: AtomicU64::new(0),
        mode: loaded.mode(),
        schemes: Mutex::new(loaded.schemes().to_vec()),
        config: Mutex::new(config.clone()),
        knobs: loaded.knobs().map_err(|error| format!("cannot keep hold of maps: {error}"))?,
        judge: Mutex::default(),
        off: Mutex::default(),
        keeper: keeper_of(&config).transpose()?,
    });
    let summaries = loaded.summaries({
        let shared = Arc::clone(&shared);
        move |summary| shared.hear(&summary)
    })?;
    shared.resume();
    let attached = loaded.attach(&config.cgroups, &config.except_cgroups)?;
    let mut work = Work { attached, loaded };
    let mut later = Later::default();
    answer_questions(&control, Arc::clone(&shared))?;
    serve_metrics(metrics, &shared)?;
    announce(&config);
    while !wishes.stop.load(Ordering::Relaxed) {
        match summaries.poll(TICK) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(format!("cannot hear of connections any more: {error}"));
            }
            _ => shared.summaries_lost.store(work.loaded.summaries_lost(), Ordering::Relaxed),
        }
        if let Some(keeper) = &shared.keeper {
            keeper.save_if_due(&shared.paths, shared.config().save_every);
        }
        if wishes.reload.swap(false, Ordering::Relaxed) {
            reload(&shared, &mut work, &reread);
        }
        if later.look(&mut work.loaded, &mut work.attached) {
            *lock(&shared.schemes) = work.loaded.schemes().to_vec();
        }
    }
    tell_manager(&[NotifyState::Stopping]);
    let settings = shared.in_force(&shared.config());
    shared.see_out_first_flights(settings);
    // Nothing new opens meanwhile.
    drop(work);
    if let Some(keeper) = &shared.keeper {
        keeper.save_all(&shared.paths);
    }
    Ok(())
}

fn keeper_of(config: &AgentConfig) -> Option<Result<Keeper, String>> {
    config.state.as_deref().map(|file| Keeper::open(file, config.load.max_paths))
}

fn announce(config: &AgentConfig) {
    let what = announcement(config);
    say(Level::Notice, &what);
    tell_manager(&[NotifyState::Ready, NotifyState::Status(&what)]);
}

/// What the agent does from now on, and what stays of it.
fn announcement(config: &AgentConfig) -> String {
    let cgroups = config.cgroups.iter().map(|cgroup| cgroup.display().to_string());
    let cgroups = cgroups.collect::<Vec<_>>().join(", ");
    let does = match config.load.is_dry_run {
        false => format!("attending to new connections of {cgroups}"),
        true => format!(
            "dry run: measuring new connections of {cgroups}, which keep their own congestion control, windows and socket options"
        ),
    };
    let keeps = match &config.state {
        None => "nothing is written to disk".to_owned(),
        Some(file) => format!("memory is kept in {}, which stays", file.display()),
    };
    format!("{does}; {keeps}; asked at {}", config.socket.display())
}

/// Whoever started it, if that is a service manager which wants to know (sd_notify(3)).
fn tell_manager(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        say(Level::Warning, &format!("cannot tell the service manager: {error}"));
    }
}

/// What is wrong with the new leaves the old in force.
fn reload(shared: &Shared, work: &mut Work, reread: impl Fn() -> Result<AgentConfig, String>) {
    match reread().and_then(|new| change(shared, work, new)) {
        Ok(()) => say(Level::Notice, "the configuration has been read anew"),
        Err(why) => say(Level::Error, &format!("the configuration stays as it was: {why}")),
    }
}

fn change(shared: &Shared, work: &mut Work, mut new: AgentConfig) -> Result<(), String> {
    let mut config = shared.config();
    for key in config.fixed_differences(&new) {
        say(Level::Warning, &format!("{key} is as it was until the agent is started anew"));
    }
    // Drawn anew, it would take other connections of the same peers.
    new.load.settings.salt = config.load.settings.salt;
    new.load.max_paths = config.load.max_paths;
    // The programs of a dry run are others.
    new.load.is_dry_run = config.load.is_dry_run;
    new.load.settings.leaves_windows = config.load.is_dry_run;
    new.socket.clone_from(&config.socket);
    if (&config.cgroups, &config.except_cgroups) != (&new.cgroups, &new.except_cgroups) {
        shared.see_out_first_flights(shared.in_force(&config));
    }
    work.loaded.reattach(&mut work.attached, &new.cgroups, &new.except_cgroups)?;
    let mut load = new.load.clone();
    load.settings = shared.in_force(&new);
    let turned = shared.knobs.turn(&load);
    turned.map_err(|error| format!("the kernel refuses a part: {error}"))?;
    *config = new;
    Ok(())
}

fn serve_metrics(metrics: Option<MetricsListener>, shared: &Arc<Shared>) -> Result<(), String> {
    let Some(metrics) = metrics else { return Ok(()) };
    let shared = Arc::clone(shared);
    let served = metrics.serve(move || shared.status());
    served.map_err(|error| format!("cannot serve metrics: {error}"))
}

/// On a thread of its own, which ends with the process.
fn answer_questions(control: &Control, shared: Arc<Shared>) -> Result<(), String> {
    let serve = control.server().map_err(|error| format!("cannot answer questions: {error}"))?;
    thread::spawn(move || serve.run(|question| shared.answer(question)));
    Ok(())
}

impl Shared {
    /// Goes on where the last agent ended.
    fn resume(&self) {
        let Some(keeper) = &self.keeper else { return };
        keeper.restore(&self.paths);
        if let Some(why) = keeper.off() {
            self.turn_off(why);
        }
    }

    /// Whatever is asked for is on disk before it is answered.
    fn forget(&self, prefix: Option<IpNet>) -> usize {
        let count = paths::forget(&self.paths, prefix);
        if let Some(keeper) = &self.keeper {
            keeper.forget(prefix);
        }
        count
    }

    /// Ages are those of when it arrives here: on the way nothing gets younger.
    fn import(&self, document: ExchangeDocument) -> AgentAnswer {
        let entries = match document.aged(Moment::now().wall_ns.div_ceil(1_000_000)) {
            Ok(entries) => entries,
            Err(why) => return AgentAnswer::Refused(why),
        };
        let keys = paths::import(&self.paths, &entries);
        if let Some(keeper) = &self.keeper {
            keeper.has_changed(&keys);
        }
        AgentAnswer::Imported(keys.len())
    }

    /// A connection has closed.
    fn hear(&self, summary: &ConnectionSummary) {
        self.totals().add(summary);
        if let Some(keeper) = &self.keeper {
            keeper.has_changed(&[summary.path]);
        }
        let verdict = lock(&self.judge).add(summary, &self.config().limit);
        if let Some(why) = verdict {
            self.turn_off(why);
        }
    }

    fn turn_off(&self, why: String) {
        say(
            Level::Error,
            &format!(
                "ALL WINDOWS ARE LEFT ALONE FROM NOW ON: {why}; `headstart agent arm` ends that"
            ),
        );
        if let Some(keeper) = &self.keeper {
            keeper.set_off(Some(&why));
        }
        *lock(&self.off) = Some(why);
        self.set();
    }

    /// Whether windows had been left alone.
    fn arm(&self) -> bool {
        let was_off = lock(&self.off).take().is_some();
        if was_off {
            *lock(&self.judge) = Judge::default();
            if let Some(keeper) = &self.keeper {
                keeper.set_off(None);
            }
            self.set();
            say(Level::Notice, "windows are used again");
        }
        was_off
    }

    /// In mode `window` a first flight is paced by an option of its socket, which programs that are gone do not take back: none
    /// begins any more, and those under way end.
    fn see_out_first_flights(&self, settings: ConnectionSettings) {
        if self.mode != Mode::Window {
            return;
        }
        match self.knobs.set(&ConnectionSettings { leaves_windows: true, ..settings }) {
            Ok(()) => thread::sleep(FIRST_FLIGHTS),
            Err(error) => say(Level::Warning, &format!("first flights may stay paced: {error}")),
        }
    }

    /// What `config` says, but for windows that do harm.
    fn in_force(&self, config: &AgentConfig) -> ConnectionSettings {
        let mut settings = config.load.settings;
        settings.leaves_windows |= lock(&self.off).is_some();
        settings
    }

    fn set(&self) {
        let settings = self.in_force(&self.config());
        if let Err(error) = self.knobs.set(&settings) {
            say(Level::Error, &format!("the kernel does not take the settings: {error}"));
        }
    }

    fn totals(&self) -> MutexGuard<'_, ConnectionTotals> {
        lock(&self.totals)
    }

    fn config(&self) -> MutexGuard<'_, AgentConfig> {
        lock(&self.config)
    }

    fn answer(&self, question: Question) -> AgentAnswer {
        match question {
            Question::Status => AgentAnswer::Status(Box::new(self.status())),
            Question::Paths => {
                let settings = self.config().load.settings;
                AgentAnswer::Paths(paths::all(&self.paths, &settings))
            }
            Question::Export => AgentAnswer::Exported(paths::exported(&self.paths)),
            Question::Import(document) => self.import(document),
            Question::Arm => AgentAnswer::Armed(self.arm()),
            Question::Forget(prefix) => AgentAnswer::Forgotten(self.forget(prefix)),
        }
    }

    fn status(&self) -> AgentStatus {
        let (config, totals) = (self.config().clone(), *self.totals());
        AgentStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            cgroups: config.cgroups,
            except_cgroups: config.except_cgroups,
            mode: self.mode,
            control: config.load.settings.control,
            congestion_controls: lock(&self.schemes).iter().map(|s| s.name().to_owned()).collect(),
            off: lock(&self.off).clone(),
            dry_run: config.load.is_dry_run,
            control_group_share: f64::from(config.load.settings.control_group) / 1e6,
            cap: config.load.settings.cap,
            paths: paths::count(&self.paths),
            max_paths: config.load.max_paths,
            connections: totals,
            time_ratio: compare::over_all_sizes(&totals),
            comparison: compare::by_size(&totals),
            summaries_lost: self.summaries_lost.load(Ordering::Relaxed),
        }
    }
}
