//! An idle sender with nothing outstanding, compressed to a few numbers.
//!
//! Except for the window, the state of its policies is lost: CUBIC's last maximum, HyStart's
//! delays, the reordering seen. After an idle time they matter little, and a capture may hold a
//! million idle connections.

use super::{RebuiltSender, Terms};
use crate::fit_error::FitError;
use crate::profile::SenderModel;
use path::IdlePath;
use sender::SenderTerms;
use units::Duration;

/// A compressed sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdleSender {
    path: IdlePath,
    terms: Terms,
    at: u64,
    written: u64,
    fin: bool,
    window: u64,
    max_window: u64,
    srtt: Duration,
    rttvar: Duration,
    /// ACE field that reports no new mark, under Accurate ECN.
    ace: Option<u8>,
}

impl RebuiltSender {
    /// Returns the options that the SYNs agreed on, as far as they are known.
    fn terms(&self) -> Terms {
        let SenderTerms { mss, sack, timestamps, ecn } = *self.core.terms();
        let Self { sack_is_guess, window_is_guess, ecn_is_guess, .. } = *self;
        Terms { mss, sack, sack_is_guess, window_is_guess, timestamps, ecn, ecn_is_guess }
    }

    /// Compresses the sender, if nothing is outstanding.
    pub(crate) fn compress(&self) -> Option<(IdleSender, FitError)> {
        let idle = IdleSender {
            path: self.path.compress(),
            terms: self.terms(),
            at: self.core.nxt(),
            written: self.core.written(),
            fin: self.core.has_fin(),
            window: self.core.window(),
            max_window: self.core.largest_window(),
            srtt: self.path.rtt().srtt(),
            rttvar: self.path.rtt().rttvar(),
            ace: self.core.expected_ace(),
        };
        self.core.board().is_empty().then_some((idle, *self.fit_error()))
    }
}

impl IdleSender {
    /// Rebuilds the sender.
    pub(crate) fn restore(&self, model: &SenderModel) -> RebuiltSender {
        let mut sender = RebuiltSender::new(model, self.terms);
        sender.begin_at(self.at);
        if let Some(ace) = self.ace {
            sender.core.join_accurate_ecn(ace);
        }
        sender.core.write_up_to(self.written);
        if self.fin {
            sender.core.request_fin();
            sender.set_ended(true);
        }
        sender.core.update_window(self.max_window);
        sender.core.update_window(self.window);
        sender.path.restore_rtt(self.srtt, self.rttvar);
        sender.path.restore(&self.path);
        sender
    }

    /// Sets the window that the receiver offers.
    pub(crate) fn set_window(&mut self, window: u64) {
        self.window = window;
        self.max_window = self.max_window.max(window);
    }
}

/// Idle time after which a sender is compressed.
pub(crate) const COMPRESS_AFTER: Duration = Duration::from_secs(2);
