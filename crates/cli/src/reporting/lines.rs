//! Connections as JSON, an object a line.

use super::figures::{BoundName, check_report};
use super::info::of_info;
use gateway_client::{leaving, network_of};
use gateway_proto::v1::{self, Group, Report, Start};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::IpAddr;

/// A line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Address of the peer; only its prefix is reported.
    peer: Option<IpAddr>,
    /// Or its prefix, of which no more is reported than of an address.
    network: Option<IpNet>,
    /// `struct tcp_info`, hexadecimal; then figures below are not needed.
    tcp_info: Option<String>,
    window: Option<u64>,
    bound: Option<BoundName>,
    #[serde(default)]
    rate: u64,
    #[serde(default)]
    min_rtt_us: u64,
    #[serde(default)]
    sent: u32,
    #[serde(default)]
    lost: u32,
    #[serde(default)]
    age_ms: u32,
    /// Figures of a whole transfer: kind of start, bytes, and microseconds to the last
    /// acknowledgement.
    start: Option<StartName>,
    #[serde(default)]
    transfer_bytes: u64,
    #[serde(default)]
    transfer_us: u64,
    /// Group that chance chose, and the stage in which the connection opened.
    group: Option<GroupName>,
    #[serde(default)]
    stage: u32,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum GroupName {
    Chosen,
    Control,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum StartName {
    Warm,
    Control,
    Cold,
}

/// Reads the report of a line.
///
/// # Errors
/// If the line is wrong; the error has the reason.
pub(super) fn read(text: &str) -> Result<Report, String> {
    let line: Line = serde_json::from_str(text).map_err(|why| why.to_string())?;
    let mut report = match (&line.tcp_info, line.window) {
        (Some(digits), None) => {
            let peer = line.peer.ok_or("peer is missing: the address that tcp_info is of")?;
            of_info(peer, &bytes(digits)?)?
        }
        (None, Some(window)) => Report {
            network: Some(v1::Network::of(network(&line)?)),
            window,
            rate: line.rate,
            min_rtt_us: line.min_rtt_us,
            sent: line.sent,
            lost: line.lost,
            bound: line.bound.unwrap_or(BoundName::Over).bound().into(),
            ..Report::default()
        },
        _ => return Err("either tcp_info or window, please".to_owned()),
    };
    report.age_ms = line.age_ms;
    report.start = start(line.start).into();
    (report.transfer_bytes, report.transfer_us) = (line.transfer_bytes, line.transfer_us);
    (report.group, report.stage) = (group(line.group).into(), line.stage);
    check_report(report)
}

fn network(line: &Line) -> Result<IpNet, String> {
    line.network
        .map(leaving)
        .or(line.peer.map(network_of))
        .ok_or_else(|| "network or peer is missing".to_owned())
}

const fn start(name: Option<StartName>) -> Start {
    match name {
        None => Start::Unspecified,
        Some(StartName::Warm) => Start::Warm,
        Some(StartName::Control) => Start::Control,
        Some(StartName::Cold) => Start::Cold,
    }
}

const fn start_name(start: Start) -> Option<StartName> {
    match start {
        Start::Unspecified => None,
        Start::Warm => Some(StartName::Warm),
        Start::Control => Some(StartName::Control),
        Start::Cold => Some(StartName::Cold),
    }
}

const fn group(name: Option<GroupName>) -> Group {
    match name {
        None => Group::Unspecified,
        Some(GroupName::Chosen) => Group::Chosen,
        Some(GroupName::Control) => Group::Control,
    }
}

const fn group_name(group: Group) -> Option<GroupName> {
    match group {
        Group::Unspecified => None,
        Group::Chosen => Some(GroupName::Chosen),
        Group::Control => Some(GroupName::Control),
    }
}

fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let pairs = digits.as_bytes().chunks(2);
    let read: Option<Vec<u8>> =
        pairs.map(|pair| Some(value(pair[0])? << 4 | value(*pair.get(1)?)?)).collect();
    read.ok_or_else(|| "tcp_info: hexadecimal digits, two a byte, please".to_owned())
}

/// A report as a line that is read as the same report again. All of its fields are there: `start`
/// and `group` are null if they are not known.
pub(super) fn report_line(report: &Report) -> String {
    let network = report.network.as_ref().and_then(v1::Network::to_net);
    json!({
        "network": network,
        "window": report.window,
        "bound": report.bound().as_str_name().trim_start_matches("BOUND_").to_lowercase().replace('_', "-"),
        "rate": report.rate,
        "min_rtt_us": report.min_rtt_us,
        "sent": report.sent,
        "lost": report.lost,
        "age_ms": report.age_ms,
        "start": start_name(report.start()),
        "transfer_bytes": report.transfer_bytes,
        "transfer_us": report.transfer_us,
        "group": group_name(report.group()),
        "stage": report.stage,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read_again_and_unknown_keys_are_refused() {
        let text = r#"{"peer": "2001:db8:1:2::3", "window": 5000, "bound": "receive-window", "rate": 7, "min_rtt_us": 9, "sent": 3,
            "lost": 1, "age_ms": 11, "start": "control", "transfer_bytes": 13, "transfer_us": 17,
            "group": "chosen", "stage": 19}"#;
        let report = read(text).unwrap();
        let expected = Report {
            network: Some(v1::Network::of("2001:db8:1::/48".parse().unwrap())),
            window: 5000,
            rate: 7,
            min_rtt_us: 9,
            sent: 3,
            lost: 1,
            bound: v1::Bound::ReceiveWindow.into(),
            age_ms: 11,
            start: Start::Control.into(),
            transfer_bytes: 13,
            transfer_us: 17,
            group: Group::Chosen.into(),
            stage: 19,
        };
        assert_eq!(report, expected);
        assert_eq!(read(&report_line(&report)).unwrap(), report);
        for start in [Start::Unspecified, Start::Warm, Start::Cold] {
            let other = Report { start: start.into(), ..report };
            assert_eq!(read(&report_line(&other)).unwrap(), other);
        }
        for group in [Group::Unspecified, Group::Control] {
            let other = Report { group: group.into(), ..report };
            assert_eq!(read(&report_line(&other)).unwrap(), other);
        }
        assert!(
            report_line(&report).contains("\"2001:db8:1::/48\""),
            "an address leaves this host"
        );
        let whole = read(r#"{"network": "192.0.2.7/32", "window": 1}"#).unwrap();
        assert!(report_line(&whole).contains("\"192.0.2.0/24\""), "an address leaves this host");
        assert_eq!(
            read("{\"peer\": \"192.0.2.1\"}").unwrap_err(),
            "either tcp_info or window, please"
        );
        let lossy = text.replace("\"lost\": 1", "\"lost\": 4");
        assert_eq!(read(&lossy).unwrap_err(), "lost: 4 of 3 sent cannot be");
        let why = read("{\"window\": 5, \"networks\": 1}").unwrap_err();
        assert!(why.starts_with("unknown field `networks`"), "{why}");
    }
}
