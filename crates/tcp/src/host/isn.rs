//! Initial sequence numbers (RFC 6528).

use super::Host;
use crate::tuple::FourTuple;
use std::net::IpAddr;
use units::{Instant, SeqNum};

impl Host {
    /// Derived, not random: a simulation repeats. Mixes by multiplication (Steele & Vigna 2021).
    pub(super) fn initial_sequence(&self, now: Instant, tuple: &FourTuple) -> SeqNum {
        if let Some(isn) = self.fixed_sequence {
            return isn;
        }
        let address = match tuple.remote {
            IpAddr::V4(a) => u64::from(u32::from(a)),
            IpAddr::V6(a) => (u128::from(a) >> 64) as u64 ^ u128::from(a) as u64,
        };
        let ports = u64::from(tuple.local_port) << 16 | u64::from(tuple.remote_port);
        let mut x = self.config.seed ^ address.rotate_left(32) ^ ports;
        for _ in 0..2 {
            x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            x ^= x >> 27;
        }
        // RFC 6528 §3: and a clock of 4 us, so that a second incarnation has other numbers.
        SeqNum((x >> 16) as u32) + (now.as_nanos() / 4_000) as u32
    }
}
