//! The memory as a JSON document, for other machines and other times: exported, checked, imported.
//! Ages are of the moment of the export, by the wall clock; [`ExchangeDocument::paths_at`] brings
//! them to now.

use crate::contract::{LearntPath, PrefixKey};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Format name in the document.
pub const FORMAT: &str = "headstart-agent-memory";
/// Version of the format; others are refused.
pub const VERSION: u32 = 1;
/// No TCP window is more segments of the least size that is of use (RFC 7323 §2.3, 536 bytes).
const LARGEST_WINDOW: u32 = 1 << 21;

/// The document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeDocument {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Milliseconds since 1970.
    pub exported_unix_ms: u64,
    /// The remembered paths.
    pub paths: Vec<ExchangeEntry>,
}

/// A path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeEntry {
    /// The destinations.
    pub prefix: IpNet,
    /// Inode number of the network namespace that it is seen from; 0: from all; absent: the agent's
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u32>,
    /// Segments, 1 or more.
    pub window: u32,
    /// Window at which slow start ended, segments; 0 if it had not ended.
    pub ssthresh: u32,
    /// Smoothed round trip when the window was learnt, microseconds, 1 or more.
    pub srtt_us: u32,
    /// Lowest round trip, microseconds, 1 or more.
    pub min_rtt_us: u32,
    /// At which flights were seen to come in, bytes a second; 0: not measured.
    pub rate: u64,
    /// Time since the window was learnt, milliseconds.
    pub age_ms: u64,
    /// Connections closed.
    pub connections: u32,
    /// Number of those connections that started with a remembered window.
    pub warm: u32,
    /// Warm starts that lost a segment of their first flight. Older exports call them `retreats`.
    #[serde(alias = "retreats")]
    pub fallbacks: u32,
    /// Number of the last fallbacks in a row.
    #[serde(alias = "retreats_in_row")]
    pub fallbacks_in_row: u32,
    /// Bytes that peers acknowledged.
    pub bytes_acked: u64,
    /// Segments with data, retransmissions included.
    pub segments_sent: u64,
    /// Number of those segments that were retransmissions.
    pub segments_retransmitted: u64,
}

impl ExchangeDocument {
    /// Reads a document and checks all of it.
    ///
    /// # Errors
    /// If there is an error; the message says where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let document: Self = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| format!("{}: {}", error.path(), error.inner()))?;
        reader.end().map_err(|error| error.to_string())?;
        if document.format != FORMAT {
            return Err(format!("format: {:?} is not {FORMAT:?}", document.format));
        }
        if document.version != VERSION {
            return Err(format!(
                "version: {} is unknown here, this reads {VERSION}",
                document.version
            ));
        }
        for (n, entry) in document.paths.iter().enumerate() {
            entry.check().map_err(|why| format!("paths[{n}].{why}"))?;
        }
        Ok(document)
    }

    /// Returns the paths with their ages as of now.
    ///
    /// # Errors
    /// If it was exported in the future.
    pub fn paths_at(self, now_unix_ms: u64) -> Result<Vec<ExchangeEntry>, String> {
        let elapsed = now_unix_ms.checked_sub(self.exported_unix_ms);
        let elapsed = elapsed.ok_or(
            "exported_unix_ms: later than now, by this machine's clock: no age is certain",
        )?;
        let aged = |entry: ExchangeEntry| ExchangeEntry {
            age_ms: entry.age_ms.saturating_add(elapsed),
            ..entry
        };
        Ok(self.paths.into_iter().map(aged).collect())
    }
}

impl ExchangeEntry {
    /// Creates the document's form of a path.
    pub fn new(key: &PrefixKey, path: &LearntPath, own_namespace: u32, age_ns: u64) -> Self {
        Self {
            prefix: key.prefix,
            namespace: Some(key.namespace).filter(|namespace| *namespace != own_namespace),
            window: path.window,
            ssthresh: path.ssthresh,
            srtt_us: path.srtt_us,
            min_rtt_us: path.min_rtt_us,
            rate: path.rate,
            age_ms: age_ns.div_ceil(1_000_000),
            connections: path.connections,
            warm: path.warm,
            fallbacks: path.fallbacks,
            fallbacks_in_row: path.fallbacks_in_row,
            bytes_acked: path.bytes_acked,
            segments_sent: path.sent,
            segments_retransmitted: path.retransmitted,
        }
    }

    /// Returns the map's form of the path at `now_ns`.
    pub fn to_path(&self, own_namespace: u32, now_ns: u64) -> (PrefixKey, LearntPath) {
        let namespace = self.namespace.unwrap_or(own_namespace);
        let key = PrefixKey { namespace, prefix: self.prefix.trunc() };
        let path = LearntPath {
            learnt_ns: now_ns.wrapping_sub(self.age_ms.saturating_mul(1_000_000)),
            bytes_acked: self.bytes_acked,
            sent: self.segments_sent,
            retransmitted: self.segments_retransmitted,
            window: self.window,
            ssthresh: self.ssthresh,
            srtt_us: self.srtt_us,
            min_rtt_us: self.min_rtt_us,
            rate: self.rate,
            connections: self.connections,
            warm: self.warm,
            fallbacks: self.fallbacks,
            fallbacks_in_row: self.fallbacks_in_row,
        };
        (key, path)
    }

    /// Checks that the values are possible.
    ///
    /// # Errors
    /// If one is not; the message names the field.
    pub fn check(&self) -> Result<(), String> {
        let within = |name: &str, number: u64, least: u64, most: u64| {
            let is_within = (least..=most).contains(&number);
            is_within
                .then_some(())
                .ok_or_else(|| format!("{name}: {number} is not from {least} to {most}"))
        };
        let largest = u64::from(LARGEST_WINDOW);
        within("window", self.window.into(), 1, largest)?;
        within("ssthresh", self.ssthresh.into(), 0, largest)?;
        within("srtt_us", self.srtt_us.into(), 1, u32::MAX.into())?;
        within("min_rtt_us", self.min_rtt_us.into(), 1, u32::MAX.into())?;
        // Keeps the clock's wrapping below 0 from looking like a future time.
        within("age_ms", self.age_ms, 0, u64::MAX / 4_000_000)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A document that can be imported.
    pub(crate) const GOOD: &str = r#"{"format": "headstart-agent-memory", "version": 1, "exported_unix_ms": 1000, "paths": [
        {"prefix": "192.0.2.0/24", "window": 40, "ssthresh": 0, "srtt_us": 81000, "min_rtt_us": 80000, "rate": 2413333, "age_ms": 500,
         "connections": 3, "warm": 2, "fallbacks": 0, "fallbacks_in_row": 0, "bytes_acked": 90000,
         "segments_sent": 63, "segments_retransmitted": 0}]}"#;

    #[test]
    fn an_entry_comes_back_as_it_went_and_older_by_the_time_between() {
        let aged = ExchangeDocument::parse(GOOD).unwrap().paths_at(1250).unwrap();
        assert_eq!(aged[0].age_ms, 750);
        let (key, path) = aged[0].to_path(9, 10);
        assert_eq!(key.namespace, 9);
        assert_eq!(ExchangeEntry::new(&key, &path, 9, 750_000_000), aged[0]);
        assert!(ExchangeDocument::parse(GOOD).unwrap().paths_at(999).is_err());
    }

    #[test]
    fn older_exports_are_read() {
        let older = GOOD.replace("fallbacks", "retreats");
        assert_ne!(older, GOOD);
        assert_eq!(ExchangeDocument::parse(&older), ExchangeDocument::parse(GOOD));
    }

    #[test]
    fn what_cannot_be_true_is_refused_by_name() {
        let wrong =
            |from: &str, to: &str| ExchangeDocument::parse(&GOOD.replace(from, to)).unwrap_err();
        assert_eq!(
            wrong("\"window\": 40", "\"window\": 0"),
            "paths[0].window: 0 is not from 1 to 2097152"
        );
        assert_eq!(
            wrong("\"version\": 1", "\"version\": 2"),
            "version: 2 is unknown here, this reads 1"
        );
        assert!(wrong("memory", "x").starts_with("format: "));
        assert!(
            wrong("\"warm\": 2", "\"wram\": 2").starts_with("paths[0].wram: unknown field `wram`")
        );
        assert!(wrong("192.0.2.0/24", "192.0.2.0/33").starts_with("paths[0].prefix: "));
        assert!(wrong("81000", "-1").starts_with("paths[0].srtt_us: "));
        let long = wrong("\"age_ms\": 500", "\"age_ms\": 18446744073709551615");
        assert!(long.starts_with("paths[0].age_ms: "), "{long}");
        assert!(ExchangeDocument::parse(&format!("{GOOD} x")).is_err());
    }
}
