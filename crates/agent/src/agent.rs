//! A running agent: programs attached, summaries heard, questions answered, until it is told to stop.

use crate::attached::Attached;
use crate::canary::CanaryState;
use crate::clock::Moment;
use crate::compare;
use crate::config::AgentConfig;
use crate::contract::{ConnectionSettings, ConnectionSummary};
use crate::control::Control;
use crate::exchange::ExchangeDocument;
use crate::format::FORMAT;
use crate::gauges::KernelGauges;
use crate::handover::{Estate, Successor};
use crate::keeper::Keeper;
use crate::kernel::{Loaded, SharedMaps, programs_digest};
use crate::knobs::Knobs;
use crate::later::Later;
use crate::load::{LoadOptions, Mode};
use crate::lock::lock;
use crate::log::{Level, is_debugging, say, set_log_level};
use crate::metrics::{MetricsAddress, MetricsListener};
use crate::mode::{self, Outcome};
use crate::paths;
use crate::predecessor::Predecessor;
use crate::question::{AgentAnswer, AgentStatus, Question, StoppedPart};
use crate::ramp::Ramp;
use crate::renewal::Renewal;
use crate::schemes::HsControl;
use crate::successor::{Claim, Offered};
use crate::totals::ConnectionTotals;
use ipnet::IpNet;
use libbpf_rs::{ErrorKind, MapCore, MapHandle};
use sd_notify::NotifyState;
use sequential::canary::CanaryStop;
use sequential::part::CanaryPart;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
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
    /// The program's file as it is now shall go on in its place.
    pub renew: Arc<AtomicBool>,
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

/// Where others reach it.
struct Endpoints {
    control: Control,
    metrics: Option<MetricsListener>,
}

impl Endpoints {
    fn open(config: &AgentConfig, control: Control) -> Result<Self, String> {
        let metrics = config.metrics.as_ref().map(MetricsAddress::listen).transpose();
        let metrics = metrics.map_err(|error| format!("cannot serve metrics: {error}"))?;
        Ok(Self { control, metrics })
    }
}

/// What an agent begins with: of its own, or of the one that it follows.
#[derive(Default)]
struct Inheritance {
    /// `None`: its programs are in no link yet.
    attached: Option<Attached>,
    totals: ConnectionTotals,
    canary: CanaryState,
    ramp: Ramp,
}

/// Attends to connections until it is wished to stop. `reread` tells what it is to do from now on. If it `follows`, it goes on
/// in the place of an agent that runs, as if that had not ended.
///
/// # Errors
/// Why it cannot work here, or stopped working.
pub fn run(
    mut config: AgentConfig,
    follows: bool,
    wishes: &AgentSignals,
    reread: impl Fn() -> Result<AgentConfig, String>,
) -> Result<(), String> {
    set_log_level(config.log);
    let predecessor = if follows { Predecessor::find(&config)? } else { None };
    let (work, inheritance, endpoints) = match predecessor {
        None => {
            let endpoints = Endpoints::open(&config, Control::listen(&config.socket)?)?;
            (load(&config, &SharedMaps::default())?, Inheritance::default(), endpoints)
        }
        Some(mut predecessor) => {
            let mut loaded = load(&config, predecessor.maps())?;
            let inheritance = inherit(&mut predecessor, &mut config, &mut loaded)?;
            let control = Control::replace(&config.socket)?;
            say(Level::Notice, &predecessor.end());
            // Its metrics' address is free from here on.
            (loaded, inheritance, Endpoints::open(&config, control)?)
        }
    };
    attend(config, work, inheritance, endpoints, wishes, reread)
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
    let turned = loaded.knobs().and_then(|knobs| knobs.turn(&load));
    turned.map_err(|error| format!("the kernel refuses the settings: {error}"))?;
    let attached = loaded.take(links, &config.cgroups, &config.except_cgroups)?;
    Ok(Inheritance { attached: Some(attached), totals: estate.totals(), canary, ramp })
}

fn attend(
    config: AgentConfig,
    mut loaded: Loaded,
    inheritance: Inheritance,
    mut endpoints: Endpoints,
    wishes: &AgentSignals,
    reread: impl Fn() -> Result<AgentConfig, String>,
) -> Result<(), String> {
    let Inheritance { attached, totals, canary, ramp } = inheritance;
    let shared = Arc::new(Shared {
        paths: loaded.paths()?,
        totals: Mutex::new(totals),
        summaries_lost: AtomicU64::new(0),
        mode: loaded.mode(),
        schemes: Mutex::new(loaded.schemes().to_vec()),
        config: Mutex::new(config.clone()),
        knobs: loaded.knobs().map_err(|error| format!("cannot keep hold of maps: {error}"))?,
        gauges: loaded.gauges().map_err(|error| format!("cannot keep hold of maps: {error}"))?,
        canary: Mutex::new(canary),
        ramp: Mutex::new(ramp),
        keeper: keeper_of(&config).transpose()?,
    });
    let summaries = loaded.summaries({
        let shared = Arc::clone(&shared);
        move |summary| shared.hear(&summary)
    })?;
    let attached = match attached {
        Some(attached) => {
            shared.keep_all();
            attached
        }
        None => {
            shared.resume();
            loaded.attach(&config.cgroups, &config.except_cgroups)?
        }
    };
    let mut work = Work { attached, loaded };
    let (mut later, mut renewal) = (Later::default(), Renewal::new());
    let claims = answer_questions(&endpoints.control, Arc::clone(&shared))?;
    serve_metrics(endpoints.metrics.take(), &shared)?;
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
        if later.look(&mut work.loaded, &mut work.attached) {
            *lock(&shared.schemes) = work.loaded.schemes().to_vec();
            shared.gauges.renew(&work.loaded.program_files());
        }
        renewal.look();
        if wishes.renew.swap(false, Ordering::Relaxed) {
            renewal.begin();
        }
        if let Ok(claim) = claims.try_recv()
            && hand_over(&claim, &shared, &mut work, || summaries.consume().is_ok())
        {
            endpoints.control.leave();
            return Ok(());
        }
    }
    tell_manager(&[NotifyState::Stopping]);
    let settings = shared.in_force(&shared.config());
    shared.see_out_first_flights(settings);
    // Nothing new opens meanwhile.
    drop(work);
    shared.keep_all();
    Ok(())
}

/// Hands everything over to an agent that follows; whether it has taken it. `hear`: of connections that have closed, the last
/// time.
fn hand_over(claim: &Claim, shared: &Shared, work: &mut Work, hear: impl FnOnce() -> bool) -> bool {
    let is_same = claim.who().programs == programs_digest();
    let format = shared.keeper.as_ref().map(|_| FORMAT);
    let ready = work.loaded.maps().and_then(|maps| {
        let links = work.attached.files(work.loaded.is_linked());
        claim.offer(programs_digest(), format, &Offered { maps: &maps, links })
    });
    let settled = ready.and_then(|()| {
        hear();
        shared.keep_all();
        // A name that is listed without a link has to go before another one can have it.
        if !work.loaded.is_linked() {
            work.attached.controls.clear();
        }
        if !is_same {
            shared.set_superseded();
        }
        claim.settle(&shared.estate(!is_same))
    });
    let Err(error) = settled else {
        let Successor { version, pid, .. } = claim.who();
        say(Level::Notice, &format!("the agent of version {version} goes on (process {pid})"));
        tell_manager(&[NotifyState::MainPid(*pid)]);
        return true;
    };
    say(Level::Warning, &format!("no agent followed, this one goes on: {error}"));
    shared.set();
    if let Err(why) = work.loaded.take_back(&mut work.attached) {
        say(
            Level::Error,
            &format!("new connections may start cold until the agent is restarted: {why}"),
        );
    }
    false
}

/// What `config` says, but for windows that do harm.
fn in_force(config: &AgentConfig, ramp: Ramp, canary: &CanaryState) -> ConnectionSettings {
    let mut settings = ramp.applied(config.load.settings);
    settings.leaves_windows |= canary.off().is_some();
    settings.stopped = canary.stopped_parts();
    settings
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

/// On a thread of its own, which ends with the process. Where agents come that want to follow.
fn answer_questions(control: &Control, shared: Arc<Shared>) -> Result<Receiver<Claim>, String> {
    let serve = control.server().map_err(|error| format!("cannot answer questions: {error}"))?;
    let (claim, claims) = mpsc::channel();
    // Nobody receives a claim any more as soon as the agent ends: then its stream closes.
    let follow = move |stream, who| _ = claim.send(Claim::new(stream, who));
    thread::spawn(move || serve.run(|question| shared.answer(question), follow));
    Ok(claims)
}

impl Shared {
    /// Goes on where the last agent ended.
    fn resume(&self) {
        let Some(keeper) = &self.keeper else { return };
        keeper.restore(&self.paths);
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
            keeper.save_changed(&self.paths);
            keeper.keep_canary(&lock(&self.canary));
        }
    }

    fn keep_all(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.save_all(&self.paths);
            keeper.keep_canary(&lock(&self.canary));
        }
    }

    /// All that an agent needs to go on.
    fn estate(&self, has_paths: bool) -> Estate {
        // One after the other: who answers questions holds some of them together.
        let canary = lock(&self.canary).clone();
        let ramp = *lock(&self.ramp);
        let totals = *self.totals();
        let salt = self.config().load.settings.salt;
        Estate {
            canary: serde_json::to_value(&canary).expect("plain fields"),
            off: canary.off().map(str::to_owned),
            ramp,
            totals: serde_json::to_value(totals).expect("plain fields"),
            salt,
            paths: if has_paths { paths::exported(&self.paths) } else { Vec::new() },
        }
    }

    /// Other programs attend to new connections.
    fn set_superseded(&self) {
        let settings = self.in_force(&self.config());
        if let Err(error) = self.knobs.set(&ConnectionSettings { is_superseded: true, ..settings })
        {
            say(Level::Error, &format!("the kernel does not take the settings: {error}"));
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

    /// As [`in_force`], of what counts now.
    fn in_force(&self, config: &AgentConfig) -> ConnectionSettings {
        let ramp = *lock(&self.ramp);
        in_force(config, ramp, &lock(&self.canary))
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
            Question::Ramp(share) => AgentAnswer::Ramped(self.ramp(share)),
            Question::Forget(prefix) => AgentAnswer::Forgotten(self.forget(prefix)),
            Question::HandOver(_) => AgentAnswer::Refused("no line is answered so".to_owned()),
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
