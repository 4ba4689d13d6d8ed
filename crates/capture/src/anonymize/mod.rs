//! Replaces addresses by others that hide the hosts, and keep which addresses are in one network.
//!
//! The replacement preserves prefixes like Crypto-PAn (Xu, Fan, Ammar & Moon 2002). Two addresses
//! share exactly as many leading bits afterwards as before, so networks stay networks. A keyed
//! function of the bits before decides for each bit whether it is inverted. The function is
//! SipHash-2-4 instead of AES.

mod packet;

use siphasher::sip::SipHasher24;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Number of addresses that are cached, since most packets are of few.
const REMEMBERED: usize = 1 << 16;

/// Replaces addresses; with one key, equal addresses have equal replacements. The key can undo it.
pub struct Anonymizer {
    key: [u8; 16],
    known: HashMap<IpAddr, IpAddr>,
}

impl Anonymizer {
    /// Creates an anonymizer with the caller's key.
    pub fn new(key: [u8; 16]) -> Self {
        Self { key, known: HashMap::new() }
    }

    /// Creates an anonymizer with a key derived from a secret of any length.
    pub fn of_secret(secret: &[u8]) -> Self {
        use sha2::{Digest, Sha256};
        let digest: [u8; 32] = Sha256::digest(secret).into();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self::new(key)
    }

    /// Creates an anonymizer with a random key, which is never shown.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        Ok(Self::new(key))
    }

    /// Returns the replacement of an address; of the same family.
    pub fn address(&mut self, address: IpAddr) -> IpAddr {
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let instead = match address {
            IpAddr::V4(address) => IpAddr::V4(self.v4(address)),
            IpAddr::V6(address) => IpAddr::V6(self.v6(address)),
        };
        if self.known.len() == REMEMBERED {
            self.known.clear();
        }
        self.known.insert(address, instead);
        instead
    }

    fn v4(&self, address: Ipv4Addr) -> Ipv4Addr {
        let bits = u128::from(u32::from(address)) << 96;
        Ipv4Addr::from((self.bits(bits, 32) >> 96) as u32)
    }

    fn v6(&self, address: Ipv6Addr) -> Ipv6Addr {
        Ipv6Addr::from(self.bits(address.into(), 128))
    }

    /// Inverts each of the first `len` bits or not.
    fn bits(&self, bits: u128, len: u32) -> u128 {
        let turned = (0..len).filter(|at| self.inverts_bit(bits, *at, len));
        turned.fold(bits, |all, at| all ^ 1 << (127 - at))
    }

    /// Returns whether a bit is inverted: a function of the bits before it alone.
    fn inverts_bit(&self, bits: u128, at: u32, len: u32) -> bool {
        let before = if at == 0 { 0 } else { bits >> (128 - at) };
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write_u128(before);
        hasher.write_u32(at);
        hasher.write_u32(len);
        hasher.finish() & 1 == 1
    }
}

impl fmt::Debug for Anonymizer {
    /// Formats the type without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Anonymizer").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shared(a: IpAddr, b: IpAddr) -> u32 {
        match (a, b) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (u32::from(a) ^ u32::from(b)).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (u128::from(a) ^ u128::from(b)).leading_zeros(),
            _ => panic!("{a} and {b} are of different families"),
        }
    }

    /// Returns two addresses of one family, of which any number of leading bits may be the same.
    fn pair() -> impl Strategy<Value = (IpAddr, IpAddr)> {
        let v4 = (any::<u32>(), any::<u32>(), 0..=32_u32).prop_map(|(a, b, same)| {
            let other = a ^ b.checked_shr(same).unwrap_or(0);
            (IpAddr::V4(a.into()), IpAddr::V4(other.into()))
        });
        let v6 = (any::<u128>(), any::<u128>(), 0..=128_u32).prop_map(|(a, b, same)| {
            let other = a ^ b.checked_shr(same).unwrap_or(0);
            (IpAddr::V6(a.into()), IpAddr::V6(other.into()))
        });
        prop_oneof![v4, v6]
    }

    proptest! {
        /// With any key, exactly as many leading bits are shared after as before; so the
        /// replacement is one to one.
        #[test]
        fn prefixes_are_preserved((a, b) in pair(), key: [u8; 16]) {
            let mut anonymizer = Anonymizer::new(key);
            let (x, y) = (anonymizer.address(a), anonymizer.address(b));
            prop_assert_eq!(shared(x, y), shared(a, b));
            prop_assert_eq!(anonymizer.address(a), x, "the same again");
            prop_assert_eq!(Anonymizer::new(key).address(b), y, "and by another with the same key");
        }
    }

    /// Inversions are as good as random. The first bits are inverted for all addresses or for none,
    /// but after 16 bits no two of these addresses are alike. So half of 2,000 times 16 bits are
    /// inverted, with a standard deviation of 89; 320 are 3.6 of them.
    #[test]
    fn half_of_the_bits_are_turned() {
        let mut anonymizer = Anonymizer::of_secret(b"a secret");
        let turned: u32 = (0..2_000_u32)
            .map(|n| n.wrapping_mul(0x9e37_79b9))
            .map(|n| match anonymizer.address(IpAddr::V4(n.into())) {
                IpAddr::V4(instead) => ((u32::from(instead) ^ n) & 0xffff).count_ones(),
                IpAddr::V6(_) => panic!("another family"),
            })
            .sum();
        assert!((15_680..=16_320).contains(&turned), "{turned}");
    }

    #[test]
    fn keys_differ_and_are_not_shown() {
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let of = |secret: &[u8]| Anonymizer::of_secret(secret).address(address);
        assert_ne!(of(b"one"), of(b"another"));
        assert_eq!(of(b"one"), of(b"one"));
        let random = [(); 2].map(|()| Anonymizer::random().unwrap().address(address));
        assert_ne!(random[0], random[1], "once in four thousand million runs");
        assert_eq!(format!("{:?}", Anonymizer::new([7; 16])), "Anonymizer { .. }");
    }

    /// The cache has a limit for any number of addresses, and replacements stay the same.
    #[test]
    fn memory_is_bounded() {
        let mut anonymizer = Anonymizer::new([1; 16]);
        let of = |n: u32| IpAddr::V4(n.into());
        let first = anonymizer.address(of(0));
        (0..REMEMBERED as u32 + 10).for_each(|n| {
            anonymizer.address(of(n));
        });
        assert!(anonymizer.known.len() <= REMEMBERED);
        assert_eq!(anonymizer.address(of(0)), first);
    }
}
