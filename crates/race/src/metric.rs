//! Metrics of a scheme in a race.

/// Metric of a scheme, in the order in which metrics are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RaceMetric {
    /// Seconds until the milestone that ends the load.
    PageSeconds,
    /// Page time over the limit's.
    RatioToLimit,
    /// 1 − time of the page over `linux`'s of the same repeat in the same world.
    GainOverLinux,
    /// Segments retransmitted.
    RetransmittedSegments,
    /// Expiries of retransmission timers.
    Timeouts,
    /// The page's packets dropped or lost.
    DroppedPackets,
    /// Share of the background's bytes lost.
    BackgroundHarm,
}

impl RaceMetric {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::PageSeconds,
        Self::RatioToLimit,
        Self::GainOverLinux,
        Self::RetransmittedSegments,
        Self::Timeouts,
        Self::DroppedPackets,
        Self::BackgroundHarm,
    ];

    /// Its key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::PageSeconds => "page_s",
            Self::RatioToLimit => "ratio_to_limit",
            Self::GainOverLinux => "gain_over_linux",
            Self::RetransmittedSegments => "retransmitted_segments",
            Self::Timeouts => "timeouts",
            Self::DroppedPackets => "dropped_packets",
            Self::BackgroundHarm => "background_harm",
        }
    }
}
