//! The hosts of a recording: their names, protocols and round trips.

use super::fetch::{Fetch, Version};
use super::line::HostOfFetch;
use super::server_time::is_one_measurement;
use crate::page::{PageHost, RecordedHost, VersionEvidence};
use crate::{HTTP11_CONNECTIONS, Http, Tls};
use std::collections::{BTreeMap, BTreeSet};
use units::Duration;

/// Connections that a browser opens at once to a server that closes after every response.
const HTTP10_CONNECTIONS: u32 = 6;

/// This many responses at once on one connection exclude HTTP/1.1, which has one. Two may overlap
/// by rounding.
const MULTIPLEXED: i32 = 3;

/// Below this the processors' time hides the round trips of a TLS handshake.
const SHORTEST_RTT: Duration = Duration::from_millis(2);

pub(super) struct Hosts {
    pub(super) list: Vec<RecordedServer>,
    /// Per fetch, the index of its host.
    pub(super) index_of: Vec<usize>,
    /// The shortest round trip to any host.
    pub(super) rtt: Option<Duration>,
}

pub(super) struct RecordedServer {
    pub(super) host: PageHost,
    pub(super) recorded: RecordedHost,
}

impl Hosts {
    pub(super) fn of(fetches: &[Fetch]) -> Self {
        let mut of_host: Vec<Vec<&Fetch>> = Vec::new();
        let mut known = BTreeMap::new();
        let mut of_fetch = Vec::with_capacity(fetches.len());
        for fetch in fetches {
            let index = *known.entry((fetch.url.scheme(), name(fetch))).or_insert_with(|| {
                of_host.push(Vec::new());
                of_host.len() - 1
            });
            of_host[index].push(fetch);
            of_fetch.push(index);
        }
        let shortest = shortest_handshake(fetches);
        let list = of_host.iter().map(|fetches| server(fetches, shortest));
        let list: Vec<RecordedServer> = list.collect();
        let rtt = list.iter().filter_map(|server| server.recorded.rtt).min();
        Self { list, index_of: of_fetch, rtt }
    }

    /// The facts about the host of a fetch that decide its bounds.
    pub(super) fn of_fetch(&self, fetch: usize) -> HostOfFetch {
        let index = self.index_of[fetch];
        let server = &self.list[index];
        HostOfFetch {
            index,
            rtt: server.recorded.rtt.or(self.rtt).unwrap_or_default(),
            is_multiplexed: carries_all(server.host.http),
        }
    }

    /// Whether more responses of an HTTP/1.x host overlap than it had connections, by host.
    pub(super) fn overlap_flags(&self, fetches: &[Fetch]) -> impl Iterator<Item = bool> {
        let mut of_host = vec![Vec::new(); self.list.len()];
        for (fetch, host) in fetches.iter().zip(&self.index_of) {
            of_host[*host].push(fetch);
        }
        let one_carries_all = self.list.iter().map(|server| carries_all(server.host.http));
        of_host.into_iter().zip(one_carries_all).map(|(fetches, one_carries_all)| {
            !one_carries_all && most_at_once(fetches.into_iter()) > HTTP11_CONNECTIONS as i32
        })
    }
}

/// Shorter handshakes are no round trips: the browser started them before it needed the connection.
/// The limit is a hundredth of the median.
fn shortest_handshake(fetches: &[Fetch]) -> Duration {
    let mut handshakes: Vec<Duration> = fetches.iter().filter_map(|f| f.tcp_connect).collect();
    handshakes.sort_unstable();
    let median = handshakes.get(handshakes.len().saturating_sub(1) / 2);
    Duration::from_nanos(median.map_or(0, |median| median.as_nanos() / 100))
}

/// The server that answered `fetches`, which are at least one.
fn server(fetches: &[&Fetch], shortest: Duration) -> RecordedServer {
    let is_secure = fetches[0].url.scheme() == "https";
    let (http, version_by) = http(fetches);
    let rtt = round_trip(fetches, shortest);
    let tls_round_trips = tls_round_trips(fetches, rtt);
    let ids: BTreeSet<&str> =
        fetches.iter().map(|f| f.connection.as_str()).filter(|id| !id.is_empty()).collect();
    let opened = fetches.iter().filter(|f| f.tcp_connect.is_some()).count();
    RecordedServer {
        host: PageHost {
            tls: match (is_secure, tls_round_trips) {
                (false, _) => Tls::None,
                (true, Some(2)) => Tls::Tls12,
                (true, _) => Tls::Tls13,
            },
            http10_connections: HTTP10_CONNECTIONS,
            ..PageHost::plain(name(fetches[0]), http)
        },
        recorded: RecordedHost {
            rtt,
            lookup: fetches.iter().filter_map(|f| f.dns).max(),
            connections: if ids.is_empty() { opened } else { ids.len() },
            version_by,
            tls_round_trips,
        },
    }
}

/// The shortest handshake that began with a fetch. If all began earlier, a round trip takes at
/// least the longest rest of a handshake, and at most the shortest wait for a response.
fn round_trip(fetches: &[&Fetch], shortest: Duration) -> Option<Duration> {
    let connects = |early: bool| {
        let of_kind = fetches.iter().filter(move |f| f.connect_began_early == early);
        of_kind.filter_map(|f| f.tcp_connect).filter(|connect| *connect >= shortest)
    };
    let at_least = || {
        let most = fetches.iter().map(|f| f.wait).filter(|wait| !wait.is_zero()).min();
        let (least, most) = (connects(true).max()?, most?);
        // A rest that is longer than a wait is no less than `most`.
        Some(if is_one_measurement(least, most, most) { most } else { least })
    };
    connects(false).min().or_else(at_least)
}

/// One connection to a host carries all requests.
fn carries_all(http: Http) -> bool {
    matches!(http, Http::Http2 | Http::Http3)
}

/// The newest version that is named, else the one that the headers or the overlap of responses
/// show.
fn http(fetches: &[&Fetch]) -> (Http, VersionEvidence) {
    let named = fetches.iter().filter_map(|f| match f.version {
        Version::Named { http, .. } => Some(http),
        Version::Unnamed { .. } => None,
    });
    if let Some(newest) = named.max_by_key(|http| match http {
        Http::Http10 | Http::Persistent => 0,
        Http::Http11 => 1,
        Http::Http2 => 2,
        Http::Http3 => 3,
    }) {
        return (newest, VersionEvidence::Named);
    }
    let shows = |f: &&Fetch| matches!(f.version, Version::Unnamed { has_pseudo_headers: true, .. });
    if fetches.iter().any(shows) {
        return (Http::Http2, VersionEvidence::PseudoHeaders);
    }
    match is_multiplexed(fetches) {
        true => (Http::Http2, VersionEvidence::Overlap),
        false => (Http::Http11, VersionEvidence::Nothing),
    }
}

/// True if more responses arrive at once than HTTP/1.1 allows on a connection, or to a host.
fn is_multiplexed(fetches: &[&Fetch]) -> bool {
    let mut of_connection: BTreeMap<&str, Vec<&Fetch>> = BTreeMap::new();
    for fetch in fetches {
        of_connection.entry(&fetch.connection).or_default().push(fetch);
    }
    of_connection.into_iter().any(|(id, fetches)| {
        let most = if id.is_empty() { HTTP11_CONNECTIONS as i32 + 1 } else { MULTIPLEXED };
        most_at_once(fetches.into_iter()) >= most
    })
}

/// TLS 1.3 takes one round trip, and so does a resumed session of TLS 1.2; a full handshake of TLS
/// 1.2 takes two (RFC 8446 §2, RFC 5246 §7.3). Certificates that exceed the first flight take one
/// more.
fn tls_round_trips(fetches: &[&Fetch], rtt: Option<Duration>) -> Option<u32> {
    let ratio = |f: &&Fetch| {
        let (tcp, tls) = (f.tcp_connect?, f.tls_connect?);
        // The rest of a handshake is no measure of another one.
        let tcp = if f.connect_began_early { rtt? } else { tcp };
        (tcp >= SHORTEST_RTT).then(|| tls.as_secs_f64() / tcp.as_secs_f64())
    };
    let mut ratios: Vec<f64> = fetches.iter().filter_map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    // A quarter of a round trip covers the spread of the TCP handshake, three quarters the
    // processors and the certificates.
    match *ratios.get(ratios.len().saturating_sub(1) / 2)? {
        r if (0.75..1.75).contains(&r) => Some(1),
        r if (1.75..2.75).contains(&r) => Some(2),
        _ => None,
    }
}

/// The most responses that were arriving at once; at the same instant ends come before beginnings.
fn most_at_once<'a>(fetches: impl Iterator<Item = &'a Fetch>) -> i32 {
    let mut changes: Vec<(Duration, i32)> =
        fetches.flat_map(|f| [(f.first_byte, 1), (f.finished, -1)]).collect();
    changes.sort_unstable();
    let sums = changes.iter().scan(0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.max().unwrap_or(0)
}

/// Host and, where it is not the scheme's own, port.
fn name(fetch: &Fetch) -> String {
    let host = fetch.url.host_str().unwrap_or_default();
    match fetch.url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
