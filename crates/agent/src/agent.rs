//! A running agent: programs attached, summaries heard, questions answered, until it is told to stop.

use crate::canary::CanaryState;
use crate::clock::Moment;
use crate::compare;
use crate::config::AgentConfig;
use crate::contract::{ConnectionSettings, ConnectionSummary};
use crate::control::Control;
use crate::exchange::ExchangeDocument;
use crate::follow::Follower;
use crate::gauges::KernelGauges;
use crate::keeper::Keeper;
use crate::kernel::{Attached, Loaded};
use crate::knobs::Knobs;
use crate::later::Later;
use crate::load::Mode;
use crate::lock::lock;
use crate::log::{Level, is_debugging, say, set_log_level};
use crate::metrics::{MetricsAddress, MetricsListener};
use crate::mode::{self, Outcome};
use crate::paths;
use crate::question::{AgentAnswer, AgentStatus, Question, StoppedPart};
use crate::ramp::Ramp;
use crate::schemes::HsControl;
use crate::totals::ConnectionTotals;
use ipnet::IpNet;
use libbpf_rs::{ErrorKind, MapHandle};
use sd_notify::NotifyState;
use sequential::canary::CanaryStop;
use sequential::part::CanaryPart;
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
    gauges: KernelGauges,
    /// Never held while `config` is asked for: whoever holds that may ask for this.
    canary: Mutex<CanaryState>,
    ramp: Mutex<Ramp>,
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
    set_log_level(config.log);
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
        gauges: loaded.gauges().map_err(|error| format!("cannot keep hold of maps: {error}"))?,
        canary: Mutex::default(),
        ramp: Mutex::default(),
        keeper: keeper_of(&config).transpose()?,
    });
    let summaries = loaded.summaries({
        let shared = Arc::clone(&shared);
        move |summary| shared.hear(&summary)
    })?;
    shared.resume();
    let attached = loaded.attach(&config.cgroups, &config.except_cgroups)?;
    let mut work = Work { attached, loaded };
    let (mut later, mut follower) = (Later::default(), Follower::default());
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
        shared.keep_if_due();
        if wishes.reload.swap(false, Ordering::Relaxed) {
            reload(&shared, &mut work, &reread);
        }
        let (cgroups, except) = {
            let config = shared.config();
            (config.cgroups.clone(), config.except_cgroups.clone())
        };
        follower.look(&mut work.loaded, &mut work.attached, (&cgroups, &except));
        if later.look(&mut work.loaded, &mut work.attached) {
            *lock(&shared.schemes) = work.loaded.schemes().to_vec();
            shared.gauges.renew(&work.loaded.program_files());
        }
    }
    tell_manager(&[NotifyState::Stopping]);
    let settings = shared.in_force(&shared.config());
    shared.see_out_first_flights(settings);
    // Nothing new opens meanwhile.
    drop(work);
    if let Some(keeper) = &shared.keeper {
        keeper.save_all(&shared.paths, shared.max_age_ns());
        keeper.keep_canary(&lock(&shared.canary));
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
    set_log_level(new.log);
    let is_as_before = config.load == new.load
        && (&config.cgroups, &config.except_cgroups) == (&new.cgroups, &new.except_cgroups);
    let share = (config.load.settings.canary, new.load.settings.canary);
    lock(&shared.ramp).reloaded(share, is_as_before);
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
        keeper.restore(&self.paths, self.max_age_ns());
        let canary = keeper.canary();
        for CanaryStop { part, why } in canary.stops() {
            tell_stop(*part, why);
        }
        *lock(&self.canary) = canary;
        self.set();
    }

    fn keep_if_due(&self) {
        let Some(keeper) = &self.keeper else { return };
        if keeper.is_due(self.config().save_every) {
            keeper.save_changed(&self.paths, self.max_age_ns());
            keeper.keep_canary(&lock(&self.canary));
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
        if is_debugging() {
            say(Level::Debug, &summary.to_string());
        }
        let limit = self.config().limit;
        let stops = lock(&self.canary).add(summary, &limit);
        if !stops.is_empty() {
            self.stop(&stops);
        }
    }

    /// Warm starts do harm to these connections.
    fn stop(&self, stops: &[CanaryStop]) {
        for CanaryStop { part, why } in stops {
            tell_stop(*part, why);
        }
        if let Some(keeper) = &self.keeper {
            keeper.keep_canary(&lock(&self.canary));
        }
        self.next_stage();
    }

    /// Whether anything had been left alone.
    fn arm(&self) -> bool {
        let had_stopped = {
            let mut canary = lock(&self.canary);
            let had_stopped = !canary.stops().is_empty();
            if had_stopped {
                *canary = CanaryState::default();
            }
            had_stopped
        };
        if had_stopped {
            if let Some(keeper) = &self.keeper {
                keeper.keep_canary(&lock(&self.canary));
            }
            self.next_stage();
            say(Level::Notice, "windows are used again, and compared anew");
        }
        had_stopped
    }

    /// So many of a million connections may start warm from now on; how many it were.
    fn ramp(&self, share: u32) -> u32 {
        let said = self.config().load.settings.canary;
        let was = lock(&self.ramp).set(share, said);
        self.set();
        let percent = |share: u32| f64::from(share) / 1e4;
        say(
            Level::Notice,
            &format!(
                "{} % of connections may start warm, {} % could before; the file's {} % count again when that changes, or \
                 the agent is started anew",
                percent(share),
                percent(was),
                percent(said)
            ),
        );
        was
    }

    /// What is compared is compared under other settings from now on.
    fn next_stage(&self) {
        lock(&self.ramp).next_stage();
        self.set();
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
        let mut settings = lock(&self.ramp).applied(config.load.settings);
        let canary = lock(&self.canary);
        settings.leaves_windows |= canary.off().is_some();
        settings.stopped = canary.stopped_parts();
        settings
    }

    fn set(&self) {
        let settings = self.in_force(&self.config());
        if let Err(error) = self.knobs.set(&settings) {
            say(Level::Error, &format!("the kernel does not take the settings: {error}"));
        }
    }

    /// What is older is of use to no connection.
    fn max_age_ns(&self) -> u64 {
        self.config().load.settings.max_age_ns
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
            Question::Ramp(share) => AgentAnswer::Ramped(self.ramp(share)),
            Question::Forget(prefix) => AgentAnswer::Forgotten(self.forget(prefix)),
        }
    }

    fn status(&self) -> AgentStatus {
        let (config, totals) = (self.config().clone(), *self.totals());
        let settings = self.in_force(&config);
        let (findings, stops) = {
            let canary = lock(&self.canary);
            (canary.findings(), canary.stops().to_vec())
        };
        let of_all = stops.iter().find(|stop| stop.part == CanaryPart::All);
        AgentStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            cgroups: config.cgroups,
            except_cgroups: config.except_cgroups,
            mode: self.mode,
            control: config.load.settings.control,
            congestion_controls: lock(&self.schemes).iter().map(|s| s.name().to_owned()).collect(),
            off: of_all.map(|stop| stop.why.clone()),
            dry_run: config.load.is_dry_run,
            control_group_share: f64::from(config.load.settings.control_group) / 1e6,
            percent: f64::from(settings.canary) / 1e4,
            stage: settings.stage,
            stopped: stops.iter().map(stopped_part).collect(),
            cap: config.load.settings.cap,
            paths: paths::count(&self.paths),
            max_paths: config.load.max_paths,
            connections: totals,
            parts: compare::by_part(&findings, &stops),
            time_ratio: findings.first().and_then(|all| all.times),
            comparison: compare::by_size(&totals, &findings),
            summaries_lost: self.summaries_lost.load(Ordering::Relaxed),
            programs: self.gauges.programs(),
            maps: self.gauges.maps(),
        }
    }
}

fn stopped_part(stop: &CanaryStop) -> StoppedPart {
    StoppedPart { part: stop.part.to_string(), why: stop.why.clone() }
}

fn tell_stop(part: CanaryPart, why: &str) {
    let which = match part {
        CanaryPart::All => "ALL WINDOWS ARE LEFT ALONE FROM NOW ON".to_owned(),
        part => format!("WINDOWS OF A PART ({part}) ARE LEFT ALONE FROM NOW ON"),
    };
    say(Level::Error, &format!("{which}: {why}; `headstart agent arm` ends that"));
}
