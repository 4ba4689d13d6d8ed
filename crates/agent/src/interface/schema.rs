//! The published schemas of the commands' JSON output (`docs/agent-*-schema.json`, JSON Schema
//! 2020-12), as `--json-schema` prints them.

/// Schema of `check --json`.
pub const CHECK: &str = include_str!("../../../../docs/agent-check-schema.json");
/// Schema of `status --json`.
pub const STATUS: &str = include_str!("../../../../docs/agent-status-schema.json");
/// Schema of `paths --json`.
pub const PATHS: &str = include_str!("../../../../docs/agent-paths-schema.json");
/// Schema of the document of `export` and `import`.
pub const MEMORY: &str = include_str!("../../../../docs/agent-memory-schema.json");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::comparison::{by_fleet, by_part, by_size};
    use crate::canary::state::{CanaryState, HarmLimit};
    use crate::canary::totals::ConnectionTotals;
    use crate::contract::ConnectionSummary;
    use crate::interface::question::{AgentStatus, StoppedPart};
    use crate::memory::exchange::{ExchangeDocument, tests::GOOD};
    use crate::programs::check::Finding;
    use crate::programs::telemetry::gauges::{MapFill, ProgramTime};
    use crate::programs::telemetry::handshake_timers::TimedHandshakes;
    use crate::programs::telemetry::option_counts::OptionCounts;
    use ::canary::fleet::fleet_finding;
    use ::canary::part::CanaryPart;
    use gateway_client::ClientStatus;
    use serde_json::{Value, json};

    fn obeys(schema: &str, value: &Value) -> bool {
        let schema = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let errors: Vec<_> = validator.iter_errors(value).map(|e| e.to_string()).collect();
        eprintln!("{errors:?}");
        errors.is_empty()
    }

    /// Connections in both groups of every comparison, so that nothing is null.
    fn full() -> (ConnectionTotals, CanaryState) {
        let limit = HarmLimit { ratio: 2.0, fewest: 10, has_control_group: true };
        let (mut totals, mut canary) = (ConnectionTotals::default(), CanaryState::default());
        let none = ConnectionSummary::from_bytes(&[0; ConnectionSummary::SIZE]).unwrap();
        let one = ConnectionSummary { would: 20, remembered: 20, is_compared: true, ..none };
        for bytes_acked in [1, 20_000, 100_000, 1_000_000, 10_000_000] {
            for n in 0..24 {
                let summary = ConnectionSummary {
                    is_warm: n % 2 == 0,
                    in_control_group: n % 2 == 1,
                    lasted_ns: 1_000_000_000 + n * 1_000_000,
                    bytes_acked,
                    ..one
                };
                totals.add(&summary);
                canary.add(&summary, &limit);
            }
        }
        (totals, canary)
    }

    fn status(of: &(ConnectionTotals, CanaryState), off: Option<String>) -> Value {
        let (totals, canary) = of;
        let findings = canary.findings();
        let limit = HarmLimit { ratio: 2.0, fewest: 10, has_control_group: true };
        let sums: Vec<_> = canary.sums(&limit).into_iter().map(|(_, sums)| sums).collect();
        let stopped = off.iter().map(|why| StoppedPart {
            part: "all".into(),
            network: None,
            why: why.clone(),
        });
        let status = AgentStatus {
            stopped: stopped.collect(),
            off,
            connections: *totals,
            parts: by_part(&findings, canary.stops()),
            time_ratio: findings[0].times,
            fleet: by_fleet(&[fleet_finding(CanaryPart::All, &sums)], 7.5, canary.all_stops()),
            comparison: by_size(totals, &findings),
            gateway: Some(ClientStatus {
                gateway: Some("g:1".to_owned()),
                ..ClientStatus::default()
            }),
            tcp_option: Some(OptionCounts::default()),
            handshake_timers: Some(TimedHandshakes::default()),
            programs: vec![ProgramTime { program: "attend".to_owned(), runs: 1, time_s: 1e-6 }],
            maps: vec![MapFill { map: "hosts".to_owned(), entries: 1, most: 2 }],
            ..AgentStatus::empty()
        };
        serde_json::to_value(status).unwrap()
    }

    #[test]
    fn a_status_obeys_its_schema_with_and_without_connections() {
        assert!(obeys(STATUS, &status(&Default::default(), None)));
        let full = status(&full(), Some("harm".to_owned()));
        assert!(full["comparison"][4]["time_ratio"].is_object(), "{full}");
        assert!(full["time_ratio"].is_object(), "{full}");
        assert!(full["parts"][2]["retransmission_ratio"].is_object(), "{full}");
        assert!(full["parts"][2]["lossy_ratio"].is_object(), "{full}");
        assert_eq!(full["fleet"]["age_s"], 7.5, "{full}");
        assert!(obeys(STATUS, &full));
        let mut wrong = full;
        wrong["mode"] = json!("magic");
        assert!(!obeys(STATUS, &wrong));
        wrong["mode"] = json!("wrap");
        wrong["new"] = json!(1);
        assert!(!obeys(STATUS, &wrong));
    }

    #[test]
    fn what_import_takes_obeys_the_schema_and_what_it_refuses_does_not() {
        let is_taken = |text: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            let obeys = obeys(MEMORY, &value);
            assert_eq!(ExchangeDocument::parse(text).is_ok(), obeys, "{text}");
            obeys
        };
        assert!(is_taken(GOOD));
        assert!(is_taken(&GOOD.replace("\"window\": 40", "\"namespace\": 7, \"window\": 2097152")));
        for (from, to) in [
            ("\"window\": 40", "\"window\": 0"),
            ("\"window\": 40", "\"window\": 2097153"),
            ("\"version\": 1", "\"version\": 2"),
            ("memory", "x"),
            ("\"warm\": 2", "\"wram\": 2"),
            ("\"warm\": 2, ", ""),
            ("81000", "-1"),
            ("81000", "4294967296"),
            ("\"age_ms\": 500", "\"age_ms\": 18446744073709551615"),
        ] {
            assert!(!is_taken(&GOOD.replace(from, to)), "{from}: {to}");
        }
    }

    #[test]
    fn findings_obey_their_schema() {
        let finding = Finding { what: "rights", is_there: true, remark: String::new() };
        let findings = serde_json::to_value([finding]).unwrap();
        assert!(obeys(CHECK, &findings));
        assert!(!obeys(CHECK, &json!([])));
    }
}
