//! The live gateways of the site: this one, and, with a shared store, those that have written to it
//! lately.

use crate::os::clock::SiteClock;
use std::fs;
use std::sync::{Mutex, PoisonError};

/// Time without a write after which a gateway is not alive, seconds.
pub(crate) const ALIVE_S: i64 = 60;
/// Time without a write after which a gateway is not listed, seconds.
pub(crate) const LISTED_S: i64 = 3600;
/// Maximum number of gateways in the list.
pub(crate) const MAX_GATEWAYS: usize = 64;
/// Longest name of a gateway, characters.
const MAX_NAME_CHARS: usize = 64;

/// A gateway, by its own description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayPresence {
    /// The number that distinguishes its records from others'.
    pub origin: u32,
    /// Name of its host.
    pub name: String,
    /// When it last wrote to the shared store, seconds since 1970 by its own clock; `None`: it
    /// shares none, or has not written yet.
    pub wrote: Option<i64>,
    /// True for the gateway that answers.
    pub is_this: bool,
}

impl GatewayPresence {
    /// Returns true if the gateway is alive at `now`, seconds since 1970. The gateway that answers
    /// always is, even if the store has been away for long.
    pub fn is_alive(&self, now: i64) -> bool {
        self.is_this || self.wrote.is_some_and(|wrote| now - wrote < ALIVE_S)
    }

    /// Returns the text for the store: `ORIGIN NAME`.
    pub(crate) fn member(&self) -> String {
        format!("{} {}", self.origin, self.name)
    }

    /// Parses an entry of the store; `None` if it describes no gateway.
    pub(crate) fn of_member(member: &str, wrote: i64) -> Option<Self> {
        let (origin, name) = member.split_once(' ')?;
        let origin = origin.parse().ok()?;
        Some(Self { origin, name: bounded(name), wrote: Some(wrote), is_this: false })
    }
}

/// Gateways of the site that this one knows of.
#[derive(Debug)]
pub struct Presences {
    own: GatewayPresence,
    /// True if this gateway keeps its number over a restart.
    keeps_number: bool,
    /// Time at which this gateway started, seconds since 1970.
    started: i64,
    /// The last list in the store, this gateway included; empty without a store.
    in_store: Mutex<Vec<GatewayPresence>>,
}

impl Presences {
    /// Creates the list with this gateway alone, with the number `origin`. `keeps_number` is true
    /// if a restart keeps the number: a gateway with a state on disk does.
    pub fn new(origin: u32, keeps_number: bool) -> Self {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let own =
            GatewayPresence { origin, name: bounded(name.trim()), wrote: None, is_this: true };
        let started = SiteClock::wall_seconds();
        Self { own, keeps_number, started, in_store: Mutex::default() }
    }

    /// Returns true if this gateway keeps its number over a restart.
    pub(crate) const fn keeps_number(&self) -> bool {
        self.keeps_number
    }

    /// Returns the entries of the store that are earlier runs of this gateway, at `now`, seconds
    /// since 1970.
    ///
    /// If this gateway draws a number at each start, its runs have only their host in common. An
    /// earlier run is then a gateway of this host that was silent before this one started, and
    /// still is.
    pub(crate) fn earlier_runs(
        &self,
        in_store: &[GatewayPresence],
        now: i64,
    ) -> Vec<GatewayPresence> {
        if self.keeps_number {
            return vec![];
        }
        let is_earlier = |one: &&GatewayPresence| {
            let is_other = one.origin != self.own.origin && one.name == self.own.name;
            is_other && !one.is_alive(now) && one.wrote.is_some_and(|wrote| wrote <= self.started)
        };
        in_store.iter().filter(is_earlier).cloned().collect()
    }

    /// Returns this gateway.
    pub const fn own(&self) -> &GatewayPresence {
        &self.own
    }

    /// Sets the list from the store.
    pub(crate) fn set(&self, in_store: Vec<GatewayPresence>) {
        *self.in_store.lock().unwrap_or_else(PoisonError::into_inner) = in_store;
    }

    /// Returns all gateways that wrote within an hour, at most [`MAX_GATEWAYS`]: this one first,
    /// then the most recent writer.
    pub fn all(&self) -> Vec<GatewayPresence> {
        let now = SiteClock::wall_seconds();
        let in_store = self.in_store.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (own, mut others): (Vec<_>, Vec<_>) =
            in_store.into_iter().partition(|one| one.origin == self.own.origin);
        others.retain(|one| one.wrote.is_some_and(|wrote| now - wrote < LISTED_S));
        others.sort_by_key(|one| (-one.wrote.unwrap_or_default(), one.origin));
        let wrote = own.iter().filter_map(|one| one.wrote).max();
        let own = GatewayPresence { wrote, ..self.own.clone() };
        std::iter::once(own).chain(others).take(MAX_GATEWAYS).collect()
    }
}

fn bounded(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_gateway_comes_first_and_those_that_are_silent_go() {
        let now = SiteClock::wall_seconds();
        let presences = Presences::new(7, true);
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
        // The store was away for ten minutes: no other gateway is alive, but this one is.
        presences.set(vec![of(7, 600), of(5, 600)]);
        assert_eq!(all(), [(7, true), (5, false)]);
        assert_eq!(of(5, 2).member(), "5 host-5");
        assert_eq!(GatewayPresence::of_member("host", 1), None);
        assert_eq!(GatewayPresence::of_member("4294967296 host", 1), None);
    }

    #[test]
    fn only_a_gateway_without_a_number_of_its_own_has_earlier_runs() {
        let now = SiteClock::wall_seconds();
        let drawn = Presences { started: now - 100, ..Presences::new(7, false) };
        let host = drawn.own().name.clone();
        let of = |origin: u32, name: &str, ago| {
            GatewayPresence::of_member(&format!("{origin} {name}"), now - ago).unwrap()
        };
        // One gateway was silent for 110 s, since before the start 100 s ago: an earlier run. The
        // others are this gateway itself, one that was killed since this one started, one that is
        // alive, and one of another host.
        let rows = [
            of(3, &host, 110),
            of(7, &host, 110),
            of(4, &host, 90),
            of(5, &host, 2),
            of(6, "far", 110),
        ];
        assert_eq!(drawn.earlier_runs(&rows, now), [of(3, &host, 110)]);
        // It may have been killed just before the start: it counts as alive for a minute.
        let restarted = Presences { started: now - 20, ..Presences::new(7, false) };
        assert_eq!(restarted.earlier_runs(&[of(3, &host, 59)], now), []);
        assert_eq!(restarted.earlier_runs(&[of(3, &host, 60)], now), [of(3, &host, 60)]);
        let kept = Presences { started: now - 100, ..Presences::new(7, true) };
        assert_eq!(kept.earlier_runs(&rows, now), []);
    }
}
