//! An endpoint and, in a namespace of their own behind a TUN device, its peers on the kernel's
//! sockets.

use emulator::Namespace;
use endpoint::{Device, Endpoint, EndpointConfig, TunConfig};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) const KERNEL: (Ipv4Addr, Ipv6Addr) =
    (Ipv4Addr::new(198, 18, 9, 1), Ipv6Addr::new(0x2001, 2, 0, 9, 0, 0, 0, 1));
pub(crate) const OURS: (Ipv4Addr, Ipv6Addr) =
    (Ipv4Addr::new(198, 18, 9, 2), Ipv6Addr::new(0x2001, 2, 0, 9, 0, 0, 0, 2));

/// An endpoint and the namespace of its clients.
pub(crate) struct World {
    pub(crate) namespace: Namespace,
    pub(crate) endpoint: Endpoint,
}

impl World {
    /// Sets up the world; reports a skip and returns `None` if that is not possible.
    pub(crate) fn new(offload: bool, config: EndpointConfig) -> Option<Self> {
        let open = || Self::open(offload, config).unwrap_or_else(|error| panic!("{error}"));
        test_support::has(&test_support::EMULATION).then(open)
    }

    fn open(offload: bool, config: EndpointConfig) -> std::io::Result<Self> {
        let namespace = Namespace::new()?;
        let tun = TunConfig {
            offload,
            v4: Some((KERNEL.0, 24)),
            v6: Some((KERNEL.1, 64)),
            ..TunConfig::default()
        };
        let device = namespace.run(|| Device::tun(&tun))??;
        Ok(Self { namespace, endpoint: Endpoint::open(device, config)? })
    }

    pub(crate) fn connect(&self, address: IpAddr) -> TcpStream {
        let to = SocketAddr::new(address, super::PORT);
        let stream = self.namespace.run(|| TcpStream::connect(to)).unwrap().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Returns the output of a command that runs in the clients' namespace.
    pub(crate) fn output(&self, command: &mut Command) -> String {
        command.stdout(Stdio::piped());
        let child = self.namespace.command(command).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{command:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(crate) fn config() -> EndpointConfig {
    EndpointConfig::new(Some(OURS.0), Some(OURS.1))
}
