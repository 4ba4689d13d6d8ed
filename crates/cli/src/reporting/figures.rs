//! Figures of a measured connection on the command line.

use clap::{Args, ValueEnum};
use gateway_client::leaving;
use gateway_proto::v1::{self, Bound, Report};
use ipnet::IpNet;
use serde::Deserialize;
use units::{Duration, Rate, parse_byte_count};

#[derive(Debug, Args)]
pub(super) struct Figures {
    /// Network of the visitor, a prefix; of a longer one 24 bits of IPv4 leave this host, 48 of
    /// IPv6
    #[arg(long, value_name = "PREFIX", requires = "window")]
    network: Option<IpNet>,
    /// Bytes: the largest delivered flight or, with --bound loss, the window at the loss
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_count)]
    window: Option<u64>,
    /// The bound of the window
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

/// The bound of a window.
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
    /// The figures as a report.
    pub(super) fn report(&self) -> Result<Report, String> {
        let (Some(network), Some(window)) = (self.network, self.window) else {
            return Err("--network and --window, please".to_owned());
        };
        check_report(Report {
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
pub(super) fn check_report(report: Report) -> Result<Report, String> {
    match report.lost > report.sent {
        true => Err(format!("lost: {} of {} sent cannot be", report.lost, report.sent)),
        false => Ok(report),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
