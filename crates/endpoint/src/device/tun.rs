//! TUN devices, by crate `tun-rs`.

use super::Device;
use nix::errno::Errno;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use std::{fs, thread};
use tun_rs::DeviceBuilder;

/// IPv6 addresses of the network namespace that the calling thread is in.
const ADDRESSES: &str = "/proc/thread-self/net/if_inet6";

/// `IFA_F_TENTATIVE`: duplicate address detection is not finished.
const TENTATIVE: u32 = 0x40;

/// Time after which a new address counts as usable in any case, milliseconds.
const USABLE_AFTER_MS: u32 = 1000;

/// The settings of a TUN device. It is in the network namespace of the calling thread, and is
/// removed with its descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunConfig {
    /// Its name, of 15 bytes at most, with `%d` for the first free number; `None`: the kernel
    /// chooses.
    pub name: Option<String>,
    /// Longest packet, bytes.
    pub mtu: u16,
    /// Leaves checksums and the cutting of super-packets to the kernel, which also passes
    /// super-packets on itself (`IFF_VNET_HDR`, TSO). This is faster by far; without it captures
    /// and queues see single packets.
    pub offload: bool,
    /// The kernel's own address on it and the length of its network's prefix. The endpoint has
    /// another address of that network.
    pub v4: Option<(Ipv4Addr, u8)>,
    /// The kernel's own IPv6 address on it and the length of its network's prefix.
    pub v6: Option<(Ipv6Addr, u8)>,
}

impl Default for TunConfig {
    /// Returns 1500 bytes, with offload, without addresses.
    fn default() -> Self {
        Self { name: None, mtu: 1500, offload: true, v4: None, v6: None }
    }
}

impl Device {
    /// Creates a TUN device, or takes over a persistent one of that name, and brings it up.
    ///
    /// # Errors
    /// If the system has no TUN devices, the process lacks `CAP_NET_ADMIN`, or the name is taken or
    /// impossible; the message says which.
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
        let device = builder.build_sync().map_err(|error| with_remedy(error, config))?;
        let name = device.name()?;
        if let Some((address, _)) = config.v6 {
            wait_until_usable(address);
        }
        let device = Self { name: Some(name), ..Self::new(device, config.mtu)? };
        Ok(if config.offload { device.with_offload() } else { device })
    }
}

/// Waits until an IPv6 address is usable. The kernel runs duplicate address detection on a new one
/// for a moment (`addrconf_dad_begin`), though a TUN device has no other hosts. A connection made
/// before that has another source address of the host, and is never answered.
fn wait_until_usable(address: Ipv6Addr) {
    for _ in 0..USABLE_AFTER_MS {
        // Without /proc the state is unknown.
        let Ok(addresses) = fs::read_to_string(ADDRESSES) else { return };
        if !is_tentative(&addresses, address) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Reads the lines of `if_inet6`: address, number of the device, length of the prefix, scope,
/// flags, name of the device.
fn is_tentative(addresses: &str, address: Ipv6Addr) -> bool {
    let wanted = format!("{:032x}", address.to_bits());
    let line = addresses.lines().find(|line| line.starts_with(&wanted));
    let flags = line.and_then(|line| line.split_whitespace().nth(4));
    flags.and_then(|flags| u32::from_str_radix(flags, 16).ok()).is_some_and(|f| f & TENTATIVE != 0)
}

fn with_remedy(error: io::Error, config: &TunConfig) -> io::Error {
    let name = config.name.as_deref().unwrap_or("of the kernel's choice");
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    let (kind, why) = match errno {
        Errno::EPERM | Errno::EACCES => {
            (ErrorKind::PermissionDenied, "it takes root or CAP_NET_ADMIN".to_owned())
        }
        // The device file is missing, or has no driver.
        Errno::ENOENT | Errno::ENODEV | Errno::ENXIO => {
            (ErrorKind::NotFound, "there is no /dev/net/tun here: try `modprobe tun`".to_owned())
        }
        Errno::EINVAL => (
            ErrorKind::InvalidInput,
            format!("the kernel refuses the device {name}, or another kind of device has the name"),
        ),
        Errno::EBUSY => (ErrorKind::ResourceBusy, format!("the device {name} is in use")),
        _ => return error,
    };
    io::Error::new(kind, format!("no TUN device: {why} ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These are lines as `if6_seq_show` of Linux writes them.
    #[test]
    fn a_tentative_address_is_told_from_one_in_use() {
        let addresses = "fe800000000000000000000000000001 04 40 20 80     eth0\n\
                         20010002000000090000000000000001 02 40 00 40     tun0\n\
                         20010002000000090000000000000002 02 40 00 80     tun0\n";
        for (address, tentative) in
            [("2001:2:0:9::1", true), ("2001:2:0:9::2", false), ("::1", false)]
        {
            assert_eq!(is_tentative(addresses, address.parse().unwrap()), tentative, "{address}");
        }
    }

    /// Numbers of errors are those of Linux's `errno.h`, with which the kernel answers if the
    /// module is missing, the name is taken and so on.
    #[test]
    fn errors_say_what_to_do() {
        let config = TunConfig { name: Some("hs7".to_owned()), ..TunConfig::default() };
        let explained = |errno: i32| with_remedy(io::Error::from_raw_os_error(errno), &config);
        for (errno, kind, hint) in [
            (1, ErrorKind::PermissionDenied, "CAP_NET_ADMIN"),
            (2, ErrorKind::NotFound, "modprobe tun"),
            (6, ErrorKind::NotFound, "modprobe tun"),
            (19, ErrorKind::NotFound, "modprobe tun"),
            (22, ErrorKind::InvalidInput, "hs7"),
            (16, ErrorKind::ResourceBusy, "hs7"),
        ] {
            let error = explained(errno);
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(hint), "{error}");
        }
        assert_eq!(explained(12).raw_os_error(), Some(12), "all else stays as it is");
    }
}
