//! When a link with a service stage sends: at a constant rate, or when its trace says so.

use crate::rate_trace::OPPORTUNITY_BYTES;
use crate::{LinkConfig, RateTrace, Serializer};
use std::sync::Arc;
use units::{Instant, Rate};

/// Sends one packet after the other.
#[derive(Clone, Debug)]
pub(crate) enum LinkServer {
    Constant { serializer: Serializer, free_at: Instant },
    Traced(Traced),
}

impl LinkServer {
    pub(crate) fn new(config: &LinkConfig) -> Self {
        match config.rate_trace() {
            Some(trace) => Self::Traced(Traced::new(Arc::clone(trace))),
            None => Self::Constant {
                serializer: Serializer::new(config.rate()),
                free_at: Instant::ZERO,
            },
        }
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        if let Self::Constant { serializer, .. } = self {
            *serializer = Serializer::new(rate);
        }
    }

    /// When the service of a packet that is there from `ready` on begins, if it goes next.
    pub(crate) fn start(&mut self, ready: Instant) -> Instant {
        match self {
            Self::Constant { free_at, .. } => ready.max(*free_at),
            Self::Traced(traced) => traced.start(ready),
        }
    }

    /// Serves a packet of `bytes` from `start` on, which [`LinkServer::start`] has named; returns when
    /// it departs.
    pub(crate) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        match self {
            Self::Constant { serializer, free_at } => {
                *free_at = start + serializer.transmit_time(bytes);
                *free_at
            }
            Self::Traced(traced) => traced.serve(bytes),
        }
    }

    /// When all that was served has departed.
    pub(crate) const fn free_at(&self) -> Instant {
        match self {
            Self::Constant { free_at, .. } => *free_at,
            Self::Traced(traced) => traced.free_at,
        }
    }
}

/// Opportunities in the order of time. One that finds no packet passes unused; what a packet leaves
/// of one is for the next, if that is there by then; a packet larger than one takes several.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    trace: Arc<RateTrace>,
    /// The opportunity that is being used, or would be.
    number: u64,
    /// Its bytes that are still unused.
    left: u32,
    free_at: Instant,
}

impl Traced {
    const fn new(trace: Arc<RateTrace>) -> Self {
        Self { trace, number: 0, left: OPPORTUNITY_BYTES, free_at: Instant::ZERO }
    }

    fn start(&mut self, ready: Instant) -> Instant {
        let ready = ready.max(self.free_at);
        if self.left == 0 {
            self.advance_to(self.number + 1);
        }
        if self.trace.at(self.number) < ready {
            self.advance_to(self.trace.first_from(ready).max(self.number + 1));
        }
        self.trace.at(self.number)
    }

    fn serve(&mut self, bytes: u32) -> Instant {
        let mut bytes = bytes;
        while bytes > self.left {
            bytes -= self.left;
            self.advance_to(self.number + 1);
        }
        self.left -= bytes;
        self.free_at = self.trace.at(self.number);
        self.free_at
    }

    const fn advance_to(&mut self, number: u64) {
        self.number = number;
        self.left = OPPORTUNITY_BYTES;
    }
}
