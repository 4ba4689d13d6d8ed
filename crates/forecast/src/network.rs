//! A network of clients and the servers that they visit, as a topology: each client behind a link of its own.
//!
//! Clients of a network get addresses of one network, so a memory by networks takes them together as it would in the field.

use crate::access::{AccessEstimate, UsualPath};
use crate::captured::{CapturedClient, CapturedConnection};
use crate::opening::OpeningTime;
use crate::replay::{Replay, ReplaySpec, Replayed};
use memory::{PathKey, Scope};
use netsim::{HostId, LinkId, Simulation, SimulationConfig, Topology};
use race::REAL_PROCESSING;
use std::collections::BTreeMap;
use std::net::IpAddr;
use tcp::Scheme;
use units::{Duration, Instant};

/// Clients of one simulation. The addresses of so many have their first 24 bits in common.
const MOST_CLIENTS: usize = 250;

/// A window that began with 64 kB may have grown so far by the first ACK.
const GROWN: u32 = 131_072;

/// A smaller window is none of Linux, which begins with 64 kB: it stays.
const SMALL: u32 = 32_768;

/// The smallest window that a scheme takes.
const LEAST_WINDOW: u32 = 64;

/// A connection may take so long beyond the last packet of its network.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Clients that share a network, or as many of them as one simulation takes.
#[derive(Clone, Debug)]
pub(crate) struct ClientNetwork {
    pub(crate) clients: Vec<(CapturedClient, AccessEstimate)>,
}

impl ClientNetwork {
    /// Clients by network; `usual` is for what a path has not shown.
    pub(crate) fn all(clients: Vec<CapturedClient>, usual: UsualPath) -> Vec<Self> {
        let mut networks: BTreeMap<PathKey, Vec<(CapturedClient, AccessEstimate)>> =
            BTreeMap::new();
        for client in clients {
            let access = AccessEstimate::of(&client.evidence, usual);
            let key = PathKey::new(client.address, Scope::Network);
            networks.entry(key).or_default().push((client, access));
        }
        let parts = networks.into_values().flat_map(|clients| {
            clients.chunks(MOST_CLIENTS).map(<[_]>::to_vec).collect::<Vec<_>>()
        });
        parts.map(|clients| Self { clients }).collect()
    }

    /// Its connections in the order of clients, then of time.
    pub(crate) fn connections(&self) -> impl Iterator<Item = (usize, &CapturedConnection)> {
        self.clients.iter().enumerate().flat_map(|(index, (client, _))| {
            client.connections.iter().map(move |connection| (index, connection))
        })
    }

    /// When each connection opens, in the order of [`ClientNetwork::connections`], on a clock that begins at `first`, and by
    /// numbers of the whole network.
    fn openings(&self, first: Instant) -> Vec<OpeningTime> {
        let mut openings = Vec::new();
        for (client, _) in &self.clients {
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

    /// Replays it under a scheme of its servers: what became of each connection, in the order of
    /// [`ClientNetwork::connections`].
    pub(crate) fn replay(&self, scheme: &Scheme, seed: u64) -> Vec<Replayed> {
        let Some(first) = self.connections().map(|(_, connection)| connection.began).min() else {
            return Vec::new();
        };
        let last = self.connections().map(|(_, connection)| connection.last()).max();
        let seated = Seated::of(self);
        let opens = self.openings(first);
        let specs = self.connections().zip(opens).map(|((client, connection), opens)| ReplaySpec {
            plan: connection.clone(),
            opens,
            client: seated.clients[client],
            server: seated.servers[&connection.server],
            scheme: client_scheme(connection.window),
            half_trip: self.clients[client].1.rtt / 2,
        });
        let servers = seated.servers.values().copied().collect();
        let replay = Replay::new(specs.collect(), servers, race::as_browsers_use_it(scheme));
        let config = SimulationConfig { seed, ..SimulationConfig::default() };
        let mut simulation = Simulation::new(seated.topology, config);
        let app = simulation.add(Instant::ZERO, replay);
        let span = last.map_or(Duration::ZERO, |last| last.saturating_since(first));
        // What does not end in this time has no time.
        let _ = simulation.run(Instant::ZERO + span + PATIENCE);
        let wait = |link| simulation.link(link).statistics().map(|seen| seen.longest_wait);
        let waits = seated.downs.iter().map(|down| wait(*down).unwrap_or_default());
        let paths = self.clients.iter().map(|(_, access)| access);
        let beyond: Vec<bool> =
            paths.zip(waits).map(|(path, wait)| path.is_beyond_seen(wait)).collect();
        let replay = simulation.application::<Replay>(app);
        let results = replay.into_iter().flat_map(Replay::results);
        let clients = self.connections().map(|(client, _)| client);
        results
            .zip(clients)
            .map(|(result, client)| Replayed { is_beyond: beyond[client], ..result.clone() })
            .collect()
    }
}

/// The hosts of a network.
struct Seated {
    topology: Topology,
    /// The link towards each client.
    downs: Vec<LinkId>,
    clients: Vec<HostId>,
    servers: BTreeMap<IpAddr, HostId>,
}

impl Seated {
    fn of(network: &ClientNetwork) -> Self {
        let mut topology = Topology::new();
        let router = topology.add_router();
        let (mut clients, mut downs) = (Vec::new(), Vec::new());
        for (n, (_, access)) in network.clients.iter().enumerate() {
            let host = topology.add_host(&format!("client{n}"));
            let node = topology.node(host);
            let links = access.links().expect("an estimate is of a link that can be");
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

/// A client whose first ACK of an answer offered such a window: fixed, or as Linux comes, which begins with 64 kB and offers
/// more as it is used.
fn client_scheme(window: u64) -> Scheme {
    let text = match u32::try_from(window) {
        Ok(window) if window > GROWN || (LEAST_WINDOW..SMALL).contains(&window) => {
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

    /// A request, what the server says by itself 300 ms later, and another request: all end. The round trip is the 50 ms that are
    /// taken where nothing is known. The first takes the handshake's and its own, and the others one each. By its second request
    /// the client is taken for one that talks by turns. So it holds the ACK of what it then gets back for 40 ms (Linux
    /// `TCP_DELACK_MIN`).
    #[test]
    fn what_nobody_asked_for_is_said_in_its_turn() {
        let ms = Duration::from_millis;
        let transfer = |request, gap| CapturedTransfer {
            request,
            gap,
            bytes: 1_000,
            ..CapturedTransfer::default()
        };
        let connection = CapturedConnection {
            server: [192, 0, 2, 1].into(),
            began: Instant::ZERO,
            window: 0,
            transfers: vec![transfer(300, ms(0)), transfer(0, ms(300)), transfer(300, ms(10))],
            rest: ms(0),
        };
        let client = CapturedClient {
            address: [198, 51, 100, 7].into(),
            connections: vec![connection],
            evidence: PathEvidence::default(),
        };
        let networks =
            ClientNetwork::all(vec![client], UsualPath { rate: Rate::from_mbps(100), wait: None });
        let replayed = networks[0].replay(&Scheme::parse("linux").unwrap(), 1);
        let took: Vec<u64> =
            replayed[0].took.iter().map(|took| took.map_or(0, Duration::as_millis)).collect();
        assert_eq!(took, [100, 50, 90]);
    }
}
