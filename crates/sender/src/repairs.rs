//! A sender's recovery policy, with its state beside it.
//!
//! A policy is asked through a trait object, with a context that takes longer to write than most
//! answers take to find. So its state is read once after each change. Its last [`SkippableCalls`],
//! which holds until its next event, is kept, too. A connection that loses nothing then sends by
//! comparing numbers of its own. Where assertions are on, which is in every test, the policy is
//! asked all the same, and has to agree.

use crate::Sender;
use crate::burst::Burst;
use path::Path;
use policy::ack::AckInfo;
use policy::recovery::{
    LossRecovery, PlainAck, RecoveryCapabilities, RecoveryContext, RecoveryEvent, RecoveryState,
    Report, SentInfo, SkippableCalls,
};

/// A recovery policy, its state, and its last [`SkippableCalls`].
pub(crate) struct Repairs {
    policy: Box<dyn LossRecovery>,
    can: RecoveryCapabilities,
    state: RecoveryState,
    /// [`Report::skippable_calls`] of the last ACK. Any other event makes it void.
    skippable_calls: SkippableCalls,
    /// New data that the policy was not notified of.
    pub(crate) burst: Burst,
}

impl Repairs {
    pub(crate) fn new(policy: Box<dyn LossRecovery>) -> Self {
        Self {
            can: policy.capabilities(),
            state: policy.state(),
            policy,
            skippable_calls: SkippableCalls::Ask,
            burst: Burst::default(),
        }
    }

    #[inline]
    pub(crate) const fn capabilities(&self) -> &RecoveryCapabilities {
        &self.can
    }

    #[inline]
    pub(crate) fn state(&self) -> &RecoveryState {
        debug_assert_eq!(self.state, self.policy.state());
        &self.state
    }

    #[inline]
    pub(crate) const fn skippable_calls(&self) -> SkippableCalls {
        self.skippable_calls
    }

    /// Makes the kept [`SkippableCalls`] void: the policy is asked again.
    #[inline]
    pub(crate) fn void_skippable_calls(&mut self) {
        self.skippable_calls = SkippableCalls::Ask;
        self.burst = Burst::default();
    }

    pub(crate) fn on_ack(&mut self, cx: &mut RecoveryContext<'_>, ack: &AckInfo) -> Report {
        let report = self.policy.on_ack(cx, ack);
        self.skippable_calls = report.skippable_calls;
        self.state = self.policy.state();
        report
    }

    #[inline]
    pub(crate) fn on_plain_ack(&mut self, ack: &PlainAck) {
        let rest = self.policy.on_plain_ack(ack);
        self.burst = Burst::after_plain_ack(&rest);
        self.state.timeout = rest.timeout;
    }

    pub(crate) fn on_event(
        &mut self,
        cx: &mut RecoveryContext<'_>,
        event: RecoveryEvent,
    ) -> Report {
        let report = self.policy.on_event(cx, event);
        self.state = self.policy.state();
        report
    }

    pub(crate) fn on_sent(&mut self, sent: &SentInfo) {
        self.policy.on_sent(sent);
        if self.can.has_timer {
            self.state = self.policy.state();
        }
    }

    pub(crate) fn allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        self.policy.allowance(cx)
    }

    pub(crate) fn next_retransmission(&mut self, cx: &mut RecoveryContext<'_>) -> Option<usize> {
        self.policy.next_retransmission(cx)
    }
}

impl Sender {
    /// Returns the index on the scoreboard of the next segment to retransmit.
    pub fn next_lost(&mut self) -> Option<usize> {
        self.board.next_lost()
    }

    /// Bytes that recovery lets go now.
    pub fn allowance(&mut self, path: &Path, may_send: bool) -> u64 {
        let (recovery, cx) = self.recovery_parts(path, may_send);
        recovery.allowance(&cx)
    }

    /// Returns the bytes that recovery lets go now, `least` at least, and the index on the
    /// scoreboard of the segment to retransmit, if there is one.
    #[inline]
    pub fn next_repair(
        &mut self,
        path: &mut Path,
        least: u64,
        may_send: bool,
    ) -> (u64, Option<usize>) {
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        let allowance = recovery.allowance(&cx).max(least);
        let index = if allowance > 0 { recovery.next_retransmission(&mut cx) } else { None };
        if index.is_some() || path.is_shared() {
            // The policy may have found a loss just now.
            self.settle_in_flight(path);
        }
        (allowance, index)
    }

    /// No new data can go: retransmissions that recovery held back in favour of new data may go
    /// instead.
    #[inline]
    pub fn repairs_instead(&mut self, path: &Path, may_send: bool) -> bool {
        if self.board.waiting() == 0 || !self.recovery.state().wants_new_data {
            return false;
        }
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        recovery.on_event(&mut cx, RecoveryEvent::NothingNew);
        !recovery.state().wants_new_data
    }

    /// The policy agrees with [`SkippableCalls::Open`] for a piece of new data.
    pub fn is_open_for(&mut self, path: &Path, next_unsent: u64) -> bool {
        self.end_burst(path);
        let (skippable_calls, burst) = (self.recovery.skippable_calls, self.recovery.burst);
        let (recovery, mut cx) = self.recovery_parts(path, true);
        let allowance = recovery.allowance(&cx);
        let again = recovery.next_retransmission(&mut cx);
        (self.recovery.skippable_calls, self.recovery.burst) = (skippable_calls, burst);
        allowance == next_unsent && again.is_none()
    }

    /// The policy agrees with [`SkippableCalls::Idle`] for an ACK.
    pub(crate) fn is_idle_for(&mut self, path: &Path, info: &AckInfo, may_send: bool) -> bool {
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        recovery.on_ack(&mut cx, info) == Report::PROGRESS
    }
}
