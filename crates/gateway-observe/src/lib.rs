//! The observer of a site: reads packets of the site's servers and reports them to the performance
//! gateway (Zhang, Qiu & Keshav 2000 §5.2.2, third way). Its process has none of the site's keys.
//!
//! A thread reads packets from interfaces, a file or a pipe (`live`). Crate `trace` rebuilds their
//! senders, whose transfers become reports ([`passive`]). TCP options of agents become reports, too
//! ([`path_option`]). SYNs, and requests on idle connections, announce visitors. The reports go to
//! the gateway by crate `gateway-client`, with a certificate that may do nothing else
//! (docs/adr/0033-observer.md).
//!
//! Read in this order: [`config`], [`SiteObserver`], then `live`.

pub mod config;
mod counts;
mod live;
mod log;
mod observer;
pub mod passive;
pub mod path_option;
mod reporting;
#[doc(hidden)]
pub mod testing;

pub use config::ObserveConfig;
pub use counts::ObserverCounts;
pub use observer::SiteObserver;
