//! Servers of several sites, each on a host of its own, and a visitor with a path to each of them.
//!
//! The visitor's addresses are of 198.18.0.0/24 and 2001:2::/48, so all servers see the same two
//! networks.

use super::server::{Server, accept, finish, listen, request};
use super::{link_of, program, time, unless_missing};
use emulator::{
    Addresses, Cgroup, Emulation, EmulationOptions, Interface, InterfaceConfig, Namespace,
};
use ipnet::IpNet;
use link::Duplex;
use nix::fcntl::Flock;
use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use test_support::Pulse;

/// A site: its name, and the path from its servers to the visitor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) name: &'static str,
    pub(crate) mbps: u64,
    pub(crate) rtt_ms: u64,
    /// Packets that the queue holds.
    queue: u32,
}

impl Site {
    /// Bytes of data that the path holds with a full queue.
    pub(crate) const fn capacity(&self) -> u64 {
        let packets = self.mbps * 1000 * self.rtt_ms / (8 * 1500) + self.queue as u64;
        packets * 1448
    }
}

/// The sites. The shortest and the longest round trip differ by four.
pub(crate) const SITES: [Site; 3] = [
    Site { name: "paris", mbps: 5, rtt_ms: 40, queue: 10 },
    Site { name: "frankfurt", mbps: 10, rtt_ms: 80, queue: 100 },
    Site { name: "tokyo", mbps: 20, rtt_ms: 160, queue: 100 },
];
/// Servers of each site.
pub(crate) const SERVERS: usize = 2;
/// The visitor's networks, as agents report them.
pub(crate) const NETWORKS: [&str; 2] = ["198.18.0.0/24", "2001:2::/48"];

/// A host with a server, in a cgroup that an agent may hook.
pub(crate) struct SiteHost {
    pub(crate) site: Site,
    /// By the family of the address: IPv4, IPv6.
    servers: [Server; NETWORKS.len()],
    cgroup: Cgroup,
    visitor: Namespace,
    _emulation: Emulation,
    _ends: [Interface; 2],
}

/// All hosts, those of a site one after the other. Agents are of one machine, so there is one bed
/// at a time on it.
pub(crate) struct SitesBed {
    pub(crate) hosts: Vec<SiteHost>,
    _pulse: Pulse,
    _alone: Flock<File>,
}

impl SitesBed {
    /// `None`, with a note, if it cannot be set up.
    pub(crate) fn new() -> Option<Self> {
        if let Some(why) = agent::programs::check::window_refusal() {
            test_support::skipped(why);
            return None;
        }
        let alone = program::wait_until_alone();
        let hosts = unless_missing(all_hosts())?;
        Some(Self { hosts, _pulse: Pulse::begin(), _alone: alone })
    }
}

fn all_hosts() -> io::Result<Vec<SiteHost>> {
    let visitor = Namespace::new()?;
    visitor.set_sysctl("net.ipv4.tcp_rmem", "4096 2097152 6291456")?;
    let sites = SITES.iter().flat_map(|site| [*site; SERVERS]);
    sites.zip(1..).map(|(site, number)| SiteHost::new(site, &visitor, number)).collect()
}

impl SiteHost {
    fn new(site: Site, visitor: &Namespace, number: u32) -> io::Result<Self> {
        let (namespace, cgroup) = (Namespace::new()?, Cgroup::new()?);
        // Every kernel has it, and agents leave sockets alone that choose one themselves.
        namespace.set_sysctl("net.ipv4.tcp_congestion_control", "reno")?;
        let [near, far] = Addresses::numbered(number);
        let near = Interface::open(visitor, &InterfaceConfig::new(near))?;
        let far = Interface::open(&namespace, &InterfaceConfig::new(far))?;
        let path = Duplex::symmetric(link_of(site.mbps, site.rtt_ms, site.queue));
        let emulation = Emulation::start(near.port(), far.port(), EmulationOptions::new(path))?;
        let serve = |address: IpAddr| {
            let listen = || listen(SocketAddr::new(address, 0), None, 64);
            namespace.run(|| cgroup.run(listen).flatten())?.map(accept)
        };
        let [v4, v6] = far.addresses().both().map(serve);
        let (servers, visitor) = ([v4?, v6?], visitor.clone());
        Ok(Self { site, servers, cgroup, visitor, _emulation: emulation, _ends: [near, far] })
    }

    /// The cgroup of the servers.
    pub(crate) fn cgroup(&self) -> &Path {
        self.cgroup.path()
    }

    /// Visits the server from a network of [`NETWORKS`].
    pub(crate) fn visit(&self, network: usize, bytes: u64) {
        let address = self.servers[network].address();
        let mut stream = self.visitor.run(|| TcpStream::connect(address)).unwrap().unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(*time::PATIENCE)).unwrap();
        request(&mut stream, bytes);
        finish(&mut stream, bytes);
    }
}

/// The networks of [`NETWORKS`].
pub(crate) fn networks() -> [IpNet; NETWORKS.len()] {
    NETWORKS.map(|network| network.parse().unwrap())
}
