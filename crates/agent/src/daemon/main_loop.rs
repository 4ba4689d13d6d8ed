//! A running agent: it attaches the programs, reads their reports and answers questions until it is
//! stopped.

use super::new_agent::{HandoverRequest, OfferedState};
use super::respawn::Renewal;
use super::running_agent::RunningAgent;
use super::startup::{Inheritance, StartedAgent, start_alone, take_over};
use super::state::SharedState;
use crate::config::AgentConfig;
use crate::contract::StartDecision;
use crate::interface::control_socket::Control;
use crate::interface::handover::NewAgent;
use crate::interface::metrics::MetricsListener;
use crate::memory::format::FORMAT;
use crate::os::lock::lock;
use crate::os::log::{Level, say, set_log_level};
use crate::programs::cgroups::CgroupWatch;
use crate::programs::detached::{DetachWatch, HandledCgroups};
use crate::programs::late_modules::LateModules;
use crate::programs::links::Attached;
use crate::programs::loader::{Loaded, programs_digest};
use crate::programs::telemetry::events::{EventHandlers, Lost};
use libbpf_rs::ErrorKind;
use sd_notify::NotifyState;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Longest sleep of the agent between two looks at its signals.
const TICK: Duration = Duration::from_millis(250);

/// Signals to a running agent; others set them at any time.
#[derive(Debug, Default)]
pub struct AgentSignals {
    /// It shall end.
    pub stop: Arc<AtomicBool>,
    /// It shall reload its configuration.
    pub reload: Arc<AtomicBool>,
    /// The program's file as it is now shall replace this process.
    pub renew: Arc<AtomicBool>,
}

/// The programs as they are attached.
struct AttachedPrograms {
    /// Dropped first: without links (before Linux 6.4) a congestion control is removed through its
    /// map, which closes with the programs.
    attached: Attached,
    loaded: Loaded,
}

/// Runs the agent until it is stopped. `reread` returns its new configuration at a reload. If it
/// `follows`, it takes over from a running agent without a gap.
///
/// # Errors
/// If it cannot work here, or stops working; the message says why.
pub fn run(
    mut config: AgentConfig,
    follows: bool,
    wishes: &AgentSignals,
    reread: impl Fn() -> Result<AgentConfig, String>,
) -> Result<(), String> {
    set_log_level(config.log);
    let running_agent = if follows { RunningAgent::find(&config)? } else { None };
    let started = match running_agent {
        None => start_alone(&config)?,
        Some(running_agent) => take_over(running_agent, &mut config)?,
    };
    run_main_loop(config, started, wishes, reread)
}

/// Attaches the programs, and then polls their events until a signal ends the agent or another one
/// takes over.
fn run_main_loop(
    config: AgentConfig,
    started: StartedAgent,
    wishes: &AgentSignals,
    reread: impl Fn() -> Result<AgentConfig, String>,
) -> Result<(), String> {
    let StartedAgent { mut loaded, inheritance, mut endpoints, state_file, site } = started;
    let Inheritance { attached, totals, canary, ramp } = inheritance;
    let shared = Arc::new(SharedState {
        paths: loaded.paths()?,
        lines: loaded.lines()?,
        totals: Mutex::new(totals),
        summaries_lost: AtomicU64::new(0),
        decisions_lost: AtomicU64::new(loaded.lost_events(Lost::Decisions)),
        inquiries_lost: AtomicU64::new(0),
        mode: loaded.mode(),
        schemes: Mutex::new(loaded.schemes().to_vec()),
        config: Mutex::new(config.clone()),
        program_settings: loaded
            .program_settings()
            .map_err(|error| format!("cannot keep hold of maps: {error}"))?,
        gauges: loaded.gauges().map_err(|error| format!("cannot keep hold of maps: {error}"))?,
        canary: Mutex::new(canary),
        ramp: Mutex::new(ramp),
        state_file,
        site,
        detachments: Mutex::default(),
        option_counters: loaded.option_counters()?,
        shortened_timers: loaded.shortened_timers()?,
    });
    let (of_summaries, of_inquiries) = (Arc::clone(&shared), Arc::clone(&shared));
    let told = loaded.read_events(EventHandlers {
        summary: move |summary| of_summaries.on_connection_closed(&summary),
        decision: |decision: StartDecision| say(Level::Debug, &decision.to_string()),
        inquiry: move |inquiry| of_inquiries.inquire(inquiry),
    })?;
    let attached = match attached {
        Some(attached) => {
            shared.keep_all();
            attached
        }
        None => {
            shared.resume();
            shared.set();
            loaded.attach(&config.cgroups, &config.except_cgroups)?
        }
    };
    let mut work = AttachedPrograms { attached, loaded };
    let (mut later, mut renewal) = (LateModules::default(), Renewal::new());
    let (mut follower, mut watch) = (CgroupWatch::default(), DetachWatch::default());
    let mut compare_at_ns = 0;
    let claims = answer_questions(&endpoints.control, Arc::clone(&shared))?;
    serve_metrics(endpoints.metrics.take(), &shared)?;
    announce(&config);
    while !wishes.stop.load(Ordering::Relaxed) {
        match told.poll(TICK) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(format!("cannot receive reports of connections any more: {error}"));
            }
            _ => {
                shared.count_lost(|what| work.loaded.lost_events(what));
            }
        }
        shared.forget_as_told();
        shared.compare_with_site(&mut compare_at_ns);
        shared.keep_if_due();
        if wishes.reload.swap(false, Ordering::Relaxed) {
            reload(&shared, &mut work, &reread);
        }
        let (cgroups, except, response) = {
            let config = shared.config();
            (config.cgroups.clone(), config.except_cgroups.clone(), config.on_detach)
        };
        follower.hook_recreated(&mut work.loaded, &mut work.attached, (&cgroups, &except));
        let handled = HandledCgroups { cgroups: &cgroups, except: &except };
        let found =
            watch.check_attachments(&mut work.loaded, &mut work.attached, handled, response);
        if let Some(found) = found {
            *lock(&shared.detachments) = found;
        }
        if later.try_late_modules(&mut work.loaded, &mut work.attached) {
            *lock(&shared.schemes) = work.loaded.schemes().to_vec();
            shared.gauges.replace_programs(&work.loaded.program_files());
        }
        renewal.check_new_agent();
        if wishes.renew.swap(false, Ordering::Relaxed) {
            renewal.spawn_new_agent();
        }
        if let Ok(claim) = claims.try_recv()
            && hand_over(&claim, &shared, &mut work, || told.consume().is_ok())
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

/// Hands everything over to a new agent; true if that has taken it. `hear` reads the reports of
/// closed connections for the last time.
fn hand_over(
    claim: &HandoverRequest,
    shared: &SharedState,
    work: &mut AttachedPrograms,
    hear: impl FnOnce() -> bool,
) -> bool {
    if !work.loaded.is_linked() {
        claim.refuse("before Linux 6.4 congestion controls have no links that could be handed over; restart the agent");
        return false;
    }
    let is_same = claim.new_agent().programs == programs_digest();
    let format = shared.state_file.as_ref().map(|_| FORMAT);
    let ready = work.loaded.maps().and_then(|maps| {
        let links = work.attached.files();
        claim.offer_state(programs_digest(), format, &OfferedState { maps: &maps, links })
    });
    let settled = ready.and_then(|()| {
        hear();
        shared.keep_all();
        if !is_same {
            shared.set_superseded();
        }
        claim.hand_over(&shared.handover_state(!is_same))
    });
    let Err(error) = settled else {
        let NewAgent { version, pid, .. } = claim.new_agent();
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

fn announce(config: &AgentConfig) {
    let what = announcement(config);
    say(Level::Notice, &what);
    tell_manager(&[NotifyState::Ready, NotifyState::Status(&what)]);
}

/// Describes what the agent does from now on, and what it keeps.
fn announcement(config: &AgentConfig) -> String {
    let cgroups = config.cgroups.iter().map(|cgroup| cgroup.display().to_string());
    let cgroups = cgroups.collect::<Vec<_>>().join(", ");
    let does = match config.load.is_dry_run {
        false => format!("programs attached to new connections of {cgroups}"),
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

/// Notifies the service manager that started it, if there is one (sd_notify(3)).
fn tell_manager(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        say(Level::Warning, &format!("cannot notify the service manager: {error}"));
    }
}

/// Reloads the configuration. If the new one has an error, the old one stays in force.
fn reload(
    shared: &SharedState,
    work: &mut AttachedPrograms,
    reread: impl Fn() -> Result<AgentConfig, String>,
) {
    match reread().and_then(|new| apply_config(shared, work, new)) {
        Ok(()) => say(Level::Notice, "the configuration was read again"),
        Err(why) => say(Level::Error, &format!("the configuration stays as it was: {why}")),
    }
}

/// Puts a new configuration into force. Keys that cannot change in a running agent keep their
/// values, with a warning.
fn apply_config(
    shared: &SharedState,
    work: &mut AttachedPrograms,
    mut new: AgentConfig,
) -> Result<(), String> {
    let mut config = shared.config();
    for key in config.fixed_differences(&new) {
        say(Level::Warning, &format!("{key} is as it was until the agent is restarted"));
    }
    // A new salt would choose other connections of the same peers.
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
    lock(&shared.ramp).on_reload(share, is_as_before);
    let mut load = new.load.clone();
    load.settings = shared.in_force(&new);
    let turned = shared.program_settings.apply(&load);
    turned.map_err(|error| format!("the kernel refuses a part: {error}"))?;
    if let Some(site) = &shared.site {
        site.follow(&new.load.settings);
    }
    *config = new;
    Ok(())
}

/// Serves the metrics, if an address for them is configured.
fn serve_metrics(
    metrics: Option<MetricsListener>,
    shared: &Arc<SharedState>,
) -> Result<(), String> {
    let Some(metrics) = metrics else { return Ok(()) };
    let shared = Arc::clone(shared);
    let served = metrics.serve(move || shared.status());
    served.map_err(|error| format!("cannot serve metrics: {error}"))
}

/// Answers questions on a thread that ends with the process. Returns the channel of new agents that
/// want to take over.
fn answer_questions(
    control: &Control,
    shared: Arc<SharedState>,
) -> Result<Receiver<HandoverRequest>, String> {
    let serve = control.server().map_err(|error| format!("cannot answer questions: {error}"))?;
    let (claim, claims) = mpsc::channel();
    // The receiver closes when the agent ends: then the claim's stream closes.
    let follow = move |stream, who| _ = claim.send(HandoverRequest::new(stream, who));
    thread::spawn(move || serve.run(|question| shared.answer(question), follow));
    Ok(claims)
}
