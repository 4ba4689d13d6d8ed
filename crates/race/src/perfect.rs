//! Perfect start: the load by servers that know the path, to which real start-ups can be compared.
//!
//! Each server knows the rate of the access link and which transfers share it. It has no more under
//! way than keeps the link full, and loses nothing. All servers pace at equal shares, or they take
//! the whole link one after another, in the order of their requests. The load is the faster of
//! both. At equal shares the transfers of a browser's connections end at the same instant, and the
//! link is then idle for a round trip. Page, client, connections, protocols and think times are
//! those of any contestant. Servers with the same knowledge could therefore be as fast.
//!
//! It is simulated by the model of Linux with a fixed window, over an access link that drops
//! nothing. The link serves connections in turn, or packets in the order of their arrival. That
//! order is the pacing of the senders: a packet leaves at the instant at which its sender would
//! have sent it. The window is the bandwidth-delay product of the whole link, for the time that
//! ACKs really take.

use super::contestant::MeasuredLoad;
use super::distance::Distances;
use super::run::{self, SimulationParts};
use super::{BASELINE, Contestant, Race, RunOptions, World, harm, in_threads};
use link::path::PathSpec;
use link::{CoDelConfig, Discipline, FqCoDelConfig, LinkConfig, QueueLimit};
use netsim::Duplex;
use rayon::prelude::*;
use tcp::Scheme;
use tcp::segment::{IPV4_HEADER, QUIC_DATAGRAM, UDP_HEADER};
use units::Duration;

/// The name of its row.
pub const PERFECT_START: &str = "perfect start";

/// Bytes of a full packet of HTTP/3.
const QUIC_PACKET: u64 = (IPV4_HEADER + UDP_HEADER + QUIC_DATAGRAM) as u64;
/// A smaller gain of perfect start is no measure of other gains.
pub(crate) const MIN_GAIN: f64 = 0.01;
/// Ethernet's largest packet, bytes.
pub(crate) const PACKET: u64 = 1514;
/// Bytes of a pure ACK with timestamps. An ACK stands for two segments.
const ACK: u64 = 52;
/// The initial window of Linux; no window is smaller.
const MIN_WINDOW: u64 = 10;
/// No window at all, as segments of any window of TCP's.
pub const NO_WINDOW: u64 = 1 << 20;
/// The time that two hosts take to answer a packet each, generously.
const HOSTS: Duration = Duration::from_micros(400);
/// Segments that receivers may hold back an ACK for, and a request that delays ACKs.
const SLACK: u64 = 6;

impl Race {
    /// Runs the loads of perfect start. Their seeds are those of the race.
    ///
    /// # Panics
    /// If the operating system gives no threads.
    pub fn perfect_start(&self, options: RunOptions<'_>) -> Contestant {
        in_threads(options.threads, || self.perfect_loads(options))
    }

    fn perfect_loads(&self, options: RunOptions<'_>) -> Contestant {
        let protocols = self.page.hosts().iter().map(|host| self.loader.protocol(host));
        let is_quic = protocols.into_iter().any(|protocol| protocol.has_streams());
        let farthest = Distances::new(&self.located_page(), self.path.greatest_rtt()).longest();
        let packet = if is_quic { QUIC_PACKET } else { PACKET };
        let server = server(window(&self.path, farthest, packet));
        let client = self.client.clone().unwrap_or_else(|| self.baseline());
        let race = Self { client: Some(client), ..self.clone() };
        let orders = LinkOrder::all(self.background > 0);
        let load = |repeat| {
            let visits = |order: &LinkOrder| {
                let staging =
                    SimulationParts { race: &race, scheme: &server, links: order.of_path() };
                run::run(&staging, repeat, options)
            };
            let faster = orders.iter().map(visits).min_by_key(|visits| time_of(visits));
            (options.on_run)();
            faster.expect("there is an order")
        };
        let loads: Vec<_> = (0..self.repeats).into_par_iter().map(load).collect();
        let loads = Contestant::simulated(&server, loads.into_iter());
        let mut contestant =
            Contestant { name: PERFECT_START.to_owned(), world: World::Sim, ..loads };
        if self.background > 0 {
            harm::fill_in_harm(self, std::slice::from_mut(&mut contestant), options);
        }
        contestant
    }
}

/// The server of perfect start: Linux with a window of `window` segments, at least 1, and with
/// timers that wait for no loss.
///
/// # Panics
/// If no scheme can have this window.
pub fn server(window: u64) -> Scheme {
    let text = format!(
        "{BASELINE}+iw={window}+window={window}+idle=keep+pacing=off+recovery=sack+rto_init=60s+rto_min=60s"
    );
    Scheme::parse(&text).expect("linux has these parameters")
}

/// Segments that keep the link full while their ACKs are under way for a round trip of `rtt`, in
/// packets of `packet` bytes.
pub(crate) fn window(path: &PathSpec, rtt: Duration, packet: u64) -> u64 {
    if path.is_changing() {
        return NO_WINDOW;
    }
    let (down, up) = (path.down(), path.up());
    // If the ACKs of a full link fill half of the way back, requests delay them without bound.
    let [acks, room] =
        [(down, ACK), (up, packet)].map(|(rate, n)| u128::from(rate.as_bps()) * u128::from(n));
    if acks > room {
        return NO_WINDOW;
    }
    let round_trip = rtt + HOSTS + down.transmit_time(2 * PACKET) + up.transmit_time(2 * PACKET);
    down.bytes_in(round_trip).div_ceil(packet).saturating_add(SLACK).max(MIN_WINDOW)
}

/// A gain in parts of that of perfect start; `None` if that is too small to divide by.
pub fn share(gain: f64, of_perfect_start: f64) -> Option<f64> {
    (of_perfect_start >= MIN_GAIN).then(|| gain / of_perfect_start)
}

/// The time of all visits; the longest if one has not ended.
fn time_of(visits: &[MeasuredLoad]) -> Duration {
    let add = |sum, visit: &MeasuredLoad| Some(sum + visit.page?);
    visits.iter().try_fold(Duration::ZERO, add).unwrap_or(Duration::MAX)
}

/// An order in which servers use the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOrder {
    /// All connections at equal shares.
    Shares,
    /// One after another, in the order of their packets' arrival.
    Arrival,
}

impl LinkOrder {
    /// The orders to choose from. Before an unlimited queue, background flows would delay all else
    /// without end, so beside them there are shares alone.
    pub(crate) const fn all(has_background: bool) -> &'static [Self] {
        if has_background { &[Self::Shares] } else { &[Self::Shares, Self::Arrival] }
    }

    /// Returns the links with unlimited queues and no loss, and with an order in the downlink.
    /// Without an order, the links are unchanged.
    pub fn of_links(order: Option<Self>, links: Duplex<LinkConfig>) -> Duplex<LinkConfig> {
        let downlink = match order {
            None => return links,
            Some(Self::Shares) => in_turn(),
            Some(Self::Arrival) => Discipline::DropTail,
        };
        Duplex {
            forward: lossless(links.forward, downlink),
            reverse: lossless(links.reverse, Discipline::DropTail),
        }
    }

    const fn of_path(self) -> fn(&PathSpec) -> Duplex<LinkConfig> {
        match self {
            Self::Shares => |path| Self::of_links(Some(Self::Shares), path.links()),
            Self::Arrival => |path| Self::of_links(Some(Self::Arrival), path.links()),
        }
    }
}

fn lossless(link: LinkConfig, discipline: Discipline) -> LinkConfig {
    let config = LinkConfig::new(link.rate(), link.delay(), QueueLimit::Unlimited)
        .and_then(|config| config.with_discipline(discipline))
        .expect("a link of this rate and delay is there");
    let config = match link.delay_steps() {
        Some(steps) => config.with_delay_steps(steps.clone()),
        None => config,
    };
    match link.rate_trace() {
        Some(trace) => config.with_rate_trace(trace.clone()).beginning_at(link.trace_offset()),
        None => config,
    }
}

/// Fair queueing that never finds a packet late.
fn in_turn() -> Discipline {
    let never = Duration::from_secs(100_000);
    let codel = CoDelConfig { target: never, interval: never + never, ..CoDelConfig::default() };
    Discipline::FqCoDel(FqCoDelConfig { codel, ..FqCoDelConfig::default() })
}
