//! The share of the path, `Wc`, that a sender reports to a performance gateway, and when (Zhang,
//! Qiu & Keshav 2000 §4.2, §5.1).
//!
//! A sender reports a segment less than the window at a loss in congestion avoidance, and the last
//! window of a transfer without loss. The paper's words allow more than one sense of "last", "loss"
//! and "terminates": [`ShareRule`] chooses one. Senders that report and a gateway that rebuilds
//! them from packets follow the same [`ShareNotes`].

/// Report of a transfer without loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuietShare {
    /// The window after the last acknowledgement.
    #[default]
    Window,
    /// The window when the last segment left.
    Sent,
    /// The window, but no more than was in flight at once.
    Used,
    /// The share that the connection reported at its latest loss; before a loss, its window.
    Recorded,
    /// Reports nothing: a connection that goes on has not terminated.
    Nothing,
}

/// Report of a loss in slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyLoss {
    /// Reports nothing, and neither does the transfer's end.
    #[default]
    Nothing,
    /// Reports nothing by itself; the transfer's end reports as if there had been no loss.
    End,
    /// Reports as for a loss in congestion avoidance.
    Share,
}

/// Reading of the paper that senders follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareRule {
    /// Report of a transfer without loss.
    pub quiet: QuietShare,
    /// Report of a loss in slow start.
    pub early_loss: EarlyLoss,
    /// Windows are reported in whole segments; parts of one are dropped.
    pub whole: bool,
}

impl ShareRule {
    /// Returns true if it needs to know how much was in flight ([`ShareNotes::on_flight`]).
    pub const fn watches_flights(&self) -> bool {
        matches!(self.quiet, QuietShare::Sent | QuietShare::Used)
    }
}

/// A window, and the part of it that a segment is; both in bytes.
#[derive(Clone, Copy, Debug)]
pub struct SegmentedWindow {
    /// The congestion window.
    pub cwnd: u64,
    /// Payload of a full segment.
    pub mss: u64,
}

/// State of one connection, as far as the gateway is concerned.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShareNotes {
    rule: ShareRule,
    /// The current transfer has met a loss after which its end reports nothing.
    lossy: bool,
    /// Bytes that the connection had sent when `sent_under` was noted.
    sent: u64,
    /// The window under which the latest of them were sent.
    sent_under: u64,
    /// Largest number of bytes in flight of the current transfer.
    used: u64,
    /// The share that the latest loss reported.
    recorded: Option<u64>,
}

impl ShareNotes {
    /// Notes of a connection that has sent nothing, by this rule.
    pub fn new(rule: ShareRule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// Notes the bytes `sent` so far, the latest under a window of `cwnd`, and the bytes in flight
    /// after them. Rules that [watch flights](ShareRule::watches_flights) need it, for each
    /// acknowledgement before the window grows.
    pub fn on_flight(&mut self, sent: u64, cwnd: u64, in_flight: u64) {
        if sent > self.sent {
            (self.sent, self.sent_under) = (sent, cwnd);
        }
        self.used = self.used.max(in_flight);
    }

    /// Handles a loss, while the window is still unreduced. Returns the share to report, bytes, if
    /// any.
    pub fn on_loss(&mut self, window: SegmentedWindow, in_avoidance: bool) -> Option<u64> {
        let early = !in_avoidance;
        self.lossy |= !early || self.rule.early_loss != EarlyLoss::End;
        if early && self.rule.early_loss != EarlyLoss::Share {
            return None;
        }
        let share = self.report(window.cwnd.saturating_sub(window.mss), window.mss)?;
        self.recorded = Some(share);
        Some(share)
    }

    /// Handles a retransmission without a new loss: it is part of an earlier loss, or a probe.
    pub fn on_repair(&mut self) {
        self.lossy |= self.rule.early_loss != EarlyLoss::End;
    }

    /// Handles the end of a transfer, whose data is all acknowledged. Returns the share to report,
    /// bytes, if any.
    pub fn on_end(&mut self, window: SegmentedWindow) -> Option<u64> {
        let used = std::mem::take(&mut self.used);
        if std::mem::take(&mut self.lossy) {
            return None;
        }
        let share = match self.rule.quiet {
            QuietShare::Window => window.cwnd,
            QuietShare::Sent => self.sent_under,
            QuietShare::Used => window.cwnd.min(used),
            QuietShare::Recorded => self.recorded.unwrap_or(window.cwnd),
            QuietShare::Nothing => return None,
        };
        self.report(share, window.mss)
    }

    fn report(&self, share: u64, mss: u64) -> Option<u64> {
        let share = if self.rule.whole && mss > 0 { share - share % mss } else { share };
        Some(share).filter(|share| *share > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn notes(quiet: QuietShare, early_loss: EarlyLoss) -> ShareNotes {
        ShareNotes::new(ShareRule { quiet, early_loss, whole: false })
    }

    const fn window(cwnd: u64) -> SegmentedWindow {
        SegmentedWindow { cwnd, mss: MSS }
    }

    /// Slow start sends 3 segments in flights of 1 and 2. The last is sent under a window of 2, two
    /// are in flight at most, and three ACKs make the window 4.
    fn three_segments(notes: &mut ShareNotes) -> Option<u64> {
        notes.on_flight(1000, 1000, 1000);
        notes.on_flight(3000, 2000, 2000);
        notes.on_flight(3000, 3000, 1000);
        notes.on_end(window(4000))
    }

    #[test]
    fn a_transfer_without_loss_tells_what_the_rule_says() {
        use QuietShare::{Nothing, Recorded, Sent, Used, Window};
        let tells = |quiet| three_segments(&mut notes(quiet, EarlyLoss::Nothing));
        assert_eq!(
            [Window, Sent, Used, Recorded, Nothing].map(tells),
            [Some(4000), Some(2000), Some(2000), Some(4000), None]
        );
    }

    #[test]
    fn the_flights_of_one_transfer_say_nothing_of_the_next() {
        let mut notes = notes(QuietShare::Used, EarlyLoss::Nothing);
        three_segments(&mut notes);
        // One segment alone, under the window of 4 that the first transfer has left.
        notes.on_flight(4000, 4000, 1000);
        assert_eq!(notes.on_end(window(4250)), Some(1000));
    }

    #[test]
    fn a_recorded_share_is_told_until_another_loss() {
        let mut notes = notes(QuietShare::Recorded, EarlyLoss::Nothing);
        assert_eq!(notes.on_loss(window(9500), true), Some(8500));
        assert_eq!(notes.on_end(window(6000)), None, "this transfer has told");
        assert_eq!(notes.on_end(window(6200)), Some(8500));
        assert_eq!(notes.on_loss(window(6200), true), Some(5200));
        notes.on_end(window(3000));
        assert_eq!(notes.on_end(window(4000)), Some(5200));
    }

    #[test]
    fn a_loss_in_slow_start_tells_what_the_rule_says() {
        use EarlyLoss::{End, Nothing, Share};
        let tells = |early| {
            let mut notes = notes(QuietShare::Window, early);
            [notes.on_loss(window(16_000), false), notes.on_end(window(9000))]
        };
        assert_eq!(tells(Nothing), [None, None]);
        assert_eq!(tells(End), [None, Some(9000)]);
        assert_eq!(tells(Share), [Some(15_000), None]);
        // A loss in avoidance behind it is reported, and is the final report.
        let mut notes = notes(QuietShare::Window, End);
        notes.on_loss(window(16_000), false);
        assert_eq!(notes.on_loss(window(9000), true), Some(8000));
        assert_eq!(notes.on_end(window(5000)), None);
    }

    #[test]
    fn whole_segments_are_told_and_never_none() {
        let rule = ShareRule { whole: true, ..ShareRule::default() };
        let mut notes = ShareNotes::new(rule);
        assert_eq!(notes.on_end(window(9800)), Some(9000));
        assert_eq!(notes.on_loss(window(9800), true), Some(8000));
        notes.on_end(window(4000));
        // 1.9 less one is 0.9 of a segment.
        assert_eq!(notes.on_loss(window(1900), true), None);
        assert_eq!(ShareNotes::default().on_loss(window(1000), true), None);
    }
}
