//! A sender's recovery policy, with what is known of it without asking.
//!
//! A policy is asked through a trait object, with a context that takes longer to write than most answers take to find.
//! So what it never needs is noted once, and what it has promised until it is next told something ([`Stance`]) is kept
//! beside it. A connection that loses nothing then sends by comparing numbers of its own. Where assertions are on,
//! which is in every test, the policy is asked all the same, and has to keep its promises.

use crate::Sender;
use crate::burst::Burst;
use policy::ack::AckInfo;
use path::Path;
use policy::recovery::{LossRecovery, Report, Stance};
use std::ops::{Deref, DerefMut};

/// A recovery policy and its promises.
pub(crate) struct Repairs {
    policy: Box<dyn LossRecovery>,
    /// [`LossRecovery::has_timer`].
    pub(crate) has_timer: bool,
    /// [`LossRecovery::follows_new_data`].
    pub(crate) follows_new_data: bool,
    /// What the policy has promised last. Whoever tells it something else than an ACK takes that back.
    pub(crate) stance: Stance,
    /// New data that the policy has not been told of.
    pub(crate) burst: Burst,
}

impl Repairs {
    pub(crate) fn new(policy: Box<dyn LossRecovery>) -> Self {
        Self {
            has_timer: policy.has_timer(),
            follows_new_data: policy.follows_new_data(),
            policy,
            stance: Stance::Ask,
            burst: Burst::default(),
        }
    }
}

impl Deref for Repairs {
    type Target = dyn LossRecovery;

    fn deref(&self) -> &Self::Target {
        &*self.policy
    }
}

impl DerefMut for Repairs {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.policy
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

    /// Nothing new can go: what recovery held back in favour of that may go instead.
    #[inline]
    pub fn repairs_instead(&mut self, path: &Path, may_send: bool) -> bool {
        if self.board.waiting() == 0 {
            return false;
        }
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        recovery.on_nothing_new(&mut cx)
    }

    /// [`Stance::Open`] is true of a piece of new data.
    pub fn open_promise_holds(&mut self, path: &Path, promised: u64) -> bool {
        let stance = self.recovery.stance;
        let (recovery, mut cx) = self.recovery_parts(path, true);
        let allowance = recovery.allowance(&cx);
        let again = recovery.next_retransmission(&mut cx);
        self.recovery.stance = stance;
        allowance == promised && again.is_none()
    }

    /// [`Stance::Idle`] is true of an ACK.
    pub(crate) fn idle_promise_holds(
        &mut self,
        path: &Path,
        info: &AckInfo,
        may_send: bool,
    ) -> bool {
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        let report = recovery.on_ack(&mut cx, info);
        self.recovery.stance = Stance::Idle;
        report == Report::PROGRESS
    }
}
