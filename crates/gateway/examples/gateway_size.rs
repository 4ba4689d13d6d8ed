//! Plays the reports, questions and comparisons of many servers against the gateway's own engine,
//! without a network and in simulated time. It shows which share of a fleet a gateway can serve.
//!
//! Servers of a site serve the same visitors, and load balancers choose among them by chance. A
//! server asks for a network that it has not served, as an agent does, and reports each connection.
//! Requests follow [`SiteLoad`]: Zipf's law over a site's networks.
//!
//! Each line is one run of a process of its own. `max-networks` limits all sites of the gateway
//! together. Figures of answers are of the last third of the time, when the memory is full.
//!
//! ```text
//! cargo run --release -p headstart-gateway --example gateway_size -- \
//!     SITES SERVERS NETWORKS CONNECTIONS SECONDS MAX-NETWORKS,...
//! ```
//! SERVERS and NETWORKS are those of a site. CONNECTIONS are those of a server in a second.

#[path = "gateway_size/play.rs"]
mod play;
#[path = "gateway_size/server.rs"]
mod server;
#[path = "gateway_size/tally.rs"]
mod tally;

use play::Play;
use std::env;
use std::error::Error;
use std::process::Command;
use std::str::FromStr;

/// The last argument of a process that plays one run.
const ONE_RUN: &str = "one-run";

/// A gateway's share of a fleet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleetShare {
    pub(crate) sites: usize,
    /// Servers of a site.
    pub(crate) servers: usize,
    /// Networks of a site's visitors.
    pub(crate) networks: f64,
    /// Connections of a server in a second.
    pub(crate) connections: f64,
    pub(crate) seconds: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let share = FleetShare {
        sites: number(&arguments, 0)?,
        servers: number(&arguments, 1)?,
        networks: number(&arguments, 2)?,
        connections: number(&arguments, 3)?,
        seconds: number(&arguments, 4)?,
    };
    let limits = arguments.get(5).ok_or("which max-networks?")?;
    if arguments.get(6).is_some_and(|last| last == ONE_RUN) {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(Play::new(share, limits.parse()?)?.run());
        return Ok(());
    }
    println!("{share:?}");
    tally::head();
    for limit in limits.split(',') {
        // A process that has freed memory would show too little of it the next time.
        let own = arguments[..5].iter().map(String::as_str).chain([limit, ONE_RUN]);
        if !Command::new(env::current_exe()?).args(own).status()?.success() {
            return Err(format!("max-networks {limit} failed").into());
        }
    }
    Ok(())
}

fn number<N: FromStr>(arguments: &[String], place: usize) -> Result<N, String> {
    let text = arguments.get(place).ok_or("SITES SERVERS NETWORKS CONNECTIONS SECONDS, please")?;
    text.parse().map_err(|_| format!("{text:?} is no number"))
}
