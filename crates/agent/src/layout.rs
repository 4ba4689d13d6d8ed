// What lies where in the structs of `bpf/contract.h`, and the bits of their flags: the one table of it in Rust. `contract.rs` reads
// and writes by it, and the build script, which includes this file, has clang check each line against the header: a field whose
// name, offset or size differs on either side fails the build.

/// A field of a struct of the header, in bytes.
pub(crate) struct Field {
    pub(crate) of: &'static str,
    pub(crate) name: &'static str,
    pub(crate) at: usize,
    pub(crate) size: usize,
}

const fn field(of: &'static str, name: &'static str, at: usize, size: usize) -> Field {
    Field { of, name, at, size }
}

/// All fields of all structs, each struct's in their order.
pub(crate) const FIELDS: [Field; 50] = [
    field("path_key", "netns", 0, 4),
    field("path_key", "bits", 4, 4),
    field("path_key", "address", 8, 16),
    field("path", "learnt_ns", 0, 8),
    field("path", "bytes_acked", 8, 8),
    field("path", "sent", 16, 8),
    field("path", "retransmitted", 24, 8),
    field("path", "rate", 32, 8),
    field("path", "window", 40, 4),
    field("path", "ssthresh", 44, 4),
    field("path", "srtt_us", 48, 4),
    field("path", "min_rtt_us", 52, 4),
    field("path", "connections", 56, 4),
    field("path", "warm", 60, 4),
    field("path", "fallbacks", 64, 4),
    field("path", "fallbacks_in_row", 68, 4),
    field("override_key", "bits", 0, 4),
    field("override_key", "address", 4, 16),
    field("override", "bits", 0, 4),
    field("override", "cap", 4, 4),
    field("settings", "max_age_ns", 0, 8),
    field("settings", "half_life_rtts", 8, 4),
    field("settings", "cap", 12, 4),
    field("settings", "v4_bits", 16, 4),
    field("settings", "v6_bits", 20, 4),
    field("settings", "control", 24, 4),
    field("settings", "control_group", 28, 4),
    field("settings", "salt", 32, 4),
    field("settings", "flags", 36, 4),
    field("settings", "mark", 40, 4),
    field("settings", "receive_window", 44, 4),
    field("summary", "path", 0, 24),
    field("summary", "lasted_ns", 24, 8),
    field("summary", "bytes_acked", 32, 8),
    field("summary", "first_window", 40, 4),
    field("summary", "last_window", 44, 4),
    field("summary", "srtt_us", 48, 4),
    field("summary", "min_rtt_us", 52, 4),
    field("summary", "sent", 56, 4),
    field("summary", "retransmitted", 60, 4),
    field("summary", "learnt", 64, 4),
    field("summary", "flags", 68, 4),
    field("summary", "restarts", 72, 4),
    field("summary", "proposed", 76, 4),
    // Structs as a whole.
    field("path_key", "", 0, 24),
    field("path", "", 0, 72),
    field("override_key", "", 0, 20),
    field("override", "", 0, 8),
    field("settings", "", 0, 48),
    field("summary", "", 0, 80),
];

/// Constants of the header by their names there.
pub(crate) const CONSTANTS: [(&str, u32); 16] = [
    ("CONTROL_AUTO", 0),
    ("CONTROL_CUBIC", 1),
    ("CONTROL_BBR", 2),
    ("CONTROL_SESSION", 3),
    ("LEAVE_WINDOWS", 1),
    ("ONLY_PORTS", 2),
    ("PACE_COLD", 4),
    ("SHARE_NAMESPACES", 8),
    ("END_EPOCHS", 16),
    ("PORT_REMOTE", 1 << 16),
    ("PORT_ONLY", 1),
    ("PORT_EXCEPT", 2),
    ("SUMMARY_WARM", 1),
    ("SUMMARY_FELL_BACK", 2),
    ("SUMMARY_CONTROL_GROUP", 4),
    ("SUMMARY_LOST_FIRST", 8),
];
