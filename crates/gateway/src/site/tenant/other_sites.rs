//! Answers of a site for networks that it does not know: by its neighbours, the tenants that its
//! configuration names. Nothing of them is kept here, so an own sample replaces their answer at
//! once.

use super::Tenant;
use memory::site::{SiteConfig, SiteEstimate, by_other_sites};
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use units::Instant;

/// The neighbours of a tenant, each as long as the gateway has it.
#[derive(Debug, Default)]
pub(super) struct Neighbours(RwLock<Vec<Weak<Tenant>>>);

impl Neighbours {
    fn all(&self) -> Vec<Arc<Tenant>> {
        let named = self.0.read().unwrap_or_else(PoisonError::into_inner);
        named.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Tenant {
    /// Sets the sites that answer for networks that this one does not know.
    pub(crate) fn set_neighbours(&self, neighbours: &[Arc<Self>]) {
        let named = neighbours.iter().map(Arc::downgrade).collect();
        *self.neighbours.0.write().unwrap_or_else(PoisonError::into_inner) = named;
    }

    /// Answers by the site's own memory, else by its neighbours, for a transfer of `size` bytes.
    pub(crate) fn estimate_anew(
        &self,
        now: Instant,
        address: IpAddr,
        size: Option<u64>,
    ) -> Option<SiteEstimate> {
        // The memory is released before those of neighbours are read: two sites may be each
        // other's neighbours.
        let own = self.memory().estimate(now, address, size);
        own.or_else(|| self.by_neighbours(now, address, size))
    }

    /// Answers by the neighbours, of which each may know the network itself. Their answers are kept
    /// where they are made.
    pub(super) fn by_neighbours(
        &self,
        now: Instant,
        address: IpAddr,
        size: Option<u64>,
    ) -> Option<SiteEstimate> {
        let neighbours = self.neighbours.all();
        let known = |site: &Arc<Self>| site.own_estimate(now, address);
        let known: Vec<_> = neighbours.iter().filter_map(known).collect();
        let mut answer = by_other_sites(&SiteConfig::default(), &known)?;
        answer.window = size.map_or(answer.window, |size| answer.window.min(size));
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory::site::{Bound, Reporter, SiteReport};
    use units::Duration;

    /// Frankfurt keeps its answer although Paris was asked, so the next question costs nothing. Its
    /// two samples make one site: a confidence of 1 / (1 + 4).
    #[test]
    fn a_neighbour_keeps_the_answer_that_it_gives() {
        let [paris, frankfurt] =
            ["paris", "frankfurt"].map(|name| Arc::new(Tenant::new(name, SiteConfig::default())));
        paris.set_neighbours(&[Arc::clone(&frankfurt)]);
        let now = Instant::ZERO + Duration::from_secs(7_000);
        let report = SiteReport {
            network: "192.0.2.0/24".parse().unwrap(),
            reporter: Reporter(1),
            window: 100_000,
            rate: None,
            min_rtt: Some(Duration::from_millis(80)),
            sent: 0,
            lost: 0,
            bound: Bound::Loss,
        };
        (0..2).for_each(|_| frankfurt.memory_mut().report(now, &report));
        let address = "192.0.2.7".parse().unwrap();
        let kept = |site: &Tenant| site.answers().get(&site.memory(), now, address);
        assert_eq!(kept(&frankfurt), None);
        let answer = paris.estimate_anew(now, address, Some(9_000)).unwrap();
        assert_eq!((answer.window, answer.samples), (9_000, 2));
        assert!((answer.confidence - 0.2).abs() < 1e-9, "{answer:?}");
        assert_eq!(kept(&frankfurt).map(|kept| kept.samples), Some(2));
        assert_eq!(kept(&paris), None);
    }
}
