//! The server's network on this machine: a TUN device with addresses at both of its ends.

use super::args::ServeArgs;
use super::network::{DEFAULT_V4, DEFAULT_V6, Network};
use cmdline::Failure;
use endpoint::{Device, Endpoint, EndpointConfig, TunConfig};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;
use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::IpAddr;

/// An endpoint on a device of its own.
pub(super) struct ServerDevice {
    pub(super) endpoint: Endpoint,
    /// The device's name.
    pub(super) name: String,
    /// The server's.
    pub(super) addresses: Vec<IpAddr>,
    /// This machine's, at its end of the device.
    pub(super) peers: Vec<IpAddr>,
}

pub(super) fn open(args: &ServeArgs) -> Result<ServerDevice, Failure> {
    let networks = networks(&args.address)?;
    refuse_what_is_taken(&networks)?;
    let mut config = EndpointConfig::new(None, None);
    config.linger = args.grace;
    config.limits = args.limits();
    let mut tun = TunConfig { name: Some(args.device.clone()), ..TunConfig::default() };
    for network in &networks {
        match (network.address, network.peer()) {
            (IpAddr::V4(own), IpAddr::V4(peer)) => {
                (config.v4, tun.v4) = (Some(own), Some((peer, network.prefix)));
            }
            (IpAddr::V6(own), IpAddr::V6(peer)) => {
                (config.v6, tun.v6) = (Some(own), Some((peer, network.prefix)));
            }
            _ => unreachable!("both ends are of one network"),
        }
    }
    let device = Device::tun(&tun).map_err(as_failure)?;
    let name = device.name().unwrap_or_default().to_owned();
    let endpoint = Endpoint::open(device, config).map_err(as_failure)?;
    let addresses = networks.iter().map(|network| network.address).collect();
    let peers = networks.iter().map(Network::peer).collect();
    Ok(ServerDevice { endpoint, name, addresses, peers })
}

fn as_failure(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::NotFound => Failure::input(error),
        ErrorKind::InvalidInput | ErrorKind::ResourceBusy => {
            Failure::input(format!("{error}: choose another name with --device"))
        }
        _ => Failure::failed(format!("cannot set up the device: {error}")),
    }
}

/// At most one of each family.
fn networks(given: &[Network]) -> Result<Vec<Network>, Failure> {
    if given.is_empty() {
        let default = [DEFAULT_V4].into_iter().chain(has_ipv6().then_some(DEFAULT_V6));
        return Ok(default.collect());
    }
    for is_ipv4 in [true, false] {
        let mut same = given.iter().filter(|network| network.address.is_ipv4() == is_ipv4);
        if let (Some(first), Some(second)) = (same.next(), same.next()) {
            return Err(Failure::input(format!(
                "--address {first} and {second}: one of each family, please"
            )));
        }
    }
    Ok(given.to_vec())
}

fn address_of(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

fn has_ipv6() -> bool {
    let disabled = fs::read_to_string("/proc/sys/net/ipv6/conf/default/disable_ipv6");
    disabled.is_ok_and(|disabled| disabled.trim() == "0")
}

/// Refuses an address that this machine has already: it would have two meanings. Interfaces are
/// asked: a machine with `net.ipv4.ip_nonlocal_bind` binds sockets to addresses that it does not
/// have.
fn refuse_what_is_taken(networks: &[Network]) -> Result<(), Failure> {
    let own: HashSet<IpAddr> = getifaddrs()
        .map_err(|why| Failure::failed(format!("cannot list this machine's addresses: {why}")))?
        .filter_map(|interface| address_of(&interface.address?))
        .collect();
    let mut both = networks.iter().flat_map(|network| [network.address, network.peer()]);
    both.find(|address| own.contains(address)).map_or(Ok(()), |address| {
        Err(Failure::input(format!(
            "this machine has the address {address} already, perhaps by another `headstart serve`: choose a \
             network that is free with --address"
        )))
    })
}
