//! How fast the endpoint is towards the kernel's TCP in a namespace, beside smoltcp doing the same on the
//! same kind of device, in the same run: bulk data, requests of 1 KB on kept connections, requests with a
//! connection each. Needs root.
//!
//! `cargo run --release -p headstart-endpoint --example speed [SECONDS [CLIENTS]]`

mod clients;
mod ours;
mod smol;

use emulator::Namespace;
use std::error::Error;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Sends for as long as the client reads.
const BULK: u16 = 1;
/// The first of the ports that answer a request with 1 KB, and wait for the next.
const REQUESTS: u16 = 2;
/// So many: a client's kernel finds a port of its own for each connection ever more slowly once those towards one address are taken,
/// each for a minute, and 14,000 connections take them.
const PORTS: u16 = 16;
/// How many closed connections a kernel remembers, each for a minute: beyond, ports are used again that the server has not done with.
const CLOSED: &str = "/proc/sys/net/ipv4/tcp_max_tw_buckets";
/// What comes for a request: 1 KB in all.
const ANSWER: usize = 1024;

/// The addresses of kernel and server in network `n`.
fn addresses(n: u8) -> (Ipv4Addr, Ipv4Addr) {
    (Ipv4Addr::new(198, 19, n, 1), Ipv4Addr::new(198, 19, n, 2))
}

fn answer() -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {:04}\r\n\r\n", ANSWER - 42);
    let mut answer = head.into_bytes();
    answer.resize(ANSWER, b'x');
    answer
}

type Serve = fn(&Namespace, u8) -> Result<SocketAddr, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let clients = arguments.next().map_or(Ok(32), |text| text.parse())?;
    let time = Duration::from_secs(seconds);
    if let Err(error) = Namespace::new() {
        eprintln!("skipped: {error}");
        return Ok(());
    }
    let servers: [(&str, Serve); 2] = [("endpoint", ours::serve), ("smoltcp", smol::serve)];
    println!(
        "{:12} {:>12} {:>16} {:>18}",
        "", "bulk Mbit/s", "requests/s kept", "requests/s, each new"
    );
    for (n, (name, serve)) in (1..).zip(servers) {
        // One each, so that neither finds what the other's connections left.
        let namespace = Namespace::new()?;
        namespace.run(|| fs::write(CLOSED, "1000000"))??;
        let address = serve(&namespace, n)?;
        let bulk = clients::bulk(&namespace, address, time)?;
        let kept = clients::requests(&namespace, address, time, (clients, true))?;
        let fresh = clients::requests(&namespace, address, time, (clients, false))?;
        println!("{name:12} {:>12.0} {kept:>16.0} {fresh:>18.0}", bulk / 1e6);
    }
    Ok(())
}
