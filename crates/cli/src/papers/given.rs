//! Captures and a log that the user gives, in the place of simulated ones.

use super::PapersArgs;
use crate::analyze::{Feed, access_log};
use crate::failure::Failure;
use crate::jobs;
use reproduction::papers::{Book, LogFound, NamedNetworks, SiteEngines, SiteFound};
use std::path::{Path, PathBuf};
use trace::EngineConfig;

/// What was found in them.
pub(super) struct Given {
    pub(super) site: Option<SiteFound>,
    pub(super) log: Option<LogFound>,
}

impl Given {
    pub(super) fn read(args: &PapersArgs) -> Result<Self, Failure> {
        let captures = (!args.capture.is_empty()).then_some(args.capture.as_slice());
        let threads = jobs::threads(args.jobs);
        Ok(Self {
            site: captures.map(|files| site(files, threads)).transpose()?,
            log: args.access_log.as_deref().map(log).transpose()?,
        })
    }

    pub(super) fn add_to(self, book: &mut Book) {
        if let Some(site) = self.site {
            book.give_site(site);
        }
        if let Some(log) = self.log {
            book.give_log(log);
        }
    }
}

fn site(captures: &[PathBuf], threads: usize) -> Result<SiteFound, Failure> {
    let mut feed = Feed::open(captures).attended()?;
    let config = EngineConfig::default();
    let models = feed.models("auto", &config, threads)?;
    let mut engines = SiteEngines::new(EngineConfig { models, ..config });
    feed.each(|segment| engines.on_segment(segment));
    feed.verdict()?;
    Ok(engines.finish())
}

fn log(path: &Path) -> Result<LogFound, Failure> {
    let (found, domains) = access_log::read(path)?;
    let names =
        NamedNetworks { named: domains.named_networks, several_domains: domains.several_domains };
    Ok(LogFound { think: None, found, names: Some(names) })
}
