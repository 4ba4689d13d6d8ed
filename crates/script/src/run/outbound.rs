//! Expected against sent: the first difference, in words and in the script's notation.

use super::super::model::{Expected, ExpectedEcn};
use super::super::notation;
use super::subject::{ObservedSegment, Subject};
use super::{Bounds, CheckResult, Failure, Run, seconds};
use tcp::{Ecn, Flags, Segment, TcpOptions, Timestamps};
use units::{Duration, Instant};

/// Longest wait of `*` for a segment.
const PATIENCE: Duration = Duration::from_secs(3_600);

impl<S: Subject> Run<'_, S> {
    /// Takes the next segment that the host sends, or several that together are `expected`, and
    /// compares.
    pub(super) fn outbound(&mut self, expected: &Expected, bounds: Bounds) -> CheckResult {
        let whole = expected_text(expected, bounds);
        let mut rest = *expected;
        loop {
            let Some(sent) = self.wait_for_segment(bounds)? else {
                let done = rest.segment.seq.distance_from(expected.segment.seq);
                return Err(self.silence_failure(bounds, whole, done));
            };
            let numbering = self.numbering(sent.connection);
            numbering.learn_offset(&rest.segment, &sent.segment);
            let actual = numbering.to_script(&sent.segment);
            let piece = self.first_piece(&rest, &actual);
            self.compare(piece.as_ref().unwrap_or(&rest), &actual, piece.is_some()).map_err(
                |what| {
                    self.mismatch_failure(&format!("the segment differs in {what}"), &whole, &sent)
                },
            )?;
            if let Some(off) = off_time(sent.at, bounds, self.tolerance()) {
                return Err(self.mismatch_failure(&format!("the segment is {off}"), &whole, &sent));
            }
            self.sent += 1;
            match piece {
                Some(piece) => rest = rest_after(&rest, piece.segment.len),
                None => return Ok(()),
            }
        }
    }

    /// Until when a segment may leave.
    fn limit(&self, bounds: Bounds) -> Instant {
        bounds.map_or(self.subject.now() + PATIENCE, |(_, to)| to + self.tolerance())
    }

    /// The next segment sent, for which time passes as far as `bounds` allow.
    fn wait_for_segment(&mut self, bounds: Bounds) -> CheckResult<Option<ObservedSegment>> {
        let limit = self.limit(bounds);
        loop {
            // As in packetdrill, segments of other connections are ignored.
            while let Some(sent) = self.subject.take_sent() {
                if self.under_test().is_none_or(|connection| connection == sent.connection) {
                    return Ok(Some(sent));
                }
            }
            let fired = self.step(limit)?;
            self.settle_call()?;
            if !fired && !self.subject.has_sent() {
                return Ok(None);
            }
        }
    }

    /// Nothing leaves in time, or no more after `done` bytes of what is expected.
    fn silence_failure(&mut self, bounds: Bounds, whole: String, done: i32) -> Failure {
        let message = match done {
            0 => "the host sends nothing".to_owned(),
            _ => format!("the host sends nothing after the first {done} bytes of this"),
        };
        let timer = self.subject.next_timeout();
        let timer = timer.map_or("no timer runs".to_owned(), |at| {
            format!("the next timer is at {}", seconds(at))
        });
        let actual = format!("nothing until {}; {timer}", seconds(self.limit(bounds)));
        Failure::new(message, whole, actual)
    }

    /// The beginning of `expected` that is as long as `actual`, if that is shorter and segments
    /// may be split.
    fn first_piece(&self, expected: &Expected, actual: &Segment) -> Option<Expected> {
        let split = !self.script.settings.strict_segments
            && 0 < actual.len
            && actual.len < expected.segment.len;
        split.then(|| {
            let mut piece = *expected;
            piece.segment.len = actual.len;
            piece.segment.flags = without(piece.segment.flags, Flags::FIN);
            piece
        })
    }

    /// Describes the first difference of `actual` from `expected`; PSH may come early in a split
    /// segment.
    fn compare(&self, expected: &Expected, actual: &Segment, split: bool) -> Result<(), String> {
        let wanted = &expected.segment;
        let flags = |segment: &Segment| match split || self.script.settings.ignore_push {
            true => segment.flags.with(Flags::PSH),
            false => segment.flags,
        };
        let acks = wanted.has(Flags::ACK) && actual.has(Flags::ACK);
        let options = self.options_agree(&wanted.options, &actual.options);
        let parts = [
            (flags(wanted) != flags(actual), "flags"),
            (wanted.seq != actual.seq, "sequence number"),
            (wanted.len != actual.len, "length"),
            (acks && wanted.ack != actual.ack, "acknowledgement"),
            (expected.check_window && wanted.window != actual.window, "window"),
            (!ecn_agrees(expected, actual.ecn), "ECN field"),
            (expected.check_options && !options, "options"),
        ];
        let different: Vec<_> =
            parts.iter().filter(|(differs, _)| *differs).map(|(_, part)| *part).collect();
        if different.is_empty() { Ok(()) } else { Err(different.join(", ")) }
    }

    fn options_agree(&self, expected: &TcpOptions, actual: &TcpOptions) -> bool {
        let without = |options: &TcpOptions| TcpOptions { timestamps: None, ..*options };
        let timestamps = match (expected.timestamps, actual.timestamps) {
            (Some(expected), Some(actual)) => self.timestamps_agree(expected, actual),
            (expected, actual) => expected == actual,
        };
        timestamps && without(expected) == without(actual)
    }

    fn timestamps_agree(&self, expected: Timestamps, actual: Timestamps) -> bool {
        let off = (actual.value.wrapping_sub(expected.value) as i32).unsigned_abs();
        let in_time = match self.script.settings.timestamp_tick {
            Some(tick) => tick * u64::from(off) <= self.tolerance(),
            None => true,
        };
        in_time && expected.echo == actual.echo
    }

    fn mismatch_failure(&self, message: &str, whole: &str, sent: &ObservedSegment) -> Failure {
        Failure::new(message, whole.to_owned(), self.describe_sent(sent))
    }

    fn script_numbers(&self, sent: &ObservedSegment) -> Segment {
        let numbering = self.numberings.get(sent.connection).cloned().unwrap_or_default();
        numbering.to_script(&sent.segment)
    }

    /// A segment that the host sent, in the script's notation with its time.
    pub(super) fn describe_sent(&self, sent: &ObservedSegment) -> String {
        let segment = notation::segment(&self.script_numbers(sent));
        format!("{} > {segment}", seconds(sent.at))
    }
}

fn expected_text(expected: &Expected, bounds: Bounds) -> String {
    let time = match bounds {
        None => "*".to_owned(),
        Some((from, to)) if from == to => seconds(from),
        Some((from, to)) => format!("{}~{}", seconds(from), seconds(to)),
    };
    format!("{time} > {}", notation::expected_text(expected))
}

fn ecn_agrees(expected: &Expected, actual: Ecn) -> bool {
    match expected.ecn {
        ExpectedEcn::Any => true,
        ExpectedEcn::Same => expected.segment.ecn == actual,
        ExpectedEcn::Capable => matches!(actual, Ecn::Ect0 | Ecn::Ect1),
    }
}

fn without(flags: Flags, flag: Flags) -> Flags {
    Flags(flags.0 & !flag.0)
}

/// Describes how far `at` is outside of `bounds` and `tolerance`.
fn off_time(at: Instant, bounds: Bounds, tolerance: Duration) -> Option<String> {
    let (from, to) = bounds?;
    if at + tolerance < from {
        return Some(format!("{} early", from - at));
    }
    (to + tolerance < at).then(|| format!("{} late", at - to))
}

/// The rest of `expected` after its first `len` bytes.
fn rest_after(expected: &Expected, len: u32) -> Expected {
    let mut rest = *expected;
    rest.segment.seq = expected.segment.seq + len;
    rest.segment.len -= len;
    rest.segment.flags = without(rest.segment.flags, Flags::CWR);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_widens_both_ends() {
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
        let bounds = Some((ms(100), ms(200)));
        let off = |at| off_time(ms(at), bounds, Duration::from_millis(5));
        assert_eq!(off(94), Some("6ms early".to_owned()));
        assert_eq!((off(95), off(205)), (None, None));
        assert_eq!(off(206), Some("6ms late".to_owned()));
        assert_eq!(off_time(ms(206), None, Duration::ZERO), None);
    }
}
