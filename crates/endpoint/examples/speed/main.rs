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
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Sends for as long as the client reads.
const BULK: u16 = 1;
/// Answers a request with 1 KB, and waits for the next.
const REQUESTS: u16 = 2;
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

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let clients = arguments.next().map_or(Ok(32), |text| text.parse())?;
    let time = Duration::from_secs(seconds);
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(error) => {
            eprintln!("skipped: {error}");
            return Ok(());
        }
    };
    let servers: [(&str, SocketAddr); 2] =
        [("endpoint", ours::serve(&namespace, 1)?), ("smoltcp", smol::serve(&namespace, 2)?)];
    println!(
        "{:12} {:>12} {:>16} {:>18}",
        "", "bulk Mbit/s", "requests/s kept", "requests/s, each new"
    );
    for (name, address) in servers {
        let bulk = clients::bulk(&namespace, address, time)?;
        let kept = clients::requests(&namespace, address, time, (clients, true))?;
        let fresh = clients::requests(&namespace, address, time, (clients, false))?;
        println!("{name:12} {:>12.0} {kept:>16.0} {fresh:>18.0}", bulk / 1e6);
    }
    Ok(())
}
