//! Offsets and sizes of fields, and constants, by the names of the header. The other modules of the
//! contract read and write by them.

use super::layout::{CONSTANTS, FIELDS};

/// Returns the offset and size of a field, by the names of the header; "" stands for the whole
/// struct. Does not compile if there is no such field.
pub(super) const fn of(structure: &str, name: &str) -> (usize, usize) {
    let mut n = 0;
    while n < FIELDS.len() {
        if is_same(FIELDS[n].of, structure) && is_same(FIELDS[n].name, name) {
            return (FIELDS[n].at, FIELDS[n].size);
        }
        n += 1;
    }
    panic!("no such field in contract.h")
}

/// Returns a constant by its name in the header; does not compile if there is none.
pub(super) const fn constant(name: &str) -> u32 {
    let mut n = 0;
    while n < CONSTANTS.len() {
        if is_same(CONSTANTS[n].0, name) {
            return CONSTANTS[n].1;
        }
        n += 1;
    }
    panic!("no such constant in contract.h")
}

/// Returns true if both texts are equal. A `const fn` cannot use `==` on `str`.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut n = 0;
    while n < a.len() && n < b.len() && a[n] == b[n] {
        n += 1;
    }
    n == a.len() && n == b.len()
}

/// Reads the bytes of a field; their number is checked at compile time.
macro_rules! get {
    ($bytes:expr, $structure:literal, $name:literal, $size:expr) => {{
        const FIELD: (usize, usize) = of($structure, $name);
        const { assert!(FIELD.1 == $size, "a field of contract.h has another size") };
        *$bytes.get(FIELD.0..)?.first_chunk::<{ FIELD.1 }>()?
    }};
}

/// Sets a field to bytes, of which there have to be as many as it has.
macro_rules! put {
    ($bytes:expr, $structure:literal, $name:literal, $value:expr) => {{
        const FIELD: (usize, usize) = of($structure, $name);
        let value: [u8; FIELD.1] = $value;
        $bytes[FIELD.0..FIELD.0 + FIELD.1].copy_from_slice(&value);
    }};
}

pub(super) use {get, put};
