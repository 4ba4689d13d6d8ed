//! What a race measures of a scheme.

/// What is measured of a scheme, in the order in which it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RaceMetric {
    /// Seconds until the HTML was done.
    HtmlSeconds,
    /// Seconds until the page was done.
    PageSeconds,
    /// Time of the page over the limit's.
    RatioToLimit,
    /// Time of the HTML over the limit's.
    RatioToLimitHtml,
    /// 1 − time of the page over `linux`'s of the same repeat in the same world.
    GainOverLinux,
    /// Segments sent again.
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
    pub const ALL: [Self; 9] = [
        Self::HtmlSeconds,
        Self::PageSeconds,
        Self::RatioToLimit,
        Self::RatioToLimitHtml,
        Self::GainOverLinux,
        Self::RetransmittedSegments,
        Self::Timeouts,
        Self::DroppedPackets,
        Self::BackgroundHarm,
    ];

    /// Its key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::HtmlSeconds => "html_s",
            Self::PageSeconds => "page_s",
            Self::RatioToLimit => "ratio_to_limit",
            Self::RatioToLimitHtml => "ratio_to_limit_html",
            Self::GainOverLinux => "gain_over_linux",
            Self::RetransmittedSegments => "retransmitted_segments",
            Self::Timeouts => "timeouts",
            Self::DroppedPackets => "dropped_packets",
            Self::BackgroundHarm => "background_harm",
        }
    }
}
