//! The memory of a path, in the map's form.

use super::field::{get, of, put};

/// The memory of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearntPath {
    /// Time at which the window was learnt, nanoseconds of `CLOCK_MONOTONIC`; wrapped, below 0, if
    /// that was before this boot.
    pub learnt_ns: u64,
    /// Bytes that peers acknowledged, over all closed connections.
    pub bytes_acked: u64,
    /// Segments with data of these connections, retransmissions included.
    pub sent: u64,
    /// Number of those segments that were retransmissions.
    pub retransmitted: u64,
    /// Delivery rate that flights have shown, bytes a second; 0: not measured.
    pub rate: u64,
    /// Remembered window, segments.
    pub window: u32,
    /// Window at which slow start ended, segments; 0 if it had not ended.
    pub ssthresh: u32,
    /// Smoothed round trip when the window was learnt, microseconds, queue included.
    pub srtt_us: u32,
    /// Lowest round trip, microseconds.
    pub min_rtt_us: u32,
    /// Connections closed.
    pub connections: u32,
    /// Number of those connections that started with a remembered window.
    pub warm: u32,
    /// Warm starts that lost a segment of their first flight.
    pub fallbacks: u32,
    /// Number of the last fallbacks without a success between them.
    pub fallbacks_in_row: u32,
}

impl LearntPath {
    /// Bytes of a value.
    pub const SIZE: usize = of("path", "").1;

    /// Decodes a value of the map; `None` if the bytes are not a path.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            learnt_ns: u64::from_ne_bytes(get!(bytes, "path", "learnt_ns", 8)),
            bytes_acked: u64::from_ne_bytes(get!(bytes, "path", "bytes_acked", 8)),
            sent: u64::from_ne_bytes(get!(bytes, "path", "sent", 8)),
            retransmitted: u64::from_ne_bytes(get!(bytes, "path", "retransmitted", 8)),
            rate: u64::from_ne_bytes(get!(bytes, "path", "rate", 8)),
            window: u32::from_ne_bytes(get!(bytes, "path", "window", 4)),
            ssthresh: u32::from_ne_bytes(get!(bytes, "path", "ssthresh", 4)),
            srtt_us: u32::from_ne_bytes(get!(bytes, "path", "srtt_us", 4)),
            min_rtt_us: u32::from_ne_bytes(get!(bytes, "path", "min_rtt_us", 4)),
            connections: u32::from_ne_bytes(get!(bytes, "path", "connections", 4)),
            warm: u32::from_ne_bytes(get!(bytes, "path", "warm", 4)),
            fallbacks: u32::from_ne_bytes(get!(bytes, "path", "fallbacks", 4)),
            fallbacks_in_row: u32::from_ne_bytes(get!(bytes, "path", "fallbacks_in_row", 4)),
        })
    }

    /// Returns the map's form of the value.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        put!(bytes, "path", "learnt_ns", self.learnt_ns.to_ne_bytes());
        put!(bytes, "path", "bytes_acked", self.bytes_acked.to_ne_bytes());
        put!(bytes, "path", "sent", self.sent.to_ne_bytes());
        put!(bytes, "path", "retransmitted", self.retransmitted.to_ne_bytes());
        put!(bytes, "path", "rate", self.rate.to_ne_bytes());
        put!(bytes, "path", "window", self.window.to_ne_bytes());
        put!(bytes, "path", "ssthresh", self.ssthresh.to_ne_bytes());
        put!(bytes, "path", "srtt_us", self.srtt_us.to_ne_bytes());
        put!(bytes, "path", "min_rtt_us", self.min_rtt_us.to_ne_bytes());
        put!(bytes, "path", "connections", self.connections.to_ne_bytes());
        put!(bytes, "path", "warm", self.warm.to_ne_bytes());
        put!(bytes, "path", "fallbacks", self.fallbacks.to_ne_bytes());
        put!(bytes, "path", "fallbacks_in_row", self.fallbacks_in_row.to_ne_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_as_they_went() {
        let mut bytes = [0; LearntPath::SIZE];
        bytes.iter_mut().zip(0..).for_each(|(byte, n)| *byte = n);
        assert_eq!(LearntPath::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    }
}
