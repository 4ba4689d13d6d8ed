//! The agent's memory of paths: what connections have proven, aged when it is asked for and lent in parts to those that
//! begin together.
//!
//! The agent keeps it in two maps of the kernel (`crates/agent/bpf/paths.h`, `reserve.h`). Here are the same decisions, in the
//! same integers: segments, microseconds, bytes a second. A warm start asks a [`Lender`] for its first flight as it opens
//! ([`Lender::reserve`]), and tells it what it has proven or lost ([`Lender::learn`], [`Lender::halve`]). Connections whose
//! handshakes are under way count as they come ([`Lender::begin_handshake`]), so a page's connections share what one has proven.

mod asking;
mod loan;
mod openings;
mod path;
mod paths;
mod peer;
mod request;
mod together;

pub use loan::{Loan, SharedStart};
pub use path::{ColdReason, END_UNKNOWN, PathSample, ProvenPath};
pub use peer::AnsweredPeer;
pub use request::LoanRequest;

use crate::{DestinationTable, PathKey, Scope, Shared};
use loan::Account;
use openings::Openings;
use paths::Paths;
use std::net::IpAddr;
use together::Together;
use units::{Duration, Instant};

/// Segments: no window is larger (`MAX_WINDOW` of the agent).
pub const MAX_WINDOW: u32 = 1 << 20;

/// Paths on which something began lately, at most; whoever is pushed out is forgotten to owe.
const MAX_ACCOUNTS: usize = 8192;
/// Paths remembered at most: the agent's default (`--paths`).
const MAX_PATHS: usize = 65_536;

/// Which memories a connection believes, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LendingTerms {
    /// Older memories are not believed (`--max-age`).
    pub max_age: Duration,
    /// Half of a window is believed after so many of its round trips (`--half-life`).
    pub half_life_rtts: u32,
    /// Largest first window, segments (`--cap`).
    pub cap: u32,
}

/// Remembers what paths have proven, and lends it.
pub struct Lender {
    paths: Paths,
    accounts: DestinationTable<Account>,
    /// When paths last had a cold start wider than stock.
    widened: DestinationTable<Instant>,
    /// What connections to a line send and receive together.
    together: DestinationTable<Together>,
    /// When handshakes began. A table of its own: whoever sends SYNs alone pushes out nothing else.
    openings: DestinationTable<Openings>,
    /// Whom it asks of paths that it does not know, if its host is one of a site.
    site: Option<Shared>,
}

impl Default for Lender {
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

/// The network of `remote`: IPv4 /24, IPv6 /48.
fn network(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Network)
}

/// The line of `remote`.
fn line(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Line)
}

impl Lender {
    /// Networks remembered.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// True if none is.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The memory that answers a connection to `remote` that starts now: its line's, while that is
    /// active, or its network's (`key_in_use`).
    pub fn answer(&mut self, now: Instant, remote: IpAddr) -> AnsweredPeer {
        self.paths.expire(now, remote);
        let by = if self.paths.knows_line(remote) { Scope::Line } else { Scope::Network };
        AnsweredPeer { address: remote, by: Some(by) }
    }

    /// What is known of the path to a peer.
    pub fn path(&mut self, to: impl Into<AnsweredPeer>) -> Option<ProvenPath> {
        self.paths.in_use(to.into()).map(|(_, path)| path)
    }

    /// What the memory has for a connection: a window larger than it would begin with otherwise, or why it has none. Windows given to
    /// other connections do not count.
    ///
    /// # Errors
    /// The first reason that holds.
    pub fn recall(
        &mut self,
        now: Instant,
        to: impl Into<AnsweredPeer>,
        request: &LoanRequest,
        terms: &LendingTerms,
    ) -> Result<u32, ColdReason> {
        let to = to.into();
        self.paths.expire(now, to.address);
        let path = self.path(to).ok_or(ColdReason::Unknown)?;
        path.recall(now, request, terms)
    }

    /// A handshake to `remote` begins; it counts among those that share only if the path is known, here or by then to the site, since
    /// nobody else has anything to share.
    pub fn begin_handshake(&mut self, now: Instant, remote: IpAddr) {
        self.paths.expire(now, remote);
        self.ask(now, remote);
        self.openings.entry_or(network(remote), Openings::default).begin(now);
        if let Some((path, account)) = self.known(remote, true) {
            account.begin_handshake(now, &path);
        }
    }

    /// A connection whose handshake was counted opens; among how many, itself included.
    pub fn finish_handshake(&mut self, now: Instant, to: impl Into<AnsweredPeer>) -> u32 {
        let known = self.known(to, false);
        known.map_or(1, |(path, account)| account.finish_handshake(now, &path))
    }

    /// A connection that has been open starts anew, beside those whose handshakes are under way; among how many, itself
    /// included.
    pub fn count_restart(&mut self, now: Instant, to: impl Into<AnsweredPeer>) -> u32 {
        let known = self.known(to, false);
        known.map_or(1, |(path, account)| account.count_restart(now, &path))
    }

    /// Lends a first flight: what is to be had of the path, if that is more than the stock window. The stock window of a
    /// connection that begins with no more counts as lent, too.
    pub fn reserve(
        &mut self,
        now: Instant,
        to: impl Into<AnsweredPeer>,
        request: &LoanRequest,
        terms: &LendingTerms,
    ) -> Option<Loan> {
        let to = to.into();
        self.paths.expire(now, to.address);
        let (path, account) = self.known(to, true)?;
        account.reserve(now, &path, request, terms)
    }

    /// A connection to a path that nobody knows would begin with more than a stock window: true if no other has done so within
    /// a round trip of `rtt_us` microseconds. Then it has.
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

    /// A connection whose handshake took `rtt_us` microseconds opens by itself: no other to the line of `remote` has begun since
    /// a quarter of that before it did.
    pub fn opens_alone(&mut self, now: Instant, remote: IpAddr, rtt_us: u32) -> bool {
        let since = Duration::from_micros(u64::from(rtt_us) * 5 / 4);
        let then = Instant::from_nanos(now.as_nanos().saturating_sub(since.as_nanos()));
        let openings = self.openings.entry(network(remote));
        openings.is_none_or(|openings| openings.is_one_alone_since(then))
    }

    /// What a connection of several that begin within a round trip may begin with on a path that carries `rate` bytes a second,
    /// and where its slow start is to end: segments, its part of what the path holds in a round trip. Of both no more than
    /// there is, so the first may be below the stock window. `None`: nothing that is remembered of the path is believed.
    pub fn share(
        &mut self,
        now: Instant,
        to: impl Into<AnsweredPeer>,
        request: &LoanRequest,
        rate: u64,
        terms: &LendingTerms,
    ) -> Option<(SharedStart, ProvenPath)> {
        let (path, account) = self.known(to, true)?;
        if !path.is_believed(now, request.rtt_us, terms) {
            return None;
        }
        let start = account.share(now, &path, request, rate, terms)?;
        Some((start, path))
    }

    /// A connection that begins as one of `among` has company: others begin with it, or have begun within a round trip.
    pub fn has_company(&mut self, now: Instant, to: impl Into<AnsweredPeer>, among: u32) -> bool {
        let known = self.known(to, false);
        among > 1 || known.is_some_and(|(path, account)| account.has_given(now, &path))
    }

    /// `bytes` have arrived over any connection to the line of `remote`, the last of them `queued` later than on an idle
    /// path.
    pub fn note_arrival(&mut self, now: Instant, remote: IpAddr, bytes: u64, queued: Duration) {
        let together = self.together.entry_or(line(remote), Together::default);
        together.note_arrival(now, bytes, queued);
    }

    /// How fast segments of all connections to the line of `remote` have been seen to arrive, bytes a second; 0: not known, or not
    /// seen for longer than `max_age`.
    pub fn carried(&mut self, now: Instant, remote: IpAddr, max_age: Duration) -> u64 {
        self.together.entry(line(remote)).map_or(0, |together| together.carried(now, max_age))
    }

    /// That may not be true any more: what arrives next says what is.
    pub fn doubt_carried(&mut self, remote: IpAddr) {
        if let Some(together) = self.together.entry(line(remote)) {
            together.doubt();
        }
    }

    /// A connection to the line of `remote` `begins` to send, or has nothing under way any more.
    pub fn count_sender(&mut self, remote: IpAddr, begins: bool) {
        self.together.entry_or(line(remote), Together::default).count_sender(begins);
    }

    /// How many connections to the line of `remote` have something under way, at least one.
    pub fn senders(&mut self, remote: IpAddr) -> u32 {
        self.together.entry(line(remote)).map_or(1, |together| together.senders())
    }

    /// How far apart segments of `bytes` of one connection arrive at the network of `remote`, if all that send to it have equal
    /// parts of what was seen to arrive; zero: not known.
    pub fn spacing(&mut self, remote: IpAddr, bytes: u64) -> Duration {
        self.together.entry(line(remote)).map_or(Duration::ZERO, |together| together.spacing(bytes))
    }

    /// When the next segment to the line of `remote`, of `bytes`, may leave at `rate` bytes a second, behind those of other
    /// connections that have asked before.
    pub fn book(&mut self, now: Instant, remote: IpAddr, bytes: u64, rate: u64) -> Instant {
        self.together.entry_or(line(remote), Together::default).book(now, bytes, rate)
    }

    /// So many segments of what was lent `since` are not used.
    pub fn release(&mut self, to: impl Into<AnsweredPeer>, segments: u32, since: Duration) {
        if let Some((path, account)) = self.known(to, false) {
            account.release(&path, segments, since);
        }
    }

    /// A connection has learnt something of the path: replaces what is known if the sample was measured (by a loss, or by BBR),
    /// or proves as much as is still believed. A transfer that was too short to use the window says nothing against it. True if
    /// the sample was taken.
    pub fn learn(
        &mut self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        is_measured: bool,
        terms: &LendingTerms,
    ) -> bool {
        self.tell(now, remote, sample, is_measured);
        self.take(now, remote, sample, is_measured, terms)
    }

    /// The same, and the site does not hear of it.
    pub fn take(
        &mut self,
        now: Instant,
        remote: IpAddr,
        sample: &PathSample,
        is_measured: bool,
        terms: &LendingTerms,
    ) -> bool {
        self.paths.learn(now, remote, sample, is_measured, terms)
    }

    /// The first flight of a warm start has found the path full: half of what was remembered, and after the second in a row nothing. The
    /// rate is forgotten if the flight arrived far more slowly (`is_slower`).
    pub fn fail(&mut self, now: Instant, to: impl Into<AnsweredPeer>, is_slower: bool) {
        self.paths.fail(now, to.into(), is_slower);
    }

    /// The path is far faster than remembered.
    pub fn forget_rate(&mut self, now: Instant, remote: IpAddr) {
        self.paths.forget_rate(now, remote);
    }

    /// A warm start has ended without a loss of its first flight.
    pub fn confirm(&mut self, to: impl Into<AnsweredPeer>) {
        self.paths.confirm(to.into());
    }

    /// A known path and its account, which is made if `makes` and there is none.
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
