//! Loads by which the worlds are compared, and the number of visits of a client.

use crate::gain;
use race::Visits;
use std::sync::Arc;
use units::Duration;
use workload::{Http, LoaderConfig, Page};

/// The page among the single objects.
const PAGE: &str = "news";
/// Bodies of the single objects, bytes.
const OBJECTS: [u64; 3] = [30_000, 200_000, 2_000_000];
/// Time between a visit and the next one over new connections: the agent has learnt from the first
/// by then.
const REVISIT_INTERVAL: Duration = Duration::from_millis(600);

/// A page, the loader's settings, and the number of visits.
#[derive(Clone, Debug)]
pub struct AgreementLoad {
    /// Name of the load, such as `30 KB after idle`.
    pub name: String,
    /// The page that is loaded.
    pub page: Arc<Page>,
    /// Protocols and settings by which the loader uses hosts.
    pub loader: LoaderConfig,
    /// Visits of a client.
    pub visits: Visits,
}

impl AgreementLoad {
    fn new(page: Page, visits: Visits) -> Self {
        let name = page.name().to_owned();
        Self { name, page: Arc::new(page), loader: LoaderConfig::default(), visits }
    }

    /// The first visit, and two more over new connections.
    fn reconnecting(page: Page) -> Self {
        Self::new(
            page,
            Visits { count: 3, idle: REVISIT_INTERVAL, site: 1, reconnects: true, other: None },
        )
    }

    /// The first visit, and two more over the same connections, which were idle.
    fn after_idle(page: Page) -> Self {
        let name = format!("{} after idle", page.name());
        let visits = Visits { count: 3, idle: gain::IDLE, site: 1, reconnects: false, other: None };
        Self { name, ..Self::new(page, visits) }
    }
}

/// The names of all loads that a grid may have, each once.
pub fn load_names() -> impl Iterator<Item = String> {
    let (once, again) = (first_visits(), of_agent());
    let is_new = |load: &AgreementLoad| first_visits().iter().all(|other| other.name != load.name);
    let again: Vec<_> = again.into_iter().filter(is_new).collect();
    once.into_iter().chain(again).map(|load| load.name)
}

/// Single objects and a page, once.
pub(super) fn first_visits() -> Vec<AgreementLoad> {
    let page = Page::builtin(PAGE).expect("the page is built in");
    let all = OBJECTS.map(Page::single).into_iter().chain([page]);
    all.map(|page| AgreementLoad::new(page, Visits::default())).collect()
}

/// Single objects and pages, again.
pub(super) fn of_agent() -> Vec<AgreementLoad> {
    let mut all: Vec<_> = OBJECTS.map(Page::single).map(AgreementLoad::reconnecting).into();
    all.extend(OBJECTS[..2].iter().map(|bytes| AgreementLoad::after_idle(Page::single(*bytes))));
    for http in [Http::Http11, Http::Http2] {
        let loader = LoaderConfig { connections: Some(4), ..LoaderConfig::default() };
        let load = AgreementLoad::reconnecting(gain::page_of_twelve(http));
        let over = if http == Http::Http2 { "HTTP/2" } else { "4 connections" };
        let name = format!("{} over {over}", load.name);
        all.push(AgreementLoad { name, loader, ..load });
    }
    all
}
