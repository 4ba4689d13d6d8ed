//! Two hosts behind an emulated link or, on a kernel without TUN devices, two addresses of one
//! host. A server in a cgroup reports how each connection starts, and an agent hooks it.

use crate::bed::{Agent, PATIENCE, stock_first_visits, timeout_of, window_of};
use crate::memory::Memory;
use agent::kernel::congestion::ControlChoice;
use emulator::{
    Addresses, Cgroup, Emulation, EmulationOptions, Interface, InterfaceConfig, Namespace,
};
use link::Duplex;
use nix::fcntl::{Flock, FlockArg};
use socket2::Domain;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;
use std::{env, thread};

/// Mode of the agent, and the congestion control that connections get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Cubic,
    Bbr,
    Session,
    Window,
}

impl Mode {
    /// Options of the agent.
    pub(crate) const fn options(self) -> [&'static str; 2] {
        match self {
            Self::Window => ["--mode", "window"],
            _ => ["--mode", "wrap"],
        }
    }

    pub(crate) const fn control(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Session => "session",
            Self::Window => "auto",
        }
    }

    /// The reason why this kernel lacks the mode, as far as its types show. If they do not show it,
    /// tests are to fail.
    fn absence(self) -> Option<String> {
        match self {
            Self::Cubic => agent::programs::check::refusal(ControlChoice::Cubic),
            Self::Bbr => agent::programs::check::refusal(ControlChoice::Bbr),
            Self::Session => agent::programs::check::refusal(ControlChoice::Session),
            Self::Window => agent::programs::check::window_refusal(),
        }
    }
}

enum Network {
    Link(Box<Link>),
    /// Two addresses of one host.
    Loopback {
        host: Namespace,
        addresses: [Addresses; 2],
    },
}

struct Link {
    client: Interface,
    server: Interface,
    _emulation: Emulation,
}

/// Hosts and a cgroup, with a lock that excludes other tests of agents.
pub(crate) struct Hosts {
    network: Network,
    cgroup: Cgroup,
    _alone: Flock<File>,
}

/// The start of a connection at the server's end, and whether all bytes were delivered correctly.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// Its congestion control.
    pub(crate) control: String,
    /// Its window before anything was sent, segments.
    pub(crate) window: u32,
    /// The retransmission timeout when the request arrives.
    pub(crate) timeout: Duration,
}

impl Hosts {
    /// `None`, with a note, if it cannot be set up, or the kernel does not support `mode`.
    pub(crate) fn new(mode: Mode) -> Option<Self> {
        if let Some(why) = mode.absence() {
            test_support::skipped(why);
            return None;
        }
        let alone = File::create(env::temp_dir().join("headstart-agent-tests.lock")).unwrap();
        let alone = Flock::lock(alone, FlockArg::LockExclusive).unwrap();
        let made = Cgroup::new().and_then(|cgroup| Ok((cgroup, network()?)));
        match made {
            Ok((cgroup, network)) => Some(Self { network, cgroup, _alone: alone }),
            Err(error) => {
                test_support::skipped(error);
                None
            }
        }
    }

    /// A memory ages in round trips. Between two addresses of one host these are so short that a
    /// pause of two seconds would leave little of it: there it does not age.
    pub(crate) fn agent(&self, mode: Mode, more: &[&str]) -> Agent {
        let ageless: &[&str] = if self.has_link() { &[] } else { &["--half-life", "4000000000"] };
        let arguments = stock_first_visits(&[&mode.options(), ageless, more].concat());
        Agent::start(self.cgroup.path(), mode.control(), &arguments)
    }

    pub(crate) const fn cgroup(&self) -> &Cgroup {
        &self.cgroup
    }

    /// There is a path between them that takes time.
    pub(crate) const fn has_link(&self) -> bool {
        matches!(self.network, Network::Link(_))
    }

    fn client(&self) -> &Namespace {
        match &self.network {
            Network::Link(link) => link.client.namespace(),
            Network::Loopback { host, .. } => host,
        }
    }

    fn server(&self) -> (&Namespace, Addresses) {
        match &self.network {
            Network::Link(link) => (link.server.namespace(), link.server.addresses()),
            Network::Loopback { host, addresses } => (host, addresses[1]),
        }
    }

    /// A server in the cgroup.
    pub(crate) fn serve(&self, family: Domain) -> SocketAddr {
        let (namespace, addresses) = self.server();
        let ip = match family {
            Domain::IPV4 => IpAddr::from(addresses.v4),
            _ => addresses.v6.into(),
        };
        let listen = || self.cgroup.run(|| TcpListener::bind(SocketAddr::new(ip, 0))).flatten();
        let listener = namespace.run(listen).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                thread::spawn(move || answer(stream.unwrap()));
            }
        });
        address
    }

    pub(crate) fn open(&self, server: SocketAddr) -> TcpStream {
        let stream = self.client().run(|| TcpStream::connect(server)).unwrap().unwrap();
        stream.set_read_timeout(Some(*PATIENCE)).unwrap();
        stream
    }

    /// Keeps the memory of use between two addresses of one host. Round trips there are only the
    /// machine's own work, as long as all that is queued, so one hardly fits another. Therefore the
    /// test writes a round trip into the memory, a longer one from visit to visit; windows stay as
    /// they were learnt.
    pub(crate) fn settle_round_trip(&self, visit: usize) {
        if let Network::Loopback { .. } = self.network {
            let rtt_us = [200, 600, 2000, 6000, 20_000, 60_000][visit % 6];
            Memory::new().change(|path| {
                path.srtt_us = rtt_us;
                path.min_rtt_us = rtt_us;
                path.rate = 0;
            });
        }
    }

    /// One connection, one answer.
    pub(crate) fn visit(&self, server: SocketAddr, bytes: u64) -> Visit {
        ask(&mut self.open(server), bytes)
    }
}

/// Asks over an open connection and reads the whole answer, which has to be the server's content of
/// that size.
pub(crate) fn ask(stream: &mut TcpStream, bytes: u64) -> Visit {
    begin(stream, bytes);
    finish(stream, bytes)
}

pub(crate) fn begin(stream: &mut TcpStream, bytes: u64) {
    stream.write_all(&bytes.to_be_bytes()).unwrap();
}

pub(crate) fn finish(stream: &mut TcpStream, bytes: u64) -> Visit {
    let mut head = [0; HEAD];
    stream.read_exact(&mut head).unwrap();
    let (name, figures) = head.split_at(HEAD - 8);
    let figure = |at: usize| u32::from_be_bytes(figures[at..at + 4].try_into().unwrap());
    let mut got = vec![0; bytes as usize];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(fingerprint(&got), fingerprint(&content(bytes)), "{bytes} bytes are what was sent");
    Visit {
        control: String::from_utf8(name.to_vec()).unwrap().trim_end_matches('\0').to_owned(),
        window: figure(0),
        timeout: Duration::from_micros(figure(4).into()),
    }
}

/// FNV-1a of 64 bits, which depends on each byte and its position.
fn fingerprint(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Bytes of which no part looks like another (xorshift of 64 bits).
fn content(bytes: u64) -> Vec<u8> {
    let mut state = bytes + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// The name of a congestion control, a window, a timeout in microseconds.
const HEAD: usize = 16 + 4 + 4;

/// One request after the other, until the client has enough.
fn answer(mut stream: TcpStream) {
    let mut request = [0; 8];
    let before = window_of(&stream);
    while stream.read_exact(&mut request).is_ok() {
        let mut answer = socket2::SockRef::from(&stream).tcp_congestion().unwrap();
        answer.resize(HEAD - 8, 0);
        answer.extend(before.to_be_bytes());
        answer.extend((timeout_of(&stream).as_micros() as u32).to_be_bytes());
        answer.extend(content(u64::from_be_bytes(request)));
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

/// 20 Mbit/s, 40 ms, a queue of 100 packets; where there are no TUN devices, two addresses of one
/// host.
fn network() -> io::Result<Network> {
    let addresses = Addresses::numbered(12);
    let link = Duplex::symmetric(crate::bed::link_of(20, 40, 100));
    let (near, far) = (Namespace::new()?, Namespace::new()?);
    let [of_client, of_server] = addresses;
    let opened = Interface::open(&near, &InterfaceConfig::new(of_client).with_default_route());
    let client = match opened {
        Ok(client) => client,
        Err(error) if error.to_string().contains("no TUN devices") => {
            eprintln!("over two addresses of one host: {error}");
            return loopback(near, addresses);
        }
        Err(error) => return Err(error),
    };
    let server = Interface::open(&far, &InterfaceConfig::new(of_server))?;
    let _emulation = Emulation::start(client.port(), server.port(), EmulationOptions::new(link))?;
    Ok(Network::Link(Box::new(Link { client, server, _emulation })))
}

fn loopback(host: Namespace, addresses: [Addresses; 2]) -> io::Result<Network> {
    let ip = |arguments: &str| -> io::Result<()> {
        let mut command = Command::new("ip");
        let status = host.command(command.args(arguments.split(' ')))?.wait()?;
        assert!(status.success(), "ip {arguments}");
        Ok(())
    };
    ip("link set dev lo mtu 1500")?;
    for of in addresses {
        ip(&format!("addr add {}/32 dev lo", of.v4))?;
        ip(&format!("addr add {}/128 dev lo", of.v6))?;
    }
    Ok(Network::Loopback { host, addresses })
}
