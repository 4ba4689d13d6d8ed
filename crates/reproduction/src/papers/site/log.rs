//! A simulated access log of a busy site: requests and their times, without transfers (Zhang, Qiu &
//! Keshav 2000 §5.2.1).
//!
//! The paper's log has 10,688,728 requests of 656,559 addresses in three mornings of three hours,
//! images apart. Visitors arrive at that rate, each from an address of its own, and ask for as many
//! pages in the mean. The paper does not give the time that visitors think between pages, so it is
//! varied. Real networks are not of equal size either, which would only bring requests of one
//! network closer together.

use findings::{RequestWatch, SharingFindings};
use netsim::stream;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant};
use workload::Distribution;

/// Requests and addresses of the paper's nine hours.
const REQUESTS: f64 = 10_688_728.0;
const ADDRESSES: f64 = 656_559.0;
const SECONDS: f64 = 9.0 * 3_600.0;
/// Its networks: 106,669 have the 475,803 addresses that have names.
const NETWORKS: f64 = ADDRESSES * 106_669.0 / 475_803.0;
/// A morning.
const MORNING: f64 = 3.0 * 3_600.0;

/// Seconds between pages, in the mean: the one that answers, and others beside it.
pub(in super::super) const THINK: f64 = 60.0;
const THINKS: [f64; 3] = [THINK, 30.0, 120.0];

/// A morning of a log.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LogMorning {
    think: f64,
    seed: u64,
}

/// Findings of a log.
#[derive(Clone, Debug)]
pub struct LogFound {
    /// Seconds between pages, in the mean, of a simulated one.
    pub think: Option<f64>,
    /// Repeated requests from networks.
    pub found: SharingFindings,
    /// Owners of its addresses' names; a simulated log has none.
    pub names: Option<NamedNetworks>,
}

/// Networks by the domains of their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedNetworks {
    /// Networks with a name.
    pub named: u64,
    /// Networks among them that have names of several domains.
    pub several_domains: u64,
}

/// Returns the mornings of a full or quick answer.
pub(in super::super) fn mornings(quick: bool) -> Vec<LogMorning> {
    let seeds = if quick { 1 } else { 3 };
    let mornings = |think| (1..=seeds).map(move |seed| LogMorning { think, seed });
    THINKS.into_iter().flat_map(mornings).collect()
}

/// A visitor's next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NextRequest {
    at: Duration,
    client: Ipv4Addr,
    /// Requests that follow it.
    left: u64,
}

impl LogMorning {
    /// Runs the simulation.
    ///
    /// # Errors
    /// If a distribution is none.
    pub(in super::super) fn run(self) -> Result<LogFound, String> {
        let Self { think, seed } = self;
        let exponential = |mean| Distribution::exponential(mean).map_err(|error| error.to_string());
        let arrivals = exponential(SECONDS / ADDRESSES)?;
        let (pages, thinks) = (exponential(REQUESTS / ADDRESSES)?, exponential(think)?);
        let [mut arrival, mut client, mut page, mut pause] =
            ["arrival", "client", "page", "pause"].map(|name| stream(seed, name));
        let each = Distribution::uniform(0.0, NETWORKS).map_err(|error| error.to_string())?;
        let address = Distribution::uniform(1.0, 255.0).map_err(|error| error.to_string())?;
        let seconds = |time: f64| Duration::from_secs_f64(time);
        let (mut watch, mut due) = (RequestWatch::default(), BinaryHeap::new());
        let mut next = seconds(arrivals.sample(&mut arrival));
        let end = seconds(MORNING);
        loop {
            if due.peek().is_none_or(|Reverse(first): &Reverse<NextRequest>| next < first.at) {
                let network = (1 << 24) + ((each.sample(&mut client) as u32) << 8);
                let host = network + address.sample(&mut client) as u32;
                let left = pages.sample_count(&mut page) - 1;
                due.push(Reverse(NextRequest { at: next, client: host.into(), left }));
                next += seconds(arrivals.sample(&mut arrival));
                continue;
            }
            let Some(Reverse(NextRequest { at, client, left })) = due.pop() else { break };
            if at > end {
                break;
            }
            watch.on_request(Instant::ZERO + at, IpAddr::V4(client));
            if left > 0 {
                let at = at + seconds(thinks.sample(&mut pause));
                due.push(Reverse(NextRequest { at, client, left: left - 1 }));
            }
        }
        Ok(LogFound { think: Some(think), found: watch.findings(), names: None })
    }
}
