//! Counters of the packets received, by their ECN field (RFC 9768 §3.2.1).

use crate::segment::{Ecn, EcnCounters};

/// A counter of the option that grows by this much is reported: it has 24 bits, and must not wrap
/// unseen.
const REPORTED_GROWTH_BITS: u32 = 22;

/// Counters of a data receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedMarks {
    /// Packets with CE, pure ACKs included.
    packets: u32,
    /// Packets with CE that no segment has reported yet.
    unreported: u32,
    /// Payload with ECT(1), CE and ECT(0), bytes.
    bytes: [u32; EcnCounters::MAX_COUNTERS],
    /// The ECN field of the last packet.
    last: Ecn,
    /// The last packet changed the field, and had no data that would be acknowledged.
    pending_change: bool,
    /// Counters of the next option that have changed: up to the last of them.
    min_counters: usize,
    /// Segments that are to have an option.
    options_due: u8,
}

impl ReceivedMarks {
    /// A server starts with the ECN field of the SYN.
    pub(super) const fn start(&mut self, syn: Ecn) {
        self.last = syn;
        self.options_due = 1;
    }

    /// The SYN-ACK was marked.
    pub(super) const fn on_marked_syn_ack(&mut self) {
        self.packets += 1;
        self.unreported += 1;
    }

    /// Returns the number of packets with CE that no segment has reported yet.
    pub(super) const fn unreported(&self) -> u32 {
        self.unreported
    }

    /// Returns how many counters the next option needs: up to the last that has changed.
    pub(super) const fn needed_counters(&self) -> usize {
        self.min_counters
    }

    /// Returns true if the next segment is to have an option.
    pub(super) const fn is_option_due(&self) -> bool {
        self.options_due > 0
    }

    /// At least this many segments are to have an option.
    pub(super) fn demand_options(&mut self, least: u8) {
        self.options_due = self.options_due.max(least);
    }

    /// Counts a packet with `len` bytes of payload. True if an ACK is due at once: data brings
    /// another ECN field than the packet before (RFC 9768 §3.2.2.5.1).
    pub(super) fn on_segment(&mut self, field: Ecn, len: u32) -> bool {
        let is_marked = field == Ecn::Ce;
        if is_marked {
            self.packets = self.packets.wrapping_add(1);
            self.unreported += 1;
        }
        if len > 0 {
            self.count_bytes(field, len);
        }
        let changed = field != self.last;
        if changed || is_marked {
            self.last = field;
            self.demand_options(super::OPTIONS_PER_CHANGE);
        }
        self.pending_change |= changed;
        len > 0 && std::mem::take(&mut self.pending_change)
    }

    fn count_bytes(&mut self, field: Ecn, len: u32) {
        let Some(index) = EcnCounters::index_of(field) else { return };
        let before = self.bytes[index];
        self.bytes[index] = before.wrapping_add(len);
        self.min_counters = self.min_counters.max(index + 1);
        if (before ^ self.bytes[index]) >> REPORTED_GROWTH_BITS != 0 {
            self.demand_options(1);
        }
    }

    /// Returns the ACE field of a segment that is sent.
    pub(super) const fn report(&mut self) -> u8 {
        self.unreported = 0;
        (EcnCounters::INITIAL_PACKETS.wrapping_add(self.packets) & 7) as u8
    }

    /// Returns the counters of an option, in the order ECT(1), CE, ECT(0).
    pub(super) fn counters(&self) -> [u32; EcnCounters::MAX_COUNTERS] {
        let mut counters = EcnCounters::INITIAL;
        for (counter, bytes) in counters.iter_mut().zip(self.bytes) {
            *counter = counter.wrapping_add(bytes);
        }
        counters
    }

    /// An option is sent.
    pub(super) const fn on_option_sent(&mut self) {
        self.min_counters = 0;
        self.options_due = self.options_due.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 §3.2.1: the counters begin with 5 packets, and with 1, 0 and 1 bytes. §3.2.2: the
    /// field is the counter modulo 8. The CE counter is the second of the option.
    #[test]
    fn counters_begin_as_the_rfc_says_and_count_by_the_field() {
        let mut marks = ReceivedMarks::default();
        assert_eq!((marks.report(), marks.counters()), (5, [1, 0, 1]));
        for _ in 0..3 {
            marks.on_segment(Ecn::Ce, 100);
        }
        assert_eq!((marks.min_counters, marks.unreported), (2, 3));
        assert_eq!((marks.report(), marks.unreported), (0, 0));
        // A pure ACK counts as a packet; Not-ECT counts nowhere.
        marks.on_segment(Ecn::Ce, 0);
        marks.on_segment(Ecn::NotEct, 50);
        marks.on_segment(Ecn::Ect0, 7);
        marks.on_segment(Ecn::Ect1, 9);
        assert_eq!((marks.report(), marks.counters()), (1, [10, 300, 8]));
        assert_eq!(marks.min_counters, 3);
    }

    /// A marked SYN-ACK is a packet without data (RFC 9768 §3.2.2.1).
    #[test]
    fn a_marked_syn_ack_is_the_first_mark() {
        let mut marks = ReceivedMarks::default();
        marks.on_marked_syn_ack();
        assert_eq!((marks.unreported, marks.report(), marks.counters()), (1, 6, [1, 0, 1]));
    }

    /// A change of the field is acknowledged once, with the next data; marks in a row are no change
    /// (RFC 9768 §3.2.2.5.1).
    #[test]
    fn data_with_another_field_is_acknowledged_at_once() {
        let mut marks = ReceivedMarks::default();
        marks.start(Ecn::NotEct);
        assert_eq!(marks.options_due, 1, "the first segment behind a SYN has an option");
        assert!(!marks.on_segment(Ecn::Ect0, 0), "a pure ACK waits for data");
        assert_eq!(marks.min_counters, 0, "it has no bytes");
        assert!(marks.on_segment(Ecn::Ect0, 1));
        assert!(!marks.on_segment(Ecn::Ect0, 1));
        assert!(marks.on_segment(Ecn::Ce, 1));
        assert!(!marks.on_segment(Ecn::Ce, 1));
    }

    /// Two options follow a change and each mark, one follows growth over a multiple of 2^22.
    #[test]
    fn options_are_due_after_changes_and_growth() {
        let mut marks = ReceivedMarks::default();
        marks.on_segment(Ecn::Ect0, 1);
        assert_eq!(marks.options_due, 2);
        marks.on_option_sent();
        marks.on_option_sent();
        marks.on_option_sent();
        assert_eq!(marks.options_due, 0);
        marks.on_segment(Ecn::Ect0, (1 << 22) - 2);
        assert_eq!(marks.options_due, 0);
        marks.on_segment(Ecn::Ect0, 1);
        assert_eq!(marks.options_due, 1);
    }
}
