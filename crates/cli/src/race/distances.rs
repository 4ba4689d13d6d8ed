//! `--rtt-of` and `--dns`: the distances of a page's hosts, and the times of their names' lookups.

use super::args::RaceArgs;
use super::values::{HostRtt, LookupTime, RECORDED};
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

    /// The page with the lookups of `--dns`. All hosts of a name have the same lookup. Addresses
    /// have none.
    pub(super) fn with_lookups(&self, page: Page) -> Page {
        let Some(time) = self.dns else { return page };
        let recorded: Vec<Option<Duration>> = recorded_lookups(&page).collect();
        let longest = |id: HostId| {
            let same = (0..).map(HostId).zip(&recorded);
            let same =
                same.filter(|(other, _)| page.first_of_name(*other) == page.first_of_name(id));
            same.filter_map(|(_, lookup)| *lookup).max().unwrap_or_default()
        };
        let hosts = (0..page.hosts().len() as u32).map(HostId);
        let lookups: Vec<Duration> = hosts
            .map(|id| match time {
                LookupTime::Of(time) => time,
                LookupTime::Recorded => longest(id),
            })
            .collect();
        page.with_hosts(|id, host| {
            host.lookup = Some(lookups[id.index()]).filter(|_| !host.is_address());
        })
    }

    /// Refuses names of hosts that no page has, and round trips of pages that were not recorded.
    pub(super) fn check_distances(&self, pages: &[RecordedRun]) -> Result<(), Failure> {
        self.rtt_of.iter().try_for_each(|one| match one {
            HostRtt::Recorded => check_recorded("--rtt-of", pages),
            HostRtt::Of { host, .. } => check_host(host, pages),
        })
    }

    /// Refuses recorded lookups of pages that were not recorded.
    pub(super) fn check_lookups(&self, pages: &[RecordedRun]) -> Result<(), Failure> {
        match self.dns {
            Some(LookupTime::Recorded) => check_recorded("--dns", pages),
            _ => Ok(()),
        }
    }

    /// Notes on the hosts whose times the recording shows.
    pub(super) fn notes_on_distances(&self, page: &Page) -> Vec<String> {
        let hosts = counted(page.hosts().len(), "host");
        let rtts = self.rtt_of.contains(&HostRtt::Recorded).then(|| {
            let known = recorded_rtts(page).flatten().count();
            format!(
                "the recording shows the round trips of {known} of {hosts}; other hosts have that of the path, unless --rtt-of names them"
            )
        });
        let lookups = (self.dns == Some(LookupTime::Recorded)).then(|| {
            let known = recorded_lookups(page).flatten().count();
            format!(
                "the recording shows lookups of {known} of {hosts}; names of other hosts are looked up in no time"
            )
        });
        let left_out = self.dns.is_none().then(|| lookups_left_out(page)).flatten();
        rtts.into_iter().chain(lookups).chain(left_out).collect()
    }
}

/// Shorter lookups, in all, are not worth a note.
const OF_NOTE: Duration = Duration::from_micros(100);

/// A note on the lookups of a recording, for a load that makes none.
pub(super) fn lookups_left_out(page: &Page) -> Option<String> {
    let all = recorded_lookups(page).flatten().fold(Duration::ZERO, |sum, lookup| sum + lookup);
    let millis = all.as_nanos() as f64 / 1e6;
    (all >= OF_NOTE).then(|| {
        format!(
            "the recorded name lookups ({millis:.1} ms in all) are not part of the load; --dns recorded adds them"
        )
    })
}

fn recorded_lookups(page: &Page) -> impl Iterator<Item = Option<Duration>> + '_ {
    page.recorded().into_iter().flat_map(|recorded| recorded.hosts.iter().map(|host| host.lookup))
}

fn recorded_rtts(page: &Page) -> impl Iterator<Item = Option<Duration>> + '_ {
    page.recorded().into_iter().flat_map(|recorded| recorded.hosts.iter().map(|host| host.rtt))
}

fn check_recorded(option: &str, pages: &[RecordedRun]) -> Result<(), Failure> {
    match pages.iter().find(|run| run.page.recorded().is_none()) {
        Some(run) => Err(Failure::input(format!(
            "{option} {RECORDED}: {} is no recording; use a time of your own, like {}",
            run.page.name(),
            if option == "--dns" { "--dns 30ms" } else { "--rtt-of HOST=80ms" }
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
