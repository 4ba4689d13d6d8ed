//! Which gateways of the site are alive: this one, and, where they share a store, those that have written to it lately.

use crate::clock::SiteClock;
use std::fs;
use std::sync::{Mutex, PoisonError};

/// A gateway that has written nothing for so many seconds is not alive.
pub const ALIVE_S: i64 = 60;
/// One that has written nothing for so many seconds is not listed.
pub const LISTED_S: i64 = 3600;
/// Gateways that are listed at most.
pub const MOST_GATEWAYS: usize = 64;
/// Longest name of a gateway, bytes.
const LONGEST: usize = 64;

/// A gateway, as it says itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayPresence {
    /// The number that tells its records apart from others'.
    pub origin: u32,
    /// Name of its host.
    pub name: String,
    /// When it last wrote to the shared store, seconds since 1970 by its own clock; `None`: it shares none, or has not written yet.
    pub wrote: Option<i64>,
}

impl GatewayPresence {
    /// Whether it is alive at `now`, seconds since 1970. One that says nothing about writing is the one that is asked.
    pub fn is_alive(&self, now: i64) -> bool {
        self.wrote.is_none_or(|wrote| now - wrote < ALIVE_S)
    }

    /// As the store has it: `ORIGIN NAME`.
    pub(crate) fn member(&self) -> String {
        format!("{} {}", self.origin, self.name)
    }

    /// What a store has; `None`: it is of no gateway.
    pub(crate) fn of_member(member: &str, wrote: i64) -> Option<Self> {
        let (origin, name) = member.split_once(' ')?;
        Some(Self { origin: origin.parse().ok()?, name: bounded(name), wrote: Some(wrote) })
    }
}

/// Gateways of the site, as this one knows of them.
#[derive(Debug)]
pub struct Presences {
    own: GatewayPresence,
    /// As the store had them last, this one among them; empty without a store.
    in_store: Mutex<Vec<GatewayPresence>>,
}

impl Presences {
    /// This gateway alone, with the number `origin`.
    pub fn new(origin: u32) -> Self {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let own = GatewayPresence { origin, name: bounded(name.trim()), wrote: None };
        Self { own, in_store: Mutex::default() }
    }

    /// This gateway.
    pub const fn own(&self) -> &GatewayPresence {
        &self.own
    }

    /// The store has these.
    pub(crate) fn set(&self, in_store: Vec<GatewayPresence>) {
        *self.in_store.lock().unwrap_or_else(PoisonError::into_inner) = in_store;
    }

    /// All that wrote within an hour, at most [`MOST_GATEWAYS`]: this one first, then the one that wrote last.
    pub fn all(&self) -> Vec<GatewayPresence> {
        let now = SiteClock::wall_seconds();
        let in_store = self.in_store.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (own, mut others): (Vec<_>, Vec<_>) =
            in_store.into_iter().partition(|one| one.origin == self.own.origin);
        others.retain(|one| one.wrote.is_some_and(|wrote| now - wrote < LISTED_S));
        others.sort_by_key(|one| (-one.wrote.unwrap_or_default(), one.origin));
        let wrote = own.iter().filter_map(|one| one.wrote).max();
        let own = GatewayPresence { wrote, ..self.own.clone() };
        std::iter::once(own).chain(others).take(MOST_GATEWAYS).collect()
    }
}

fn bounded(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_gateway_comes_first_and_those_that_are_silent_go() {
        let now = SiteClock::wall_seconds();
        let presences = Presences::new(7);
        let all = || -> Vec<_> {
            let of = |one: GatewayPresence| (one.origin, one.is_alive(now));
            presences.all().into_iter().map(of).collect()
        };
        assert_eq!(all(), [(7, true)], "alone");
        let of = |origin: u32, ago| {
            GatewayPresence::of_member(&format!("{origin} host-{origin}"), now - ago).unwrap()
        };
        // An hour is 3,600 s, and a minute 60 s.
        presences.set(vec![of(3, 3601), of(4, 61), of(7, 1), of(5, 2)]);
        assert_eq!(all(), [(7, true), (5, true), (4, false)]);
        assert_eq!(of(5, 2).member(), "5 host-5");
        assert_eq!(GatewayPresence::of_member("host", 1), None);
        assert_eq!(GatewayPresence::of_member("4294967296 host", 1), None);
    }
}
