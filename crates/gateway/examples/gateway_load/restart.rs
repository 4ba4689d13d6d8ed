//! Measures save time, restart time and memory of a gateway that knows very many networks.

use super::process::Measured;
use super::{Place, now};
use gateway::config::DaemonConfig;
use gateway::site::GatewaySite;
use gateway::storage::snapshot::SnapshotFile;
use memory::site::{Bound, Reporter, SiteReport};
use std::error::Error;
use std::fs;
use std::net::Ipv4Addr;
use units::{Duration, Rate};

pub(crate) fn run(place: &Place, networks: u32) -> Result<(), Box<dyn Error>> {
    fill(place, networks)?;
    let begin = now();
    let gateway = Measured::gateway(&place.config, place.grpc)?;
    println!(
        "restart with {networks} networks: {:.1} s, {:.1} s of processor; {} MiB resident, {} MiB at most",
        begin.elapsed().as_secs_f64(),
        gateway.processor_s(),
        gateway.memory_mib("VmRSS"),
        gateway.memory_mib("VmHWM"),
    );
    Ok(gateway.end()?)
}

/// Saves a snapshot of this many networks, each with one report.
fn fill(place: &Place, networks: u32) -> Result<(), Box<dyn Error>> {
    let config = DaemonConfig::read(&place.config)?;
    let file = config.state.clone().ok_or("no state")?;
    let snapshot = SnapshotFile::open(&file)?;
    let site = GatewaySite::new(&config, snapshot.origin()?)?;
    let tenant = site.tenant(gateway::config::init::TENANT).ok_or("no tenant")?;
    let at = site.clock.now();
    for n in 0..networks {
        let report = SiteReport {
            network: ipnet::Ipv4Net::new(Ipv4Addr::from_bits(n << 8), 24)?.into(),
            reporter: Reporter(n % 16),
            window: u64::from(10_000 + n % 200_000),
            rate: Some(Rate::from_bps(u64::from(1_000_000 + n % 50_000_000))),
            min_rtt: Some(Duration::from_micros(u64::from(10_000 + n % 100_000))),
            sent: 40,
            lost: n % 3,
            bound: if n.is_multiple_of(7) { Bound::Loss } else { Bound::OwnStart },
        };
        tenant.memory_mut().report(at, &report);
    }
    let begin = now();
    snapshot.save(&site)?;
    let bytes = fs::metadata(&file)?.len();
    println!(
        "snapshot of {networks} networks: {:.1} s, {} MiB on disk",
        begin.elapsed().as_secs_f64(),
        bytes >> 20
    );
    Ok(())
}
