//! State that the threads of a running agent share: its settings, sums and findings. One thread
//! receives reports of connections, another answers questions. Each change of the settings is
//! passed to the programs at once.

use crate::canary::comparison;
use crate::canary::ramp::Ramp;
use crate::canary::state::CanaryState;
use crate::canary::totals::ConnectionTotals;
use crate::config::AgentConfig;
use crate::contract::{ConnectionSettings, ConnectionSummary, PathInquiry};
use crate::interface::handover::HandoverState;
use crate::interface::question::{AgentAnswer, AgentStatus, Question, StoppedPart};
use crate::kernel::congestion::HsControl;
use crate::memory::exchange::ExchangeDocument;
use crate::memory::paths;
use crate::memory::state_file::StateFile;
use crate::os::clock::{Moment, monotonic_ns};
use crate::os::lock::lock;
use crate::os::log::{Level, LogLevel, is_debugging, say};
use crate::programs::detached::Detachments;
use crate::programs::load_options::Mode;
use crate::programs::settings::ProgramSettings;
use crate::programs::telemetry::events::Lost;
use crate::programs::telemetry::gauges::KernelGauges;
use crate::programs::telemetry::handshake_timers::TimedHandshakes;
use crate::programs::telemetry::option_counts::OptionCounts;
use crate::site::Site;
use ::canary::comparisons::CanaryStop;
use ::canary::part::CanaryPart;
use gateway_client::ClientStatus;
use ipnet::IpNet;
use libbpf_rs::MapHandle;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Time in which first flights end, with a few round trips of a long path.
const FIRST_FLIGHTS: Duration = Duration::from_secs(1);
/// Time between two comparisons with all servers of the site, nanoseconds.
const COMPARE_EVERY_NS: u64 = 10_000_000_000;

/// State of both threads.
pub(super) struct SharedState {
    pub(super) config: Mutex<AgentConfig>,
    pub(super) paths: MapHandle,
    /// Lines are forgotten with their networks, and not shown.
    pub(super) lines: MapHandle,
    pub(super) totals: Mutex<ConnectionTotals>,
    pub(super) summaries_lost: AtomicU64,
    pub(super) decisions_lost: AtomicU64,
    pub(super) inquiries_lost: AtomicU64,
    pub(super) mode: Mode,
    pub(super) schemes: Mutex<Vec<HsControl>>,
    pub(super) program_settings: ProgramSettings,
    pub(super) gauges: KernelGauges,
    /// Never locked before `config`: a holder of `config` may lock this.
    pub(super) canary: Mutex<CanaryState>,
    pub(super) ramp: Mutex<Ramp>,
    pub(super) state_file: Option<StateFile>,
    /// Programs that another process has detached.
    pub(super) detachments: Mutex<Detachments>,
    /// Other servers of the site.
    pub(super) site: Option<Site>,
    /// Counters of the TCP option in FINs; `None` if the programs write no option.
    pub(super) option_counters: Option<MapHandle>,
    /// Counters of handshakes with a shortened timer in the programs.
    pub(super) shortened_timers: MapHandle,
}

/// Returns the settings of `config`, except for stopped windows.
pub(super) fn in_force(
    config: &AgentConfig,
    ramp: Ramp,
    canary: &CanaryState,
) -> ConnectionSettings {
    let mut settings = ramp.apply_to(config.load.settings);
    settings.leaves_windows |= canary.is_off();
    settings.stopped = canary.stopped_parts();
    settings.tells_starts = config.log == LogLevel::Debug;
    settings
}

impl SharedState {
    /// Restores the state with which the last agent ended.
    pub(super) fn resume(&self) {
        let Some(state_file) = &self.state_file else { return };
        state_file.restore(&self.paths, self.max_age_ns());
        let canary = state_file.canary();
        for CanaryStop { part, why } in canary.stops() {
            tell_stop(*part, why);
        }
        *lock(&self.canary) = canary;
    }

    /// Forgets what a gateway has asked to forget.
    pub(super) fn forget_as_told(&self) {
        let told = self.site.as_ref().map(Site::forgotten).unwrap_or_default();
        for network in &told {
            if let Err(why) = self.forget(Some(*network)) {
                say(Level::Error, &format!("{network}: {why}"));
            }
        }
        let Some(first) = told.first() else { return };
        let more =
            if told.len() > 1 { format!(" and {} more", told.len() - 1) } else { String::new() };
        let what = format!("a gateway ordered to forget {first}{more}: forgotten here, too");
        say(Level::Notice, &what);
    }

    /// Sends this server's sums to the gateways, if that is `due_ns` of the monotonic clock, and
    /// obeys the findings of all servers.
    pub(super) fn compare_with_site(&self, due_ns: &mut u64) {
        let Some(site) = &self.site else { return };
        let limit = self.config().limit;
        let now = monotonic_ns();
        if *due_ns <= now {
            *due_ns = now + COMPARE_EVERY_NS;
            site.compare(&lock(&self.canary).sums(&limit));
        }
        let Some(findings) = site.findings() else { return };
        let change = lock(&self.canary).take_fleet(findings, &limit, now);
        for CanaryStop { part, why } in &change.begun {
            tell_stop(*part, why);
        }
        for part in &change.ended {
            let what = format!(
                "the servers of the site find no harm any more ({part}): windows are used again"
            );
            say(Level::Notice, &what);
        }
        if !change.is_empty() {
            self.next_stage();
        }
    }

    pub(super) fn keep_if_due(&self) {
        let Some(state_file) = &self.state_file else { return };
        if state_file.is_due(self.config().save_every) {
            state_file.save_changed(&self.paths, self.max_age_ns());
            state_file.save_canary(&lock(&self.canary));
        }
    }

    pub(super) fn keep_all(&self) {
        if let Some(state_file) = &self.state_file {
            state_file.save_all(&self.paths, self.max_age_ns());
            state_file.save_canary(&lock(&self.canary));
        }
    }

    /// Returns all that an agent needs to go on.
    pub(super) fn handover_state(&self, has_paths: bool) -> HandoverState {
        // One after the other: who answers questions holds some of them together.
        let canary = lock(&self.canary).clone();
        let ramp = *lock(&self.ramp);
        let totals = *self.totals();
        let salt = self.config().load.settings.salt;
        HandoverState {
            canary: serde_json::to_value(&canary).expect("plain fields"),
            off: canary.off().map(str::to_owned),
            ramp,
            totals: serde_json::to_value(totals).expect("plain fields"),
            salt,
            paths: if has_paths { paths::export(&self.paths) } else { Vec::new() },
        }
    }

    /// Marks that other programs hook new connections.
    pub(super) fn set_superseded(&self) {
        let settings = self.in_force(&self.config());
        if let Err(error) =
            self.program_settings.set(&ConnectionSettings { is_superseded: true, ..settings })
        {
            say(Level::Error, &format!("the kernel does not take the settings: {error}"));
        }
    }

    /// Forgets paths, on disk before it answers.
    ///
    /// # Errors
    /// If they are on disk still, and would come back with the next agent.
    fn forget(&self, prefix: Option<IpNet>) -> Result<usize, String> {
        if let Some(site) = &self.site {
            site.forget(prefix);
        }
        let was_stopped = lock(&self.canary).forget(prefix);
        if let Some(state_file) = &self.state_file {
            state_file.save_canary(&lock(&self.canary));
        }
        if was_stopped {
            self.next_stage();
        }
        paths::forget(&self.lines, prefix);
        let count = paths::forget(&self.paths, prefix);
        match &self.state_file {
            Some(state_file) => state_file.forget(prefix).map(|()| count).map_err(|why| {
                format!("forgotten until the agent is started again, and not on disk: {why}")
            }),
            None => Ok(count),
        }
    }

    /// Imports a document. Ages are computed when it is received, so that no path gets younger on
    /// the way.
    fn import(&self, document: ExchangeDocument) -> AgentAnswer {
        let entries = match document.paths_at(Moment::now().wall_ns.div_ceil(1_000_000)) {
            Ok(entries) => entries,
            Err(why) => return AgentAnswer::Refused(why),
        };
        let keys = paths::import(&self.paths, &entries);
        if let Some(state_file) = &self.state_file {
            state_file.has_changed(&keys);
        }
        AgentAnswer::Imported(keys.len())
    }

    /// Handles that a connection has closed.
    pub(super) fn on_connection_closed(&self, summary: &ConnectionSummary) {
        self.totals().add(summary);
        if let Some(state_file) = &self.state_file {
            state_file.has_changed(&[summary.path]);
        }
        if let Some(site) = &self.site {
            site.report(summary);
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

    /// Asks the gateways for a path that is not known here, if there are any.
    pub(super) fn inquire(&self, inquiry: PathInquiry) {
        if let Some(site) = &self.site {
            site.ask(inquiry);
        }
    }

    /// Counts reports that found their buffer full. Decisions are reported for the log alone, which
    /// notes the loss.
    pub(super) fn count_lost(&self, lost: impl Fn(Lost) -> u64) {
        let decisions = lost(Lost::Decisions);
        self.summaries_lost.store(lost(Lost::Summaries), Ordering::Relaxed);
        self.inquiries_lost.store(lost(Lost::Inquiries), Ordering::Relaxed);
        let more = decisions.saturating_sub(self.decisions_lost.swap(decisions, Ordering::Relaxed));
        if more > 0 {
            say(
                Level::Warning,
                &format!("{more} starts are not in the log: there were too many at once"),
            );
        }
    }

    /// Stops warm starts of these parts, because they do harm there.
    fn stop(&self, stops: &[CanaryStop]) {
        for CanaryStop { part, why } in stops {
            tell_stop(*part, why);
        }
        if let Some(state_file) = &self.state_file {
            state_file.save_canary(&lock(&self.canary));
        }
        self.next_stage();
    }

    /// Restarts the comparison, and uses windows again. True if any had been stopped.
    fn restart_comparison(&self) -> bool {
        let before = mem::take(&mut *lock(&self.canary));
        let had_stopped = before.all_stops().next().is_some();
        if let Some(state_file) = &self.state_file {
            state_file.save_canary(&lock(&self.canary));
        }
        self.next_stage();
        let again = if had_stopped { "used again, and " } else { "" };
        say(Level::Notice, &format!("windows are {again}compared from now on"));
        had_stopped
    }

    /// Sets the connections of a million that may start warm, and returns the number before.
    fn ramp(&self, share: u32) -> u32 {
        let said = self.config().load.settings.canary;
        let was = lock(&self.ramp).set(share, said);
        self.set();
        let percent = |share: u32| f64::from(share) / 1e4;
        say(
            Level::Notice,
            &format!(
                "{} % of connections may start warm, {} % could before; the file's {} % count again when that changes, or \
                 the agent is restarted",
                percent(share),
                percent(was),
                percent(said)
            ),
        );
        was
    }

    /// Starts a new stage, since connections run under other settings from now on.
    fn next_stage(&self) {
        lock(&self.ramp).next_stage();
        self.set();
    }

    /// Lets first flights end. In mode `window` an option of the socket paces a first flight, and
    /// programs that are gone do not reset it. So no new one starts, and the present ones finish.
    pub(super) fn see_out_first_flights(&self, settings: ConnectionSettings) {
        if self.mode != Mode::Window {
            return;
        }
        match self.program_settings.set(&ConnectionSettings { leaves_windows: true, ..settings }) {
            Ok(()) => thread::sleep(FIRST_FLIGHTS),
            Err(error) => say(Level::Warning, &format!("first flights may stay paced: {error}")),
        }
    }

    /// Returns the settings in force, as [`in_force`], by the present ramp and canary.
    pub(super) fn in_force(&self, config: &AgentConfig) -> ConnectionSettings {
        let ramp = *lock(&self.ramp);
        in_force(config, ramp, &lock(&self.canary))
    }

    /// Writes the settings in force to the programs' maps. A failure is logged.
    pub(super) fn set(&self) {
        let settings = self.in_force(&self.config());
        let networks: Vec<_> = lock(&self.canary).stopped_networks().collect();
        let set = self.program_settings.stop_networks(networks.into_iter());
        if let Err(error) = set.and_then(|()| self.program_settings.set(&settings)) {
            say(Level::Error, &format!("the kernel does not take the settings: {error}"));
        }
    }

    /// Returns the maximum age of the memory, nanoseconds; no connection uses older samples.
    fn max_age_ns(&self) -> u64 {
        self.config().load.settings.max_age_ns
    }

    fn totals(&self) -> MutexGuard<'_, ConnectionTotals> {
        lock(&self.totals)
    }

    pub(super) fn config(&self) -> MutexGuard<'_, AgentConfig> {
        lock(&self.config)
    }

    /// Answers a question from the control socket.
    pub(super) fn answer(&self, question: Question) -> AgentAnswer {
        match question {
            Question::Status => AgentAnswer::Status(Box::new(self.status())),
            Question::Paths => {
                let settings = self.config().load.settings;
                AgentAnswer::Paths(paths::all(&self.paths, &settings))
            }
            Question::Export => AgentAnswer::Exported(paths::export(&self.paths)),
            Question::Import(document) => self.import(document),
            Question::Arm => AgentAnswer::Armed(self.restart_comparison()),
            Question::Ramp(share) => AgentAnswer::Ramped(self.ramp(share)),
            Question::Forget(prefix) => {
                self.forget(prefix).map_or_else(AgentAnswer::Refused, AgentAnswer::Forgotten)
            }
            Question::HandOver(_) => AgentAnswer::Refused("no line is answered so".to_owned()),
        }
    }

    /// Returns the status of the gateways. An inquiry that found its buffer full counts as asked
    /// and not answered.
    fn of_gateways(&self, site: &Site) -> ClientStatus {
        let mut status = site.status();
        let lost = self.inquiries_lost.load(Ordering::Relaxed);
        status.asked += lost;
        status.none += lost;
        status
    }

    /// Describes the agent as it is now.
    pub(super) fn status(&self) -> AgentStatus {
        let (config, totals) = (self.config().clone(), *self.totals());
        let settings = self.in_force(&config);
        let (findings, stops, fleet) = {
            let canary = lock(&self.canary);
            let fleet = canary.by_fleet(monotonic_ns());
            (canary.findings(), canary.all_stops().cloned().collect::<Vec<_>>(), fleet)
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
            parts: comparison::by_part(&findings, &stops),
            fleet,
            time_ratio: findings.first().and_then(|all| all.times),
            comparison: comparison::by_size(&totals, &findings),
            summaries_lost: self.summaries_lost.load(Ordering::Relaxed),
            gateway: self.site.as_ref().map(|site| self.of_gateways(site)),
            tcp_option: self.option_counters.as_ref().map(OptionCounts::read),
            detachments: lock(&self.detachments).clone(),
            handshake_timers: settings
                .knows_timers
                .then(|| TimedHandshakes::read(&self.shortened_timers)),
            programs: self.gauges.programs(),
            maps: self.gauges.maps(),
        }
    }
}

fn stopped_part(stop: &CanaryStop) -> StoppedPart {
    StoppedPart { part: stop.part.to_string(), network: stop.part.network(), why: stop.why.clone() }
}

fn tell_stop(part: CanaryPart, why: &str) {
    let which = match part {
        CanaryPart::All => "ALL WINDOWS ARE LEFT ALONE FROM NOW ON".to_owned(),
        part => format!("WINDOWS OF A PART ({part}) ARE LEFT ALONE FROM NOW ON"),
    };
    say(Level::Error, &format!("{which}: {why}; `headstart agent arm` ends that"));
}
