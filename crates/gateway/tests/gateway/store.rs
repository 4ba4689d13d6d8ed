//! A Redis server of this machine's package, where there is one.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

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
    /// `None`, having said so, where it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_at(free_port(), &[])
    }

    /// The same at a port where one was before, with more options.
    pub(crate) fn start_at(port: u16, more: &[&str]) -> Option<Self> {
        let text = port.to_string();
        Self::spawn(port, &[&["--port", &text][..], more].concat())
    }

    /// The same that takes no word that is not encrypted.
    pub(crate) fn start_with_tls(files: &[&str]) -> Option<Self> {
        let port = free_port();
        let text = port.to_string();
        Self::spawn(port, &[&["--port", "0", "--tls-port", &text][..], files].concat())
    }

    fn spawn(port: u16, arguments: &[&str]) -> Option<Self> {
        let always = ["--save", "", "--appendonly", "no", "--bind", "127.0.0.1"];
        let mut command = Command::new("redis-server");
        command.args(arguments).args(always).stdout(Stdio::null());
        let Ok(child) = command.spawn() else {
            calm::skipped("redis-server is not installed");
            return None;
        };
        let redis = Self { child, port };
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(redis);
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("redis-server does not listen at {port}");
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
