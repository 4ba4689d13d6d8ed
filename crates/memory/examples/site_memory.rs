//! Measures how much memory a site's memory takes, and how many reports it processes in a second,
//! on one core.
//!
//! `site_memory [NETWORKS] [REPORTS] [QUESTIONS]` fills a memory with this number of networks of
//! IPv4 /24 (10 million). Then it processes the reports (10 million): of networks by a Zipf
//! distribution as at a busy site, and of all networks alike. Then it asks a million times. A
//! changed sum of all answered windows shows that answers have changed.

#![allow(clippy::disallowed_methods)]

use memory::site::{Bound, Reporter, SiteConfig, SiteMemory, SiteReport};
use peak_alloc::PeakAlloc;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant as WallInstant;
use units::{Duration, Instant, Rate};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// The address whose /24 is the `n`-th network: neighbours are neighbours.
fn address(n: u64) -> Ipv4Addr {
    Ipv4Addr::from_bits(((n as u32) << 8) | 1)
}

/// A sequence of numbers that looks random (a permuted congruential generator's state).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    /// Networks by Zipf with exponent 1, by the inverse of its continuous distribution.
    fn zipf(&mut self, networks: u64) -> u64 {
        let part = self.next() as f64 / (1_u64 << 31) as f64;
        ((networks as f64).powf(part) as u64).min(networks - 1)
    }
}

fn report(n: u64, numbers: &mut Numbers) -> Result<SiteReport, Box<dyn Error>> {
    let draw = numbers.next();
    Ok(SiteReport {
        network: ipnet::Ipv4Net::new(address(n), 24)?.into(),
        reporter: Reporter((draw % 16) as u32),
        window: 10_000 + draw % 200_000,
        rate: Some(Rate::from_bps(1_000_000 + draw % 50_000_000)),
        min_rtt: Some(Duration::from_micros(10_000 + draw % 100_000)),
        sent: 40,
        lost: (draw % 3) as u32,
        bound: if draw.is_multiple_of(7) { Bound::Loss } else { Bound::OwnStart },
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: u64| arguments.next().map_or(Ok(otherwise), |text| text.parse());
    let (networks, reports) = (number(10_000_000)?, number(10_000_000)?);
    let questions = number(1_000_000)?;
    let config = SiteConfig { max_networks: 2 * networks as usize, ..SiteConfig::default() };
    let (mut site, mut numbers) = (SiteMemory::new(config), Numbers(7));
    let start = Instant::ZERO + Duration::from_secs(1_000_000);

    let at_once: Vec<_> =
        (0..networks).map(|n| report(n, &mut numbers)).collect::<Result<_, _>>()?;
    let (empty, started) = (ALLOCATED.current_usage(), WallInstant::now());
    at_once.iter().for_each(|report| site.report(start, report));
    let seconds = started.elapsed().as_secs_f64();
    let bytes = ALLOCATED.current_usage() - empty;
    drop(at_once);
    println!(
        "{networks} networks, {} entries: {:.0} MiB, {:.1} bytes a network; {:.2} million reports/s",
        site.len(),
        bytes as f64 / f64::from(1 << 20),
        bytes as f64 / networks as f64,
        networks as f64 / seconds / 1e6,
    );

    for zipf in [true, false] {
        let draw = |_| {
            let n = if zipf { numbers.zipf(networks) } else { numbers.next() % networks };
            report(n, &mut numbers)
        };
        let batch: Vec<_> = (0..reports).map(draw).collect::<Result<_, _>>()?;
        let started = WallInstant::now();
        for (n, report) in batch.iter().enumerate() {
            // A million reports a second.
            site.report(start + Duration::from_micros(n as u64), report);
        }
        let rate = reports as f64 / started.elapsed().as_secs_f64() / 1e6;
        println!(
            "reports of networks {}: {rate:.2} million/s",
            if zipf { "by Zipf" } else { "alike" }
        );
    }

    let asked: Vec<_> = (0..questions).map(|_| address(numbers.zipf(networks))).collect();
    let (started, mut answered, mut windows) = (WallInstant::now(), 0_u64, 0_u128);
    for address in &asked {
        let later = start + Duration::from_secs(60);
        let estimate = site.estimate(later, IpAddr::V4(*address), None);
        answered += u64::from(estimate.is_some());
        windows += estimate.map_or(0, |found| u128::from(found.window));
    }
    let each = started.elapsed().as_secs_f64() * 1e6 / asked.len() as f64;
    println!(
        "{answered} of {} questions answered, {each:.2} microseconds each; windows {windows} bytes",
        asked.len()
    );
    Ok(())
}
