//! Records whether the window, rather than the application, limited sending lately (RFC 7661 §4.1).
//!
//! Linux's rule is that since 6.1 (`tcp_cwnd_validate`): once the window has been the limit, it
//! counts as the limit until all data sent by then is acknowledged. An ACK after which nothing is
//! sent shows nothing about the application (`tcp_write_xmit`). QUIC's rule is the last cause that
//! held data back: the pacer counts as well as the window.

use policy::config::WindowValidation;

/// Bytes of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PathBytes {
    /// Bytes sent for the first time, ever.
    pub(super) sent: u64,
    /// Bytes acknowledged cumulatively, ever.
    pub(super) acked: u64,
    pub(super) in_flight: u64,
}

/// The reason why a path currently sends no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// Data waits, and the window has no room for it.
    Window,
    /// Data waits for its pacing time.
    Pacer,
    /// No data waits, or another rule than window and pacer prevents sending.
    Application,
}

impl SendLimit {
    /// Returns [`SendLimit::Window`] if the window is the reason, else [`SendLimit::Application`].
    #[inline]
    pub const fn window_if(is_window: bool) -> Self {
        if is_window { Self::Window } else { Self::Application }
    }
}

/// State about the use of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUsage {
    /// The rule of validation.
    pub(super) validation: WindowValidation,
    /// Largest number of bytes in flight since the window was no limit.
    pub(super) max_in_flight: u64,
    pub(super) limited: bool,
    /// Bytes of the path sent when that was noted: once they are acknowledged it is old.
    round_end: u64,
    /// Bytes of the path sent when sending last stopped.
    sent_before: u64,
}

impl WindowUsage {
    pub(super) fn new(validation: WindowValidation) -> Self {
        Self { validation, ..Self::default() }
    }

    /// Notes the cause that ended sending, and the bytes of the path at that time. `is_full`: the
    /// window has no room for a full segment.
    #[inline]
    pub(super) fn note_limit(&mut self, limit: SendLimit, path: PathBytes, is_full: bool) {
        match self.validation {
            WindowValidation::Quic => self.limited = limit != SendLimit::Application,
            // Linux only considers the window: data that the pacer delays may still fill it.
            _ if limit == SendLimit::Pacer => {}
            _ => {
                let has_sent = path.sent > self.sent_before;
                self.sent_before = path.sent;
                // Data that fills the window exactly is limited by it, though no more waits.
                let limited = limit == SendLimit::Window || is_full && has_sent;
                // A FIN is in flight and no byte of data.
                if has_sent || limited || path.in_flight > self.max_in_flight {
                    self.note_window(limited, path);
                }
            }
        }
    }

    /// Notes by Linux's rule whether the window was the limit.
    #[inline]
    fn note_window(&mut self, limited: bool, path: PathBytes) {
        let PathBytes { sent, acked, in_flight } = path;
        if acked >= self.round_end || limited || !self.limited && in_flight > self.max_in_flight {
            self.max_in_flight = in_flight;
            self.round_end = sent;
            self.limited = limited;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn path(sent: u64, acked: u64, in_flight: u64) -> PathBytes {
        PathBytes { sent, acked, in_flight }
    }

    /// All numbers are segments: the window of 10 was the limit when 10 were sent. Then 12 are in
    /// flight, limited by the application. Until the tenth is acknowledged, the window still counts
    /// as the limit (before Linux 6.1 it did not).
    #[test]
    fn a_limit_counts_until_what_was_sent_by_then_is_acknowledged() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note_limit(SendLimit::Window, path(10, 0, 10), false);
        usage.note_limit(SendLimit::Application, path(14, 2, 12), false);
        assert!(usage.limited);
        usage.note_limit(SendLimit::Application, path(14, 9, 5), false);
        assert!(usage.limited);
        usage.note_limit(SendLimit::Application, path(15, 10, 5), false);
        assert!(!usage.limited);
        assert_eq!(usage.max_in_flight, 5);
    }

    /// A limit that occurs again counts from there: until the fourteenth is acknowledged, not the
    /// tenth. That shows when the fifteenth is sent.
    #[test]
    fn a_limit_met_again_lasts_longer() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note_limit(SendLimit::Window, path(10, 0, 10), false);
        usage.note_limit(SendLimit::Window, path(14, 4, 10), false);
        usage.note_limit(SendLimit::Application, path(14, 10, 4), false);
        assert!(usage.limited);
        usage.note_limit(SendLimit::Application, path(15, 14, 1), false);
        assert!(!usage.limited);
    }

    /// Linux checks if something was sent or the window is full (`tcp_write_xmit`). With a window
    /// of 10, 10 are sent, then 2 more: all 12 are acknowledged while the window counts as the
    /// limit. Another segment then clears that.
    #[test]
    fn an_ack_after_which_nothing_is_sent_keeps_the_limit() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note_limit(SendLimit::Window, path(10, 0, 10), true);
        usage.note_limit(SendLimit::Application, path(12, 2, 10), false);
        for acked in [4, 6, 8, 10, 12] {
            usage.note_limit(SendLimit::Application, path(12, acked, 12 - acked), false);
            assert!(usage.limited, "{acked} acknowledged");
        }
        usage.note_limit(SendLimit::Application, path(13, 12, 1), false);
        assert!(!usage.limited);
    }

    /// Data fills the window exactly: no more waits, and as many packets are in flight as the
    /// window has. If nothing waits or was sent, `tcp_write_xmit` is not called at all.
    #[test]
    fn a_window_filled_exactly_is_the_limit() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note_limit(SendLimit::Application, path(10, 0, 10), true);
        assert!(usage.limited);
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note_limit(SendLimit::Application, path(10, 0, 10), false);
        usage.note_limit(SendLimit::Application, path(10, 0, 10), true);
        assert!(!usage.limited);
    }

    /// Without a limit, the most in flight of a round is kept.
    #[test]
    fn without_a_limit_the_most_in_flight_counts() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note_limit(SendLimit::Application, path(4, 0, 4), false);
        usage.note_limit(SendLimit::Application, path(6, 0, 6), false);
        usage.note_limit(SendLimit::Application, path(6, 2, 4), false);
        assert_eq!((usage.max_in_flight, usage.limited), (6, false));
    }

    /// If the window was the limit, and is not when the next ACK arrives, it has no reason to grow
    /// (RFC 9002 §7.8).
    #[test]
    fn by_the_rule_of_quic_a_limit_does_not_last() {
        let mut usage = WindowUsage::new(WindowValidation::Quic);
        usage.note_limit(SendLimit::Window, path(10, 0, 10), false);
        assert!(usage.limited);
        usage.note_limit(SendLimit::Application, path(14, 4, 10), false);
        assert!(!usage.limited);
    }

    #[test]
    fn the_pacer_is_a_limit_by_the_rule_of_quic_alone() {
        let limited = |validation, before| {
            let mut usage = WindowUsage::new(validation);
            usage.note_limit(before, path(4, 0, 4), false);
            usage.note_limit(SendLimit::Pacer, path(5, 4, 1), false);
            usage.limited
        };
        let all = [SendLimit::Window, SendLimit::Application];
        assert_eq!(all.map(|before| limited(WindowValidation::Quic, before)), [true, true]);
        assert_eq!(all.map(|before| limited(WindowValidation::Linux, before)), [true, false]);
    }
}
