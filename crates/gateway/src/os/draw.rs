//! Random numbers, where somebody could make use of knowing them.

/// 32 random bits. Where the system has none, the process has no business to run.
pub(crate) fn number() -> u32 {
    getrandom::u32().unwrap_or_else(|error| panic!("the system has no random numbers: {error}"))
}

/// 64 random bits.
pub(crate) fn long_number() -> u64 {
    getrandom::u64().unwrap_or_else(|error| panic!("the system has no random numbers: {error}"))
}
