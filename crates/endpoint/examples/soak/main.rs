//! A soak test of an hour under load: it checks that the endpoint frees everything that it should.
//!
//! Clients on the kernel's sockets are in a namespace behind an emulated link that loses packets.
//! They open connections to one endpoint: short and long downloads, several on one connection,
//! uploads, half-closes, and connections that either side breaks off in the middle. Every byte is
//! checked. There are sixty status lines in all, with the memory of the process and the number of
//! open connections. The program needs root.
//!
//! `cargo run --release -p headstart-endpoint --example soak [TIME [CLIENTS]]`, default `3600s 40`.
//!
//! It fails (exit code 1) in three cases:
//! - A transfer fails although neither side broke it off.
//! - Memory grows: the maximum in the last quarter of the time is compared with that in the second.
//! - A connection is left open when the clients are gone.

mod clients;
mod counters;
mod protocol;
mod server;

use counters::{Counters, Memory};
use emulator::{
    Addresses, Clock, Emulation, EmulationOptions, Interface, InterfaceConfig, Namespace, port_pair,
};
use endpoint::{Device, Endpoint, EndpointConfig, EndpointStatus};
use link::{Duplex, LinkConfig, QueueLimit};
use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Rate};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of status lines.
const LINES: u32 = 60;
/// Time after the last client within which retransmissions and the longest waits for a peer end.
const FAREWELL: Duration = Duration::from_secs(90);

/// Everything but the clients' tasks.
struct Bed {
    client: Namespace,
    _device: Interface,
    _emulation: Emulation,
    endpoint: Endpoint,
    server: SocketAddr,
}

impl Bed {
    async fn new() -> Outcome<Self> {
        let [near, far] = Addresses::numbered(0);
        let client = Namespace::new()?;
        // The side that closes first keeps its port for a minute, so all ports are made available.
        client.set_sysctl("net.ipv4.ip_local_port_range", "1024 65535")?;
        client.set_sysctl("net.ipv4.tcp_tw_reuse", "1")?;
        let device = Interface::open(&client, &InterfaceConfig::new(near))?;
        let (port, descriptor) = port_pair()?;
        let endpoint = Endpoint::open(
            Device::new(descriptor, 1500)?,
            EndpointConfig::new(Some(far.v4), Some(far.v6)),
        )?;
        let (rate, delay) = (Rate::from_mbps(100), Duration::from_millis(5));
        let link = LinkConfig::new(rate, delay, QueueLimit::Packets(200))?.with_loss(0.002)?;
        let emulation =
            Emulation::start(device.port(), port, EmulationOptions::new(Duplex::symmetric(link)))?;
        let server = SocketAddr::new(far.v4.into(), server::PORT);
        let listener = endpoint.listen(server::PORT, &Scheme::parse("linux")?).await?;
        tokio::spawn(server::serve(listener));
        Ok(Self { client, _device: device, _emulation: emulation, endpoint, server })
    }
}

fn main() -> ExitCode {
    match arguments().and_then(|(time, clients)| soak(time, clients)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Outcome<(Duration, u64)> {
    let mut arguments = std::env::args().skip(1);
    let time = arguments.next().unwrap_or_else(|| "3600s".to_owned()).parse()?;
    let clients = arguments.next().map_or(Ok(40), |text| text.parse())?;
    Ok((time, clients))
}

/// Runs the test; returns true if it passes.
fn soak(time: Duration, clients: u64) -> Outcome<bool> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let bed = runtime.block_on(Bed::new())?;
    let (clock, counters) = (Clock::start(), Arc::new(Counters::default()));
    let end = clock.now() + time;
    let crowd = clients::Crowd { server: bed.server, clients, clock, end };
    let shared = Arc::clone(&counters);
    let crowd = bed.client.spawn(move || clients::run(crowd, &shared))?;
    println!("{}", counters::HEADER);
    let mut memory = Memory::default();
    runtime.block_on(async {
        for line in 1..=LINES {
            let due = Duration::from_nanos(time.as_nanos() * u64::from(line) / u64::from(LINES));
            sleep_until(&clock, end - time + due).await;
            memory.take_sample()?;
            let status = bed.endpoint.status().await?;
            println!("{}", counters.line(clock.now(), &memory, &status));
        }
        Outcome::Ok(())
    })?;
    crowd.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let left = runtime.block_on(wait_until_closed(&bed.endpoint, &clock))?;
    Ok(verdict(&counters, &memory, &left))
}

async fn sleep_until(clock: &Clock, at: units::Instant) {
    let left = at.saturating_since(clock.now());
    tokio::time::sleep(std::time::Duration::from_nanos(left.as_nanos())).await;
}

/// Waits until nothing is open, with a time limit.
async fn wait_until_closed(endpoint: &Endpoint, clock: &Clock) -> Outcome<EndpointStatus> {
    let end = clock.now() + FAREWELL;
    loop {
        let status = endpoint.status().await?;
        let over = status.connections.is_empty() && status.buffers == 0;
        if over || clock.now() >= end {
            return Ok(status);
        }
        sleep_until(clock, clock.now() + Duration::from_millis(100)).await;
    }
}

fn verdict(counters: &Counters, memory: &Memory, left: &EndpointStatus) -> bool {
    let growth = memory.growth();
    let failures = counters.failures();
    let states: Vec<_> = left.connections.iter().map(|info| info.state).collect();
    let checks = [
        (growth.is_none(), format!("memory: {}", growth.unwrap_or_else(|| memory.summary()))),
        (failures.is_empty(), format!("transfers that failed: {} {failures:?}", failures.len())),
        (states.is_empty(), format!("left open: {} {states:?}", states.len())),
        (left.buffers == 0, format!("left in buffers: {} B", left.buffers)),
        (
            left.counters.bytes_missing == 0,
            format!("segments without their bytes: {}", left.counters.bytes_missing),
        ),
    ];
    for (holds, what) in &checks {
        println!("{} {what}", if *holds { "holds" } else { "FAILS" });
    }
    checks.iter().all(|(holds, _)| *holds)
}
