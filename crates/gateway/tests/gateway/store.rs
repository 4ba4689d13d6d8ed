//! Redis servers of this machine's package, if it is installed: a single one, or a cluster.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use test_support::Need;

/// A server of its own; ends with the test.
pub(crate) struct Redis {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Redis {
    /// Starts a server; reports a skip and returns `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_at(free_port(), &[])
    }

    /// Starts a server at a port that another one has used before, with more options.
    pub(crate) fn start_at(port: u16, more: &[&str]) -> Option<Self> {
        let text = port.to_string();
        Self::spawn(port, &[&["--port", &text][..], more].concat())
    }

    /// Starts a server that accepts only encrypted connections.
    pub(crate) fn start_with_tls(files: &[&str]) -> Option<Self> {
        let port = free_port();
        let text = port.to_string();
        Self::spawn(port, &[&["--port", "0", "--tls-port", &text][..], files].concat())
    }

    fn spawn(port: u16, arguments: &[&str]) -> Option<Self> {
        let always = ["--save", "", "--appendonly", "no", "--bind", "127.0.0.1"];
        let mut command = Command::new("redis-server");
        command.args(arguments).args(always).stdout(Stdio::null());
        if !test_support::has(&[Need::Program("redis-server")]) {
            return None;
        }
        let child = command.spawn().unwrap();
        let redis = Self { child, port };
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(redis);
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("redis-server does not listen at {port}");
    }

    /// Kills the server (`kill -9`).
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Three servers that share the keys; they end with the test.
pub(crate) struct RedisCluster {
    pub(crate) nodes: Vec<Redis>,
    _folders: Vec<Folder>,
}

/// Folder of a node's own state about the cluster.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Number of parts of the keys (Redis cluster specification, "Key distribution model").
const SLOTS: u16 = 16_384;

impl RedisCluster {
    /// Starts a cluster; reports a skip and returns `None` if Redis is not installed.
    pub(crate) fn start() -> Option<Self> {
        let (mut nodes, mut folders, mut buses) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..3 {
            let (port, bus) = (free_port(), free_port());
            let folder = std::env::temp_dir().join(format!("headstart-redis-{port}"));
            fs::create_dir_all(&folder).unwrap();
            let (bus_text, place) = (bus.to_string(), folder.display().to_string());
            folders.push(Folder(folder));
            let options =
                ["--cluster-enabled", "yes", "--cluster-port", &bus_text, "--dir", &place];
            nodes.push(Redis::start_at(port, &options)?);
            buses.push(bus);
        }
        let cluster = Self { nodes, _folders: folders };
        cluster.join(&buses);
        Some(cluster)
    }

    /// Assigns a third of the keys to each node, and introduces the others to the first one.
    fn join(&self, buses: &[u16]) {
        for (number, node) in (0..).zip(&self.nodes) {
            let (first, end) =
                (SLOTS / 3 * number, if number == 2 { SLOTS } else { SLOTS / 3 * (number + 1) });
            node.command(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &(end - 1).to_string()]);
        }
        for (node, bus) in self.nodes.iter().zip(buses).skip(1) {
            let (port, bus) = (node.port.to_string(), bus.to_string());
            self.nodes[0].command(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
        }
        let agrees = |node: &Redis| {
            let info = node.command(&["CLUSTER", "INFO"]);
            info.contains("cluster_state:ok") && info.contains("cluster_size:3")
        };
        for _ in 0..500 {
            if self.nodes.iter().all(agrees) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the nodes do not find each other");
    }
}

impl Redis {
    /// Returns the answer to a command, as text.
    pub(crate) fn command(&self, words: &[&str]) -> String {
        self.query(redis::cmd(words[0]).arg(&words[1..]))
    }

    /// Returns the answer to a command.
    pub(crate) fn query<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> T {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}/0", self.port)).unwrap();
        command.query(&mut client.get_connection().unwrap()).unwrap()
    }
}
