//! `--rtt-of`: hosts that are nearer or farther than the path says.

use super::args::RaceArgs;
use super::values::{HostRtt, RECORDED};
use cmdline::Failure;
use units::{Duration, counted};
use workload::{HostId, Page, PageHost, RecordedRun};

impl RaceArgs {
    /// The page with its hosts where `--rtt-of` has them. A host's name outweighs the recording.
    pub(super) fn with_distances(&self, page: Page) -> Page {
        let is_recorded = self.rtt_of.contains(&HostRtt::Recorded);
        let recorded: Vec<Option<Duration>> = recorded_rtts(&page).collect();
        let named = |host: &PageHost| {
            self.rtt_of.iter().rev().find_map(|one| match one {
                HostRtt::Of { host: name, rtt } if *name == host.name => Some(*rtt),
                _ => None,
            })
        };
        page.with_hosts(|HostId(n), host| {
            let of_recording = recorded.get(n as usize).copied().flatten();
            host.rtt = named(host).or(of_recording.filter(|_| is_recorded));
        })
    }

    /// Refuses names of hosts that no page has, and round trips of pages that were not recorded.
    pub(super) fn check_distances(&self, pages: &[RecordedRun]) -> Result<(), Failure> {
        for one in &self.rtt_of {
            match one {
                HostRtt::Recorded => check_recorded(pages)?,
                HostRtt::Of { host, .. } => check_host(host, pages)?,
            }
        }
        Ok(())
    }

    /// A note on the hosts whose round trips the recording shows.
    pub(super) fn note_on_distances(&self, page: &Page) -> Option<String> {
        if !self.rtt_of.contains(&HostRtt::Recorded) {
            return None;
        }
        let known = recorded_rtts(page).flatten().count();
        Some(format!(
            "the recording shows the round trips of {known} of {}; other hosts have that of the path, unless --rtt-of names them",
            counted(page.hosts().len(), "host")
        ))
    }
}

fn recorded_rtts(page: &Page) -> impl Iterator<Item = Option<Duration>> + '_ {
    page.recorded().into_iter().flat_map(|recorded| recorded.hosts.iter().map(|host| host.rtt))
}

fn check_recorded(pages: &[RecordedRun]) -> Result<(), Failure> {
    match pages.iter().find(|run| run.page.recorded().is_none()) {
        Some(run) => Err(Failure::input(format!(
            "--rtt-of {RECORDED}: {} is no recording; use --rtt-of HOST=TIME",
            run.page.name()
        ))),
        None => Ok(()),
    }
}

fn check_host(name: &str, pages: &[RecordedRun]) -> Result<(), Failure> {
    let hosts = pages.iter().flat_map(|run| run.page.hosts());
    let mut names: Vec<&str> = hosts.map(|host| host.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.contains(&name) {
        true => Ok(()),
        false => {
            let unknown = support::errors::unknown("host", name, &names, "");
            Err(Failure::input(format!("--rtt-of: {unknown}")))
        }
    }
}
