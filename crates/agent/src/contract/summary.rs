//! The report of a connection, sent when it closes.

use super::field::{constant, get, of};
use super::key::PrefixKey;
use super::start_reason::StartReason;
use std::fmt::{self, Display, Formatter};

/// Report of a closed connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionSummary {
    /// Its path.
    pub path: PrefixKey,
    /// Time from its opening to the last arrival at the peer, less pauses longer than a round trip,
    /// nanoseconds.
    pub lasted_ns: u64,
    /// Bytes that the peer acknowledged.
    pub bytes_acked: u64,
    /// Window it began with, segments.
    pub first_window: u32,
    /// Window it ended with, segments.
    pub last_window: u32,
    /// Smoothed round trip at its end, microseconds.
    pub srtt_us: u32,
    /// Lowest round trip, microseconds.
    pub min_rtt_us: u32,
    /// Segments with data, retransmissions included.
    pub sent: u32,
    /// Retransmissions.
    pub retransmitted: u32,
    /// Window that it left in memory, segments; 0 if none.
    pub learnt: u32,
    /// True if it began with a remembered window.
    pub is_warm: bool,
    /// Something of a remembered first window was lost.
    pub has_fallen_back: bool,
    /// True if it began cold so that others can be compared with it.
    pub in_control_group: bool,
    /// Something of its very first flight was lost, however large that was.
    pub has_lost_first: bool,
    /// Times that it began with a remembered window after idle.
    pub restarts: u32,
    /// First window that the memory proposed, taken or not, segments; 0 if none.
    pub would: u32,
    /// The memory had a window, and only chance decided whether the connection uses it;
    /// [`Self::in_control_group`] has the outcome.
    pub is_compared: bool,
    /// Window that the memory had as it opened or began to be compared, segments; 0 if none.
    pub remembered: u32,
    /// Round trip of its handshake, microseconds.
    pub handshake_us: u32,
    /// Stage of the canary in which it opened.
    pub stage: u32,
    /// Kind of its start.
    pub start: StartReason,
    /// Delivery rate of its flights, if only of the longest; otherwise the remembered rate of its
    /// path; bytes a second; 0: not known.
    pub rate: u64,
    /// The rate was shown by the connection itself. A remembered one may come from a gateway: it is
    /// no measurement.
    pub has_shown_rate: bool,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Largest number of segments that were outstanding at a time and were all delivered; 0: not
    /// known.
    pub flight: u32,
    /// Class of the bytes that earlier connections of its path carried in the mean
    /// (`canary::part::SIZES`).
    pub path_carried: u8,
    /// Class of the segments that they retransmitted (`canary::part::LOSSES`).
    pub path_lost: u8,
    /// A loss, or BBR, has measured the window that it left in memory; otherwise that window is a
    /// lower bound of the path.
    pub has_measured: bool,
}

impl ConnectionSummary {
    /// Bytes of a summary.
    pub const SIZE: usize = of("summary", "").1;
    const WARM: u32 = constant("SUMMARY_WARM");
    const FELL_BACK: u32 = constant("SUMMARY_FELL_BACK");
    const CONTROL_GROUP: u32 = constant("SUMMARY_CONTROL_GROUP");
    const LOST_FIRST: u32 = constant("SUMMARY_LOST_FIRST");
    const COMPARED: u32 = constant("SUMMARY_COMPARED");
    const MEASURED: u32 = constant("SUMMARY_MEASURED");
    const SHOWN_RATE: u32 = constant("SUMMARY_SHOWN_RATE");

    /// Decodes an entry of the ring buffer; `None` if the bytes are not a summary.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..Self::SIZE)?;
        let path = PrefixKey::from_bytes(&get!(bytes, "summary", "path", PrefixKey::SIZE))?;
        let flags = u32::from_ne_bytes(get!(bytes, "summary", "flags", 4));
        let past = u32::from_ne_bytes(get!(bytes, "summary", "past", 4));
        Some(Self {
            path,
            lasted_ns: u64::from_ne_bytes(get!(bytes, "summary", "lasted_ns", 8)),
            bytes_acked: u64::from_ne_bytes(get!(bytes, "summary", "bytes_acked", 8)),
            first_window: u32::from_ne_bytes(get!(bytes, "summary", "first_window", 4)),
            last_window: u32::from_ne_bytes(get!(bytes, "summary", "last_window", 4)),
            srtt_us: u32::from_ne_bytes(get!(bytes, "summary", "srtt_us", 4)),
            min_rtt_us: u32::from_ne_bytes(get!(bytes, "summary", "min_rtt_us", 4)),
            sent: u32::from_ne_bytes(get!(bytes, "summary", "sent", 4)),
            retransmitted: u32::from_ne_bytes(get!(bytes, "summary", "retransmitted", 4)),
            learnt: u32::from_ne_bytes(get!(bytes, "summary", "learnt", 4)),
            is_warm: flags & Self::WARM != 0,
            has_fallen_back: flags & Self::FELL_BACK != 0,
            in_control_group: flags & Self::CONTROL_GROUP != 0,
            has_lost_first: flags & Self::LOST_FIRST != 0,
            restarts: u32::from_ne_bytes(get!(bytes, "summary", "restarts", 4)),
            would: u32::from_ne_bytes(get!(bytes, "summary", "proposed", 4)),
            is_compared: flags & Self::COMPARED != 0,
            remembered: u32::from_ne_bytes(get!(bytes, "summary", "remembered", 4)),
            handshake_us: u32::from_ne_bytes(get!(bytes, "summary", "handshake_us", 4)),
            stage: u32::from_ne_bytes(get!(bytes, "summary", "stage", 4)),
            start: StartReason::of(u32::from_ne_bytes(get!(bytes, "summary", "start", 4)))?,
            rate: u64::from_ne_bytes(get!(bytes, "summary", "rate", 8)),
            has_shown_rate: flags & Self::SHOWN_RATE != 0,
            mss: u32::from_ne_bytes(get!(bytes, "summary", "mss", 4)),
            flight: u32::from_ne_bytes(get!(bytes, "summary", "flight", 4)),
            path_carried: class_in(past, constant("CARRIED_BITS"), constant("SIZE_CLASSES")),
            path_lost: class_in(past, constant("LOST_BITS"), constant("LOSS_CLASSES")),
            has_measured: flags & Self::MEASURED != 0,
        })
    }
}

/// Returns the class whose bit is set, of `classes` bits from `first` on; the lowest if none is.
const fn class_in(bits: u32, first: u32, classes: u32) -> u8 {
    let bits = (bits >> first) & ((1 << classes) - 1);
    if bits == 0 { 0 } else { bits.trailing_zeros() as u8 }
}

impl Display for ConnectionSummary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "connection to {}: start={} window={} proposed={} remembered={} handshake_ms={:.1} compared={} stage={} fell_back={} \
             restarts={} bytes={} sent={} retransmitted={} lasted_ms={:.1} learnt={}",
            self.path.prefix,
            self.start.name(),
            self.first_window,
            self.would,
            self.remembered,
            f64::from(self.handshake_us) / 1e3,
            self.is_compared,
            self.stage,
            self.has_fallen_back,
            self.restarts,
            self.bytes_acked,
            self.sent,
            self.retransmitted,
            self.lasted_ns as f64 / 1e6,
            self.learnt,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_short_is_nothing() {
        assert_eq!(ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE - 1]), None);
        assert!(ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).is_some());
    }

    #[test]
    fn what_a_path_carried_and_lost_are_bits_of_one_word() {
        let mut bytes = [0; ConnectionSummary::SIZE];
        let past = of("summary", "past").0;
        // Bit 3 of the sizes, which begin with bit 0, and bit 2 of the losses, which begin with bit
        // 8.
        bytes[past..past + 4].copy_from_slice(&(1_u32 << 3 | 1 << 10).to_ne_bytes());
        let summary = ConnectionSummary::from_bytes(&bytes).unwrap();
        assert_eq!((summary.path_carried, summary.path_lost), (3, 2));
        assert_eq!((class_in(0, 0, 5), class_in(1 << 12, 8, 4)), (0, 0));
    }
}
