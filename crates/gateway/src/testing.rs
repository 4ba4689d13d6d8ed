//! Bytes from outside, for fuzz targets and for the tests that replay what they found. No part of the interface.

use crate::config::Rules;
use crate::config::capture::{CaptureConfig, CapturePlace};
use crate::config::permission::Allowed;
use crate::observe::live::{Found, PathOptionReader};
use crate::observe::passive::PassiveReport;
use crate::observe::path_option::PathOption;
use crate::pki::{Fingerprint, HolderRole, Identity};
use crate::site::counters::Counts;
use crate::site::tenant::judge::judge;
use crate::site::tenant::{Speaker, Tenant};
use crate::storage::codec::decode;
use capture::{CaptureFiles, Observed, SegmentSource};
use gateway_proto::v1::{Query, ReportBatch};
use memory::site::{Reporter, SiteConfig};
use prost::Message;
use std::io::Cursor;
use std::net::IpAddr;
use units::{Duration, Instant};

/// A small memory: what is full shows more.
const SMALL: usize = 64;

fn tenant() -> Tenant {
    // Weights of twelve hours take longer to make than most inputs take to be heard.
    let max_age = Duration::from_secs(600);
    let config = SiteConfig { max_networks: SMALL, max_busy: 4, max_age, ..SiteConfig::default() };
    Tenant::new("site", config)
}

/// Hears `bytes` as a batch and as a question, twice. Panics if what is acknowledged is not what was sent.
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
        tenant.tell_changes(now);
    }
    if let Ok(query) = Query::decode(bytes)
        && let Ok(estimate) = tenant.answer(now, speaker, &query)
    {
        assert!(estimate.window > 0 && (0.0..=1.0).contains(&estimate.confidence), "{estimate:?}");
    }
}

/// Restores `bytes` as records, and asks.
pub fn restore(mut bytes: &[u8]) {
    let tenant = tenant();
    let mut newest = 0;
    while let Ok(record) = decode(&mut bytes) {
        newest = newest.max(record.heard);
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

/// Packets as a capture shows them: each of `bytes` behind a byte with its length, IPv4 or IPv6.
pub(crate) fn segments(mut bytes: &[u8]) -> Vec<Observed> {
    // A classic capture of raw packets (link type 101).
    let head = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101];
    let mut file = head.map(u32::to_le_bytes).concat();
    while let Some((length, rest)) = bytes.split_first() {
        let packet;
        (packet, bytes) = rest.split_at(usize::from(*length).min(rest.len()));
        let length = (packet.len() as u32).to_le_bytes();
        file.extend([[0; 4], [0; 4], length, length].concat());
        file.extend(packet);
    }
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    let source = CaptureFiles::from_reader("packets", Box::new(Cursor::new(file)));
    let mut source = source.expect("a capture");
    while source.next_batch(&mut batch).unwrap_or(false) {
        all.append(&mut batch);
    }
    all
}

/// Reads the options of `bytes`, packets as `segments` has them, as a capture does, and judges what they say. Panics if what was read
/// is not written as it was, or says more than a report may.
pub fn see_option(bytes: &[u8]) {
    let everywhere = ["0.0.0.0/0", "::/0"].map(|net| net.parse().expect("a prefix"));
    let mut options = PathOptionReader::new(&CaptureConfig {
        place: CapturePlace::Interfaces(Vec::new()),
        ports: vec![443],
        tenant: String::new(),
        push: false,
        option_servers: everywhere.to_vec(),
    });
    let (counts, rules, allowed) = (Counts::default(), Rules::of_files(), Allowed::everything());
    for segment in segments(bytes) {
        if let Some((_, value)) = segment.options.experiment()
            && let Some(option) = PathOption::read(&value)
        {
            let written = option.write();
            assert_eq!((written[0], &written[2..]), (value[0], &value[2..]));
        }
        if let Some(Found::Option(PassiveReport { report, .. })) = options.read(&segment, &counts) {
            assert!(report.lost <= report.sent && report.network.is_some(), "{report:?}");
            // It may refuse it, and does not panic.
            let _ = judge(&report, Reporter(0), &rules, &allowed);
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime of one thread").block_on(future)
}
