//! TUN devices in namespaces. They are not persistent: a device exists until its last descriptor is
//! closed.

use crate::netlink::Routes;
use crate::{Namespace, Port, Privilege, netlink};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tun_rs::DeviceBuilder;

/// The addresses of one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// IPv4, the two ends in a network of 30 bits.
    pub v4: Ipv4Addr,
    /// IPv6, the two ends in a network of 64 bits.
    pub v6: Ipv6Addr,
}

const PREFIX_V4: u8 = 30;
const PREFIX_V6: u8 = 64;
/// Pairs of ends that there are addresses for.
const PAIRS: u32 = 1 << 15;

impl Addresses {
    /// Both of them.
    pub const fn both(&self) -> [IpAddr; 2] {
        [IpAddr::V4(self.v4), IpAddr::V6(self.v6)]
    }

    /// The addresses of the pair's other end: ends are 1 and 2 of their networks.
    const fn other_end(&self) -> Self {
        let v4 = Ipv4Addr::from_bits(self.v4.to_bits() ^ 3);
        let v6 = Ipv6Addr::from_bits(self.v6.to_bits() ^ 3);
        Self { v4, v6 }
    }

    /// Both ends of pair `n`, the client's first, from the networks that are set aside for
    /// measurements and routed nowhere: 198.18.0.0/15 (RFC 2544 §C.2.2) and 2001:2::/48 (RFC 5180
    /// §8). Addresses begin again after 32768 pairs.
    pub fn numbered(n: u32) -> [Self; 2] {
        let n = n % PAIRS;
        let end = |host: u32| Self {
            v4: Ipv4Addr::from_bits(u32::from_be_bytes([198, 18, 0, 0]) + n * 4 + host),
            v6: Ipv6Addr::new(0x2001, 2, 0, n as u16, 0, 0, 0, host as u16),
        };
        [end(2), end(1)]
    }
}

/// Configuration of a device.
#[derive(Clone, Debug)]
pub struct InterfaceConfig {
    /// Without, those of the host's end of the pair with the device's number.
    addresses: Option<Addresses>,
    default_route: bool,
    peer: Option<Addresses>,
    initial_window: Option<u32>,
    mtu: u16,
    name: Option<String>,
}

/// Index of the counter of transmit drops in a device's line in `/proc/net/dev`.
const TX_DROPS: usize = 11;

/// Packets that wait in the device until they are read; further packets are lost and no link counts
/// them.
const TX_QUEUE_LEN: u32 = 10_000;

impl InterfaceConfig {
    /// A device with these addresses and an MTU of 1500 bytes, named by the kernel.
    pub const fn new(addresses: Addresses) -> Self {
        Self {
            addresses: Some(addresses),
            default_route: false,
            peer: None,
            initial_window: None,
            mtu: 1500,
            name: None,
        }
    }

    /// The host's end of a pair that is not yet known. `name` has a `%d` for the first number that
    /// is free, and the device gets the addresses of the pair of that number.
    pub fn numbered(name: &str) -> Self {
        let name = Some(name.to_owned());
        Self {
            addresses: None,
            default_route: false,
            peer: None,
            initial_window: None,
            mtu: 1500,
            name,
        }
    }

    /// Adds a default route through the device.
    #[must_use]
    pub fn with_default_route(self) -> Self {
        Self { default_route: true, ..self }
    }

    /// The same, with a route to the end of another pair, which then is the other end of this one.
    #[must_use]
    pub fn towards(self, peer: Addresses) -> Self {
        Self { peer: Some(peer), ..self }
    }

    /// Adds a route to the other end by which TCP connections begin with a window of this many
    /// segments (`initcwnd` of `ip route`).
    #[must_use]
    pub fn with_initial_window(self, segments: u32) -> Self {
        Self { initial_window: Some(segments), ..self }
    }

    /// The same, with another MTU in bytes; IPv6 needs 1280.
    #[must_use]
    pub fn with_mtu(self, mtu: u16) -> Self {
        Self { mtu, ..self }
    }

    /// Sets the name, of 15 bytes at most. `%d` in it stands for the first number that is free.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }
}

/// A device that is up. It exists until this and all its ports are dropped.
#[derive(Debug)]
pub struct Interface {
    name: String,
    addresses: Addresses,
    port: Port,
    namespace: Namespace,
}

impl Interface {
    /// Makes a device in a namespace.
    ///
    /// # Errors
    /// [`Privilege`] if the process may not, or if there are no TUN devices here or the name is
    /// taken.
    pub fn open(namespace: &Namespace, config: &InterfaceConfig) -> io::Result<Self> {
        namespace.run(|| open_here(config, namespace))?
    }

    /// Port at which its packets are read and written.
    pub fn port(&self) -> Port {
        self.port.clone()
    }

    /// Its name in its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number that its name ends with; 0 if there is none.
    pub fn number(&self) -> u32 {
        number_in(&self.name)
    }

    /// Its addresses.
    pub const fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Packets that found no room in the device because it was not read fast enough: no link has
    /// seen them.
    ///
    /// # Errors
    /// If the kernel's table of devices cannot be read.
    pub fn overruns(&self) -> io::Result<u64> {
        let table = self.namespace.run(|| fs::read_to_string("/proc/thread-self/net/dev"))??;
        let mut lines = table.lines().filter_map(|line| line.split_once(':'));
        let line = lines.find(|(name, _)| name.trim() == self.name);
        let drops = line.and_then(|(_, rest)| rest.split_whitespace().nth(TX_DROPS)?.parse().ok());
        drops.ok_or_else(|| io::Error::other(format!("{} is not in /proc/net/dev", self.name)))
    }

    /// The namespace of the device.
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }
}

/// Opens it in this thread's namespace, which is `namespace`.
fn open_here(config: &InterfaceConfig, namespace: &Namespace) -> io::Result<Interface> {
    let builder = DeviceBuilder::new().mtu(config.mtu).tx_queue_len(TX_QUEUE_LEN).enable(false);
    let builder = match &config.name {
        Some(name) => builder.name(name),
        None => builder,
    };
    let device = builder.build_sync().map_err(with_missing_privilege)?;
    let name = device.name()?;
    disable_autoconfiguration(&name);
    let chosen = config.addresses.unwrap_or_else(|| Addresses::numbered(number_in(&name))[1]);
    let Addresses { v4, v6 } = chosen;
    let addresses = [(IpAddr::V4(v4), PREFIX_V4), (IpAddr::V6(v6), PREFIX_V6)];
    let peer = config.peer.unwrap_or_else(|| chosen.other_end());
    let has_route = config.peer.is_some() || config.initial_window.is_some();
    let peer = has_route.then(|| (peer.both(), config.initial_window));
    let routes = Routes { way_out: config.default_route, peer };
    netlink::set_up(if_nametoindex(name.as_str())?, &addresses, &routes)
        .map_err(|error| Privilege::with_missing_privilege(error, "setting up a device"))?;
    let port = Port::new(device)?;
    Ok(Interface { name, addresses: chosen, port, namespace: namespace.clone() })
}

fn number_in(name: &str) -> u32 {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}

/// Keeps the kernel from sending of its own accord: no link-local address, no questions for
/// routers. Where there is no IPv6 there is nothing to keep quiet. IPv4 packets from the device are
/// not forwarded, even on a host that forwards. IPv6 has no such setting for one device
/// (`net.ipv6.conf.all.forwarding` decides).
fn disable_autoconfiguration(device: &str) {
    for (key, value) in [("addr_gen_mode", "1"), ("accept_ra", "0"), ("router_solicitations", "0")]
    {
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{device}/{key}"), value);
    }
    for key in ["rp_filter", "forwarding"] {
        let _ = fs::write(format!("/proc/sys/net/ipv4/conf/{device}/{key}"), "0");
    }
}

fn with_missing_privilege(error: io::Error) -> io::Error {
    let missing = [Errno::ENOENT as i32, Errno::ENODEV as i32, Errno::ENXIO as i32];
    match error.raw_os_error() {
        Some(code) if missing.contains(&code) => io::Error::new(
            io::ErrorKind::NotFound,
            "there are no TUN devices here (/dev/net/tun): try `modprobe tun`",
        ),
        _ => Privilege::with_missing_privilege(error, "opening /dev/net/tun"),
    }
}
