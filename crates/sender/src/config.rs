//! The options of a scheme for the sending half of its connections.

use policy::config::{ConnectionConfig, RttSampling};

/// The options of a scheme for a sender, beside its recovery policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderConfig {
    /// Segments that may be outstanding at most, whatever the peer's window admits.
    pub(crate) window_limit: Option<u32>,
    /// The ACKs that give a sample of the round trip.
    pub(crate) rtt_sampling: RttSampling,
    /// Without SACK, duplicate ACKs count as deliveries (Linux `tcp_add_reno_sack`).
    pub(crate) duplicates_deliver: bool,
    /// SYNs that may be lost before the first window is a smaller one (RFC 5681 §3.1).
    pub(crate) syn_losses_tolerated: u32,
    /// Segments of the first window after more of them.
    pub(crate) lost_initial_window: u32,
    /// The threshold is halved again when the same segment times out again.
    pub(crate) halve_again: bool,
}

impl SenderConfig {
    pub(crate) const fn of(config: &ConnectionConfig) -> Self {
        Self {
            window_limit: config.window_limit,
            rtt_sampling: config.rtt_sampling,
            duplicates_deliver: config.duplicates_deliver,
            syn_losses_tolerated: config.syn_losses_tolerated,
            lost_initial_window: config.lost_initial_window,
            halve_again: config.halve_again,
        }
    }
}
