//! A connection's recovery policy, with what is known of it without asking.
//!
//! A policy is asked through a trait object, with a context that takes longer to write than most answers take to find.
//! So what it never needs is noted once, and what it has promised until it is next told something ([`Stance`]) is kept
//! beside it. A connection that loses nothing then sends by comparing numbers of its own.

use crate::recovery::{LossRecovery, Stance};
use std::ops::{Deref, DerefMut};

/// A recovery policy and its promises.
pub(super) struct Repairs {
    policy: Box<dyn LossRecovery>,
    /// [`LossRecovery::has_timer`].
    pub(super) has_timer: bool,
    /// [`LossRecovery::follows_new_data`].
    pub(super) follows_new_data: bool,
    /// What the policy has promised last. Whoever tells it something else than an ACK takes that back.
    pub(super) stance: Stance,
}

impl Repairs {
    pub(super) fn new(policy: Box<dyn LossRecovery>) -> Self {
        Self {
            has_timer: policy.has_timer(),
            follows_new_data: policy.follows_new_data(),
            policy,
            stance: Stance::Ask,
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
