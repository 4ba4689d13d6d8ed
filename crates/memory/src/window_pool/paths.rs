//! The memory of lines and of their networks.
//!
//! A line is one subscriber's access: an IPv4 address, or an IPv6 /64. While a line is active, its
//! own connections determine its memory. For any other line its network answers, whose lines may be
//! of different rates. Therefore the network remembers the slowest one. A line that carries less
//! than half lowers the network's window at once, and holds it for as long as lines count as
//! active. `paths.h` of the agent has the same rules.

use super::path::{PathSample, ProvenPath};
use super::peer::AnsweredPeer;
use super::{MAX_PATHS, ReservationTerms};
use crate::{DestinationTable, PathKey, Scope};
use std::net::IpAddr;
use units::{Duration, Instant};

/// Time for which a line counts as active after its last sample (`ACTIVE_NS`).
const ACTIVE: Duration = Duration::from_secs(600);

/// A line of less than this part of its network's window is of another kind (`SLOWER_PART`).
const SLOWER_PART: u32 = 2;

/// All that is remembered.
pub(super) struct Paths {
    lines: DestinationTable<ProvenPath>,
    networks: DestinationTable<ProvenPath>,
    /// Times until which the windows of networks are not raised.
    held: DestinationTable<Instant>,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            lines: DestinationTable::new(MAX_PATHS),
            networks: DestinationTable::new(MAX_PATHS),
            held: DestinationTable::new(MAX_PATHS),
        }
    }
}

impl Paths {
    /// Returns the number of remembered networks.
    pub(super) fn len(&self) -> usize {
        self.networks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.networks.is_empty() && self.lines.is_empty()
    }

    /// Forgets the line of `remote` if it is active no more.
    pub(super) fn expire(&mut self, now: Instant, remote: IpAddr) {
        let key = PathKey::new(remote, Scope::Line);
        let line = self.lines.entry(key).map(|line| line.learnt);
        if line.is_some_and(|learnt| now.saturating_since(learnt) > ACTIVE) {
            self.lines.remove(key);
        }
    }

    /// Returns true if something is remembered of the line of `remote`.
    pub(super) fn knows_line(&mut self, remote: IpAddr) -> bool {
        self.lines.entry(PathKey::new(remote, Scope::Line)).is_some()
    }

    /// Returns the entry that answers for a peer, and its key.
    pub(super) fn in_use(&mut self, to: AnsweredPeer) -> Option<(PathKey, ProvenPath)> {
        let [line, network] = [Scope::Line, Scope::Network].map(|of| PathKey::new(to.address, of));
        if to.by != Some(Scope::Network)
            && let Some(path) = self.lines.entry(line)
        {
            return Some((line, *path));
        }
        let network = Some(network).filter(|_| to.by != Some(Scope::Line))?;
        self.networks.entry(network).map(|path| (network, *path))
    }

    /// Returns the line of `remote`, which begins as its network is remembered; `None`: neither is.
    fn line(&mut self, remote: IpAddr) -> Option<&mut ProvenPath> {
        let (_, path) = self.in_use(remote.into())?;
        Some(self.lines.entry_or(PathKey::new(remote, Scope::Line), || path))
    }

    /// Takes the sample of a connection. Returns true if its line took it.
    pub(super) fn learn(
        &mut self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        is_measured: bool,
        terms: &ReservationTerms,
    ) -> bool {
        if !sample.is_whole() {
            return false;
        }
        self.expire(now, remote);
        let is_taken = match self.line(remote) {
            Some(line) => line.learn(now, sample, is_measured, terms),
            None => {
                let key = PathKey::new(remote, Scope::Line);
                self.lines.insert(key, ProvenPath::new(sample));
                true
            }
        };
        self.learn_of_network(now, remote, sample, is_measured, terms);
        is_taken
    }

    /// Lets the network learn of one of its lines (`learn_of_network`).
    fn learn_of_network(
        &mut self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        is_measured: bool,
        terms: &ReservationTerms,
    ) {
        let key = PathKey::new(remote, Scope::Network);
        let Some(path) = self.networks.entry(key) else {
            return self.networks.insert(key, ProvenPath::new(sample));
        };
        let known = path.aged_window(now, terms);
        let carries = sample.carries(is_measured);
        let is_slow = carries > 0 && carries < known / SLOWER_PART;
        let is_held = self.held.entry(key).is_some_and(|until| *until > now);
        if is_slow || (is_held && carries > 0 && carries <= path.window * SLOWER_PART) {
            self.held.insert(key, now + ACTIVE);
        }
        if is_slow {
            path.become_slower(now, &PathSample { window: carries, ..*sample }, terms);
        } else if !is_held || sample.window <= known {
            path.learn(now, sample, is_measured, terms);
        }
    }

    /// Notes that the first flight of a warm start has found the path full (`fail_path`).
    pub(super) fn fail(&mut self, now: Instant, to: AnsweredPeer, is_slower: bool) {
        self.expire(now, to.address);
        let network = PathKey::new(to.address, Scope::Network);
        let began_by_network = match to.by {
            Some(by) => by == Scope::Network,
            None => !self.knows_line(to.address),
        };
        if let Some(line) = self.line(to.address) {
            line.fail(is_slower);
        }
        if began_by_network && let Some(path) = self.networks.entry(network) {
            path.fail(is_slower);
        }
    }

    /// Forgets the remembered rate of the line to `remote`, because the line has another rate.
    pub(super) fn forget_rate(&mut self, now: Instant, remote: IpAddr) {
        self.expire(now, remote);
        if let Some(line) = self.line(remote) {
            line.forget_rate();
        }
    }

    /// Notes that a warm start has ended without a loss of its first flight.
    pub(super) fn confirm(&mut self, to: AnsweredPeer) {
        let Some((key, _)) = self.in_use(to) else { return };
        let is_line = key == PathKey::new(to.address, Scope::Line);
        let entries = if is_line { &mut self.lines } else { &mut self.networks };
        if let Some(path) = entries.entry(key) {
            path.confirm();
        }
    }

    /// Takes over a site's memory of the network of `remote`.
    pub(super) fn take_up(&mut self, remote: IpAddr, path: ProvenPath) {
        self.networks.insert(PathKey::new(remote, Scope::Network), path);
    }
}
