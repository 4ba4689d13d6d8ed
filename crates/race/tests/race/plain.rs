//! The plain race that tests vary: each scheme loads the page once, in simulation. Hosts take no
//! time for a packet.

use link::path::PathSpec;
use race::{Hosts, ProcessingDelay, Race, RunOptions, Visits};
use std::sync::Arc;
use tcp::Scheme;
use workload::{LoaderConfig, Page};

/// Options with one thread and no recording.
pub(crate) const OPTIONS: RunOptions<'_> =
    RunOptions { threads: 1, record: false, capture: false, on_run: &|| () };

/// A plain race of these schemes.
pub(crate) fn plain_race(page: &Page, path: PathSpec, schemes: Vec<Scheme>) -> Race {
    Race {
        page: Arc::new(page.clone()),
        path,
        loader: LoaderConfig::default(),
        schemes,
        client: None,
        hosts: Hosts::Apart,
        processing: ProcessingDelay::NONE,
        visits: Visits::default(),
        background: 0,
        repeats: 1,
        seed: 3,
    }
}

/// The schemes of these names.
pub(crate) fn schemes(names: &[&str]) -> Vec<Scheme> {
    names.iter().map(|name| Scheme::parse(name).unwrap()).collect()
}
