//! Single questions and orders to a running gateway, for people: an estimate, and networks to
//! forget.

use crate::client_config;
use clap::Args;
use cmdline::{Appendix, Failure, stdout};
use gateway_client::{GatewayForget, ask_once, forget_everywhere, leaving, network_of};
use gateway_proto::v1::{Collector, Estimate, Network, NoEstimate, answer};
use ipnet::IpNet;
use report::{Estimate as Measured, Quantity, written};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use units::counted;

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Gateways and certificates as an agent's configuration names them: the agent.toml of
    /// `headstart gateway init`
    #[arg(long, value_name = "agent.toml")]
    config: PathBuf,
    /// The visitor's address or a prefix; only 24 bits of IPv4 or 48 of IPv6 leave this host
    #[arg(value_name = "ADDRESS", value_parser = parse_network)]
    network: IpNet,
    /// Bytes that are to be sent: no more than they can use is answered
    #[arg(long, value_name = "BYTES", value_parser = units::parse_byte_count)]
    size: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Gateways as an agent's configuration names them; each of them is asked
    #[arg(long, value_name = "agent.toml")]
    config: PathBuf,
    /// An operator's certificate, PEM; agents' may not do this
    #[arg(long, value_name = "operator.pem")]
    certificate: PathBuf,
    /// Its key, PEM
    #[arg(long, value_name = "operator.key")]
    key: PathBuf,
    /// Prefix to forget, with all networks within
    #[arg(value_name = "PREFIX", value_parser = cmdline::parse_prefix)]
    network: IpNet,
}

pub(crate) fn ask_appendix() -> Appendix {
    Appendix {
        examples: &[(
            "headstart gateway ask --config DIR/agent.toml 192.0.2.7",
            "Shows the answer that an agent would get for this visitor.",
        )],
        exit: &[
            ("0", "answered, also that nothing is known"),
            ("1", "no gateway has answered"),
            ("2", "the input is wrong"),
        ],
        more: &["docs/gateway/reference.md"],
        ..Appendix::default()
    }
}

pub(crate) fn forget_appendix() -> Appendix {
    Appendix {
        examples: &[(
            "headstart gateway forget --config DIR/agent.toml --certificate DIR/authority/operator.pem --key DIR/authority/operator.key 192.0.2.0/24",
            "Has all gateways and agents of the site forget this network.",
        )],
        exit: &[
            ("0", "forgotten by all gateways, their store and all agents"),
            ("1", "not by all; the message names those that are missing"),
            ("2", "the input is wrong"),
        ],
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

fn parse_network(text: &str) -> Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(network_of);
    let network = address.or_else(|_| text.parse::<IpNet>().map(leaving));
    network.map_err(|_| "no address, and no prefix like 192.0.2.0/24".to_owned())
}

pub(crate) fn ask(args: &AskArgs) -> Result<(), Failure> {
    let config = client_config(&args.config, Collector::Agent)?;
    let answer =
        ask_once(&config, args.network, args.size.unwrap_or(0)).map_err(Failure::failed)?;
    let (value, words) = match answer.result {
        Some(answer::Result::Estimate(estimate)) => (to_json(&estimate), to_text(&estimate)),
        Some(answer::Result::None(why)) => without_estimate(args.network, why),
        None => without_estimate(args.network, 0),
    };
    match args.json {
        true => stdout::print_json(&value),
        false => stdout::print(&words),
    }
}

pub(crate) fn forget(args: &ForgetArgs) -> Result<(), Failure> {
    let mut config = client_config(&args.config, Collector::Agent)?;
    (config.certificate, config.key) = (args.certificate.clone(), args.key.clone());
    let orders = forget_everywhere(&config, args.network).map_err(Failure::failed)?;
    let (done, gaps) = forget_report(args.network, &orders);
    stdout::print(&done)?;
    match gaps.is_empty() {
        true => Ok(()),
        false => Err(Failure::failed(gaps.join("\n"))),
    }
}

/// Returns what was forgotten, a line for each gateway, and sentences about what still knows the
/// network: a gateway, the shared store, or agents. Each sentence says what to do.
fn forget_report(network: IpNet, orders: &[GatewayForget]) -> (String, Vec<String>) {
    let (mut done, mut gaps) = (String::new(), Vec::new());
    let (mut notified, mut missed) = (BTreeSet::new(), BTreeSet::new());
    for GatewayForget { gateway, reply } in orders {
        let reply = match reply {
            Ok(reply) => reply,
            Err(why) => {
                gaps.push(format!(
                    "{network} is not forgotten at {why}. If this gateway shares a store with another one, it forgets at its start; \
                     otherwise repeat this command"
                ));
                continue;
            }
        };
        let (count, agents) = (reply.forgotten, reply.notified.len());
        done += &format!(
            "{gateway}: {} forgotten, {} notified\n",
            counted(count, "network"),
            counted(agents as u64, "agent")
        );
        if reply.store_missed {
            gaps.push(format!(
                "the shared store does not answer {gateway}: other gateways know {network} until it does. {gateway} tries again each \
                 second while it runs"
            ));
        }
        notified.extend(&reply.notified);
        missed.extend(&reply.missed);
    }
    let missed: Vec<_> = missed.difference(&notified).map(|name| name.as_str()).collect();
    if !missed.is_empty() {
        gaps.push(format!(
            "agents that are not connected: {}. They forget when they connect again within 17 hours; sooner by \
             `headstart agent forget {network}` on their servers",
            missed.join(", ")
        ));
    }
    (done, gaps)
}

/// Returns the name of where an estimate comes from, as `network` or `prior`.
fn source_name(estimate: &Estimate) -> String {
    estimate.source().as_str_name().trim_start_matches("SOURCE_").to_lowercase().replace('_', "-")
}

/// Returns the prefix that an estimate is for; `None` if it is the site's own distribution.
fn network_name(estimate: &Estimate) -> Option<String> {
    estimate.network.as_ref().and_then(Network::to_net).map(|network| network.to_string())
}

/// Returns the JSON of an answer with an estimate.
fn to_json(estimate: &Estimate) -> Value {
    json!({ "estimate": {
        "network": network_name(estimate),
        "window": estimate.window,
        "rate": (estimate.rate > 0).then_some(estimate.rate),
        "min_rtt_us": (estimate.min_rtt_us > 0).then_some(estimate.min_rtt_us),
        "confidence": estimate.confidence,
        "age_ms": estimate.age_ms,
        "samples": estimate.samples,
        "reporters": estimate.reporters,
        "source": source_name(estimate),
    }})
}

/// Returns an estimate as sentences.
fn to_text(estimate: &Estimate) -> String {
    let whose = network_name(estimate)
        .unwrap_or_else(|| "of no network: the site's own distribution".to_owned());
    let rate = match estimate.rate {
        0 => "rate not known".to_owned(),
        bps => written(Measured { mean: bps as f64, standard_error: None }, Quantity::Rate),
    };
    let round_trip = match estimate.min_rtt_us {
        0 => "round trip not known".to_owned(),
        us => format!("{:.1} ms", us as f64 / 1e3),
    };
    format!(
        "{whose} ({}): window {} bytes, {rate}, {round_trip}\nconfidence {:.2}, {:.0} s old, {} of {}\n",
        source_name(estimate),
        estimate.window,
        estimate.confidence,
        estimate.age_ms as f64 / 1e3,
        counted(estimate.samples, "sample"),
        counted(estimate.reporters, "host"),
    )
}

/// Returns the JSON and the text of an answer without an estimate; `why` is a [`NoEstimate`].
fn without_estimate(network: IpNet, why: i32) -> (Value, String) {
    let why = NoEstimate::try_from(why).unwrap_or(NoEstimate::Unspecified);
    let name = why.as_str_name().trim_start_matches("NO_ESTIMATE_").to_lowercase();
    let words = match why {
        NoEstimate::NotAllowed => format!("the certificate may not ask for {network}\n"),
        NoEstimate::Network => format!("{network} is no network of visitors\n"),
        NoEstimate::Unspecified | NoEstimate::Unknown => format!("nothing is known of {network}\n"),
    };
    (json!({ "none": name }), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway_proto::v1;

    #[test]
    fn an_estimate_is_said_in_words() {
        let mut estimate = Estimate {
            network: Some(Network::of("192.0.2.0/24".parse().unwrap())),
            window: 9000,
            rate: 19_483_969,
            min_rtt_us: 80_000,
            confidence: 0.5,
            age_ms: 3000,
            samples: 2,
            reporters: 1,
            source: v1::Source::Network.into(),
        };
        assert_eq!(
            to_text(&estimate),
            "192.0.2.0/24 (network): window 9000 bytes, 19.484 Mbit/s, 80.0 ms\n\
             confidence 0.50, 3 s old, 2 samples of 1 host\n"
        );
        (estimate.network, estimate.rate) = (None, 0);
        estimate.set_source(v1::Source::Prior);
        let said = to_text(&estimate);
        let expected =
            "of no network: the site's own distribution (prior): window 9000 bytes, rate not known";
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(to_json(&estimate)["estimate"]["network"], Value::Null);
    }

    /// `web-1` has moved to the second gateway, which notifies it. `web-3` is at none.
    #[test]
    fn hosts_and_gateways_that_still_know_a_network_are_named() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let order = |gateway: &str, reply| GatewayForget { gateway: gateway.to_owned(), reply };
        let reply = |forgotten, notified: &[&str], missed: &[&str]| v1::ForgetReply {
            forgotten,
            notified: names(notified),
            missed: names(missed),
            store_missed: false,
        };
        let network = "192.0.2.0/24".parse().unwrap();
        let first = reply(1, &["web-2"], &["web-1", "web-3"]);
        let moved = reply(0, &["web-1"], &[]);
        let (done, gaps) =
            forget_report(network, &[order("a:1", Ok(first)), order("b:1", Ok(moved))]);
        assert_eq!(
            done,
            "a:1: 1 network forgotten, 1 agent notified\nb:1: 0 networks forgotten, 1 agent notified\n"
        );
        assert!(gaps.len() == 1 && gaps[0].contains("not connected: web-3. "), "{gaps:?}");
        let alone = v1::ForgetReply { store_missed: true, ..reply(1, &[], &[]) };
        let (_, gaps) = forget_report(
            network,
            &[order("a:1", Ok(alone)), order("b:1", Err("b:1: no route".into()))],
        );
        assert!(gaps.len() == 2 && gaps[0].contains("store does not answer a:1"), "{gaps:?}");
        assert!(gaps[1].starts_with("192.0.2.0/24 is not forgotten at b:1: no route"), "{gaps:?}");
        let (_, none) = forget_report(network, &[order("a:1", Ok(reply(1, &["web-1"], &[])))]);
        assert!(none.is_empty(), "{none:?}");
    }

    #[test]
    fn no_gateway_is_asked_of_a_whole_address() {
        for asked in ["192.0.2.7", "192.0.2.7/32", "::ffff:192.0.2.7"] {
            assert_eq!(parse_network(asked).unwrap().to_string(), "192.0.2.0/24", "{asked}");
        }
        let v6 = parse_network("2001:db8:1:2::3/128").unwrap();
        assert_eq!(v6.to_string(), "2001:db8:1::/48");
    }
}
