//! Slots of connections from unknown peers. Their number is bounded, in all and for each
//! peer. A new connection for which there is no room takes the slot of the one that has held it
//! longest. So peers that stay silent do not keep others out.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// An IPv6 host chooses the other 64 bits of its address by itself (RFC 4291 §2.5.4, RFC 8981).
const NETWORK_BITS: u128 = !0 << 64;

/// Bounds of a number of connections, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotLimits {
    /// Connections in all.
    pub all: usize,
    /// Connections of one peer: of an IPv4 address, or of an IPv6 network of 64 bits.
    pub of_peer: usize,
}

impl SlotLimits {
    /// Returns the same limits, lowered in proportion if there are only `most` slots; at least 1.
    pub fn within(self, most: usize) -> Self {
        if most >= self.all {
            return self;
        }
        Self { all: most.max(1), of_peer: (self.of_peer * most / self.all).max(1) }
    }
}

/// The slots of all peers.
#[derive(Debug)]
pub struct PeerSlots {
    limits: SlotLimits,
    held: Mutex<HeldSlots>,
}

#[derive(Debug, Default)]
struct HeldSlots {
    /// Number of the next slot.
    next: u64,
    /// Slots in the order of their numbers: the one that was taken first is first.
    slots: VecDeque<HeldSlot>,
}

#[derive(Debug)]
struct HeldSlot {
    number: u64,
    peer: IpAddr,
    /// Dropped when another connection takes the slot, which notifies its holder.
    _hold: oneshot::Sender<()>,
}

/// A slot, given back when this value is dropped.
#[derive(Debug)]
pub struct PeerSlot {
    all: Arc<PeerSlots>,
    number: u64,
    lost: oneshot::Receiver<()>,
}

impl PeerSlots {
    /// Creates empty slots within `limits`.
    pub fn new(limits: SlotLimits) -> Self {
        Self { limits, held: Mutex::default() }
    }

    /// Takes a slot for a connection from `address`. It always succeeds: another connection may
    /// lose its slot, one of the same peer if that has as many as it may.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> PeerSlot {
        let peer = peer_of(address);
        let (hold, lost) = oneshot::channel();
        let mut held = self.held_slots();
        held.make_room(peer, self.limits);
        let number = held.next;
        held.next += 1;
        held.slots.push_back(HeldSlot { number, peer, _hold: hold });
        PeerSlot { all: Arc::clone(self), number, lost }
    }

    /// Returns true if no slot is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bounds: of all slots, and of one peer's.
    pub const fn limits(&self) -> SlotLimits {
        self.limits
    }

    /// Returns the number of held slots.
    pub fn len(&self) -> usize {
        self.held_slots().slots.len()
    }

    fn held_slots(&self) -> MutexGuard<'_, HeldSlots> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldSlots {
    /// Frees the oldest slot of `peer` if that has as many as it may; otherwise the oldest of all,
    /// if all are taken.
    fn make_room(&mut self, peer: IpAddr, limits: SlotLimits) {
        let is_of_peer = |slot: &HeldSlot| slot.peer == peer;
        let of_peer = self.slots.iter().filter(|slot| is_of_peer(slot)).count();
        let oldest = match of_peer >= limits.of_peer {
            true => self.slots.iter().position(is_of_peer),
            false => (self.slots.len() >= limits.all).then_some(0),
        };
        if let Some(oldest) = oldest {
            self.slots.remove(oldest);
        }
    }
}

impl PeerSlot {
    /// Waits until another connection takes the slot. It never returns if none does.
    pub async fn lost(&mut self) {
        let _ = (&mut self.lost).await;
    }
}

impl Drop for PeerSlot {
    fn drop(&mut self) {
        let slots = &mut self.all.held_slots().slots;
        if let Ok(at) = slots.binary_search_by_key(&self.number, |slot| slot.number) {
            slots.remove(at);
        }
    }
}

/// Returns the peer of a connection: its address, or the network of 64 bits of an IPv6 address.
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

    fn slots() -> Arc<PeerSlots> {
        Arc::new(PeerSlots::new(SlotLimits { all: 1024, of_peer: 256 }))
    }

    fn is_lost(slot: &mut PeerSlot) -> bool {
        slot.lost.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    /// The 257th connection of a peer takes the slot of its first one, and no slot of anybody
    /// else.
    #[test]
    fn a_peer_takes_places_from_itself_alone() {
        let all = slots();
        let mut other = all.enter(address("192.0.2.1"));
        let mut silent: Vec<_> = (0..257).map(|_| all.enter(address("192.0.2.9"))).collect();
        assert!(is_lost(&mut silent[0]));
        assert!(silent[1..].iter_mut().all(|slot| !is_lost(slot)));
        assert!(!is_lost(&mut other));
        assert_eq!(all.len(), 257);
    }

    /// Four peers fill all 1024 slots; a fifth one gets a slot from the connection that has
    /// waited longest.
    #[test]
    fn whoever_comes_last_has_a_place() {
        let all = slots();
        let from = |n: usize| address(&format!("192.0.2.{}", n / 256));
        let mut silent: Vec<_> = (0..1024).map(|n| all.enter(from(n))).collect();
        assert!(silent.iter_mut().all(|slot| !is_lost(slot)));
        let mut last = all.enter(address("192.0.2.9"));
        assert!(!is_lost(&mut last) && is_lost(&mut silent[0]) && !is_lost(&mut silent[1]));
        // The lost slot is not given back once more.
        drop(silent.remove(0));
        assert_eq!(all.len(), 1024);
        drop((silent, last));
        assert_eq!(all.len(), 0);
    }

    /// A quarter of 1,024 descriptors is 256 of 1,024 slots, so a peer has 64 instead of 256.
    #[test]
    fn fewer_places_are_shared_in_proportion() {
        let limits = SlotLimits { all: 1024, of_peer: 256 };
        assert_eq!(limits.within(256), SlotLimits { all: 256, of_peer: 64 });
        assert_eq!(limits.within(2), SlotLimits { all: 2, of_peer: 1 });
        assert_eq!(limits.within(0), SlotLimits { all: 1, of_peer: 1 });
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
