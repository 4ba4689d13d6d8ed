//! Random numbers that must not be predictable.

/// Returns 32 random bits. If the system has none, the process cannot run.
pub(crate) fn number() -> u32 {
    getrandom::u32().unwrap_or_else(|error| panic!("the system has no random numbers: {error}"))
}

/// Returns 64 random bits.
pub(crate) fn long_number() -> u64 {
    getrandom::u64().unwrap_or_else(|error| panic!("the system has no random numbers: {error}"))
}
