//! A network of clients and their servers, as a topology: each client has a link of its own.
//!
//! Clients of a network get addresses of one network, so a memory by networks pools them as it
//! would in the field.

use crate::access::{AccessEstimate, UsualPath};
use crate::captured::{CapturedClient, CapturedConnection};
use crate::changes::ChangingRate;
use crate::error::ForecastError;
use crate::opening::OpeningTime;
use crate::replay::{Replay, ReplaySpec, Replayed};
use crate::sender::ReplaySender;
use crate::variant::{ReplaySpan, ReplayVariant};
use memory::{PathKey, Scope};
use netsim::{Duplex, HostId, LinkId, Simulation, SimulationConfig, SimulationError, Topology};
use race::REAL_PROCESSING;
use race::perfect::LinkOrder;
use std::collections::BTreeMap;
use std::net::IpAddr;
use tcp::Scheme;
use units::{Duration, Instant};

/// Maximum number of clients in one simulation. Their addresses have the first 24 bits in common.
const MAX_CLIENTS: usize = 250;

/// Largest window by the first ACK of a window that began with 64 kB, bytes.
const GROWN: u32 = 131_072;

/// Smaller windows are not those of Linux, which begins with 64 kB: they stay constant, bytes.
const SMALL: u32 = 32_768;

/// The smallest window that a scheme accepts, bytes.
const MIN_WINDOW: u32 = 64;

/// Longest time that a connection may last after the last packet of its network.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Clients that share a network, or as many of them as fit into one simulation.
#[derive(Clone, Debug)]
pub(crate) struct ClientNetwork {
    /// Number of the network: parts of a large one have one number, and follow each other.
    pub(crate) number: usize,
    pub(crate) clients: Vec<PlacedClient>,
}

/// A client, and the estimate of its path.
#[derive(Clone, Debug)]
pub(crate) struct PlacedClient {
    pub(crate) client: CapturedClient,
    pub(crate) access: AccessEstimate,
    /// The rate towards it, if the capture shows that it changes.
    pub(crate) changing: Option<ChangingRate>,
}

impl PlacedClient {
    fn of(client: CapturedClient, usual: UsualPath) -> Self {
        let access = AccessEstimate::of(&client.evidence, usual);
        let steps = client.evidence.rates_over_time();
        let later = access.rtt;
        let changing = steps.map(|steps| ChangingRate { steps, later });
        Self { client, access, changing }
    }
}

impl ClientNetwork {
    /// Groups clients by network; `usual` has the defaults for their paths.
    pub(crate) fn all(clients: Vec<CapturedClient>, usual: UsualPath) -> Vec<Self> {
        let mut networks: BTreeMap<PathKey, Vec<PlacedClient>> = BTreeMap::new();
        for client in clients {
            let key = PathKey::new(client.address, Scope::Network);
            networks.entry(key).or_default().push(PlacedClient::of(client, usual));
        }
        let parts = networks.into_values().enumerate().flat_map(|(number, clients)| {
            let part = |clients: &[_]| Self { number, clients: clients.to_vec() };
            clients.chunks(MAX_CLIENTS).map(part).collect::<Vec<_>>()
        });
        parts.collect()
    }

    /// Returns its connections in the order of clients, then of time.
    pub(crate) fn connections(&self) -> impl Iterator<Item = (usize, &CapturedConnection)> {
        self.clients.iter().enumerate().flat_map(|(index, placed)| {
            placed.client.connections.iter().map(move |connection| (index, connection))
        })
    }

    /// Returns when each connection opens, in the order of [`ClientNetwork::connections`], on a
    /// clock that begins at `first`, with numbers of the whole network.
    fn openings(&self, first: Instant) -> Vec<OpeningTime> {
        let mut openings = Vec::new();
        for PlacedClient { client, .. } in &self.clients {
            let before = openings.len();
            let of_client = OpeningTime::of_client(&client.connections);
            openings.extend(of_client.into_iter().map(|opening| match opening {
                OpeningTime::At(at) => OpeningTime::At(Instant::ZERO + at.saturating_since(first)),
                OpeningTime::After { connection, transfer, gap } => {
                    OpeningTime::After { connection: before + connection, transfer, gap }
                }
                OpeningTime::Place { connection, transfer, gap } => {
                    OpeningTime::Place { connection: before + connection, transfer, gap }
                }
            }));
        }
        openings
    }

    /// Replays it with a sender; returns the result of each connection, in the order of
    /// [`ClientNetwork::connections`].
    ///
    /// # Errors
    /// If a client has more than 55,536 connections to a server open at once.
    pub(crate) fn replay(
        &self,
        sender: &ReplaySender,
        seed: u64,
        variant: ReplayVariant,
    ) -> Result<Vec<Replayed>, ForecastError> {
        let Some(first) = self.connections().map(|(_, connection)| connection.began).min() else {
            return Ok(Vec::new());
        };
        let last = self.connections().map(|(_, connection)| connection.last()).max();
        let span = ReplaySpan { first, last: last.unwrap_or(first), seed };
        let seated = NetworkHosts::of(self, span, variant, sender.order());
        let opens = self.openings(first);
        let specs = self.connections().zip(opens).map(|((client, connection), opens)| ReplaySpec {
            plan: connection.clone(),
            opens,
            client: seated.clients[client],
            server: seated.servers[&connection.server],
            scheme: client_scheme(connection.window),
            half_trip: self.clients[client].access.half_trip(client_delay()),
        });
        let servers = seated.servers.values().copied().collect();
        let scheme = race::as_browsers_use_it(&sender.scheme());
        let replay = Replay::new(specs.collect(), servers, scheme);
        let config = SimulationConfig { seed, ..SimulationConfig::default() };
        let mut simulation = Simulation::new(seated.topology, config);
        let app = simulation.add(Instant::ZERO, replay);
        let span = span.last.saturating_since(span.first);
        // A transfer that does not end by then has no time.
        let outcome = simulation.run(Instant::ZERO + span + PATIENCE);
        if let Err(error @ SimulationError::OutOfPorts { .. }) = outcome {
            return Err(ForecastError { scheme: sender.name().to_owned(), why: error });
        }
        let wait = |link| simulation.link(link).statistics().map(|seen| seen.longest_wait);
        let waits = seated.downs.iter().map(|down| wait(*down).unwrap_or_default());
        let paths = self.clients.iter().map(|placed| &placed.access);
        let beyond: Vec<bool> = paths
            .zip(waits)
            .map(|(path, wait)| sender.needs_queue() && path.is_beyond_seen(wait))
            .collect();
        let replay = simulation.application::<Replay>(app);
        let results = replay.into_iter().flat_map(Replay::results);
        let clients = self.connections().map(|(client, _)| client);
        let with_path = results
            .zip(clients)
            .map(|(result, client)| Replayed { is_beyond: beyond[client], ..result.clone() });
        Ok(with_path.collect())
    }
}

/// The hosts of a network.
struct NetworkHosts {
    topology: Topology,
    /// Links towards the clients.
    downs: Vec<LinkId>,
    clients: Vec<HostId>,
    servers: BTreeMap<IpAddr, HostId>,
}

impl NetworkHosts {
    /// Builds the hosts. The clients' links have their own queues, or lose nothing and keep the
    /// order.
    fn of(
        network: &ClientNetwork,
        span: ReplaySpan,
        variant: ReplayVariant,
        order: Option<LinkOrder>,
    ) -> Self {
        let mut topology = Topology::new();
        let router = topology.add_router();
        let (mut clients, mut downs) = (Vec::new(), Vec::new());
        for (n, PlacedClient { access, changing, .. }) in network.clients.iter().enumerate() {
            let host = topology.add_host(&format!("client{n}"));
            let node = topology.node(host);
            let access = variant.access(*access);
            let links = access.links(client_delay()).expect("an estimate is of a link that can be");
            let changing = changing.as_ref().filter(|_| variant != ReplayVariant::SteadyRates);
            let met = span.rate_time(variant);
            let trace = changing.and_then(|of| of.trace(met.first, met.last, met.seed));
            let down = match trace {
                Some(trace) => links.forward.with_rate_trace(trace),
                None => links.forward,
            };
            let links = Duplex { forward: down, reverse: links.reverse };
            let links = LinkOrder::of_links(order, links);
            downs.push(topology.add_link(&format!("down{n}"), router, node, links.forward));
            topology.add_link(&format!("up{n}"), node, router, links.reverse);
            clients.push(host);
        }
        let mut servers = BTreeMap::new();
        for (_, connection) in network.connections() {
            servers.entry(connection.server).or_insert_with(|| {
                topology.add_host_at(&format!("server-{}", connection.server), router)
            });
        }
        for host in clients.iter().chain(servers.values()) {
            topology.set_processing_delay(*host, REAL_PROCESSING);
        }
        Self { topology, downs, clients, servers }
    }
}

/// Returns the mean time that a client takes over a packet. The lowest round trip includes it. The
/// server's own time is before its capture sees a packet.
fn client_delay() -> Duration {
    (REAL_PROCESSING.least + REAL_PROCESSING.most) / 2
}

/// Returns the scheme of a client, by the window that its first ACK of an answer offered. It is
/// fixed, or stock Linux, which begins with 64 kB and offers more as it is used.
fn client_scheme(window: u64) -> Scheme {
    let text = match u32::try_from(window) {
        Ok(window) if window > GROWN || (MIN_WINDOW..SMALL).contains(&window) => {
            format!("linux+nagle=off+rwnd={window}B")
        }
        _ => "linux+nagle=off".to_owned(),
    };
    Scheme::parse(&text).expect("linux takes a window of any size")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captured::{CapturedTransfer, PathEvidence};
    use units::Rate;

    /// Returns the time of each transfer of a client with one connection, in milliseconds. The path
    /// has no evidence, so it has 50 ms and 100 Mbit/s.
    fn took(transfers: Vec<CapturedTransfer>) -> Vec<u64> {
        let replayed = replayed(PathEvidence::default(), transfers);
        replayed.into_iter().map(Duration::as_millis).collect()
    }

    /// Replays transfers with evidence of the path; returns their times, zero for transfers that do
    /// not end.
    fn replayed(evidence: PathEvidence, transfers: Vec<CapturedTransfer>) -> Vec<Duration> {
        let connection = CapturedConnection {
            server: [192, 0, 2, 1].into(),
            began: Instant::ZERO,
            window: 0,
            transfers,
            rest: Duration::ZERO,
        };
        let networks = ClientNetwork::all(
            vec![CapturedClient { evidence, ..client(7, vec![connection]) }],
            UsualPath { rate: Rate::from_mbps(100), wait: None },
        );
        let replayed = networks[0]
            .replay(
                &ReplaySender::Scheme(Scheme::parse("linux").unwrap()),
                1,
                ReplayVariant::Draw(0),
            )
            .unwrap();
        replayed[0].took.iter().map(|took| took.unwrap_or_default()).collect()
    }

    /// Simulated hosts use the ports from 10,000 to 65,535: 55,536 of them.
    #[test]
    fn more_connections_at_once_than_ports_are_an_error_that_names_the_scheme() {
        let connection = CapturedConnection {
            server: [192, 0, 2, 1].into(),
            began: Instant::ZERO,
            window: 0,
            transfers: Vec::new(),
            rest: Duration::ZERO,
        };
        let path = UsualPath { rate: Rate::from_mbps(100), wait: None };
        let networks = ClientNetwork::all(vec![client(7, vec![connection; 55_537])], path);
        let error = networks[0]
            .replay(
                &ReplaySender::Scheme(Scheme::parse("linux").unwrap()),
                1,
                ReplayVariant::Draw(0),
            )
            .unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the replay under linux cannot go on: no port is free"), "{text}");
    }

    fn client(host: u8, connections: Vec<CapturedConnection>) -> CapturedClient {
        let address = [198, 51, 100, host].into();
        CapturedClient { address, connections, evidence: PathEvidence::default() }
    }

    /// A request, unrequested data of the server 300 ms later, and another request: all end. The
    /// round trip is the default of 50 ms. The first takes the handshake's and its own, and the
    /// others one each. By its second request the client counts as interactive. So it delays the
    /// ACK of the answer for 40 ms (Linux `TCP_DELACK_MIN`).
    #[test]
    fn what_nobody_asked_for_is_said_in_its_turn() {
        let ms = Duration::from_millis;
        let transfer = |request, gap| CapturedTransfer {
            request,
            gap,
            bytes: 1_000,
            ..CapturedTransfer::default()
        };
        let transfers = vec![transfer(300, ms(0)), transfer(0, ms(300)), transfer(300, ms(10))];
        assert_eq!(took(transfers), [100, 50, 90]);
    }

    /// Thirty segments need the round trips of the handshake, of a flight of ten, and of one of
    /// twenty. A pause of 40 ms overlaps with one of these if more than a segment is sent before
    /// it. In 500 ms the window does not grow, since one segment does not fill it. A pause within a
    /// segment counts, too.
    #[test]
    fn a_pause_adds_all_of_its_time() {
        let with_pause = |bytes, pause| {
            let pause = Duration::from_millis(pause);
            took(vec![CapturedTransfer { request: 300, bytes, pause, ..Default::default() }])[0]
        };
        for (bytes, trips) in [(30 * 1_448, 3), (1_000, 2)] {
            let without = with_pause(bytes, 0);
            // Twenty segments take 2.4 ms at 100 Mbit/s.
            assert!((trips * 50..=trips * 50 + 4).contains(&without), "{without}");
            for pause in [40, 500] {
                let added = with_pause(bytes, pause) - without;
                assert!(added.abs_diff(pause) <= 1, "{pause}: {added}");
            }
        }
    }

    /// A request of 30 kB takes 200 ms to arrive, and the server thinks for 10 ms: with the
    /// handshake's round trip and the answer's 310 ms. Over this path it would take the client two
    /// flights, 50 ms. If it took no time in the capture, these count.
    #[test]
    fn the_answer_waits_for_a_slow_request() {
        let with_upload = |request, upload| {
            let (upload, think) = (Duration::from_millis(upload), Duration::from_millis(10));
            let transfer =
                CapturedTransfer { request, upload, think, bytes: 1_000, ..Default::default() };
            took(vec![transfer])[0]
        };
        assert_eq!(with_upload(30_000, 200), 310);
        assert!((160..164).contains(&with_upload(30_000, 0)));
        assert_eq!(with_upload(300, 0), 110);
    }

    /// The lowest round trip is 1 ms, so a transfer of a segment takes that, and 0.09 ms for the
    /// server's mean processing time. The capture's round trips do not include the latter. 1,052
    /// bytes take 0.084 ms at 100 Mbit/s. The last ACK is delayed.
    #[test]
    fn the_clients_processing_is_not_added_to_its_round_trip() {
        let mut evidence = PathEvidence::default();
        evidence.on_round_trip(Duration::from_millis(1));
        let transfer = CapturedTransfer { request: 300, bytes: 1_000, ..Default::default() };
        let mut took = replayed(evidence, vec![transfer; 102]);
        took.pop();
        let micros: u64 = took[1..].iter().map(|took| took.as_micros()).sum();
        assert!((1_150..1_220).contains(&(micros / 100)), "{micros}");
    }

    /// 251 clients of a network take two simulations, and one of another network a third.
    #[test]
    fn parts_of_a_network_have_one_number() {
        let mut clients: Vec<CapturedClient> = (0..=250).map(|host| client(host, vec![])).collect();
        clients.push(CapturedClient { address: [203, 0, 113, 1].into(), ..clients[0].clone() });
        let networks =
            ClientNetwork::all(clients, UsualPath { rate: Rate::from_mbps(100), wait: None });
        let parts: Vec<_> = networks.iter().map(|part| (part.number, part.clients.len())).collect();
        assert_eq!(parts, [(0, 250), (0, 1), (1, 1)]);
    }
}
