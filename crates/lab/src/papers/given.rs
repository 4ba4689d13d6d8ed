//! Captures and a log that the user gives, instead of simulated ones.

use super::PapersArgs;
use cmdline::captures::{Feed, access_log};
use cmdline::{Failure, jobs};
use reproduction::papers::{
    Book, How, LogFound, NamedNetworks, PaperClaim, SiteEngines, SiteFound,
};
use std::path::{Path, PathBuf};
use trace::EngineConfig;

/// Findings in them.
pub(super) struct GivenReadings {
    pub(super) site: Option<SiteFound>,
    pub(super) log: Option<LogFound>,
    /// Files that could not be read completely. The answers rest on the others.
    pub(super) verdicts: [Result<(), Failure>; 2],
}

impl GivenReadings {
    /// Refuses files that answer none of the claims asked for.
    ///
    /// # Errors
    /// If there is one, with the claims that it answers.
    pub(super) fn check(args: &PapersArgs, claims: &[&PaperClaim]) -> Result<(), Failure> {
        let any = |takes: fn(&How) -> bool| claims.iter().any(|claim| takes(&claim.how));
        if !args.capture.is_empty() && !any(|how| matches!(how, How::Site(_))) {
            return Err(Failure::input("--capture: only BS-4 and BS-5 are answered from captures"));
        }
        if args.access_log.is_some() && !any(|how| matches!(how, How::Log(_))) {
            return Err(Failure::input("--access-log: only SP-9 is answered from a log"));
        }
        Ok(())
    }

    /// Reads what is given.
    ///
    /// # Errors
    /// If nothing of it can be read.
    pub(super) fn read(args: &PapersArgs) -> Result<Self, Failure> {
        let mut given = Self { site: None, log: None, verdicts: [Ok(()), Ok(())] };
        if !args.capture.is_empty() {
            let (site, verdict) = site(&args.capture, jobs::threads(args.jobs))?;
            (given.site, given.verdicts[0]) = (Some(site), verdict);
        }
        if let Some(path) = &args.access_log {
            let (log, verdict) = log(path)?;
            (given.log, given.verdicts[1]) = (Some(log), verdict);
        }
        Ok(given)
    }

    /// Puts them into the book instead of simulated ones, and returns whether all of them could be
    /// read.
    pub(super) fn add_to(self, book: &mut Book) -> Result<(), Failure> {
        if let Some(site) = self.site {
            book.give_site(site);
        }
        if let Some(log) = self.log {
            book.give_log(log);
        }
        self.verdicts.into_iter().collect()
    }
}

fn site(captures: &[PathBuf], threads: usize) -> Result<(SiteFound, Result<(), Failure>), Failure> {
    let mut feed = Feed::open(captures).attended()?;
    let config = EngineConfig::default();
    let models = feed.models("auto", &config, threads)?;
    let mut engines = SiteEngines::new(EngineConfig { models, ..config });
    feed.each(|segment| engines.on_segment(segment));
    let verdict = feed.verdict();
    // Other claims may take hours, which who wants to stop does not want.
    let verdict = match verdict {
        Err(stopped @ Failure::Interrupted(_)) => return Err(stopped),
        verdict => verdict,
    };
    match feed.has_results() {
        true => Ok((engines.finish(), verdict)),
        false => Err(verdict.err().unwrap_or_else(|| Failure::failed("no capture could be read"))),
    }
}

fn log(path: &Path) -> Result<(LogFound, Result<(), Failure>), Failure> {
    let (found, domains, verdict) = access_log::read(path)?;
    let names =
        NamedNetworks { named: domains.named_networks, several_domains: domains.several_domains };
    Ok((LogFound { think: None, found, names: Some(names) }, verdict))
}
