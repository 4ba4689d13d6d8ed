//! Measures the endpoint's speed towards the kernel's TCP in a namespace, beside smoltcp with the
//! same work on the same kind of device, in the same run. The workloads are bulk data, requests of
//! 1 KB on kept connections, and requests with a connection each. The program needs root.
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

/// Port that sends for as long as the client reads.
const BULK: u16 = 1;
/// The first of the ports that answer a request with 1 KB, and wait for the next.
const REQUESTS: u16 = 2;
/// Number of these ports. A client's kernel finds a local port ever more slowly once most of those
/// towards one address and port are in use. Each is in use for a minute, and 14,000 connections use
/// them up.
const PORTS: u16 = 16;
/// Setting for the number of closed connections that a kernel remembers, each for a minute. If
/// there are more, it reuses ports that the server still remembers.
const CLOSED: &str = "/proc/sys/net/ipv4/tcp_max_tw_buckets";
/// Size of an answer, bytes: 1 KB in all.
const ANSWER: usize = 1024;

/// Returns the addresses of kernel and server in network `n`.
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
        // Each has a namespace of its own, so that neither meets remains of the other's
        // connections.
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
