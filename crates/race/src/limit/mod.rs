//! The physical limit of a page load: the earliest instants that no transport can beat.
//!
//! Computed, not simulated. It depends on the page, its protocols and the path, and on no scheme.
//! Every step takes the least it can:
//!
//! - [`limit`]: a connection opens by TCP's handshake, and TLS's where there is TLS; HTTP/3 has
//!   both in one. The bytes of both pass at the links' rates. [`limit_again`]: connections that
//!   the protocol keeps alive are open. [`limit_without_handshake`]: every connection is open and
//!   secure, as 0-RTT has it at best.
//! - An object is requested at the instant of its discovery, on a connection that is already open
//!   (HTTP/1.0: on one of its own, opened then), however many are in progress.
//! - Its server answers after its think time; each of its bytes, headers of packets included,
//!   passes the access link at the full rate, less the rate of unresponsive traffic. Nothing is
//!   lost, nothing waits for a window, and packets are full: 1460 bytes behind 40 of headers, under
//!   HTTP/3 1173 behind 55. A changing rate has its value at each instant, from the phase at which
//!   the load starts.
//!
//! Two kinds of bound come of this. Along a *chain* of discovery, each object has the link to
//! itself (`chain`). And from any instant on, all bytes that cannot have been sent before it have
//! yet to pass the one link (`backlog`). The limit is the larger of both, for each milestone by
//! itself. The order of sending that is best for one is not best for another, so a single load may
//! be unable to meet all.
//!
//! Simulated transmission times are rounded to the nearest nanosecond per packet. The limit is
//! therefore lower by half a nanosecond per packet, so that rounding cannot beat it either
//! (`wire`).

mod backlog;
mod chain;
mod wire;

pub use chain::ObjectLimit;
pub use wire::{Capacity, CapacityRate};

use crate::MilestoneTimes;
use backlog::Backlog;
use chain::Beginning;
use link::LinkConfig;
use link::path::{PathSpec, one_way_delays};
use std::sync::Arc;
use units::{Duration, Rate};
use wire::Wire;
use workload::{Http, LoaderConfig, ObjectId, Page};

/// The earliest instants of one page on one path, as durations from the start of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// When each milestone can have been times.
    pub times: MilestoneTimes,
    /// The time of the milestone that ends the load ([`Page::until`]).
    pub page: Duration,
    /// Limits of each object alone, by [`workload::ObjectId`].
    pub objects: Vec<ObjectLimit>,
}

/// The limit of a first visit of `page`, whose hosts are spoken to as `config` says, on links of
/// `capacity`: every connection has to be opened.
///
/// A scheme that needs no handshake (`open=data`), or has its own way to use connections (`phttp`),
/// may be faster than this, but never than [`limit_without_handshake`].
pub fn limit(page: &Page, config: &LoaderConfig, capacity: &Capacity) -> Limit {
    limit_from(page, config, Beginning::Closed, capacity)
}

/// The limit of a repeated visit: connections that the protocol keeps alive are open already.
pub fn limit_again(page: &Page, config: &LoaderConfig, capacity: &Capacity) -> Limit {
    limit_from(page, config, Beginning::KeptAlive, capacity)
}

/// The limit of every visit under every scheme: no connection has to be opened or secured, and all
/// objects of a host may share one.
pub fn limit_without_handshake(page: &Page, config: &LoaderConfig, capacity: &Capacity) -> Limit {
    let persistent = LoaderConfig { http: Some(Http::Persistent), ..config.clone() };
    let of = |config| limit_from(page, config, Beginning::Open, capacity);
    of(config).pointwise_min(&of(&persistent))
}

fn limit_from(
    page: &Page,
    config: &LoaderConfig,
    beginning: Beginning,
    capacity: &Capacity,
) -> Limit {
    let wire = Wire::new(capacity, page);
    let objects = chain::bounds(page, config, beginning, &wire);
    let bound = |wanted: &dyn Fn(usize) -> bool| {
        let chain = objects
            .iter()
            .enumerate()
            .filter(|(n, _)| wanted(*n))
            .map(|(_, bound)| bound.limit.done)
            .max()?;
        let backlog = Backlog::of(page, config, &objects, wanted);
        Some(chain.max(backlog.earliest_delivery(&wire)))
    };
    let times =
        MilestoneTimes::by(|milestone| bound(&|n| page.awaits(milestone, ObjectId(n as u32))));
    Limit {
        times,
        page: times.get(page.until()).unwrap_or(Duration::ZERO),
        objects: objects.iter().map(|bound| bound.limit).collect(),
    }
}

impl Limit {
    /// The earlier of two limits, instant by instant: a bound on whatever obeys either.
    #[must_use]
    fn pointwise_min(mut self, other: &Self) -> Self {
        let earlier = |milestone| self.times.get(milestone).min(other.times.get(milestone));
        self.times = MilestoneTimes::by(earlier);
        self.page = self.page.min(other.page);
        for (mine, theirs) in self.objects.iter_mut().zip(&other.objects) {
            mine.keep_earlier(theirs);
        }
        self
    }
}

impl Capacity {
    /// All of a path whose load starts where its recordings begin, less `unresponsive` traffic on
    /// the way down, if that has one rate.
    pub fn of(path: &PathSpec, unresponsive: Rate) -> Self {
        let links = path.links();
        let rate = |link: &LinkConfig| match link.rate_trace() {
            Some(trace) => {
                CapacityRate::Traced { trace: Arc::clone(trace), phase: link.trace_offset() }
            }
            None => link.rate().into(),
        };
        let down = match rate(&links.forward) {
            CapacityRate::Constant(down) => {
                let left = down.as_bps().saturating_sub(unresponsive.as_bps());
                Rate::from_bps(left).into()
            }
            traced => traced,
        };
        // The least round trip of a path that changes: no scheme can be faster.
        let delays = one_way_delays(path.least_rtt());
        Self { down, up: rate(&links.reverse), delays }
    }
}

#[cfg(test)]
mod tests;
