//! Compares the served metrics with the files that read them: alert rules and a dashboard ask only
//! for existing metrics. `promtool` checks both, if it is installed.

use super::*;
use crate::canary::comparison::CanaryVerdict;
use crate::interface::question::StoppedPart;
use crate::programs::telemetry::gauges::{MapFill, ProgramTime};
use ::canary::interval::ConfidenceInterval;
use ::canary::log_times::LogTimes;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use test_support::Need;

const SHARE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/share");

/// Metrics of an agent with something to report in every respect.
fn served() -> String {
    let interval = ConfidenceInterval { estimate: 1.0, low: 0.5, high: 2.0 };
    let part = crate::canary::comparison::ComparedPart {
        part: "all".to_owned(),
        network: None,
        chosen: 1,
        control_group: 1,
        time_ratio: Some(interval),
        retransmission_ratio: Some(interval),
        lossy_ratio: Some(interval),
        verdict: CanaryVerdict::Open,
    };
    let mut status = AgentStatus::empty();
    status.time_ratio = Some(interval);
    let network = "192.0.2.0/24".parse().ok();
    let of_network = crate::canary::comparison::ComparedPart {
        part: "network 192.0.2.0/24".to_owned(),
        network,
        ..part.clone()
    };
    status.parts = vec![part, of_network];
    let sizes = crate::canary::comparison::by_size(&status.connections, &[]);
    let timed = |class| crate::canary::comparison::Compared { time_ratio: Some(interval), ..class };
    status.comparison = sizes.into_iter().map(timed).collect();
    status.stopped =
        vec![stopped("all", None), stopped("network 192.0.2.0/24", Some("192.0.2.0/24"))];
    status.programs = vec![ProgramTime { program: "attend".to_owned(), runs: 1, time_s: 1e-6 }];
    status.handshake_timers =
        Some(crate::programs::telemetry::handshake_timers::TimedHandshakes::default());
    status.gateway = Some(gateway_client::ClientStatus::default());
    status.maps = vec![MapFill { map: "hosts".to_owned(), entries: 1, most: 2 }];
    metrics(&status)
}

fn stopped(part: &str, network: Option<&str>) -> StoppedPart {
    let network = network.and_then(|network| network.parse().ok());
    StoppedPart { part: part.to_owned(), network, why: "harm".to_owned() }
}

/// Metrics are for everyone who can open their address, and networks of clients are not.
#[test]
fn no_network_is_among_the_metrics() {
    let served = served();
    assert!(!served.contains("192.0.2"), "{served}");
    assert!(served.contains("headstart_canary_stopped_networks 1"), "{served}");
    assert!(served.contains("headstart_canary_stopped{part=\"all\"} 1"), "{served}");
}

/// Names of metrics in an expression of PromQL.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("headstart_")).map(str::to_owned).collect()
}

fn dashboard_expressions() -> Vec<String> {
    let text = fs::read_to_string(Path::new(SHARE).join("grafana/headstart-agent.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rules_and_dashboard_ask_for_what_is_served() {
    let served = named(&served());
    let rules = Path::new(SHARE).join("prometheus/headstart-agent.rules.yml");
    let rules = fs::read_to_string(rules).unwrap();
    let expressions = dashboard_expressions();
    assert!(expressions.len() > 15, "{}", expressions.len());
    for asked in expressions.iter().chain([&rules]).flat_map(|text| named(text)) {
        assert!(served.contains(&asked), "{asked} is not served");
    }
}

/// Output of `promtool` for a file, or for its standard input; `None`, with a note, if it is
/// missing.
fn promtool(arguments: &[&str], input: &str) -> Option<String> {
    let mut command = Command::new("promtool");
    command.args(arguments).current_dir(Path::new(SHARE).join("prometheus"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if !test_support::has(&[Need::Program("promtool")]) {
        return None;
    }
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    Some(said)
}

#[test]
fn prometheus_takes_the_rules_and_they_do_what_their_tests_say() {
    let Some(said) = promtool(&["check", "rules", "headstart-agent.rules.yml"], "") else { return };
    assert!(said.contains("12 rules found"), "{said}");
    promtool(&["test", "rules", "headstart-agent.test.yml"], "");
}

/// As the expressions of rules, which it reads.
#[test]
fn prometheus_reads_the_expressions_of_the_dashboard() {
    let rules = dashboard_expressions().into_iter().enumerate().map(|(n, expression)| {
        // Grafana substitutes the variable.
        let expression = expression.replace("$instance", ".*");
        serde_json::json!({"record": format!("panel:{n}"), "expr": expression})
    });
    let rules: Vec<_> = rules.collect();
    let document = serde_json::json!({"groups": [{"name": "dashboard", "rules": rules}]});
    let file = std::env::temp_dir().join(format!("headstart-dashboard-{}.yml", std::process::id()));
    // JSON is YAML.
    fs::write(&file, document.to_string()).unwrap();
    let said = promtool(&["check", "rules", file.to_str().unwrap()], "");
    fs::remove_file(&file).unwrap();
    assert!(said.is_none_or(|said| said.contains("rules found")));
}

#[test]
fn a_group_is_a_histogram_whose_buckets_add_up() {
    let log_times = LogTimes { count: 3, ..LogTimes::default() };
    let group = Group { time_sum_s: 30.5, log_times, ..Group::default() };
    let group = Group { times: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], ..group };
    let labels = Sized { start: "warm", up_to_bytes: "+Inf".to_owned() };
    let mut registry = Registry::default();
    registry.register("t", "T", CompletionTimes(vec![(labels, group)]));
    let mut text = String::new();
    text::encode(&mut text, &registry).unwrap();
    let of = "start=\"warm\",up_to_bytes=\"+Inf\"";
    for line in [
        format!("t_sum{{{of}}} 30.5"),
        format!("t_count{{{of}}} 3"),
        format!("t_bucket{{le=\"0.01\",{of}}} 1"),
        format!("t_bucket{{le=\"25.6\",{of}}} 2"),
        format!("t_bucket{{le=\"+Inf\",{of}}} 3"),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
}

#[test]
fn a_place_is_an_address_or_a_file() {
    let address = MetricsAddress::Tcp(([127, 0, 0, 1], 9464).into());
    assert_eq!("127.0.0.1:9464".parse(), Ok(address));
    assert_eq!("unix:/run/x".parse(), Ok(MetricsAddress::Unix("/run/x".into())));
    assert!(
        "localhost".parse::<MetricsAddress>().unwrap_err().contains("\"localhost\" is neither")
    );
}
