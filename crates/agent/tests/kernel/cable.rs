//! The two hosts of a bed joined once more, by a virtual cable (veth) without an emulation: as fast
//! as the machine is.

use crate::bed::{Bed, Server};
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};

const CLIENT: &str = "10.77.0.1/24";
const SERVER: &str = "10.77.0.2/24";
const SERVER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));

/// A cable, while the bed lives.
pub(crate) struct Cable<'a>(&'a Bed);

impl<'a> Cable<'a> {
    /// `None`, with a note, without the program `ip`. A bed has one at most.
    pub(crate) fn between_hosts_of(bed: &'a Bed) -> Option<Self> {
        let mut far = resident(bed);
        let pid = far.id().to_string();
        let add = ["link", "add", "hs0", "type", "veth", "peer", "name", "hs1", "netns", &pid];
        let mut is_done = ip(&bed.client, &add);
        for (host, name, address) in [(&bed.client, "hs0", CLIENT), (&bed.server, "hs1", SERVER)] {
            is_done = is_done
                && ip(host, &["address", "add", address, "dev", name])
                && ip(host, &["link", "set", name, "up"]);
        }
        far.kill().unwrap();
        far.wait().unwrap();
        if !is_done {
            test_support::skipped("no cable without `ip`");
        }
        is_done.then_some(Self(bed))
    }

    /// A server at its far end, in the bed's cgroup.
    pub(crate) fn serve(&self, control: Option<&str>) -> Server {
        self.0.serve_at((SERVER_ADDRESS, 0).into(), control)
    }
}

/// A process in the server's namespace, by which that can be named.
fn resident(bed: &Bed) -> Child {
    let mut command = Command::new("sleep");
    bed.server.namespace().command(command.arg("60").stdin(Stdio::null())).unwrap()
}

/// True if `ip` has done it there.
pub(crate) fn ip(host: &emulator::Interface, arguments: &[&str]) -> bool {
    let mut command = Command::new("ip");
    let child = host.namespace().command(command.args(arguments));
    child.and_then(|mut child| child.wait()).is_ok_and(|status| status.success())
}
