//! Sending times of a link with a service stage: at a constant rate, or by its trace.

use crate::rate_trace::OPPORTUNITY_BYTES;
use crate::{LinkConfig, RateTrace, Serializer};
use std::sync::Arc;
use units::{Duration, Instant, Rate};

/// Sends one packet after the other.
#[derive(Clone, Debug)]
pub(crate) enum LinkServer {
    Constant { serializer: Serializer, free_at: Instant },
    Traced(Traced),
}

impl LinkServer {
    pub(crate) fn new(config: &LinkConfig) -> Self {
        match config.rate_trace() {
            Some(trace) => Self::Traced(Traced::new(Arc::clone(trace), config.trace_offset())),
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

    /// Start of service of a packet that is ready at `ready`, if it is the next one.
    pub(crate) fn start(&mut self, ready: Instant) -> Instant {
        match self {
            Self::Constant { free_at, .. } => ready.max(*free_at),
            Self::Traced(traced) => traced.start(ready),
        }
    }

    /// Serves a packet of `bytes` from `start` on, which [`LinkServer::start`] has named; returns
    /// when it departs.
    pub(crate) fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        match self {
            Self::Constant { serializer, free_at } => {
                *free_at = start + serializer.transmit_time(bytes);
                *free_at
            }
            Self::Traced(traced) => traced.serve(start, bytes),
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

/// Opportunities in the order of time, or rates. An opportunity that finds no packet passes unused.
/// The next packet uses the rest of an opportunity if that packet is there by then. A packet larger
/// than one opportunity takes several.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    trace: Arc<RateTrace>,
    /// Time of the trace at which the link begins.
    offset: Duration,
    /// The opportunity that is being used, or would be.
    number: u64,
    /// Its bytes that are still unused.
    left: u32,
    free_at: Instant,
}

impl Traced {
    fn new(trace: Arc<RateTrace>, offset: Duration) -> Self {
        let number = match trace.opportunities() {
            // An opportunity at the offset itself is past, as the last one of a cycle is.
            Some(all) if !offset.is_zero() => {
                all.first_from(Instant::ZERO + offset + Duration::from_nanos(1))
            }
            _ => 0,
        };
        Self { trace, offset, number, left: OPPORTUNITY_BYTES, free_at: Instant::ZERO }
    }

    fn start(&mut self, ready: Instant) -> Instant {
        let ready = ready.max(self.free_at) + self.offset;
        let Some(all) = self.trace.opportunities() else {
            return self.on_links_clock(self.trace.moving_from(ready));
        };
        let mut next = (self.number, self.left);
        if next.1 == 0 {
            next = (next.0 + 1, OPPORTUNITY_BYTES);
        }
        if all.at(next.0) < ready {
            next = (all.first_from(ready).max(next.0 + 1), OPPORTUNITY_BYTES);
        }
        let at = all.at(next.0);
        (self.number, self.left) = next;
        self.on_links_clock(at)
    }

    fn serve(&mut self, start: Instant, bytes: u32) -> Instant {
        let departs = match self.trace.opportunities() {
            Some(all) => {
                let (mut bytes, mut next) = (bytes, (self.number, self.left));
                while bytes > next.1 {
                    bytes -= next.1;
                    next = (next.0 + 1, OPPORTUNITY_BYTES);
                }
                (self.number, self.left) = (next.0, next.1 - bytes);
                all.at(self.number)
            }
            None => self.trace.passed(start + self.offset, u64::from(bytes)),
        };
        self.free_at = self.on_links_clock(departs);
        self.free_at
    }

    fn on_links_clock(&self, at: Instant) -> Instant {
        Instant::ZERO + at.saturating_since(Instant::ZERO + self.offset)
    }
}
