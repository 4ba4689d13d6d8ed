//! The agent's memory of paths, and its window pool. The memory has the windows that connections
//! have proven, aged when they are read; the pool divides a window among connections that start
//! together.
//!
//! The agent keeps both in two maps of the kernel (`crates/agent/bpf/paths.h`, `reserve.h`). This
//! module makes the same decisions in the same integers: segments, microseconds, bytes a second. A
//! warm start reserves its first flight from a [`WindowPool`] when it opens
//! ([`WindowPool::reserve`]), and reports what it has proven or lost ([`WindowPool::learn`],
//! [`WindowPool::halve`]). Pending handshakes count ([`WindowPool::begin_handshake`]), so a page's
//! connections share the window that one has proven.

mod asking;
mod openings;
mod path;
mod paths;
mod peer;
mod request;
mod reservation;
mod together;

pub use path::{ColdReason, END_UNKNOWN, PathSample, ProvenPath};
pub use peer::AnsweredPeer;
pub use request::ReservationRequest;
pub use reservation::{Reservation, SharedStart};

use crate::{DestinationTable, PathKey, Scope, Shared};
use openings::Openings;
use paths::Paths;
use reservation::Account;
use std::net::IpAddr;
use together::Together;
use units::{Duration, Instant};

/// Segments: no window is larger (`MAX_WINDOW` of the agent).
pub const MAX_WINDOW: u32 = 1 << 20;

/// Maximum number of paths with recent starts; the reservations of an evicted path are forgotten.
const MAX_ACCOUNTS: usize = 8192;
/// Maximum number of remembered paths: the agent's default (`--max-paths`).
const MAX_PATHS: usize = 65_536;

/// Limits within which a connection uses memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationTerms {
    /// Older memories are ignored (`--max-age`).
    pub max_age: Duration,
    /// Round trips of the path after which the estimate of a window is halved (`--half-life`).
    pub half_life_rtts: u32,
    /// Largest first window, segments (`--cap`).
    pub cap: u32,
}

/// Remembers what paths have proven, and reserves windows.
pub struct WindowPool {
    paths: Paths,
    accounts: DestinationTable<Account>,
    /// Times of the last cold start wider than stock, by path.
    widened: DestinationTable<Instant>,
    /// Combined sending and receiving of the connections to a line.
    together: DestinationTable<Together>,
    /// Times of the last handshakes. It is a table of its own, so that a sender of mere SYNs evicts
    /// nothing else.
    openings: DestinationTable<Openings>,
    /// The site that it asks for unknown paths, if its host is a member of one.
    site: Option<Shared>,
}

impl Default for WindowPool {
    fn default() -> Self {
        Self {
            paths: Paths::default(),
            accounts: DestinationTable::new(MAX_ACCOUNTS),
            widened: DestinationTable::new(MAX_ACCOUNTS),
            together: DestinationTable::new(MAX_ACCOUNTS),
            openings: DestinationTable::new(MAX_ACCOUNTS),
            site: None,
        }
    }
}

/// Returns the network of `remote`: IPv4 /24, IPv6 /48.
fn network(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Network)
}

/// Returns the line of `remote`.
fn line(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Line)
}

impl WindowPool {
    /// Returns the number of remembered networks.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Returns true if no network is remembered.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns the memory that answers a connection to `remote` that starts now: its line's, while
    /// that is active, or its network's (`key_in_use`).
    pub fn answer(&mut self, now: Instant, remote: IpAddr) -> AnsweredPeer {
        self.paths.expire(now, remote);
        let by = if self.paths.knows_line(remote) { Scope::Line } else { Scope::Network };
        AnsweredPeer { address: remote, by: Some(by) }
    }

    /// Returns the memory of the path to a peer.
    pub fn path(&mut self, to: impl Into<AnsweredPeer>) -> Option<ProvenPath> {
        self.paths.in_use(to.into()).map(|(_, path)| path)
    }

    /// Looks up the window for a connection, if it is larger than the window of a cold start.
    /// Reservations of other connections have no influence.
    ///
    /// # Errors
    /// The first reason that holds, if there is none.
    pub fn recall(
        &mut self,
        now: Instant,
        to: impl Into<AnsweredPeer>,
        request: &ReservationRequest,
        terms: &ReservationTerms,
    ) -> Result<u32, ColdReason> {
        let to = to.into();
        self.paths.expire(now, to.address);
        let path = self.path(to).ok_or(ColdReason::Unknown)?;
        path.recall(now, request, terms)
    }

    /// Handles a handshake to `remote` that begins. It counts among those that share only if the
    /// path is known, here or by now to the site: otherwise there is nothing to share.
    pub fn begin_handshake(&mut self, now: Instant, remote: IpAddr) {
        self.paths.expire(now, remote);
        self.ask(now, remote);
        self.openings.entry_or(network(remote), Openings::default).begin(now);
        if let Some((path, account)) = self.known(remote, true) {
            account.begin_handshake(now, &path);
        }
    }

    /// Ends a pending handshake, and returns among how many connections it starts, itself included.
    pub fn finish_handshake(&mut self, now: Instant, to: impl Into<AnsweredPeer>) -> u32 {
        let known = self.known(to, false);
        known.map_or(1, |(path, account)| account.finish_handshake(now, &path))
    }

    /// Returns among how many connections an open one restarts, itself and pending handshakes
    /// included.
    pub fn count_restart(&mut self, now: Instant, to: impl Into<AnsweredPeer>) -> u32 {
        let known = self.known(to, false);
        known.map_or(1, |(path, account)| account.count_restart(now, &path))
    }

    /// Reserves a first flight: the path's available window, if that is more than the stock window.
    /// The stock window of a connection that starts with no more is reserved, too.
    pub fn reserve(
        &mut self,
        now: Instant,
        to: impl Into<AnsweredPeer>,
        request: &ReservationRequest,
        terms: &ReservationTerms,
    ) -> Option<Reservation> {
        let to = to.into();
        self.paths.expire(now, to.address);
        let (path, account) = self.known(to, true)?;
        account.reserve(now, &path, request, terms)
    }

    /// Notes that a connection to an unknown path starts with more than a stock window. Returns
    /// false, with nothing noted, if another connection has done so within a round trip of `rtt_us`
    /// microseconds.
    pub fn begin_wide(&mut self, now: Instant, remote: IpAddr, rtt_us: u32) -> bool {
        let round = Duration::from_micros(rtt_us.into());
        match self.widened.entry(network(remote)) {
            Some(last) if now.saturating_since(*last) < round => false,
            Some(last) => {
                *last = now;
                true
            }
            None => {
                self.widened.entry_or(network(remote), || now);
                true
            }
        }
    }

    /// Returns true if a connection whose handshake took `rtt_us` microseconds opens alone. It does
    /// if no other connection to the line of `remote` has started from a quarter of that time
    /// before it on.
    pub fn opens_alone(&mut self, now: Instant, remote: IpAddr, rtt_us: u32) -> bool {
        let since = Duration::from_micros(u64::from(rtt_us) * 5 / 4);
        let then = Instant::from_nanos(now.as_nanos().saturating_sub(since.as_nanos()));
        let openings = self.openings.entry(network(remote));
        openings.is_none_or(|openings| openings.is_one_alone_since(then))
    }

    /// Returns the start of one of several connections that start within a round trip, on a path
    /// that carries `rate` bytes a second. It has the first window and the end of slow start, in
    /// segments: its part of what the path holds in a round trip. Neither exceeds the available
    /// window, so the first one may be below the stock window. `None`: the path's memory cannot be
    /// used.
    pub fn share(
        &mut self,
        now: Instant,
        to: impl Into<AnsweredPeer>,
        request: &ReservationRequest,
        rate: u64,
        terms: &ReservationTerms,
    ) -> Option<(SharedStart, ProvenPath)> {
        let (path, account) = self.known(to, true)?;
        if !path.is_believed(now, request.rtt_us, terms) {
            return None;
        }
        let start = account.share(now, &path, request, rate, terms)?;
        Some((start, path))
    }

    /// Returns true if a connection that starts as one of `among` has company: others start with
    /// it, or have started within a round trip.
    pub fn has_company(&mut self, now: Instant, to: impl Into<AnsweredPeer>, among: u32) -> bool {
        let known = self.known(to, false);
        among > 1 || known.is_some_and(|(path, account)| account.has_given(now, &path))
    }

    /// Notes that `bytes` were delivered over any connection to the line of `remote`, the last of
    /// them `queued` later than on an idle path.
    pub fn note_arrival(&mut self, now: Instant, remote: IpAddr, bytes: u64, queued: Duration) {
        let together = self.together.entry_or(line(remote), Together::default);
        together.note_arrival(now, bytes, queued);
    }

    /// Returns the delivery rate of all connections to the line of `remote` together, bytes a
    /// second; 0: not known, or not seen for longer than `max_age`.
    pub fn delivery_rate(&mut self, now: Instant, remote: IpAddr, max_age: Duration) -> u64 {
        self.together.entry(line(remote)).map_or(0, |together| together.delivery_rate(now, max_age))
    }

    /// Discards the delivery rate, which may have changed; the next ACKs measure it again.
    pub fn discard_delivery_rate(&mut self, remote: IpAddr) {
        if let Some(together) = self.together.entry(line(remote)) {
            together.doubt();
        }
    }

    /// Counts a connection to the line of `remote` that `begins` to send, or that has nothing under
    /// way any more.
    pub fn count_sender(&mut self, remote: IpAddr, begins: bool) {
        self.together.entry_or(line(remote), Together::default).count_sender(begins);
    }

    /// Returns the number of connections to the line of `remote` with outstanding data, at least
    /// one.
    pub fn senders(&mut self, remote: IpAddr) -> u32 {
        self.together.entry(line(remote)).map_or(1, |together| together.senders())
    }

    /// Returns the time between two segments of `bytes` of one connection at the network of
    /// `remote`. All senders there have equal parts of the delivery rate; zero: it is not known.
    pub fn spacing(&mut self, remote: IpAddr, bytes: u64) -> Duration {
        self.together.entry(line(remote)).map_or(Duration::ZERO, |together| together.spacing(bytes))
    }

    /// Returns the time at which the next segment to the line of `remote` may be sent, behind other
    /// connections' segments. The segment has `bytes`, and the pace is `rate` bytes a second.
    pub fn book(&mut self, now: Instant, remote: IpAddr, bytes: u64, rate: u64) -> Instant {
        self.together.entry_or(line(remote), Together::default).book(now, bytes, rate)
    }

    /// Releases `segments` of a reservation made `since` ago that are not used.
    pub fn release(&mut self, to: impl Into<AnsweredPeer>, segments: u32, since: Duration) {
        if let Some((path, account)) = self.known(to, false) {
            account.release(&path, segments, since);
        }
    }

    /// Learns a sample of the path. It replaces the memory if it was measured (by a loss, or by
    /// BBR), or proves as much as the estimate after ageing. A transfer that was too short to use
    /// the window does not contradict it. True if it was learnt.
    pub fn learn(
        &mut self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        is_measured: bool,
        terms: &ReservationTerms,
    ) -> bool {
        self.report_sample(now, remote, sample, is_measured);
        self.take(now, remote, sample, is_measured, terms)
    }

    /// Learns a sample without a report to the site.
    pub fn take(
        &mut self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        is_measured: bool,
        terms: &ReservationTerms,
    ) -> bool {
        self.paths.learn(now, remote, sample, is_measured, terms)
    }

    /// Handles a warm start whose first flight has found the path full: half of the window remains,
    /// and after the second failure in a row nothing. The rate is forgotten if the flight was
    /// delivered far more slowly (`is_slower`).
    pub fn fail(&mut self, now: Instant, to: impl Into<AnsweredPeer>, is_slower: bool) {
        self.paths.fail(now, to.into(), is_slower);
    }

    /// Forgets the delivery rate, because the path is far faster than remembered.
    pub fn forget_rate(&mut self, now: Instant, remote: IpAddr) {
        self.paths.forget_rate(now, remote);
    }

    /// Notes that a warm start has ended without a loss of its first flight.
    pub fn confirm(&mut self, to: impl Into<AnsweredPeer>) {
        self.paths.confirm(to.into());
    }

    /// Returns a known path and its account, which is made if `makes` and there is none.
    fn known(
        &mut self,
        to: impl Into<AnsweredPeer>,
        makes: bool,
    ) -> Option<(ProvenPath, &mut Account)> {
        let (key, path) = self.paths.in_use(to.into())?;
        let account = match makes {
            true => self.accounts.entry_or(key, Account::default),
            false => self.accounts.entry(key)?,
        };
        Some((path, account))
    }
}

#[cfg(test)]
mod tests;
