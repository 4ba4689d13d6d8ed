//! State that all runs of a repeat share: topology, seeds, and start times.

use super::distance::Distances;
use super::phase::seed_of;
use super::{HEAD_START, Race};
use link::LinkConfig;
use link::path::PathSpec;
use netsim::{Access, Duplex, stream};
use rand_core::Rng;
use rand_pcg::Pcg32;
use units::{Duration, Instant};

/// Start phases are uniform within this; longer than any clock tick a scheme may have.
const PHASE: Duration = Duration::from_secs(1);

/// Draws of start phases.
pub(crate) struct Phases(Pcg32);

impl Phases {
    /// The start phases under a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(stream(seed, "start phases"))
    }

    /// The next one, uniform within a second.
    pub(crate) fn next_start(&mut self) -> Duration {
        let fraction = u128::from(self.0.next_u64());
        Duration::from_nanos(((fraction * u128::from(PHASE.as_nanos())) >> 64) as u64)
    }
}

/// Random but the same for all schemes of a repeat.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// Seed of the simulation.
    pub(super) seed: u64,
    /// Starts of the background flows.
    pub(super) background: Vec<Instant>,
    /// Start of the page load.
    pub(super) page: Instant,
    /// The path; recordings begin so that the load meets the phase of the repeat.
    pub(super) path: PathSpec,
}

impl Setup {
    pub(super) fn new(race: &Race, repeat: u32) -> Self {
        let seed = seed_of(race, repeat);
        let mut phases = Phases::of(seed);
        let mut phase = || phases.next_start();
        // The page draws first: its phase does not depend on how many flows there are.
        let page_phase = phase();
        let background = (0..race.background).map(|_| Instant::ZERO + phase()).collect();
        let head_start = match race.background {
            0 => Duration::ZERO,
            _ => HEAD_START,
        };
        let page = Instant::ZERO + head_start + page_phase;
        Self { seed, background, page, path: race.path_of(repeat, page) }
    }

    /// The client, a host for each server of each of the page's, and one for each background flow,
    /// over these links of the path.
    pub(super) fn topology(
        &self,
        race: &Race,
        links: fn(&PathSpec) -> Duplex<LinkConfig>,
    ) -> Access {
        let distances = Distances::new(&race.located_page(), self.path.rtt());
        let of_visit: Vec<_> = distances.own_links().take(race.servers_of_a_visit()).collect();
        let mut own = vec![of_visit; race.visits.site.max(1) as usize].concat();
        own.resize(own.len() + self.background.len(), distances.link_of_path());
        let (links, delays) = (links(&self.path), distances.access());
        let links = Duplex {
            forward: links.forward.with_delay(delays.forward),
            reverse: links.reverse.with_delay(delays.reverse),
        };
        let mut access = Access::with_own_links(&own, links);
        for host in access.servers.iter().chain([&access.client]) {
            access.topology.set_processing_delay(*host, race.processing);
        }
        access
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hosts, ProcessingDelay, Visits, contestants};
    use std::sync::Arc;
    use workload::{LoaderConfig, Page};

    /// Two servers of a site are at 4 ms, and a download is as far away as the path says.
    #[test]
    fn servers_and_downloads_have_their_distances() {
        let page = Page::single(1).with_hosts(|_, host| host.rtt = Some(Duration::from_millis(4)));
        let race = Race {
            page: Arc::new(page),
            path: "20mbit,20ms,100p".parse().expect("a path"),
            loader: LoaderConfig::default(),
            schemes: contestants("linux").expect("a scheme"),
            client: None,
            hosts: Hosts::Apart,
            processing: ProcessingDelay::NONE,
            visits: Visits { site: 2, ..Visits::default() },
            background: 1,
            repeats: 1,
            seed: 1,
        };
        let access = Setup::new(&race, 0).topology(&race, PathSpec::links);
        let delay = |link: netsim::LinkId| access.topology.links()[link.index()].config.delay();
        let own = access.own_links.iter().map(|own| own.map(|own| delay(own.forward)));
        let ms = Duration::from_millis;
        assert_eq!(own.collect::<Vec<_>>(), [None, None, Some(ms(8))]);
        assert_eq!((delay(access.access.forward), delay(access.access.reverse)), (ms(2), ms(2)));
    }
}
