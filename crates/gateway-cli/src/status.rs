//! `headstart gateway status`: the status of a running gateway, from its own HTTP interface, for
//! people or as JSON.

use clap::Args;
use cmdline::{Appendix, Failure, stdout};
use gateway::config::DaemonConfig;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::error::Error;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use units::counted;

/// Longest wait for a gateway's answer.
const STATUS_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of an answer, bytes: two hundred hosts of each of a hundred tenants.
const MAX_ANSWER_BYTES: usize = 8 << 20;
const PATH: &str = "/api/v1/status";

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The gateway's configuration, which says where it serves HTTP
    #[arg(long, value_name = "FILE.toml", default_value = "/etc/headstart/gateway/gateway.toml")]
    config: PathBuf,
    /// Where it serves HTTP, instead of what a configuration says
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "config")]
    http: Option<SocketAddr>,
    /// Print the answer as it comes (docs/gateway-api-schema.json)
    #[arg(long)]
    json: bool,
}

pub(crate) fn status_appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart gateway status --config DIR/gateway.toml",
                "Shows what this gateway has taken and answered, and which gateways and hosts are alive.",
            ),
            (
                "headstart gateway status --http 127.0.0.1:9465 --json",
                "Prints JSON for a program, without the configuration.",
            ),
        ],
        exit: &[
            ("0", "it takes reports and answers"),
            ("1", "it does not, or no gateway answers there"),
            ("2", "the input is wrong"),
        ],
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

pub(crate) fn status(args: &StatusArgs) -> Result<(), Failure> {
    let address = match args.http {
        Some(address) => address,
        None => DaemonConfig::read(&args.config).map_err(Failure::input)?.http,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let text = runtime.map_err(Failure::failed)?.block_on(async {
        timeout(STATUS_TIMEOUT, get(address))
            .await
            .unwrap_or_else(|_| Err("it has not answered for five seconds".into()))
    });
    let at = |why: Box<dyn Error>| Failure::failed(format!("http://{address}{PATH}: {why}"));
    let status: Value = serde_json::from_slice(&text.map_err(at)?).map_err(|why| at(why.into()))?;
    match args.json {
        true => stdout::print_json(&status)?,
        false => stdout::print(&words(&status))?,
    }
    match status["ready"] == true {
        true => Ok(()),
        false => Err(Failure::failed(format!("the gateway at {address} is not ready"))),
    }
}

async fn get(address: SocketAddr) -> Result<Bytes, Box<dyn Error>> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request =
        Request::get(PATH).header(header::HOST, address.to_string()).body(Empty::<Bytes>::new())?;
    let answer = async {
        let response = sender.send_request(request).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("answers {}: no gateway of this version", response.status()).into());
        }
        let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES).collect().await;
        body.map(|body| body.to_bytes()).map_err(|why| why as Box<dyn Error>)
    };
    tokio::select! {
        answer = answer => answer,
        Err(why) = connection => Err(why.into()),
    }
}

/// Returns a count; zero if an older gateway does not report it.
fn count(of: &Value) -> u64 {
    of.as_u64().unwrap_or(0)
}

/// Returns the sum of counts.
fn total(counts: &Value) -> u64 {
    counts.as_object().map_or(0, |counts| counts.values().filter_map(Value::as_u64).sum())
}

/// Returns the parts of a sum, the largest first, without zeros.
fn parts(counts: &Value) -> String {
    let counts = counts.as_object().into_iter().flatten();
    let mut counts: Vec<_> =
        counts.filter_map(|(name, count)| Some((count.as_u64()?, name))).collect();
    counts.retain(|(count, _)| *count > 0);
    counts.sort_by(|a, b| b.cmp(a));
    let parts: Vec<String> = counts.iter().map(|(count, name)| format!("{count} {name}")).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn words(status: &Value) -> String {
    let mut text = format!(
        "headstart gateway {}, up for {}: {}\n",
        status["version"].as_str().unwrap_or("of no known version"),
        span(status["uptime_s"].as_f64().unwrap_or(0.0)),
        if status["ready"] == true { "ready" } else { "not ready" },
    );
    let mut line = |what: &str, counts: &Value| {
        let _ = writeln!(text, "{what} {}{}", total(counts), parts(counts));
    };
    line("reports that count     ", &status["taken"]);
    line("reports refused        ", &status["refused"]);
    line("questions answered     ", &status["answered"]);
    line("questions unanswered   ", &status["unanswered"]);
    line("connections refused    ", &status["refused_connections"]);
    let (open, revoked) = (count(&status["connections"]), count(&status["revoked_certificates"]));
    let _ = writeln!(text, "connections open        {open}\ncertificates revoked    {revoked}");
    text += &gateways(status);
    for tenant in status["tenants"].as_array().into_iter().flatten() {
        text += &of_tenant(tenant);
    }
    text
}

/// Returns a table of the site's gateways; an empty text if an older gateway does not list them.
fn gateways(status: &Value) -> String {
    let all = status["gateways"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |one: &Value| {
        let this = if one["this"] == true { " (this one)" } else { "" };
        let wrote = one["wrote_s"].as_f64();
        [
            format!("{}{this}", one["name"].as_str().unwrap_or_default()),
            if one["alive"] == true { "alive" } else { "silent" }.to_owned(),
            wrote.map_or_else(|| "never".to_owned(), |wrote| format!("{} ago", span(wrote))),
            count(&one["origin"]).to_string(),
        ]
    };
    match all {
        [] => String::new(),
        all => table(["gateway", "state", "wrote to the store", "number"], all.iter().map(row)),
    }
}

/// Returns rows under a head, after an empty line. The last column is ragged, all others are as
/// wide as their longest cell.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let line = |row: &[String; N]| {
        let cell = |(cell, width): (&String, &usize)| format!("{cell:width$}");
        let cells: Vec<String> = row.iter().zip(&widths).map(cell).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    format!("\n{}", rows.iter().map(line).collect::<String>())
}

fn of_tenant(tenant: &Value) -> String {
    let questions = &tenant["questions"];
    let mut text = format!(
        "\ntenant {}: {} alive, prefixes in memory {}\n  questions of agents: {} in time for the handshake, {} late, {} without an answer\n",
        tenant["name"].as_str().unwrap_or_default(),
        counted(count(&tenant["alive"]), "host"),
        count(&tenant["prefixes"]),
        count(&questions["in_time"]),
        count(&questions["late"]),
        count(&questions["none"]),
    );
    text += &compared(tenant);
    let row = |host: &Value| {
        [
            named(host),
            if host["alive"] == true { "alive" } else { "silent" }.to_owned(),
            format!("{} ago", span(host["heard_s"].as_f64().unwrap_or(0.0))),
            count(&host["taken"]).to_string(),
            count(&host["refused"]).to_string(),
            host["version"].as_str().unwrap_or("-").to_owned(),
        ]
    };
    let hosts = tenant["reporters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !hosts.is_empty() {
        let head = ["host", "state", "heard", "reports taken", "refused", "agent"];
        text += &table(head, hosts.iter().map(row));
    }
    text
}

/// Returns a table of what all hosts find together; an empty text if they compare nothing.
fn compared(tenant: &Value) -> String {
    let ratio =
        |of: &Value| match (of["estimate"].as_f64(), of["low"].as_f64(), of["high"].as_f64()) {
            (Some(estimate), Some(low), Some(high)) => {
                format!("{estimate:.2} ({low:.2}–{high:.2})")
            }
            _ => "–".to_owned(),
        };
    let row = |of: &Value| {
        [
            of["part"].as_str().unwrap_or_default().to_owned(),
            count(&of["hosts"]).to_string(),
            format!("{} / {}", count(&of["chosen"]), count(&of["control"])),
            ratio(&of["time_ratio"]),
            ratio(&of["retransmission_ratio"]),
            of["verdict"]
                .as_str()
                .filter(|word| *word != "open")
                .unwrap_or_default()
                .to_uppercase(),
        ]
    };
    let found = tenant["comparison"].as_array().map(Vec::as_slice).unwrap_or_default();
    if found.is_empty() {
        return String::new();
    }
    let head = ["warm starts", "hosts", "chosen / control", "time", "retransmissions", ""];
    table(head, found.iter().map(row))
}

/// Returns a host's name, after its role unless that is an agent's: `observer eye-1`. An older
/// gateway has no roles.
fn named(host: &Value) -> String {
    let name = host["name"].as_str().unwrap_or_default();
    match host["role"].as_str() {
        None | Some("agent") => name.to_owned(),
        Some(role) => format!("{role} {name}"),
    }
}

/// Returns a time for people: two units at most.
fn span(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
        _ => format!("{} d {} h", whole / 86_400, whole % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The answer is written by hand, as the schema describes it: two ways of collecting, one of
    /// which has no reports.
    #[test]
    fn people_read_sums_parts_and_hosts() {
        let text = words(&json!({
            "version": "1.0", "uptime_s": 3725.0, "ready": true, "connections": 2,
            "taken": { "agent": 7, "application": 2, "passive": 0 },
            "refused": {}, "answered": { "network": 3 }, "unanswered": { "unknown": 1 },
            "refused_connections": { "revoked": 4 }, "revoked_certificates": 1,
            "gateways": [
                { "name": "gateway-1", "origin": 17, "this": true, "alive": true, "wrote_s": 3.0 },
                { "name": "g2", "origin": 4_000_000_000_u32, "this": false, "alive": false, "wrote_s": 95.0 },
            ],
            "tenants": [{
                "name": "site", "prefixes": 1, "alive": 1,
                "questions": { "in_time": 5, "late": 1, "none": 0 },
                "comparison": [
                    { "part": "all", "hosts": 20, "chosen": 9500, "control": 500, "verdict": "slower",
                      "time_ratio": { "estimate": 1.5, "low": 1.21, "high": 1.86 }, "retransmission_ratio": null },
                    { "part": "path carried to 16384", "hosts": 1, "chosen": 9, "control": 1, "verdict": "open",
                      "time_ratio": null, "retransmission_ratio": null },
                ],
                "reporters": [
                    { "name": "web-1", "role": "agent", "heard_s": 2.0, "alive": true, "taken": 1, "refused": 0, "version": null },
                    { "name": "eye-1", "role": "observer", "heard_s": 3.0, "alive": true, "taken": 7, "refused": 0, "version": "1.0" },
                ],
            }],
        }));
        let expected = "headstart gateway 1.0, up for 1 h 2 min: ready
reports that count      9: 7 agent, 2 application
reports refused         0
questions answered      3: 3 network
questions unanswered    1: 1 unknown
connections refused     4: 4 revoked
connections open        2
certificates revoked    1

gateway               state   wrote to the store  number
gateway-1 (this one)  alive   3.0 s ago           17
g2                    silent  1 min 35 s ago      4000000000

tenant site: 1 host alive, prefixes in memory 1
  questions of agents: 5 in time for the handshake, 1 late, 0 without an answer

warm starts            hosts  chosen / control  time              retransmissions
all                    20     9500 / 500        1.50 (1.21–1.86)  –                SLOWER
path carried to 16384  1      9 / 1             –                 –

host            state  heard      reports taken  refused  agent
web-1           alive  2.0 s ago  1              0        -
observer eye-1  alive  3.0 s ago  7              0        1.0
";
        assert_eq!(text, expected);
    }

    /// A gateway without a store writes nowhere; an older one does not list gateways.
    #[test]
    fn a_gateway_alone_is_in_the_table_and_an_older_one_has_none() {
        let alone =
            json!({ "name": "g", "origin": 7, "this": true, "alive": true, "wrote_s": null });
        let table = gateways(&json!({ "gateways": [alone] }));
        let expected = "
gateway       state  wrote to the store  number
g (this one)  alive  never               7
";
        assert_eq!(table, expected);
        assert_eq!(gateways(&json!({})), "");
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [59.94, 60.0, 3599.0, 3600.0, 90_000.0].map(span);
        assert_eq!(spans, ["59.9 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "1 d 1 h"]);
    }
}
