//! What a start-up is and needs, in one value.
//!
//! The path asks when it is made, and keeps the answer. So nothing is asked at each ACK of a policy
//! that has nothing to say.

/// What a start-up is and needs. All fields but [`rules_recovery`](Self::rules_recovery) hold for its
/// life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartUpCapabilities {
    /// [`StartUp::observe`](super::StartUp::observe) is called at each ACK. A policy that does not
    /// implement it saves the call by `false`.
    pub observes: bool,
    /// Samples have [`AckSample::round`](crate::ack::AckSample::round).
    pub needs_rounds: bool,
    /// As long as it owns the window, the policy answers losses itself. It is then shown every ACK by
    /// [`StartUp::on_ack`](super::StartUp::on_ack), also during recovery, with
    /// [`AckSample::delivery`](crate::ack::AckSample::delivery). Neither congestion control nor recovery
    /// moves the window, but for a timeout.
    ///
    /// A policy that has not begun says whether it ever may. If so, it is asked again whenever that
    /// matters, and the answer may change.
    pub rules_recovery: bool,
    /// [`KernelEvents::acked`](super::KernelEvents::acked) is called for every ACK, also in recovery
    /// (`cong_control`).
    pub sees_all_acks: bool,
    /// The retransmission timer of a policy with [`KernelEvents`](super::KernelEvents) waits for this many
    /// segments of each connection that sends to the same host; 0: for none.
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
