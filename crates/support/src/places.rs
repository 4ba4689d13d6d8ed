//! Places of connections whose peers are not known. Their number is bounded, in all and for each peer. A new connection for which there
//! is no room takes the place of the one that has held it longest. So peers that stay silent keep nobody out.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// An IPv6 host chooses the other 64 bits of its address by itself (RFC 4291 §2.5.4, RFC 8981).
const NETWORK_BITS: u128 = !0 << 64;

/// Bounds of a number of connections, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceLimits {
    /// Connections in all.
    pub all: usize,
    /// Connections of one peer: of an IPv4 address, or of an IPv6 network of 64 bits.
    pub of_peer: usize,
}

impl PlaceLimits {
    /// The same limits, lowered in proportion if there are only `most` places; at least 1.
    pub fn within(self, most: usize) -> Self {
        if most >= self.all {
            return self;
        }
        Self { all: most.max(1), of_peer: (self.of_peer * most / self.all).max(1) }
    }
}

/// All places.
#[derive(Debug)]
pub struct PeerPlaces {
    limits: PlaceLimits,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    /// In the order of their numbers: the one that has waited longest first.
    held: VecDeque<Held>,
}

#[derive(Debug)]
struct Held {
    number: u64,
    peer: IpAddr,
    /// The place is lost when this goes.
    _hold: oneshot::Sender<()>,
}

/// A place, given back when this value is dropped.
#[derive(Debug)]
pub struct PeerPlace {
    all: Arc<PeerPlaces>,
    number: u64,
    lost: oneshot::Receiver<()>,
}

impl PeerPlaces {
    /// As many places as `limits` say, all of them free.
    pub fn new(limits: PlaceLimits) -> Self {
        Self { limits, waiting: Mutex::default() }
    }

    /// A place for a connection from `address`.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> PeerPlace {
        let peer = peer_of(address);
        let (hold, lost) = oneshot::channel();
        let mut waiting = self.waiting();
        waiting.make_room(peer, self.limits);
        let number = waiting.next;
        waiting.next += 1;
        waiting.held.push_back(Held { number, peer, _hold: hold });
        PeerPlace { all: Arc::clone(self), number, lost }
    }

    /// True if all places are free.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many places there are.
    pub const fn limits(&self) -> PlaceLimits {
        self.limits
    }

    /// Places that are taken.
    pub fn len(&self) -> usize {
        self.waiting().held.len()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn make_room(&mut self, peer: IpAddr, limits: PlaceLimits) {
        let is_of_peer = |held: &Held| held.peer == peer;
        let of_peer = self.held.iter().filter(|held| is_of_peer(held)).count();
        let longest = match of_peer >= limits.of_peer {
            true => self.held.iter().position(is_of_peer),
            false => (self.held.len() >= limits.all).then_some(0),
        };
        if let Some(longest) = longest {
            self.held.remove(longest);
        }
    }
}

impl PeerPlace {
    /// Waits until another connection has taken the place.
    pub async fn lost(&mut self) {
        let _ = (&mut self.lost).await;
    }
}

impl Drop for PeerPlace {
    fn drop(&mut self) {
        let held = &mut self.all.waiting().held;
        if let Ok(at) = held.binary_search_by_key(&self.number, |held| held.number) {
            held.remove(at);
        }
    }
}

/// By what connections of one peer are told: its address, or the network of an IPv6 address.
fn peer_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & NETWORK_BITS).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn places() -> Arc<PeerPlaces> {
        Arc::new(PeerPlaces::new(PlaceLimits { all: 1024, of_peer: 256 }))
    }

    fn is_lost(place: &mut PeerPlace) -> bool {
        place.lost.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    /// The 257th connection of a peer takes the place of its first one, and no place of anybody else.
    #[test]
    fn a_peer_takes_places_from_itself_alone() {
        let all = places();
        let mut other = all.enter(address("192.0.2.1"));
        let mut silent: Vec<_> = (0..257).map(|_| all.enter(address("192.0.2.9"))).collect();
        assert!(is_lost(&mut silent[0]));
        assert!(silent[1..].iter_mut().all(|place| !is_lost(place)));
        assert!(!is_lost(&mut other));
        assert_eq!(all.len(), 257);
    }

    /// Four peers fill all 1024 places; a fifth one gets a place from the connection that has waited longest.
    #[test]
    fn whoever_comes_last_has_a_place() {
        let all = places();
        let from = |n: usize| address(&format!("192.0.2.{}", n / 256));
        let mut silent: Vec<_> = (0..1024).map(|n| all.enter(from(n))).collect();
        assert!(silent.iter_mut().all(|place| !is_lost(place)));
        let mut last = all.enter(address("192.0.2.9"));
        assert!(!is_lost(&mut last) && is_lost(&mut silent[0]) && !is_lost(&mut silent[1]));
        // The lost place is not given back once more.
        drop(silent.remove(0));
        assert_eq!(all.len(), 1024);
        drop((silent, last));
        assert_eq!(all.len(), 0);
    }

    /// A quarter of 1,024 descriptors is 256 of 1,024 places, so a peer has 64 instead of 256.
    #[test]
    fn fewer_places_are_shared_in_proportion() {
        let limits = PlaceLimits { all: 1024, of_peer: 256 };
        assert_eq!(limits.within(256), PlaceLimits { all: 256, of_peer: 64 });
        assert_eq!(limits.within(2), PlaceLimits { all: 2, of_peer: 1 });
        assert_eq!(limits.within(0), PlaceLimits { all: 1, of_peer: 1 });
        assert_eq!(limits.within(usize::MAX), limits);
    }

    #[test]
    fn a_peer_is_an_address_or_a_network_of_64_bits() {
        let same = |one: &str, other: &str| peer_of(address(one)) == peer_of(address(other));
        assert!(same("2001:db8::1", "2001:db8::ffff:0:0:1"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("192.0.2.1", "::ffff:192.0.2.1"));
        assert!(!same("192.0.2.1", "192.0.2.2"));
    }
}
