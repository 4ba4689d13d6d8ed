//! The physical limit of a page load: the earliest instants that no transport can beat.
//!
//! Computed, not simulated. Every step takes the least it can:
//!
//! - A connection opens in the round trips that its scheme and TLS ask for; the bytes of both pass
//!   at the links' rates. Data in the SYN (`open=data`) saves the handshake's round trip.
//! - An object is asked for the instant it is discovered, on a connection that is already open
//!   (HTTP/1.0: on one of its own, opened then), however many are in progress.
//! - Its server answers after its think time; each of its bytes, headers of packets included,
//!   passes the access link at the full rate, less what unresponsive traffic takes. Nothing is
//!   lost, nothing waits for a window, and packets are as large and as few as the segment size
//!   allows.
//!
//! Two kinds of bound come of this. Along a *chain* of discovery, each object has the link to
//! itself (`chain`). And from any instant on, all bytes that cannot have been sent before it have
//! yet to pass the one link (`backlog`). The limit is the larger of both, for the HTML and for the
//! whole page separately: the order of sending that is best for one is not best for the other, so
//! a single load may be unable to reach both.
//!
//! Simulated transmission times are rounded to the nearest nanosecond per packet; half a
//! nanosecond per packet is granted, so that rounding cannot beat the limit either (`wire`).

mod backlog;
mod chain;
mod wire;

pub use chain::ObjectLimit;
pub use wire::Capacity;

use crate::path::PathSpec;
use backlog::Backlog;
use chain::Beginning;
use tcp::Scheme;
use units::{Duration, Rate};
use wire::Wire;
use workload::{Kind, LoaderConfig, Page};

/// The earliest instants, counted from the start of the load, of one page on one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// When the last byte of the last HTML part can have arrived; `None` if the page has no HTML.
    pub html: Option<Duration>,
    /// When the last byte of the page can have arrived.
    pub page: Duration,
    /// For each object by itself, by [`workload::ObjectId`].
    pub objects: Vec<ObjectLimit>,
}

/// The limit of `page`, spoken to as `config` says, over `path` with segments and opening of
/// `scheme`, while `unresponsive` traffic takes its share of the way down.
pub fn limit(page: &Page, config: &LoaderConfig, on: (&Scheme, Capacity)) -> Limit {
    limit_from(page, (config, Beginning::Closed), on)
}

/// The same for a repeated visit: connections that the protocol keeps alive are open already.
pub fn limit_again(page: &Page, config: &LoaderConfig, on: (&Scheme, Capacity)) -> Limit {
    limit_from(page, (config, Beginning::Open), on)
}

fn limit_from(
    page: &Page,
    (config, beginning): (&LoaderConfig, Beginning),
    (scheme, capacity): (&Scheme, Capacity),
) -> Limit {
    let wire = Wire::new(scheme.config(), capacity);
    let objects = chain::bounds(page, (config, beginning), &wire);
    let is_html = |n: usize| page.objects()[n].kind == Kind::Html;
    let bound = |wanted: &dyn Fn(usize) -> bool| {
        let chain = objects
            .iter()
            .enumerate()
            .filter(|(n, _)| wanted(*n))
            .map(|(_, bound)| bound.limit.done)
            .max()?;
        let backlog = Backlog::of(page, config, (&objects, wanted));
        Some(chain.max(backlog.bound(&wire)))
    };
    Limit {
        html: bound(&is_html),
        page: bound(&|_| true).unwrap_or(Duration::ZERO),
        objects: objects.iter().map(|bound| bound.limit).collect(),
    }
}

impl Limit {
    /// The earlier of two limits, instant by instant: a bound on whatever obeys either.
    #[must_use]
    pub fn earlier(mut self, other: &Self) -> Self {
        self.html = self.html.min(other.html);
        self.page = self.page.min(other.page);
        for (mine, theirs) in self.objects.iter_mut().zip(&other.objects) {
            mine.keep_earlier(theirs);
        }
        self
    }
}

impl Capacity {
    /// All of a path, less `unresponsive` traffic on the way down.
    pub fn of(path: &PathSpec, unresponsive: Rate) -> Self {
        let down = path.down().as_bps().saturating_sub(unresponsive.as_bps());
        Self { down: Rate::from_bps(down), up: path.up(), delays: path.delays() }
    }
}

#[cfg(test)]
mod tests;
