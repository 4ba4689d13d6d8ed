//! Figures on the command line, of a connection that somebody else has measured.

use clap::{Args, ValueEnum};
use gateway_proto::v1::{self, Bound, Report};
use ipnet::IpNet;
use serde::Deserialize;
use std::net::IpAddr;
use units::{Duration, Rate};

/// Bits of a prefix that leave a host, unless the operator says otherwise.
pub(super) const V4_BITS: u8 = 24;
pub(super) const V6_BITS: u8 = 48;

#[derive(Debug, Args)]
pub(super) struct Figures {
    /// Network of the visitor, a prefix
    #[arg(long, value_name = "PREFIX", requires = "window")]
    network: Option<IpNet>,
    /// Bytes: the most that was in flight and arrived, or, with --bound loss, at which the loss came
    #[arg(long, value_name = "BYTES", value_parser = units::parse_bytes)]
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
            network: Some(v1::Network::of(network)),
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

/// The network of an address, as it leaves this host.
pub(crate) fn network_of(address: IpAddr) -> IpNet {
    let address = address.to_canonical();
    let bits = if address.is_ipv4() { V4_BITS } else { V6_BITS };
    IpNet::new(address, bits).map_or_else(|_| address.into(), |net| net.trunc())
}
