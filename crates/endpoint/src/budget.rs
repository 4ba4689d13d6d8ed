//! The memory limit for the buffers of all streams of an endpoint, and each peer's part of it.
//!
//! Half of the limit is available to any peer. When that is taken, a peer gets no more than its
//! equal share of the other half. So a peer that holds much cannot keep others out (as
//! `tcp::Limits::buffered` does for connections). A peer is an IPv4 address, or the network of 64
//! bits of an IPv6 address, which one host has for itself.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// Number of accounts from which on those of absent peers are removed.
const CLEANED_ACCOUNTS: usize = 64;

/// Bytes taken, and their limit.
#[derive(Debug)]
pub(crate) struct Budget {
    taken: AtomicUsize,
    /// Number of peers that have an account.
    peers: AtomicUsize,
    limit: usize,
}

impl Budget {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { taken: AtomicUsize::new(0), peers: AtomicUsize::new(0), limit }
    }

    /// Returns the bytes taken.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns true if a peer that holds `held` bytes should take nothing more.
    fn is_spent(&self, held: usize) -> bool {
        let (taken, half) = (self.taken_bytes(), self.limit / 2);
        let share = || half / self.peers.load(Ordering::Relaxed).max(1);
        taken >= self.limit || taken >= half && held >= share()
    }
}

fn update_total(bytes: &AtomicUsize, before: usize, after: usize) {
    if after >= before {
        bytes.fetch_add(after - before, Ordering::Relaxed);
    } else {
        bytes.fetch_sub(before - after, Ordering::Relaxed);
    }
}

/// The part of a budget that the streams of one peer take.
#[derive(Debug)]
pub(crate) struct Account {
    budget: Arc<Budget>,
    held: AtomicUsize,
}

impl Account {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        budget.peers.fetch_add(1, Ordering::Relaxed);
        Self { budget, held: AtomicUsize::new(0) }
    }

    /// Returns true if nothing more should be taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.is_spent(self.held.load(Ordering::Relaxed))
    }

    /// Notes that a stream's buffers change from `before` to `after` bytes.
    pub(crate) fn on_buffer_change(&self, before: usize, after: usize) {
        update_total(&self.held, before, after);
        update_total(&self.budget.taken, before, after);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.budget.peers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The accounts of all peers that have streams.
#[derive(Debug)]
pub(crate) struct Accounts {
    budget: Arc<Budget>,
    of: HashMap<IpAddr, Weak<Account>>,
    /// Number of accounts at which those of absent peers are removed.
    sweep_at: usize,
}

impl Accounts {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            budget: Arc::new(Budget::new(limit)),
            of: HashMap::new(),
            sweep_at: CLEANED_ACCOUNTS,
        }
    }

    /// Returns the bytes that all streams have taken.
    pub(crate) fn taken_bytes(&self) -> usize {
        self.budget.taken_bytes()
    }

    /// Returns the account of the peer at `address`.
    pub(crate) fn of(&mut self, address: IpAddr) -> Arc<Account> {
        let peer = peer(address);
        if let Some(known) = self.of.get(&peer).and_then(Weak::upgrade) {
            return known;
        }
        if self.of.len() >= self.sweep_at {
            self.of.retain(|_, account| account.strong_count() > 0);
            self.sweep_at = (2 * self.of.len()).max(CLEANED_ACCOUNTS);
        }
        let new = Arc::new(Account::new(Arc::clone(&self.budget)));
        self.of.insert(peer, Arc::downgrade(&new));
        new
    }
}

fn peer(address: IpAddr) -> IpAddr {
    const NETWORK: u128 = !0 << 64;
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & NETWORK).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// One peer gets the half of 1000 bytes that is available to any. Two peers get 250 each of the
    /// other half, three 166 each, and none gets anything once all are taken.
    #[test]
    fn a_peer_that_holds_much_leaves_room_for_others() {
        let mut accounts = Accounts::new(1000);
        let greedy = accounts.of(address("10.0.0.1"));
        greedy.on_buffer_change(0, 499);
        assert!(!greedy.is_spent());
        greedy.on_buffer_change(499, 500);
        assert!(greedy.is_spent());
        let second = accounts.of(address("10.0.0.2"));
        second.on_buffer_change(0, 249);
        assert!(!second.is_spent());
        second.on_buffer_change(249, 250);
        assert!(second.is_spent());
        let third = accounts.of(address("10.0.0.3"));
        third.on_buffer_change(0, 165);
        assert!(!third.is_spent());
        third.on_buffer_change(165, 166);
        assert!(third.is_spent());
        assert_eq!(accounts.taken_bytes(), 916);
        third.on_buffer_change(166, 250);
        let fourth = accounts.of(address("10.0.0.4"));
        assert!(fourth.is_spent(), "1000 are taken");
        greedy.on_buffer_change(500, 0);
        assert!(!greedy.is_spent() && !fourth.is_spent());
    }

    /// A host has a network of IPv6, and one address of IPv4.
    #[test]
    fn a_host_has_one_account() {
        let mut accounts = Accounts::new(1000);
        let first = accounts.of(address("2001:db8:1:2::1"));
        assert!(Arc::ptr_eq(&first, &accounts.of(address("2001:db8:1:2:ffff::9"))));
        assert!(!Arc::ptr_eq(&first, &accounts.of(address("2001:db8:1:3::1"))));
        let v4 = accounts.of(address("10.0.0.1"));
        assert!(Arc::ptr_eq(&v4, &accounts.of(address("10.0.0.1"))));
        assert!(!Arc::ptr_eq(&v4, &accounts.of(address("10.0.0.2"))));
    }

    /// A thousand consecutive peers leave no more accounts than one sweep covers.
    #[test]
    fn accounts_of_peers_that_have_gone_are_removed() {
        let mut accounts = Accounts::new(1000);
        let stays = accounts.of(address("10.0.0.1"));
        for n in 0..1000 {
            drop(accounts.of(IpAddr::V4((0x0b00_0000 + n).into())));
        }
        assert!(accounts.of.len() <= CLEANED_ACCOUNTS, "{}", accounts.of.len());
        assert!(Arc::ptr_eq(&stays, &accounts.of(address("10.0.0.1"))));
        assert_eq!(accounts.budget.peers.load(Ordering::Relaxed), 1);
    }
}
