//! The shipped monitoring and service files use only metrics that exist, and the programs that read
//! them accept them, if they are installed.

use crate::bed::{Bed, batch, get, report, send};
use gateway_proto::v1::{HostStatus, ReportBatch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use test_support::Need;

const SHARE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/share");
const GATEWAY_UNIT: &str = "headstart-gateway.service";
const OBSERVER_UNIT: &str = "../../gateway-observe/share/headstart-observer.service";

/// Returns the names of metrics in an expression of PromQL.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("headstart_")).map(str::to_owned).collect()
}

fn dashboard_expressions() -> Vec<String> {
    let text = fs::read_to_string(Path::new(SHARE).join("grafana/headstart-gateway.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn rules_and_dashboard_ask_for_what_is_served() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let status = HostStatus { answers_in_time: 1, ..HostStatus::default() };
    let one = ReportBatch { status: Some(status), ..batch(1, vec![report("192.0.2.0/24", 1000)]) };
    send(&mut client, vec![one]).await.unwrap();
    let served = named(&get(running.http, "/metrics").await.1);
    running.handle.end().await.unwrap();
    let rules = Path::new(SHARE).join("prometheus/headstart-gateway.rules.yml");
    let rules = fs::read_to_string(rules).unwrap();
    let expressions = dashboard_expressions();
    assert!(expressions.len() > 15, "{}", expressions.len());
    for asked in expressions.iter().chain([&rules]).flat_map(|text| named(text)) {
        assert!(served.contains(&asked), "{asked} is not served");
    }
}

/// Runs a program that may be missing; reports a skip then.
fn accepted(program: &str, arguments: &[&str], folder: &Path) {
    if !test_support::has(&[Need::Program(program)]) {
        return;
    }
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn prometheus_takes_the_rules_and_they_do_what_they_say() {
    let folder = Path::new(SHARE).join("prometheus");
    accepted("promtool", &["check", "rules", "headstart-gateway.rules.yml"], &folder);
    accepted("promtool", &["test", "rules", "headstart-gateway.test.yml"], &folder);
}

/// Returns systemd's complaints about our unit; `None` if systemd is missing. It ignores unknown
/// keys, prints a warning, and succeeds.
fn complaints(bed: &Bed, name: &str, unit: &str) -> Option<Vec<String>> {
    fs::write(bed.file(name), unit).unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no", &format!("./{name}")]).current_dir(&bed.folder);
    if !test_support::has(&[Need::Program("systemd-analyze")]) {
        return None;
    }
    let output = verify.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    // It may complain about other units of this machine.
    let of_ours = said.lines().filter(|line| line.contains(name));
    Some(of_ours.map(str::to_owned).collect())
}

/// The daemon has no capability, and the observer the one that packets need.
#[test]
fn only_the_observer_has_a_capability() {
    for (file, capability) in [(GATEWAY_UNIT, ""), (OBSERVER_UNIT, "CAP_NET_RAW")] {
        let unit = fs::read_to_string(Path::new(SHARE).join(file)).unwrap();
        for key in ["CapabilityBoundingSet", "AmbientCapabilities"] {
            let prefix = format!("{key}=");
            let values: Vec<_> =
                unit.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
            assert_eq!(values, [capability], "{file}: {key}");
        }
    }
}

#[test]
fn systemd_knows_every_option_of_the_units() {
    [GATEWAY_UNIT, OBSERVER_UNIT].into_iter().for_each(is_known_to_systemd);
}

fn is_known_to_systemd(file: &str) {
    let unit = fs::read_to_string(Path::new(SHARE).join(file)).unwrap();
    // systemd-analyze requires that programs and users exist.
    let unit = unit
        .replace("/usr/bin/headstart-gateway", "/bin/true")
        .replace("User=headstart-gateway\n", "")
        .replace("User=headstart-observer\n", "");
    let name = file.rsplit('/').next().unwrap();
    let bed = Bed::new("");
    let Some(said) = complaints(&bed, name, &unit) else { return };
    assert_eq!(said, Vec::<String>::new());
    for wrong in ["NoNewPrivilege=yes", "Restart=sometimes"] {
        let unit = unit.replace("[Service]\n", &format!("[Service]\n{wrong}\n"));
        assert_eq!(complaints(&bed, name, &unit).map(|said| said.len()), Some(1), "{wrong}");
    }
}
