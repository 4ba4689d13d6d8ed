//! Whether the window, rather than the application, limited sending lately (RFC 7661 §4.1).
//!
//! Linux's rule is that since 6.1 (`tcp_cwnd_validate`): once the window has limited, it counts as
//! the limit until all that was sent by then is acknowledged. An ACK after which nothing is sent says
//! nothing of the application (`tcp_write_xmit`). QUIC's is what held data back last: with the
//! window, the pacer counts.

use policy::config::WindowValidation;

/// Bytes of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PathBytes {
    /// Ever sent for the first time.
    pub(super) sent: u64,
    /// Ever acknowledged cumulatively.
    pub(super) acked: u64,
    pub(super) in_flight: u64,
}

/// The reason why a path sends nothing more for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// Data waits, and the window has no room for it.
    Window,
    /// Data waits for the time that the pacer gives it.
    Pacer,
    /// No data waits, or another rule than window and pacer holds it back.
    Application,
}

impl SendLimit {
    /// [`SendLimit::Window`] if the window is the reason, else [`SendLimit::Application`].
    #[inline]
    pub const fn window_if(is_window: bool) -> Self {
        if is_window { Self::Window } else { Self::Application }
    }
}

/// What is known of the use of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUsage {
    /// The rule.
    pub(super) validation: WindowValidation,
    /// Most that was in flight since the window was no limit, bytes.
    pub(super) max_in_flight: u64,
    pub(super) limited: bool,
    /// What had been sent, of the path, when that was noted: with its acknowledgement it is old.
    round_end: u64,
    /// Bytes of the path that had been sent when sending last stopped.
    sent_before: u64,
}

impl WindowUsage {
    pub(super) fn new(validation: WindowValidation) -> Self {
        Self { validation, ..Self::default() }
    }

    /// Notes what ended sending, and the bytes of the path at that time. `is_full`: the window has
    /// no room for a full segment.
    #[inline]
    pub(super) fn note(&mut self, limit: SendLimit, path: PathBytes, is_full: bool) {
        match self.validation {
            WindowValidation::Quic => self.limited = limit != SendLimit::Application,
            // Linux asks the window alone: what the pacer delays may still fill it.
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

    /// In segments: the window of 10 has limited when 10 were sent. Then 12 are in flight, limited
    /// by the application. Until the tenth is acknowledged, the window is still known to have been
    /// the limit (before Linux 6.1 it was forgotten).
    #[test]
    fn a_limit_counts_until_what_was_sent_by_then_is_acknowledged() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note(SendLimit::Window, path(10, 0, 10), false);
        usage.note(SendLimit::Application, path(14, 2, 12), false);
        assert!(usage.limited);
        usage.note(SendLimit::Application, path(14, 9, 5), false);
        assert!(usage.limited);
        usage.note(SendLimit::Application, path(15, 10, 5), false);
        assert!(!usage.limited);
        assert_eq!(usage.max_in_flight, 5);
    }

    /// A limit that is met again counts from there: until the fourteenth is acknowledged, not the
    /// tenth. That shows when the fifteenth leaves.
    #[test]
    fn a_limit_met_again_lasts_longer() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note(SendLimit::Window, path(10, 0, 10), false);
        usage.note(SendLimit::Window, path(14, 4, 10), false);
        usage.note(SendLimit::Application, path(14, 10, 4), false);
        assert!(usage.limited);
        usage.note(SendLimit::Application, path(15, 14, 1), false);
        assert!(!usage.limited);
    }

    /// Linux asks where something was sent or the window is full (`tcp_write_xmit`). Of a window of
    /// 10, 10 leave, then 2 more: all 12 are acknowledged while the window is known to have been
    /// the limit. Another segment then clears that.
    #[test]
    fn an_ack_after_which_nothing_is_sent_keeps_the_limit() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note(SendLimit::Window, path(10, 0, 10), true);
        usage.note(SendLimit::Application, path(12, 2, 10), false);
        for acked in [4, 6, 8, 10, 12] {
            usage.note(SendLimit::Application, path(12, acked, 12 - acked), false);
            assert!(usage.limited, "{acked} acknowledged");
        }
        usage.note(SendLimit::Application, path(13, 12, 1), false);
        assert!(!usage.limited);
    }

    /// Data that fills the window exactly: no more waits, and as many packets are in flight as the
    /// window has. Where nothing waits or was sent, `tcp_write_xmit` is not called at all.
    #[test]
    fn a_window_filled_exactly_is_the_limit() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note(SendLimit::Application, path(10, 0, 10), true);
        assert!(usage.limited);
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note(SendLimit::Application, path(10, 0, 10), false);
        usage.note(SendLimit::Application, path(10, 0, 10), true);
        assert!(!usage.limited);
    }

    /// Without a limit, the most in flight of a round is kept.
    #[test]
    fn without_a_limit_the_most_in_flight_counts() {
        let mut usage = WindowUsage::new(WindowValidation::Linux);
        usage.note(SendLimit::Application, path(4, 0, 4), false);
        usage.note(SendLimit::Application, path(6, 0, 6), false);
        usage.note(SendLimit::Application, path(6, 2, 4), false);
        assert_eq!((usage.max_in_flight, usage.limited), (6, false));
    }

    /// A window that was the limit, and is not when the next ACK arrives, has no reason to grow
    /// (RFC 9002 §7.8).
    #[test]
    fn by_the_rule_of_quic_a_limit_does_not_last() {
        let mut usage = WindowUsage::new(WindowValidation::Quic);
        usage.note(SendLimit::Window, path(10, 0, 10), false);
        assert!(usage.limited);
        usage.note(SendLimit::Application, path(14, 4, 10), false);
        assert!(!usage.limited);
    }

    #[test]
    fn the_pacer_is_a_limit_by_the_rule_of_quic_alone() {
        let limited = |validation, before| {
            let mut usage = WindowUsage::new(validation);
            usage.note(before, path(4, 0, 4), false);
            usage.note(SendLimit::Pacer, path(5, 4, 1), false);
            usage.limited
        };
        let all = [SendLimit::Window, SendLimit::Application];
        assert_eq!(all.map(|before| limited(WindowValidation::Quic, before)), [true, true]);
        assert_eq!(all.map(|before| limited(WindowValidation::Linux, before)), [true, false]);
    }
}
