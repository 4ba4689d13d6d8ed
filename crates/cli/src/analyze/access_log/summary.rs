//! The findings of a log, in words and two tables.

use super::AccessLogFindings;
use cmdline::{Failure, stdout};
use findings::{CumulativeDistribution, GAP_LIMITS, GATEWAY_WINDOW};
use jiff::Timestamp;
use report::{Cell, Column, Quantity, Row, Table};
use units::counted;

/// [`GAP_LIMITS`] in words.
const GAPS: [&str; GAP_LIMITS.len()] = ["1 s", "10 s", "1 min", "5 min", "30 min", "1 h", "1 day"];

pub(super) fn print(found: &AccessLogFindings) -> Result<(), Failure> {
    stdout::print(&summary_text(found))?;
    stdout::print_table(&gaps(found))?;
    stdout::print("\n")?;
    stdout::print_table(&networks(&found.sharing.networks_within))
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

pub(super) fn summary_text(found: &AccessLogFindings) -> String {
    let sharing = &found.sharing;
    let minutes = GATEWAY_WINDOW.as_secs_f64() / 60.0;
    let mut text = counted(sharing.requests, "request");
    if found.images > 0 {
        text += &format!(", and {} of images, which are left out", found.images);
    }
    if let Some((first, last)) = found.begin.zip(found.end) {
        text += &format!("; from {} to {} UTC", utc_time(first), utc_time(last));
    }
    text += &format!(
        "\n{} of requests follow another of the same network (/24, or /48 of IPv6) within {minutes:.0} minutes: what is \
         remembered of the network can help them. For {} the same host has asked.\n",
        percent(sharing.soon_after_network, sharing.requests),
        percent(sharing.soon_after_host, sharing.requests),
    );
    text + &domains(found) + "\n"
}

fn domains(found: &AccessLogFindings) -> String {
    let domains = &found.domains;
    let seen =
        format!("{} in {}", addresses(domains.addresses), counted(domains.networks, "network"));
    if domains.named_networks == 0 {
        return format!(
            "{seen}. The log has no names of clients, so their domains are not known.\n"
        );
    }
    format!(
        "{seen}; {} of addresses have a name. {} ({}) of {} with names have addresses of several domains.\n",
        percent(domains.named_addresses, domains.addresses),
        domains.several_domains,
        percent(domains.several_domains, domains.named_networks),
        counted(domains.named_networks, "network"),
    )
}

/// A time in seconds since 1970, to the second.
fn utc_time(seconds: f64) -> String {
    let time = Timestamp::from_second(seconds as i64).unwrap_or_default();
    time.strftime("%F %T").to_string()
}

fn addresses(count: u64) -> String {
    if count == 1 { "1 address".to_owned() } else { format!("{count} addresses") }
}

/// Figure 6 of the paper.
pub(super) fn gaps(found: &AccessLogFindings) -> Table {
    let columns = [
        Column::new("asks again within", Quantity::Text, "Time since the request before"),
        Column::new("network", Quantity::Share, "Of requests that follow another of their network"),
        Column::new("host", Quantity::Share, "Of requests that follow another of their host"),
    ];
    let share = |within: u64, of: &CumulativeDistribution| match of.count {
        0 => Cell::Undefined,
        count => Cell::Number((within as f64 / count as f64).into()),
    };
    let sharing = &found.sharing;
    let rows = GAPS.iter().enumerate().map(|(at, name)| {
        let network = share(sharing.network_gaps_within[at], &sharing.since_network);
        let host = share(sharing.host_gaps_within[at], &sharing.since_host);
        Row { cells: vec![Cell::Text((*name).to_owned()), network, host], is_reference: false }
    });
    Table { columns: columns.into(), rows: rows.collect() }
}

/// Figure 7 of the paper.
pub(super) fn networks(within: &CumulativeDistribution) -> Table {
    let columns = [
        Column::new(
            "networks to remember",
            Quantity::Text,
            "Networks that asked within five minutes before a request",
        ),
        Column::new("networks", Quantity::Count, "Largest number of networks"),
    ];
    let quantiles = [
        (0.5, "half of the time"),
        (0.9, "90 % of the time"),
        (0.99, "99 % of the time"),
        (1.0, "at most"),
    ];
    let rows = quantiles.iter().map(|(share, name)| {
        let value = within.quantile(*share);
        let value = value.map_or(Cell::Undefined, |value| Cell::Number(value.into()));
        Row { cells: vec![Cell::Text((*name).to_owned()), value], is_reference: false }
    });
    Table { columns: columns.into(), rows: rows.collect() }
}
