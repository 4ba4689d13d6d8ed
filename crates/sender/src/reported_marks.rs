//! Marks that the peer reports by Accurate ECN (RFC 9768 §3.2.2.5 and appendix A): its ACE field
//! has three bits, and the option, where it fits, the bytes.

use crate::Sender;
use crate::acknowledgement::{AccurateFeedback, Acknowledgement};
use policy::ack::AckInfo;
use policy::config::EcnMode;
use segment::EcnCounters;

/// Values of the ACE field.
const ACE_VALUES: u32 = 8;
/// Weight of the mean of segments per ACK, and its unit: 1/64 (Linux `PKTS_ACKED_WEIGHT`).
const MEAN_UNIT: u64 = 64;
/// With more segments per ACK on average, a large ACK says nothing of lost ACKs (Linux
/// `ACK_COMP_THRESH`).
const SEGMENTS_OF_THINNED_ACKS: u64 = 4;

/// Counters of marks since the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkCounts {
    /// Packets with CE.
    pub packets: u32,
    /// Payload with ECT(1), CE and ECT(0), bytes.
    pub bytes: [u32; EcnCounters::MAX_COUNTERS],
}

/// Counters that the peer has reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReportedMarks {
    counts: MarkCounts,
    /// The counter of the option that grows by what is delivered while options are missing.
    growing: Option<usize>,
    /// Mean of segments that an ACK delivers, in units of 1 / [`MEAN_UNIT`].
    segments_per_ack: u64,
}

/// Newly delivered data, and how it may be judged.
#[derive(Clone, Copy, Debug)]
struct NewlyDelivered {
    segments: u32,
    bytes: u32,
    mss: u64,
    /// The number of segments is exact: SACK is in use, or nothing is repaired.
    is_exact: bool,
}

impl Sender {
    /// Returns the marks that the peer has reported by Accurate ECN; `None` without it.
    pub fn reported_marks(&self) -> Option<MarkCounts> {
        self.reported.as_deref().map(|reported| reported.counts)
    }

    /// The peer has reported that the SYN-ACK was marked (RFC 9768 §3.2.2.1).
    pub fn count_marked_syn_ack(&mut self) {
        if let Some(reported) = self.reported.as_deref_mut() {
            reported.counts.packets = reported.counts.packets.max(1);
        }
    }

    /// A connection is joined whose peer has this ACE field: marks count from here on.
    pub fn join_accurate_ecn(&mut self, ace: u8) {
        let packets = (u32::from(ace) + ACE_VALUES - EcnCounters::INITIAL_PACKETS) % ACE_VALUES;
        let counts = MarkCounts { packets, ..MarkCounts::default() };
        self.terms.ecn = EcnMode::Accurate;
        self.reported = Some(Box::new(ReportedMarks { counts, ..ReportedMarks::default() }));
    }

    /// Returns the ACE field that reports no new mark; `None` without Accurate ECN.
    pub fn expected_ace(&self) -> Option<u8> {
        let packets = self.reported_marks()?.packets;
        Some((EcnCounters::INITIAL_PACKETS.wrapping_add(packets) % ACE_VALUES) as u8)
    }

    /// Takes the counters of an acknowledgement that concerns no outstanding data: pure ACKs of
    /// ours may have been marked.
    pub fn note_idle_marks(&mut self, ack: &Acknowledgement<'_>) {
        let delivered = NewlyDelivered { segments: 0, bytes: 0, mss: 0, is_exact: true };
        if ack.feedback.is_some_and(|feedback| feedback.advances_clock) {
            self.read_counters(ack, delivered);
        }
    }

    /// True if the ACK reports a mark: by its echo, or by counters that grow.
    #[inline]
    pub(crate) fn reports_marks(&mut self, ack: &Acknowledgement<'_>, info: &AckInfo) -> bool {
        match self.terms.ecn {
            EcnMode::Off => false,
            EcnMode::Classic => ack.ace.is_some_and(|ace| ace & 1 != 0),
            EcnMode::Accurate => self.count_reported(ack, info),
        }
    }

    /// A reordered ACK has old counters, so that only an ACK that makes progress counts.
    #[cold]
    fn count_reported(&mut self, ack: &Acknowledgement<'_>, info: &AckInfo) -> bool {
        let advances_clock = ack.feedback.is_some_and(|feedback| feedback.advances_clock);
        if !info.advanced() && info.progress.sacked == 0 && !advances_clock {
            return false;
        }
        let delivered = NewlyDelivered {
            segments: info.progress.segments.try_into().unwrap_or(u32::MAX),
            bytes: info.progress.delivered.try_into().unwrap_or(u32::MAX),
            mss: self.terms.mss,
            is_exact: self.terms.sack || !self.recovering(),
        };
        self.read_counters(ack, delivered)
    }

    fn read_counters(&mut self, ack: &Acknowledgement<'_>, delivered: NewlyDelivered) -> bool {
        let Some(reported) = self.reported.as_deref_mut() else { return false };
        let marked_bytes = reported.read_option(ack.feedback, delivered);
        let Some(ace) = ack.ace else { return false };
        reported.note_delivered(delivered.segments);
        let new = reported.newly_marked(ace, marked_bytes, delivered);
        reported.counts.packets = reported.counts.packets.wrapping_add(new);
        new > 0
    }
}

impl ReportedMarks {
    fn note_delivered(&mut self, segments: u32) {
        let segments = u64::from(segments);
        match (segments, self.segments_per_ack) {
            (0, _) => {}
            (_, 0) => self.segments_per_ack = segments * MEAN_UNIT,
            (_, mean) => {
                self.segments_per_ack = (mean * (MEAN_UNIT - 1) + segments * MEAN_UNIT) / MEAN_UNIT;
            }
        }
    }

    /// Returns the packets newly marked. If the ACK delivers more than seven segments, the field
    /// may have wrapped in ACKs that were lost. Then the largest number counts that it can mean
    /// (RFC 9768 appendix A.1), unless the bytes of the option contradict (appendix A.2.1).
    fn newly_marked(&self, ace: u8, bytes: Option<u32>, delivered: NewlyDelivered) -> u32 {
        let NewlyDelivered { segments, mss, .. } = delivered;
        let known = EcnCounters::INITIAL_PACKETS.wrapping_add(self.counts.packets);
        let least = u32::from(ace).wrapping_sub(known) % ACE_VALUES;
        if segments < ACE_VALUES {
            return least;
        }
        let most = segments - (segments - least) % ACE_VALUES;
        let thinned = self.segments_per_ack > SEGMENTS_OF_THINNED_ACKS * MEAN_UNIT;
        match bytes {
            None if thinned => least,
            None => most,
            Some(0) => least,
            Some(bytes) if segments >= 2 * ACE_VALUES && delivered.is_exact => {
                let share = u64::from(bytes) * u64::from(segments);
                let packets = share.div_ceil(u64::from(delivered.bytes.max(bytes)));
                most.min(least + (packets as u32) / ACE_VALUES * ACE_VALUES)
            }
            Some(bytes) if u64::from(bytes) > u64::from(least) * mss => most,
            Some(bytes) if u64::from(bytes) < u64::from(most) * mss / 2 => least,
            Some(_) => most,
        }
    }

    /// Returns the bytes newly marked, if the counters show them. Without an option, the counter
    /// that grew last goes on to grow.
    fn read_option(
        &mut self,
        feedback: Option<&AccurateFeedback>,
        delivered: NewlyDelivered,
    ) -> Option<u32> {
        const CE: usize = 1;
        let before = self.counts.bytes[CE];
        let Some(option) = feedback.and_then(|feedback| feedback.counters) else {
            let growing = &mut self.counts.bytes[self.growing?];
            *growing = growing.wrapping_add(delivered.bytes);
            return Some(self.counts.bytes[CE].wrapping_sub(before));
        };
        let assumed = self.growing;
        let mut is_clear = assumed.is_some();
        let mut grown = None;
        for (field, value) in option.iter() {
            let Some(index) = EcnCounters::index_of(field) else { continue };
            let growth = self.take_counter(index, value);
            if growth == 0 || growth > 0 && assumed == Some(index) {
                continue;
            }
            if growth > 0 && grown.is_none() {
                grown = Some(index);
                self.growing = grown;
            } else {
                is_clear = false;
                grown = Some(index);
                self.growing = None;
            }
        }
        is_clear.then(|| self.counts.bytes[CE].wrapping_sub(before))
    }

    /// Takes a counter of 24 bits, and returns by how much it has grown.
    fn take_counter(&mut self, index: usize, value: u32) -> i32 {
        let known = &mut self.counts.bytes[index];
        let growth = value.wrapping_sub(EcnCounters::INITIAL[index]).wrapping_sub(*known);
        // The sign of the 24th bit.
        let growth = (growth << 8) as i32 >> 8;
        *known = known.wrapping_add(growth as u32);
        growth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn delivered(segments: u32) -> NewlyDelivered {
        NewlyDelivered { segments, bytes: segments * 1000, mss: MSS, is_exact: true }
    }

    /// Marks that an ACK means after `packets` known ones, if each ACK before it delivered
    /// `per_ack` segments.
    fn newly(packets: u32, per_ack: u32, ace: u8, bytes: Option<u32>, segments: u32) -> u32 {
        let counts = MarkCounts { packets, ..MarkCounts::default() };
        let mut reported = ReportedMarks { counts, ..ReportedMarks::default() };
        reported.note_delivered(per_ack);
        reported.newly_marked(ace, bytes, delivered(segments))
    }

    /// The counter begins with 5 (RFC 9768 §3.2.1): 5 + 2 known marks are 7. A field of 1 is 9
    /// modulo 8, two marks more.
    #[test]
    fn the_field_wraps_at_eight() {
        assert_eq!(newly(0, 1, 5, None, 3), 0);
        assert_eq!(newly(2, 1, 7, None, 3), 0);
        assert_eq!(newly(2, 1, 1, None, 3), 2);
        assert_eq!(newly(2, 1, 6, None, 7), 7);
    }

    /// RFC 9768 appendix A.1: for 9 packets newly acknowledged, and d.cep = 0, dSafer.cep is
    /// 9 − ((9 − 0) mod 8) = 8. With d.cep = 2 it is 9 − (7 mod 8) = 2, and 10 for 10 packets.
    #[test]
    fn a_large_ack_counts_as_many_marks_as_it_can_mean() {
        assert_eq!(newly(0, 1, 5, None, 9), 8);
        assert_eq!(newly(0, 1, 7, None, 9), 2);
        assert_eq!(newly(0, 1, 7, None, 10), 10);
        assert_eq!(newly(0, 1, 5, None, 8), 8);
        assert_eq!(newly(0, 1, 5, None, 7), 0);
    }

    /// ACKs for five segments each are thinned on the way, so that none need be lost.
    #[test]
    fn large_acks_that_are_usual_mean_what_they_say() {
        assert_eq!(newly(0, 5, 5, None, 9), 0);
        assert_eq!(newly(0, 4, 5, None, 9), 8);
    }

    /// RFC 9768 appendix A.2.1: no marked byte means no mark; more bytes than d.cep full segments
    /// mean dSafer.cep; fewer than half of dSafer.cep full segments mean d.cep.
    #[test]
    fn marked_bytes_decide_between_the_counts() {
        assert_eq!(newly(0, 1, 5, Some(0), 9), 0);
        assert_eq!(newly(0, 1, 6, Some(2000), 9), 9);
        assert_eq!(newly(0, 1, 5, Some(8000), 9), 8);
        // One mark or nine: 900 bytes are one segment's, below 4,500.
        assert_eq!(newly(0, 1, 6, Some(900), 9), 1);
        // With 20 segments of 1,000 bytes, 9,000 bytes are 9 packets: a whole wrap of 8, and 1 of
        // d.cep. The most would be 20 − ((20 − 1) mod 8) = 17.
        assert_eq!(newly(0, 1, 6, Some(9000), 20), 9);
        assert_eq!(newly(0, 1, 6, Some(20_000), 20), 17);
    }

    fn option(counters: [u32; 3]) -> AccurateFeedback {
        AccurateFeedback {
            counters: Some(EcnCounters::new(true, &counters)),
            advances_clock: false,
        }
    }

    /// Counters begin with 1, 0 and 1 (RFC 9768 §3.2.1), and have 24 bits. A second counter that
    /// grows makes the change unclear: ACKs without option may have been lost or not.
    #[test]
    fn the_counter_that_grew_last_goes_on_without_options() {
        let mut reported = ReportedMarks::default();
        let nothing = AccurateFeedback::default();
        assert_eq!(reported.read_option(Some(&nothing), delivered(1)), None);
        assert_eq!(reported.read_option(Some(&option([1, 0, 1001])), delivered(1)), None);
        assert_eq!(reported.counts.bytes, [0, 0, 1000]);
        assert_eq!(reported.read_option(Some(&nothing), delivered(2)), Some(0));
        assert_eq!(reported.counts.bytes, [0, 0, 3000]);
        // The CE counter alone grows.
        assert_eq!(reported.read_option(Some(&option([1, 700, 3001])), delivered(1)), Some(700));
        assert_eq!(reported.read_option(Some(&nothing), delivered(1)), Some(1000));
        // Two others grow, so that it is unclear which goes on. Then one shrinks, as none may.
        assert_eq!(reported.read_option(Some(&option([50, 1700, 4001])), delivered(1)), None);
        assert_eq!(reported.read_option(None, delivered(1)), None);
        assert_eq!(reported.read_option(Some(&option([49, 1700, 4001])), delivered(1)), None);
        // 24 bits: one byte before the wrap, and five behind it.
        reported.counts.bytes[1] = 0xFF_FFFF;
        let wrapped = reported.read_option(Some(&option([49, 5, 4001])), delivered(1));
        assert_eq!((wrapped, reported.counts.bytes[1]), (None, 0x100_0005));
        assert_eq!(reported.growing, Some(1));
    }
}
