//! A scheme over a transport like QUIC: what changes of packets, opening, ACKs and timers.

use super::Scheme;
use crate::config::{AckPolicy, Framing, Opening, PacingGain, RtoFloor, WindowValidation};
use crate::segment::{QUIC_DATAGRAM, QUIC_OVERHEAD};
use std::sync::Arc;
use units::Duration;

/// Receive window of a connection that Chromium offers from the start, bytes:
/// `kQuicSessionMaxRecvWindowSize`.
const RECEIVE_WINDOW: u32 = 15 << 20;
/// Longest delay of an ACK, unless the peer says otherwise (RFC 9000 §18.2, `max_ack_delay`).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// Packets that a paced sender sends at once after a pause: the initial window (RFC 9002 §7.2,
/// §7.7).
const BURST: u32 = 10;

impl Scheme {
    /// The same start-up, congestion control and recovery over a transport like QUIC. It differs
    /// in:
    ///
    /// - Packets: 1,200 bytes in a UDP datagram, and no options.
    /// - Opening: transport and TLS take one round trip together. `is_validated`: the client has a
    ///   token of an earlier connection, which goes with 0-RTT ([`Opening::Combined`]).
    /// - Receiver: its application uses what arrives behind a gap. It acknowledges every second
    ///   packet, or after 25 ms. The window is Chromium's, unless the scheme's own text names one.
    /// - Timers: `srtt + max(4 * rttvar, 25 ms)` (RFC 9002 §6.2.1); 1 s before the first sample
    ///   (§6.2.2).
    /// - Sending is paced at 1.25 windows a round trip, in bursts of 10 packets at most (RFC 9002
    ///   §7.7).
    /// - Window: it grows only while it or the pacer holds data back (RFC 9002 §7.8).
    ///
    /// Timers, ACKs, pacing and window validation that the scheme's own text gives stay.
    ///
    /// Packets are acknowledged by SACK, and timestamps show which copy was
    /// acknowledged, as packet numbers do.
    #[must_use]
    pub fn over_quic(&self, is_validated: bool) -> Self {
        let mut recipe = super::Recipe::clone(&self.recipe);
        let config = &mut recipe.config;
        config.mss = QUIC_DATAGRAM - QUIC_OVERHEAD;
        config.framing = Framing::Quic;
        config.options_count = false;
        config.opening = Opening::Combined { is_validated };
        (config.timestamps, config.sack, config.window_scaling) = (true, true, true);
        (config.nagle, config.offload) = (false, false);
        (config.pacing_burst, config.pacing_gain) = (BURST, PacingGain::QUIC);
        config.rto.floor = RtoFloor::Variance;
        config.receive.by_range = true;
        if !self.sets_parameter("pacing") {
            config.pacing = true;
        }
        if !self.sets_parameter("validate") {
            config.validation = WindowValidation::Quic;
        }
        if !self.sets_parameter("rto_min") {
            config.rto.min = MAX_ACK_DELAY;
        }
        if !self.sets_parameter("rto_init") {
            config.rto.initial = Duration::from_secs(1);
        }
        if !self.sets_parameter("ack") {
            config.receive.ack = AckPolicy::Delayed { timeout: MAX_ACK_DELAY };
        }
        if !self.sets_window() {
            config.receive.autotune = false;
            config.receive.initial_window = RECEIVE_WINDOW;
            config.receive.max_window = RECEIVE_WINDOW;
        }
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_keeps_what_its_text_gives() {
        let given = "linux+pacing=off+rto_min=50ms+rto_init=3s+ack=all+rwnd=1MB+validate=off";
        let scheme = Scheme::parse(given).unwrap();
        let (own, quic) = (scheme.config(), *scheme.over_quic(false).config());
        assert_eq!(
            (quic.pacing, quic.rto.min, quic.rto.initial),
            (false, own.rto.min, own.rto.initial)
        );
        assert_eq!(quic.validation, WindowValidation::Off);
        assert_eq!(quic.receive, crate::receiver::ReceiveConfig { by_range: true, ..own.receive });
    }

    /// RFC 9000 §13.2.2 and §18.2, RFC 9002 §6.2 and §7.7; 1,200 less 27.
    #[test]
    fn all_else_is_of_quic() {
        let quic = *Scheme::parse("newreno+mss=536+tfo=on").unwrap().over_quic(true).config();
        assert_eq!((quic.mss, quic.options_count, quic.pacing), (1173, false, true));
        assert_eq!(quic.opening, Opening::Combined { is_validated: true });
        assert_eq!((quic.rto.min.as_millis(), quic.rto.initial.as_millis()), (25, 1000));
        assert_eq!(quic.validation, WindowValidation::Quic);
        let gain = quic.pacing_gain;
        assert_eq!((gain.slow_start_percent, gain.later_percent), (125, 125));
        let timeout = Duration::from_millis(25);
        assert_eq!(quic.receive.ack, AckPolicy::Delayed { timeout });
        assert_eq!((quic.receive.initial_window, quic.receive.by_range), (15 << 20, true));
    }
}
