//! Figures on the command line, of a connection that somebody else has measured.

use clap::{Args, ValueEnum};
use gateway_proto::v1::{self, Bound, Report};
use ipnet::IpNet;
use memory::canonical_network;
use serde::Deserialize;
use std::net::IpAddr;
use units::{Duration, ParseUnitError, Rate};

/// Bits of an address that leave a host at most, of IPv4 and of IPv6.
pub(super) const V4_BITS: u8 = 24;
pub(super) const V6_BITS: u8 = 48;

#[derive(Debug, Args)]
pub(super) struct Figures {
    /// Network of the visitor, a prefix; of a longer one 24 bits of IPv4 leave this host, 48 of IPv6
    #[arg(long, value_name = "PREFIX", requires = "window")]
    network: Option<IpNet>,
    /// Bytes: the most that was in flight and arrived, or, with --bound loss, at which the loss came
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    window: Option<u64>,
    /// What kept the window from being larger
    #[arg(long, value_enum, default_value_t = BoundName::Over)]
    bound: BoundName,
    /// Delivery rate
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,
    /// Lowest round trip
    #[arg(long, value_name = "TIME")]
    rtt: Option<Duration>,
    /// Segments sent
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    sent: u32,
    /// Segments of these that were lost
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    lost: u32,
}

/// What kept a window from being larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BoundName {
    /// A loss
    Loss,
    /// The window that the peer offered
    ReceiveWindow,
    /// The application had no more to send at the time
    Application,
    /// The connection's own start
    OwnStart,
    /// The transfer was over
    Over,
}

impl BoundName {
    pub(super) const fn bound(self) -> Bound {
        match self {
            Self::Loss => Bound::Loss,
            Self::ReceiveWindow => Bound::ReceiveWindow,
            Self::Application => Bound::Application,
            Self::OwnStart => Bound::OwnStart,
            Self::Over => Bound::Over,
        }
    }
}

impl Figures {
    /// As a report.
    pub(super) fn report(&self) -> Result<Report, String> {
        let (Some(network), Some(window)) = (self.network, self.window) else {
            return Err("--network and --window, please".to_owned());
        };
        possible(Report {
            network: Some(v1::Network::of(leaving(network))),
            window,
            rate: self.rate.map_or(0, Rate::as_bps),
            min_rtt_us: self.rtt.map_or(0, Duration::as_micros),
            sent: self.sent,
            lost: self.lost,
            bound: self.bound.bound().into(),
            ..Report::default()
        })
    }
}

/// The report, unless it says that more was lost than sent: no gateway takes that.
///
/// # Errors
/// If it does.
pub(super) fn possible(report: Report) -> Result<Report, String> {
    match report.lost > report.sent {
        true => Err(format!("lost: {} of {} sent cannot be", report.lost, report.sent)),
        false => Ok(report),
    }
}

/// Bytes: a number alone, or one with a unit as in `200kB`.
///
/// # Errors
/// If it is neither.
pub(crate) fn bytes(text: &str) -> Result<u64, ParseUnitError> {
    text.trim().parse().or_else(|_| units::parse_bytes(text))
}

/// The network of an address, as it leaves this host.
pub(crate) fn network_of(address: IpAddr) -> IpNet {
    leaving(address.into())
}

/// A network as it leaves this host: cut to [`V4_BITS`] of IPv4, also of an IPv4 network that is written as one of IPv6, and to [`V6_BITS`] of IPv6.
pub(crate) fn leaving(network: IpNet) -> IpNet {
    let network = canonical_network(network);
    let bits = if network.addr().is_ipv4() { V4_BITS } else { V6_BITS };
    let bits = bits.min(network.prefix_len());
    IpNet::new(network.addr(), bits).map_or(network, |cut| cut.trunc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_of_a_network_leaves_than_a_prefix() {
        for (said, leaves) in [
            ("192.0.2.7/32", "192.0.2.0/24"),
            ("192.0.2.128/25", "192.0.2.0/24"),
            ("198.51.0.0/16", "198.51.0.0/16"),
            ("2001:db8:1:2::3/128", "2001:db8:1::/48"),
            ("2001:db8:1:2::/64", "2001:db8:1::/48"),
            ("2001:db8::/32", "2001:db8::/32"),
            // 96 bits say that an address of IPv4 follows: 96 + 32 and 96 + 16.
            ("::ffff:192.0.2.7/128", "192.0.2.0/24"),
            ("64:ff9b::192.0.2.7/128", "192.0.2.0/24"),
            ("::ffff:198.51.0.0/112", "198.51.0.0/16"),
        ] {
            assert_eq!(leaving(said.parse().unwrap()).to_string(), leaves, "{said}");
        }
    }

    #[test]
    fn bytes_need_no_unit() {
        assert_eq!((bytes("3000"), bytes("3kB")), (Ok(3000), Ok(3000)));
        assert!(bytes("3k").is_err() && bytes("-1").is_err() && bytes("").is_err());
    }

    #[test]
    fn figures_of_an_address_are_reported_of_its_network() {
        let figures = |network: &str| Figures {
            network: Some(network.parse().unwrap()),
            window: Some(5000),
            bound: BoundName::Over,
            rate: None,
            rtt: None,
            sent: 0,
            lost: 0,
        };
        let reported = |network| figures(network).report().unwrap().network.unwrap().to_net();
        assert_eq!(reported("192.0.2.7/32"), Some("192.0.2.0/24".parse().unwrap()));
        assert_eq!(reported("2001:db8:1:2::3/128"), Some("2001:db8:1::/48".parse().unwrap()));
    }
}
