//! A scheme over a transport like QUIC: what changes of packets, opening, ACKs and timers.

use super::Scheme;
use crate::config::{AckPolicy, Framing, Opening, RtoFloor};
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
    /// - Sending is paced, in bursts of 10 packets at most (RFC 9002 §7.7).
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
        (config.nagle, config.offload, config.pacing) = (false, false, true);
        config.pacing_burst = BURST;
        config.rto.min = MAX_ACK_DELAY;
        config.rto.floor = RtoFloor::Variance;
        config.rto.initial = Duration::from_secs(1);
        config.receive.ack = AckPolicy::Delayed { timeout: MAX_ACK_DELAY };
        config.receive.by_range = true;
        if !self.names_window() {
            config.receive.autotune = false;
            config.receive.initial_window = RECEIVE_WINDOW;
            config.receive.max_window = RECEIVE_WINDOW;
        }
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }
}
