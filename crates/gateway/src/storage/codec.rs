//! The binary format of networks' records, for the snapshot and for a shared store. All numbers are
//! little-endian.
//!
//! A record has these fields in order:
//! - family (4 or 6) and length of the prefix, a byte each
//! - its address, 4 or 16 bytes
//! - origin, time and sequence, 4 bytes each
//! - the number of samples, a byte, and 7 bytes for each sample

use ipnet::IpNet;
use memory::site::SiteRecord;
use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Size of a sample, bytes.
const SAMPLE: usize = SiteRecord::SAMPLE_BYTES;

/// The reason why bytes are no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecError {
    /// The bytes end within a record.
    Cut,
    /// The family is neither 4 nor 6.
    Family(u8),
    /// The prefix has more bits than the family, or bits after its length.
    Prefix,
}

impl Display for CodecError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str("they end within a record"),
            Self::Family(family) => write!(f, "no family of addresses {family}"),
            Self::Prefix => f.write_str("a prefix that is none"),
        }
    }
}

impl std::error::Error for CodecError {}

/// Appends `record` to `bytes`. It leaves out samples after the 255th.
pub fn encode(record: &SiteRecord, bytes: &mut Vec<u8>) {
    let network = record.network.trunc();
    match network.addr() {
        IpAddr::V4(address) => {
            bytes.extend([4, network.prefix_len()]);
            bytes.extend(address.octets());
        }
        IpAddr::V6(address) => {
            bytes.extend([6, network.prefix_len()]);
            bytes.extend(address.octets());
        }
    }
    for number in [record.origin, record.newest_at, record.sequence] {
        bytes.extend(number.to_le_bytes());
    }
    let count = u8::try_from(record.samples.len() / SAMPLE).unwrap_or(u8::MAX);
    bytes.push(count);
    bytes.extend(&record.samples[..usize::from(count) * SAMPLE]);
}

/// Removes the first record from `bytes`, and returns it.
///
/// # Errors
/// If there is none.
pub fn decode(bytes: &mut &[u8]) -> Result<SiteRecord, CodecError> {
    let [family, length] = take(bytes)?;
    let address = match family {
        4 => IpAddr::from(Ipv4Addr::from(take::<4>(bytes)?)),
        6 => IpAddr::from(Ipv6Addr::from(take::<16>(bytes)?)),
        other => return Err(CodecError::Family(other)),
    };
    let network = IpNet::new(address, length).map_err(|_| CodecError::Prefix)?;
    if network != network.trunc() {
        return Err(CodecError::Prefix);
    }
    let mut number = || take(bytes).map(u32::from_le_bytes);
    let (origin, newest_at, sequence) = (number()?, number()?, number()?);
    let [count] = take(bytes)?;
    let samples = bytes.split_off(..usize::from(count) * SAMPLE).ok_or(CodecError::Cut)?.to_vec();
    Ok(SiteRecord { network, origin, newest_at, sequence, samples })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], CodecError> {
    let (taken, rest) = bytes.split_first_chunk().ok_or(CodecError::Cut)?;
    *bytes = rest;
    Ok(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records() -> impl Strategy<Value = SiteRecord> {
        let network =
            (any::<u128>(), 0_u8..=128, any::<bool>()).prop_map(|(bits, length, six)| match six {
                true => IpNet::new(Ipv6Addr::from(bits).into(), length),
                false => IpNet::new(Ipv4Addr::from(bits as u32).into(), length.min(32)),
            });
        let samples = prop::collection::vec(any::<[u8; SAMPLE]>(), 0..=64);
        (network, any::<[u32; 3]>(), samples).prop_map(
            |(network, [origin, newest_at, sequence], samples)| {
                let network = network.unwrap().trunc();
                SiteRecord { network, origin, newest_at, sequence, samples: samples.concat() }
            },
        )
    }

    proptest! {
        #[test]
        fn records_come_back(all in prop::collection::vec(records(), 0..20)) {
            let mut bytes = Vec::new();
            all.iter().for_each(|record| encode(record, &mut bytes));
            let mut rest = &bytes[..];
            for record in &all {
                prop_assert_eq!(&decode(&mut rest).unwrap(), record);
            }
            prop_assert!(rest.is_empty());
        }

        /// Any bytes are records or an error, and writing a decoded record yields the bytes that
        /// were read.
        #[test]
        fn any_bytes_are_taken_or_refused(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            if let Ok(record) = decode(&mut rest) {
                let mut again = Vec::new();
                encode(&record, &mut again);
                prop_assert_eq!(&again[..], &bytes[..bytes.len() - rest.len()]);
            }
        }
    }

    #[test]
    fn a_record_has_the_bytes_that_are_documented() {
        let record = SiteRecord {
            network: "192.0.2.0/24".parse().unwrap(),
            origin: 1,
            newest_at: 2,
            sequence: 3,
            samples: vec![9; 7],
        };
        let mut bytes = Vec::new();
        encode(&record, &mut bytes);
        let expected =
            [4, 24, 192, 0, 2, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9];
        assert_eq!(bytes, expected);
        assert_eq!(decode(&mut &bytes[..25]), Err(CodecError::Cut));
        bytes[5] = 1;
        assert_eq!(decode(&mut &bytes[..]), Err(CodecError::Prefix));
    }
}
