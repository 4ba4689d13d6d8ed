//! Single questions and orders to a running gateway, for people: an estimate, and networks to
//! forget.

use crate::client_config;
use clap::Args;
use cmdline::{Appendix, Failure, stdout};
use gateway_client::{ask_once, forget_once, leaving, network_of};
use gateway_proto::v1::{Collector, Estimate, Network, NoEstimate, answer};
use ipnet::IpNet;
use report::{Estimate as Measured, Quantity, written};
use serde_json::{Value, json};
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
    /// Gateways as an agent's configuration names them: the agent.toml of `headstart gateway init`
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
        exit: &[("0", "forgotten"), ("1", "no gateway has done so"), ("2", "the input is wrong")],
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
        Some(answer::Result::Estimate(estimate)) => (shown(&estimate), words(&estimate)),
        Some(answer::Result::None(why)) => none(args.network, why),
        None => none(args.network, 0),
    };
    match args.json {
        true => stdout::print_json(&value),
        false => stdout::print(&words),
    }
}

pub(crate) fn forget(args: &ForgetArgs) -> Result<(), Failure> {
    let mut config = client_config(&args.config, Collector::Agent)?;
    (config.certificate, config.key) = (args.certificate.clone(), args.key.clone());
    let count = forget_once(&config, args.network).map_err(Failure::failed)?;
    let networks = counted(count, "network");
    stdout::print(&format!("{networks} forgotten; other gateways and all agents are notified\n"))
}

fn name_of(estimate: &Estimate) -> String {
    estimate.source().as_str_name().trim_start_matches("SOURCE_").to_lowercase()
}

fn network_name(estimate: &Estimate) -> Option<String> {
    estimate.network.as_ref().and_then(Network::to_net).map(|network| network.to_string())
}

fn shown(estimate: &Estimate) -> Value {
    json!({ "estimate": {
        "network": network_name(estimate),
        "window": estimate.window,
        "rate": (estimate.rate > 0).then_some(estimate.rate),
        "min_rtt_us": (estimate.min_rtt_us > 0).then_some(estimate.min_rtt_us),
        "confidence": estimate.confidence,
        "age_ms": estimate.age_ms,
        "samples": estimate.samples,
        "reporters": estimate.reporters,
        "source": name_of(estimate),
    }})
}

fn words(estimate: &Estimate) -> String {
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
        name_of(estimate),
        estimate.window,
        estimate.confidence,
        estimate.age_ms as f64 / 1e3,
        counted(estimate.samples, "sample"),
        counted(estimate.reporters, "host"),
    )
}

fn none(network: IpNet, why: i32) -> (Value, String) {
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
            words(&estimate),
            "192.0.2.0/24 (network): window 9000 bytes, 19.484 Mbit/s, 80.0 ms\n\
             confidence 0.50, 3 s old, 2 samples of 1 host\n"
        );
        (estimate.network, estimate.rate) = (None, 0);
        estimate.set_source(v1::Source::Prior);
        let said = words(&estimate);
        let expected =
            "of no network: the site's own distribution (prior): window 9000 bytes, rate not known";
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(shown(&estimate)["estimate"]["network"], Value::Null);
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
