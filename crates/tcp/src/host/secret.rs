//! Values that attackers must not predict: initial sequence numbers (RFC 6528), and keys derived
//! for cookies.

use super::Host;
use crate::tuple::FourTuple;
use siphasher::sip::SipHasher24;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use units::{Instant, SeqNum};

/// The secret of a host.
#[derive(Clone, Copy, Debug)]
pub(super) enum Secret {
    /// No key: everything derives from the seed, and a simulation repeats.
    Seed(u64),
    /// A random key drawn by the engine.
    Key([u8; 16]),
}

impl Secret {
    /// A keyed hash of `what`, different for every `purpose`.
    pub(super) fn hash(&self, purpose: &str, what: impl Hash) -> u64 {
        let mut hash = SipHasher24::new_with_key(&match self {
            Self::Seed(seed) => (u128::from(*seed) << 64 | 0x6865_6164_7374_6172).to_be_bytes(),
            Self::Key(key) => *key,
        });
        purpose.hash(&mut hash);
        what.hash(&mut hash);
        hash.finish()
    }

    /// A key of its own for `purpose`.
    pub(super) fn key(&self, purpose: &str) -> [u8; 16] {
        let half = |n: u8| u128::from(self.hash(purpose, n));
        (half(0) << 64 | half(1)).to_be_bytes()
    }
}

impl Host {
    /// Sets the secret from which initial sequence numbers and SYN cookies derive. It must be known
    /// to this host only, and should be random at each start. Without it they derive from the seed:
    /// good for simulations, not for a network with attackers.
    pub fn set_secret(&mut self, secret: [u8; 16]) {
        self.secret = Secret::Key(secret);
        self.guard.reseed(self.secret.hash("rates", 0_u8));
    }

    /// The initial sequence number of a connection that begins now.
    pub(super) fn initial_sequence(&self, now: Instant, tuple: &FourTuple) -> SeqNum {
        if let Some(isn) = self.fixed_sequence {
            return isn;
        }
        let secret = match self.secret {
            Secret::Seed(seed) => (derive_isn(seed, tuple) >> 16) as u32,
            Secret::Key(_) => self.secret.hash("isn", tuple) as u32,
        };
        // RFC 6528 §3: and a clock of 4 us, so that a second incarnation has other numbers.
        SeqNum(secret) + (now.as_nanos() / 4_000) as u32
    }
}

/// Derived, not random: a simulation repeats. Mixes by multiplication (Steele & Vigna 2021).
fn derive_isn(seed: u64, tuple: &FourTuple) -> u64 {
    let address = match tuple.remote {
        IpAddr::V4(a) => u64::from(u32::from(a)),
        IpAddr::V6(a) => (u128::from(a) >> 64) as u64 ^ u128::from(a) as u64,
    };
    let ports = u64::from(tuple.local_port) << 16 | u64::from(tuple.remote_port);
    let mut x = seed ^ address.rotate_left(32) ^ ports;
    for _ in 0..2 {
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x ^= x >> 27;
    }
    x
}
