//! Counts that the programs keep in arrays of the kernel, one of 64 bits for each thing that is counted.

use libbpf_rs::{MapCore, MapFlags};

/// The count at this place of an array; 0 if the kernel does not tell.
pub(super) fn counter(map: &dyn MapCore, place: u32) -> u64 {
    let bytes = map.lookup(&place.to_ne_bytes(), MapFlags::ANY).ok().flatten();
    bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}
