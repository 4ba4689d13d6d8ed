//! Counters that the programs keep in arrays of the kernel, 64 bits each.

use libbpf_rs::{MapCore, MapFlags};

/// Returns the counter at this index of an array; 0 if it cannot be read.
pub(super) fn counter(map: &dyn MapCore, place: u32) -> u64 {
    let bytes = map.lookup(&place.to_ne_bytes(), MapFlags::ANY).ok().flatten();
    bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}
