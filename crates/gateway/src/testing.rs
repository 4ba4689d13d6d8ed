//! Input from outside, for fuzz targets and for the tests that replay their findings. This module
//! is not part of the interface.

use crate::config::Rules;
use crate::config::permission::Allowed;
use crate::pki::{Fingerprint, HolderRole, Identity};
use crate::site::counters::Counts;
use crate::site::tenant::arrivals::address_of;
use crate::site::tenant::{Speaker, Tenant};
use crate::storage::codec::decode;
use gateway_proto::v1::{Arrival, HostComparison, Query, ReportBatch};
use memory::site::SiteConfig;
use prost::Message;
use std::net::IpAddr;
use units::{Duration, Instant};

/// Size of a small memory: a full one shows more.
const SMALL: usize = 64;

fn tenant() -> Tenant {
    // Weights for twelve hours take longer to compute than most inputs take to be handled.
    let max_age = Duration::from_secs(600);
    let config = SiteConfig { max_networks: SMALL, max_busy: 4, max_age, ..SiteConfig::default() };
    Tenant::new("site", config)
}

/// Handles `bytes` as a batch, twice, as sums, as a question and as an arrival. Panics if an
/// acknowledgement does not match the batch.
pub fn hear(bytes: &[u8]) {
    let identity = Identity {
        tenant: "site".to_owned(),
        name: "fuzz".to_owned(),
        role: HolderRole::Agent,
        fingerprint: Fingerprint::of_certificate(b""),
        not_after: i64::MAX,
    };
    let (rules, allowed, counts) = (Rules::of_files(), Allowed::everything(), Counts::default());
    let speaker = Speaker { identity: &identity, allowed: &allowed, rules: &rules };
    let (tenant, now) = (tenant(), Instant::ZERO + Duration::from_secs(1_800_000_000));
    if let Ok(batch) = ReportBatch::decode(bytes) {
        for turn in 0..2 {
            let Ok(ack) = block_on(tenant.take(now, speaker, &batch, &counts)) else { break };
            let refused: usize = ack.refused.iter().map(|refused| refused.count as usize).sum();
            let dealt_with = if ack.repeated { 0 } else { batch.reports.len() };
            assert_eq!(ack.taken as usize + refused, dealt_with, "reports went astray");
            assert_eq!(ack.repeated, turn == 1, "a batch counts once");
        }
        tenant.tell_changes(now, 1);
    }
    if let Ok(host) = HostComparison::decode(bytes)
        && let Ok(fleet) = tenant.compare(now, speaker, &host)
    {
        assert_eq!(fleet.to_findings().len(), fleet.parts.len(), "an interval that is none");
    }
    if let Ok(query) = Query::decode(bytes)
        && let Ok(estimate) = tenant.answer(now, speaker, &query)
    {
        assert!(estimate.window > 0 && (0.0..=1.0).contains(&estimate.confidence), "{estimate:?}");
    }
    let mut arrivals = tenant.arrivals.subscribe();
    if let Ok(arrival) = Arrival::decode(bytes)
        && let Ok(server) = address_of(&arrival.server)
        && tenant.announce(now, speaker, server, arrival.network.as_ref()).is_err()
    {
        assert!(arrivals.try_recv().is_err(), "a refused arrival reaches a subscriber");
    }
}

/// Restores `bytes` as records, and asks.
pub fn restore(mut bytes: &[u8]) {
    let tenant = tenant();
    let mut newest = 0;
    while let Ok(record) = decode(&mut bytes) {
        newest = newest.max(record.newest_at);
        let mut memory = tenant.memory_mut();
        memory.merge(&record);
        assert!(!memory.merge(&record), "a record is taken once");
    }
    let now = Instant::from_nanos(u64::from(newest) << 30);
    let memory = tenant.memory();
    for address in [IpAddr::from([192, 0, 2, 1]), IpAddr::from([0; 16])] {
        if let Some(estimate) = memory.estimate(now, address, None) {
            assert!((0.0..=1.0).contains(&estimate.confidence), "{estimate:?}");
        }
    }
    for network in memory.networks() {
        memory.estimate(now, network.network.addr(), None);
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime of one thread").block_on(future)
}
