//! A start-up's capabilities, in one value.
//!
//! The path asks for them when it is made, and keeps the answer. A start-up that needs nothing
//! therefore costs nothing at each ACK.

/// A start-up's capabilities. All but [`rules_recovery`](Self::rules_recovery) hold for its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartUpCapabilities {
    /// The path calls [`StartUp::observe`](super::StartUp::observe) at each ACK. A policy without
    /// that method saves the calls by `false`.
    pub observes: bool,
    /// Samples have [`AckSample::round`](crate::ack::AckSample::round).
    pub needs_rounds: bool,
    /// As long as it owns the window, the policy answers losses itself. The path shows it every ACK
    /// by [`StartUp::on_ack`](super::StartUp::on_ack), also during recovery. Samples have
    /// [`AckSample::delivery`](crate::ack::AckSample::delivery). Neither congestion control nor
    /// recovery changes the window, except at a timeout.
    ///
    /// Before the path has its first data, a policy answers whether it ever rules. If it may, the
    /// path asks again at each use, and the answer may change.
    pub rules_recovery: bool,
    /// The path calls [`KernelEvents::on_acked`](super::KernelEvents::on_acked) for every ACK, also
    /// in recovery (`cong_control`).
    pub sees_all_acks: bool,
    /// The retransmission timer waits for this many segments of each connection to the same host
    /// that sends. Only policies with [`KernelEvents`](super::KernelEvents) can know of others.
    pub timer_gaps: u32,
}

/// A policy that sees every ACK and needs nothing else.
impl Default for StartUpCapabilities {
    fn default() -> Self {
        Self {
            observes: true,
            needs_rounds: false,
            rules_recovery: false,
            sees_all_acks: false,
            timer_gaps: 0,
        }
    }
}
