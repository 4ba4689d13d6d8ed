//! TUN devices, by crate `tun-rs`.

use super::Device;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr};
use tun_rs::DeviceBuilder;

/// A TUN device as it is to be. It belongs to the network namespace that the calling thread is in, and
/// goes with its descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunConfig {
    /// Its name, of 15 bytes at most, with `%d` for the first number that is free; `None`: the kernel
    /// chooses.
    pub name: Option<String>,
    /// Longest packet, bytes.
    pub mtu: u16,
    /// The kernel fills in checksums, cuts super-packets into segments and hands such over itself
    /// (`IFF_VNET_HDR`, TSO). Faster by far; without it captures and queues see single packets.
    pub offload: bool,
    /// The kernel's own address on it and the length of its network's prefix. The endpoint's address
    /// is another one of that network.
    pub v4: Option<(Ipv4Addr, u8)>,
    /// The same for IPv6.
    pub v6: Option<(Ipv6Addr, u8)>,
}

impl Default for TunConfig {
    /// 1500 bytes, with offload, without addresses.
    fn default() -> Self {
        Self { name: None, mtu: 1500, offload: true, v4: None, v6: None }
    }
}

impl Device {
    /// Makes a TUN device, or takes over a persistent one of that name, and brings it up.
    ///
    /// # Errors
    /// If there are no TUN devices here, or the process lacks `CAP_NET_ADMIN`; the message says which.
    pub fn tun(config: &TunConfig) -> io::Result<Self> {
        let mut builder = DeviceBuilder::new().mtu(config.mtu).offload(config.offload);
        if let Some(name) = &config.name {
            builder = builder.name(name);
        }
        if let Some((address, prefix)) = config.v4 {
            builder = builder.ipv4(address, prefix, None);
        }
        if let Some((address, prefix)) = config.v6 {
            builder = builder.ipv6(address, prefix);
        }
        let device = builder.build_sync().map_err(explain)?;
        let name = device.name()?;
        let device = Self { name: Some(name), ..Self::new(device, config.mtu)? };
        Ok(if config.offload { device.with_offload() } else { device })
    }
}

fn explain(error: io::Error) -> io::Error {
    let why = match error.kind() {
        ErrorKind::PermissionDenied => "it takes root or CAP_NET_ADMIN",
        ErrorKind::NotFound => "there is no /dev/net/tun here: try `modprobe tun`",
        _ => return error,
    };
    io::Error::new(error.kind(), format!("no TUN device: {why} ({error})"))
}
