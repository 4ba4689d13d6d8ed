//! Reports of the hosts of a site about networks.

use crate::bound::ReportBound;
use ipnet::IpNet;
use units::{Duration, Rate};

/// Number of a reporting host of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reporter(pub u32);

/// Report of one connection, or a part of its life, about a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteReport {
    /// The network of the connection's remote end: a prefix, never an address.
    /// [`super::SiteMemory`] shortens it to the lengths that it keeps.
    pub network: IpNet,
    /// The host that reports.
    pub reporter: Reporter,
    /// Bytes. With [`ReportBound::Loss`] the window at which the loss happened, otherwise the
    /// largest delivered flight.
    pub window: u64,
    /// Delivery rate, if it was measured.
    pub rate: Option<Rate>,
    /// Lowest round trip, if it was measured.
    pub min_rtt: Option<Duration>,
    /// Segments sent in the reported time, or in the window that met the loss.
    pub sent: u32,
    /// Segments of `sent` that were lost; at most `sent` counts.
    pub lost: u32,
    /// The bound that kept the window from being larger.
    pub bound: ReportBound,
}

impl SiteReport {
    /// Returns the window that the network carried, bytes: without loss the reported one, with loss
    /// the delivered share of it, and at least three quarters. If a timeout retransmitted delivered
    /// segments, more seems lost than was.
    pub(super) fn carried_window(&self) -> u64 {
        if self.bound != ReportBound::Loss || self.sent == 0 {
            return self.window;
        }
        let arrived = u128::from(self.sent - self.lost.min(self.sent / 4));
        let carried = u128::from(self.window) * arrived / u128::from(self.sent);
        u64::try_from(carried).unwrap_or(u64::MAX)
    }
}
