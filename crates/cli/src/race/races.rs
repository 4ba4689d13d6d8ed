//! The races that a command line describes: one for each run of the page.

use super::args::RaceArgs;
use super::budget::RaceBudget;
use super::{page, refusals};
use cmdline::Failure;
use link::path::{DEFAULT_PRESET, TraceStart, preset};
use race::{
    BASELINE, Hosts, ProcessingDelay, REAL_PROCESSING, Race, RaceComparison, RaceResult, Visits,
    WAKING_PROCESSING,
};
use std::sync::Arc;
use tcp::Scheme;
use testbed::{ClientTcp, Contender};
use workload::{LoaderConfig, Page, PageMilestone, RecordedRun, TLS_SERVER_FLIGHT};

/// Enough for an interval of the median, and few enough for real time.
const DEFAULT_REPEATS: u32 = 7;
/// Phases of a recorded rate: the interval of their median leaves out the seven lowest and highest
/// times.
const DEFAULT_PHASES: u32 = 25;

/// The race of one run of the page.
#[derive(Clone)]
pub(super) struct RaceOfRun {
    /// The run's id in the recording.
    pub(super) id: Option<String>,
    pub(super) race: Race,
}

impl RaceArgs {
    /// The schemes of the race, and those that only the kernel has.
    pub(super) fn contenders(&self) -> &[Contender] {
        &self.schemes.0
    }

    /// The client in worlds that have Linux itself.
    pub(super) const fn client(&self) -> ClientTcp {
        ClientTcp { window: self.client_window }
    }

    /// The simulated browser's TCP; `None`: as its servers'. Beside real worlds it has the clock of
    /// this machine's kernel, else results would depend on the machine.
    fn client_tcp(&self) -> Option<Scheme> {
        if !self.is_simulated_only() {
            return Some(self.client().model());
        }
        let window = self.client_window?;
        let scheme = Scheme::parse(&format!("{BASELINE}+rwnd={window}B"));
        Some(self.of_version(&scheme.expect("linux takes a window")))
    }

    /// The scheme as the version of Linux that was asked for has it.
    fn of_version(&self, scheme: &Scheme) -> Scheme {
        self.linux.map_or_else(|| scheme.clone(), |version| scheme.with_linux(version))
    }

    /// The runs of the page, as they were recorded.
    pub(super) fn pages(&self) -> Result<Vec<RecordedRun>, Failure> {
        page::pages(&self.page, self.har_page.as_deref())
    }

    /// The milestone that ends a load of any of these pages.
    pub(super) fn until(&self, pages: &[RecordedRun]) -> Result<PageMilestone, Failure> {
        let ignorant = |until| pages.iter().find(|run| !run.page.knows(until));
        match self.until {
            None if ignorant(PageMilestone::Load).is_none() => Ok(PageMilestone::Load),
            None => Ok(PageMilestone::LastByte),
            Some(until) => match ignorant(until) {
                None => Ok(until),
                Some(run) => Err(Failure::input(format!(
                    "--until load: {} has no time of a load event (pageTimings.onLoad); --until last measures the last byte",
                    run.page.name()
                ))),
            },
        }
    }

    /// Refuses a budget for what the page does not know.
    pub(super) fn check_budget(&self, races: &[RaceOfRun]) -> Result<(), Failure> {
        let Some(budget) = &self.budget else { return Ok(()) };
        races.iter().try_for_each(|run| budget.check(&run.race.page))
    }

    /// Refuses a budget that only a comparison of variants can keep.
    pub(super) fn check_alone(&self) -> Result<(), Failure> {
        self.budget.as_ref().map_or(Ok(()), RaceBudget::check_alone)
    }

    /// Fails if the result exceeds the budget.
    pub(super) fn judge(&self, result: &RaceResult) -> Result<(), Failure> {
        let Some(budget) = &self.budget else { return Ok(()) };
        budget.check_limits(result, self.first_scheme())
    }

    /// Fails if the last variant exceeds the budget.
    pub(super) fn judge_last(&self, comparison: &RaceComparison) -> Result<(), Failure> {
        let Some(budget) = &self.budget else { return Ok(()) };
        budget.judge_last(comparison, self.first_scheme())
    }

    /// The name of the first scheme.
    fn first_scheme(&self) -> &str {
        self.schemes.0.first().map_or(BASELINE, Contender::name)
    }

    /// The race of each run of the page; each load ends with `until`.
    pub(super) fn races(
        &self,
        pages: Vec<RecordedRun>,
        until: PageMilestone,
    ) -> Result<Vec<RaceOfRun>, Failure> {
        let race = |run: RecordedRun| {
            let page = run.page.measured_until(until);
            let page = self.with_lookups(self.with_distances(page));
            let page = match self.upload {
                Some(bytes) => page.with_request_bodies(bytes),
                None => Ok(page),
            };
            let page = page.map_err(|why| Failure::input(format!("--upload: {why}")))?;
            let race = self.race(page)?;
            refusals::check_simulation(self, &race)?;
            Ok(RaceOfRun { id: run.id, race })
        };
        pages.into_iter().map(race).collect()
    }

    fn race(&self, page: Page) -> Result<Race, Failure> {
        let default = || preset(DEFAULT_PRESET).map(|preset| preset.spec());
        let is_real = !self.is_simulated_only();
        let path = self.path.or(self.path_preset).or_else(default);
        let path = path.ok_or_else(|| Failure::input("no default path"))?;
        Ok(Race {
            page: Arc::new(page),
            path,
            loader: LoaderConfig {
                http: self.http,
                without_quic: is_real && self.http.is_none(),
                tls: self.tls,
                tls_server_flight: self.tls_flight.unwrap_or(TLS_SERVER_FLIGHT),
                connections: self.connections,
                server: self.server_model.unwrap_or_default(),
                client: self.client_model,
                ..LoaderConfig::default()
            },
            schemes: self.schemes.0.iter().map(|one| self.of_version(one.scheme())).collect(),
            client: self.client_tcp(),
            hosts: if is_real { Hosts::Together } else { Hosts::Apart },
            processing: match (self.exact, is_real) {
                (true, _) => ProcessingDelay::NONE,
                (false, true) => WAKING_PROCESSING,
                (false, false) => REAL_PROCESSING,
            },
            visits: Visits {
                count: self.visits,
                idle: self.idle,
                site: self.site,
                reconnects: self.reconnect,
                other: None,
            },
            background: self.background,
            repeats: self.repeat.unwrap_or(match (path.trace_start(), self.exact) {
                (TraceStart::Anywhere, _) if path.is_changing() && !is_real => DEFAULT_PHASES,
                (_, true) => 1,
                (_, false) => DEFAULT_REPEATS,
            }),
            seed: self.seed,
        })
    }
}
