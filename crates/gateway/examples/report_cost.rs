//! Runs the path of reports between TLS and the gateway's memory, to count its instructions:
//! batches are decoded, validated and taken in.
//!
//! Run `valgrind --tool=callgrind target/profiling/examples/report_cost BATCHES` for two numbers of
//! batches. The difference is the cost of 4,096 reports for each batch.

use gateway::config::Rules;
use gateway::config::permission::Allowed;
use gateway::pki::{Fingerprint, HolderRole, Identity};
use gateway::replay::site_load::{SiteLoad, report_of};
use gateway::site::counters::Counts;
use gateway::site::tenant::{Speaker, Tenant};
use gateway_client::network_of;
use gateway_proto::v1::{Collector, Network, ReportBatch};
use memory::site::SiteConfig;
use prost::Message;
use std::env;
use std::error::Error;
use units::{Duration, Instant};

const BATCH: usize = 4096;
/// Number of different batches.
const BATCHES: usize = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let batches: u64 = env::args().nth(1).ok_or("how many batches?")?.parse()?;
    let requests: Vec<_> = SiteLoad::new(1, Instant::ZERO, 10.0).take(BATCH * BATCHES).collect();
    let bodies: Vec<Vec<u8>> = requests
        .chunks(BATCH)
        .map(|some| {
            let reports = some.iter().map(|request| Network::of(network_of(request.client)));
            let reports = reports.map(report_of).collect();
            ReportBatch { reports, ..ReportBatch::default() }.encode_to_vec()
        })
        .collect();
    let identity = Identity {
        tenant: "site".to_owned(),
        name: "web-1".to_owned(),
        role: HolderRole::Agent,
        fingerprint: Fingerprint::of_certificate(b""),
        not_after: i64::MAX,
    };
    let (allowed, counts) = (Allowed::everything(), Counts::default());
    let rules = Rules { reports_per_second: u32::MAX, ..Rules::of_files() };
    let speaker = Speaker { identity: &identity, allowed: &allowed, rules: &rules };
    let tenant = Tenant::new("site", SiteConfig::default());
    for sequence in 1..=batches {
        let head = ReportBatch {
            epoch: 1,
            sequence,
            collector: Collector::Agent.into(),
            ..ReportBatch::default()
        };
        // The fields of a message may follow each other in any split.
        let mut bytes = head.encode_to_vec();
        bytes.extend(&bodies[sequence as usize % bodies.len()]);
        let batch = ReportBatch::decode(&bytes[..])?;
        let now = Instant::ZERO
            + Duration::from_secs(1_800_000_000)
            + Duration::from_millis(sequence * 4);
        let ack = tenant.take(now, speaker, &batch, &counts).await?;
        assert_eq!(ack.taken as usize, BATCH);
    }
    Ok(())
}
