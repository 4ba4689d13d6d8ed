//! Redis and three gateways as processes.

use crate::bed::Bed;
use crate::store::Redis;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Capacity of each gateway: a network for each report.
const NETWORKS: &str = "max-networks = 8000000";

/// Three gateways over one store.
pub(crate) struct Trio {
    pub(crate) redis: Redis,
    gateways: Vec<GatewayProcess>,
}

/// A gateway in a separate process, which is killed when this is dropped.
struct GatewayProcess {
    bed: Bed,
    address: SocketAddr,
    command: fn(&Path) -> Command,
    child: Option<Child>,
}

impl Trio {
    /// Starts all; reports a skip and returns `None` if there is no Redis.
    pub(super) fn start(command: fn(&Path) -> Command) -> Option<Self> {
        let redis = Redis::start()?;
        let first = Bed::new("");
        let (second, third) = (first.beside(), first.beside());
        let start = |bed: Bed| {
            bed.share_over(redis.port);
            bed.add_key(NETWORKS);
            GatewayProcess::start(bed, command)
        };
        let gateways = [first, second, third].map(start).into();
        Some(Self { redis, gateways })
    }

    /// Returns the gateways' addresses for agents.
    pub(super) fn addresses(&self) -> Vec<String> {
        self.gateways.iter().map(|gateway| gateway.address.to_string()).collect()
    }

    /// Returns the folder with the site's authority.
    pub(super) fn bed(&self) -> &Bed {
        &self.gateways[0].bed
    }

    /// Kills the gateway at `address` (`kill -9`); returns the time of the kill.
    pub(super) fn kill(&mut self, address: &str) -> Instant {
        let gateway = self.gateway(address);
        let at = super::agents::now();
        gateway.kill();
        at
    }

    /// Restarts it with its state on disk.
    pub(super) fn start_again(&mut self, address: &str) {
        self.gateway(address).run();
    }

    fn gateway(&mut self, address: &str) -> &mut GatewayProcess {
        let mut all = self.gateways.iter_mut();
        all.find(|gateway| gateway.address.to_string() == address)
            .unwrap_or_else(|| panic!("no gateway at {address:?}"))
    }
}

impl GatewayProcess {
    fn start(bed: Bed, command: fn(&Path) -> Command) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let listen = format!("listen = \"{address}\"");
        let text = bed.text("gateway.toml").replace("listen = \"127.0.0.1:0\"", &listen);
        fs::write(bed.file("gateway.toml"), text).unwrap();
        let mut process = Self { bed, address, command, child: None };
        process.run();
        process
    }

    fn run(&mut self) {
        let mut command = (self.command)(&self.bed.file("gateway.toml"));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        for _ in 0..1500 {
            if TcpStream::connect(self.address).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not listen at {}", self.address);
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
