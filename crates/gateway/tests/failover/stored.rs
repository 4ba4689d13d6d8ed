//! Reads the final contents of the store, as any gateway would.

use super::agents::{ReportNumber, number_of};
use gateway::storage::codec::decode;
use redis::Connection;
use std::collections::HashMap;
use std::net::IpAddr;
use std::thread;
use std::time::Duration;

/// Time without a change after which gateways have written everything; they write changes every
/// fifth of a second.
const SETTLED: Duration = Duration::from_secs(1);

/// Returns how often each report counts, in the records of all gateways.
pub(super) fn counted(redis: u16) -> HashMap<ReportNumber, u32> {
    let client = redis::Client::open(format!("redis://127.0.0.1:{redis}/0")).unwrap();
    let mut connection = client.get_connection().unwrap();
    let mut before = 0;
    loop {
        let known = records(&mut connection);
        if known > 0 && known == before {
            break;
        }
        before = known;
        thread::sleep(SETTLED);
    }
    let mut counts = HashMap::new();
    for key in hashes(&mut connection) {
        let rows: Vec<(Vec<u8>, Vec<u8>)> =
            redis::cmd("HGETALL").arg(key).query(&mut connection).unwrap();
        for (_, bytes) in rows {
            let record = decode(&mut &bytes[..]).unwrap();
            let IpAddr::V4(address) = record.network.addr() else { continue };
            if let Some(number) = number_of(address).filter(|_| record.network.prefix_len() == 24) {
                *counts.entry(number).or_default() += record.sequence;
            }
        }
    }
    counts
}

/// Returns the hashes of all gateways.
fn hashes(connection: &mut Connection) -> Vec<String> {
    let origins: Vec<u32> =
        redis::cmd("SMEMBERS").arg("headstart:2:{site}:origins").query(connection).unwrap();
    origins.into_iter().map(|origin| format!("headstart:2:{{site}}:records:{origin}")).collect()
}

/// Returns the number of records in them.
fn records(connection: &mut Connection) -> u64 {
    let keys = hashes(connection);
    keys.iter().map(|key| redis::cmd("HLEN").arg(key).query::<u64>(connection).unwrap()).sum()
}
