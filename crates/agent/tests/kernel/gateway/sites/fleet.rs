//! A fleet: the agents of three sites' servers, and their gateway.

use super::control_network::{ControlNetwork, HOST, NamedHost, PORT, SERVICE};
use crate::bed::sites::{NETWORKS, SERVERS, SITES, SiteHost, SitesBed, networks};
use crate::bed::{Agent, stock_first_visits, until};
use crate::gateway::running::{Gateway, SiteFolder};
use gateway::config::options::CollectorName;
use gateway::os::clock::system_time;
use gateway::pki::{Authority, HolderRole};
use gateway::site::counters::RefusedConnection;
use gateway_client::{ClientConfig, ClientStatus, SystemNames, ask_once};
use gateway_proto::v1::{Collector, Estimate, answer};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Hosts of gateways, by their addresses.
pub(super) const GATEWAYS: [NamedHost; 2] =
    [("a.fleet.test", Ipv4Addr::new(127, 0, 0, 1)), ("b.fleet.test", Ipv4Addr::new(127, 0, 0, 2))];
/// Bytes of a visit under load.
pub(super) const BYTES: u64 = 30_000;

/// A fleet without agents. Drop order: agents first, then the gateway, then all else.
pub(super) struct Fleet {
    /// One agent for each host, once it has joined.
    pub(super) members: Vec<Member>,
    pub(super) gateway: Gateway,
    pub(super) control_network: ControlNetwork,
    pub(super) bed: SitesBed,
}

/// A server with an agent.
pub(super) struct Member {
    /// Number of the host in the bed.
    number: usize,
    pub(super) agent: Agent,
    visits: AtomicU64,
}

impl Fleet {
    /// `None`, with a note, if the hosts cannot be set up.
    pub(super) fn new() -> Option<Self> {
        let bed = SitesBed::new()?;
        let control_network = ControlNetwork::new();
        let gateway = gateway_in(&control_network, new_folder(GATEWAYS[0]));
        control_network.name(GATEWAYS[0]);
        Some(Self { members: Vec::new(), gateway, control_network, bed })
    }

    /// All servers have agents, and the gateway knows both networks at each site.
    pub(super) fn complete() -> Option<Self> {
        let mut fleet = Self::new()?;
        (0..SITES.len() * SERVERS).for_each(|number| fleet.join(number));
        thread::scope(|scope| {
            for member in fleet.members.iter().step_by(SERVERS) {
                scope.spawn(|| {
                    (0..NETWORKS.len()).for_each(|network| fleet.visit(member, network, BYTES))
                });
            }
        });
        fleet.wait_for_reports();
        Some(fleet)
    }

    /// Starts the agent of a host. A site's first server finds the gateway by a service of DNS, and
    /// the second by the address of a host.
    pub(super) fn join(&mut self, number: usize) {
        let host = &self.bed.hosts[number];
        let name = file_name(number);
        certify(&self.gateway.files, &self.gateway.files.authority(), number, host);
        let entry = match number % SERVERS {
            0 => SERVICE.to_owned(),
            _ => format!("{HOST}:{PORT}"),
        };
        let files = ["ca.pem", "pem", "key"].map(|ending| format!("{name}.{ending}"));
        self.gateway.files.replace(&files[0], &self.gateway.files.text("ca.pem"));
        let options = self.gateway.files.options_of(&entry, files.each_ref().map(String::as_str));
        let mut arguments = vec!["--mode", "window", "--log", "debug"];
        arguments.extend(options.iter().map(String::as_str));
        let arguments = stock_first_visits(&arguments);
        let agent = self.control_network.run(|| Agent::start(host.cgroup(), "auto", &arguments));
        until("a gateway answers", || status(&agent).gateway.is_some());
        self.members.push(Member { number, agent, visits: AtomicU64::new(0) });
    }

    /// The host of a member.
    pub(super) fn host(&self, member: &Member) -> &SiteHost {
        &self.bed.hosts[member.number]
    }

    /// Visits a server that knows nothing of the visitor, so its agent has to ask.
    pub(super) fn visit(&self, member: &Member, network: usize, bytes: u64) {
        member.agent.forget(None);
        self.host(member).visit(network, bytes);
        let visits = member.visits.fetch_add(1, Ordering::Relaxed) + 1;
        member.agent.wait_for_closed(visits);
    }

    /// Visits all servers at the same time, over and over, until the job is done.
    pub(super) fn under_load<T>(&self, job: impl FnOnce() -> T) -> T {
        /// Ends the load, also if the job fails.
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let over = Over(&is_over);
            for member in &self.members {
                let is_over = &is_over;
                scope.spawn(move || {
                    let networks = (0..NETWORKS.len()).cycle();
                    let networks = networks.take_while(|_| !is_over.load(Ordering::Relaxed));
                    networks.for_each(|network| self.visit(member, network, BYTES));
                });
            }
            let done = job();
            drop(over);
            done
        })
    }

    /// Waits until the gateway has the report of each connection.
    pub(super) fn wait_for_reports(&self) {
        let closed = self.closed();
        until("all connections are reported", || taken(&self.gateway) == closed);
    }

    /// Another gateway, of the same authority, at the second address. It knows nothing.
    pub(super) fn second_gateway(&self) -> Gateway {
        let files = new_folder(GATEWAYS[1]);
        for name in ["ca.pem", "server.pem", "server.key"] {
            files.replace(name, &self.gateway.files.text(name));
        }
        gateway_in(&self.control_network, files)
    }

    /// Connections of all servers that have closed.
    pub(super) fn closed(&self) -> u64 {
        self.members.iter().map(|member| member.agent.closed()).sum()
    }

    /// The gateway's answer for a network to servers of a site.
    pub(super) fn ask(&self, site: &str, network: usize) -> Option<Estimate> {
        let files = &self.gateway.files;
        let (number, _) =
            self.bed.hosts.iter().enumerate().find(|(_, host)| host.site.name == site)?;
        let file = |ending: &str| {
            Path::new(&files.file(&format!("{}.{ending}", file_name(number)))).to_owned()
        };
        let config = ClientConfig {
            gateways: vec![self.gateway.address.clone()],
            ca: file("ca.pem"),
            certificate: file("pem"),
            key: file("key"),
            collector: Collector::Agent,
            version: "1".to_owned(),
            addresses: Vec::new,
            names: SystemNames::shared(),
        };
        let asked = || ask_once(&config, networks()[network], 0);
        match self.control_network.namespace.run(asked).unwrap().unwrap().result {
            Some(answer::Result::Estimate(estimate)) => Some(estimate),
            _ => None,
        }
    }
}

/// Name of the files of a host's certificate, and of its holder.
pub(super) fn file_name(number: usize) -> String {
    format!("web-{number}")
}

/// Gives a host a certificate of an authority, for its site.
pub(super) fn certify(files: &SiteFolder, authority: &Authority, number: usize, host: &SiteHost) {
    let name = file_name(number);
    let of = (host.site.name, name.as_str());
    let issued = authority.client(system_time(), 1, HolderRole::Agent, of).unwrap();
    files.replace(&format!("{name}.pem"), &issued.certificate);
    files.replace(&format!("{name}.key"), &issued.key);
}

/// Names in the certificate of any gateway: those of all hosts, and the address at which the test
/// asks.
pub(super) fn gateway_names() -> Vec<String> {
    let hosts =
        GATEWAYS.iter().flat_map(|(host, address)| [(*host).to_owned(), address.to_string()]);
    hosts.chain([HOST.to_owned()]).collect()
}

/// The folder of a gateway with a tenant for each site.
fn new_folder((_, address): NamedHost) -> SiteFolder {
    let names = gateway_names();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let files = SiteFolder::of_hosts(SocketAddr::new(address.into(), PORT), &names);
    let tenants = SITES.map(|site| format!("[[tenant]]\nname = {:?}\n", site.name)).concat();
    files.replace("gateway.toml", &(files.text("gateway.toml") + &tenants));
    files
}

/// Starts a gateway by the files of a folder.
fn gateway_in(control_network: &ControlNetwork, files: SiteFolder) -> Gateway {
    Gateway::start_by(files, None, |job| control_network.namespace.spawn(job).unwrap())
}

pub(super) fn status(agent: &Agent) -> ClientStatus {
    agent.status().gateway.expect("it has gateways")
}

/// Reports of agents that a gateway has accepted.
pub(super) fn taken(gateway: &Gateway) -> u64 {
    gateway.site.counts.taken.get(CollectorName::Agent as usize)
}

/// Calls and connections that a gateway has refused or ended.
pub(super) fn refused(gateway: &Gateway) -> u64 {
    let counts = &gateway.site.counts;
    let connections =
        RefusedConnection::ALL.map(|(why, _)| counts.refused_connections.get(why as usize));
    let ended = [&counts.bad_batches, &counts.ended_streams, &counts.failed_calls];
    connections.iter().sum::<u64>() + ended.map(|count| count.get()).iter().sum::<u64>()
}
