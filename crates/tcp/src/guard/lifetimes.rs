//! Times for which the state of dead, silent or slow peers is kept.
//!
//! | state | freed after | by |
//! |---|---|---|
//! | SYN-SENT, SYN-RECEIVED | `syn_retries`, `syn_ack_retries` timeouts: 127 s | retransmission timer |
//! | data or FIN that nobody acknowledges | `data_retries` timeouts (R2, RFC 9293 §3.8.3): 13 to 30 min | retransmission timer |
//! | data that a peer takes too slowly, or not at all though it answers | `user_timeout`, with `min_rate` | retransmission and persist timers |
//! | a shut window and no answer to probes | `data_retries` probes | persist timer |
//! | FIN-WAIT-2 after the application closed | `fin_wait`: 60 s | idle timer |
//! | a silent peer with nothing to say on either side | `keepalive` | idle timer |
//! | TIME-WAIT | `time_wait`: 60 s | when it is looked up or another comes |

use units::{Duration, Rate};

/// Times after which the state of dead or slow peers is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Twice the longest life of a segment (RFC 9293 §3.6.1); Linux's 60 s. It applies with
    /// [`super::Limits::retire_early`].
    pub time_wait: Duration,
    /// FIN-WAIT-2, once the application has closed (Linux `tcp_fin_timeout`): 60 s.
    pub fin_wait: Duration,
    /// Timeouts of our SYN before the attempt fails (Linux `tcp_syn_retries`): 6, or 127 s.
    pub syn_retries: u32,
    /// Timeouts of our SYN-ACK before the peer's attempt is forgotten: 6.
    pub syn_ack_retries: u32,
    /// Timeouts in a row of data, or unanswered probes of a closed window, before the connection
    /// fails (R2 of RFC 9293 §3.8.3; Linux `tcp_retries2`): 15.
    pub data_retries: u32,
    /// Time in which at least a full segment must be acknowledged while data waits; otherwise the
    /// connection fails. This is the user timeout of RFC 9293 §3.9.1 and RFC 5482. It also bounds
    /// peers that keep their window closed and answer every probe (RFC 6429 §3), and those that
    /// read a byte a second. It is checked once in this time: a peer that stops just after a check
    /// is freed two checks later. Default: none.
    pub user_timeout: Option<Duration>,
    /// Average rate at which data must be acknowledged over each [`Self::user_timeout`] while data
    /// waits, if that is more than a full segment. It bounds peers that read very slowly (as
    /// `MinRate` of Apache's `mod_reqtimeout` bounds requests). Data that waits because this side
    /// does not send counts too: connections that share a path by weights need room for that.
    /// Default: zero, so that a full segment is enough.
    pub min_rate: Rate,
    /// Keepalive of silent peers (RFC 9293 §3.8.4). Default: none.
    pub keepalive: Option<KeepAlive>,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            time_wait: Duration::from_secs(60),
            fin_wait: Duration::from_secs(60),
            syn_retries: 6,
            syn_ack_retries: 6,
            data_retries: 15,
            user_timeout: None,
            min_rate: Rate::from_bps(0),
            keepalive: None,
        }
    }
}

/// When a silent peer is asked whether it lives (RFC 9293 §3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe, at least; at most twice that.
    pub idle: Duration,
    /// Time between probes.
    pub interval: Duration,
    /// Unanswered probes after which the connection fails.
    pub probes: u32,
}

impl Default for KeepAlive {
    /// Linux's: two hours, 75 s, nine probes.
    fn default() -> Self {
        Self { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}
