//! Two hosts and a third that forges segments, ICMP and floods.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    tcp::testing::play_crowd(data);
});
