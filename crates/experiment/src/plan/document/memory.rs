//! Memory of destinations: hosts' own, and performance gateways that hosts share.

use super::quantity::{At, Bytes, HostOrLinkCount, Text, Written};
use memory::HalfLife;
use schemars::JsonSchema;
use serde::Deserialize;
use units::Duration;

/// Memory of destinations, under schemes that use it: `memory=temporal` is each host's own,
/// `memory=gateway` a performance gateway, their own or their site's.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySpec {
    /// Groups of hosts, or parts of them; the hosts of each share a gateway. Hosts of none have a
    /// gateway of their own.
    #[serde(default)]
    pub(crate) sites: Vec<At<String>>,
    /// Method by which sites' gateways collect the knowledge of senders; `reports` unless given.
    #[serde(default)]
    pub(crate) collecting: CollectingSpec,
    /// Aggregation in a gateway: addresses that share 24 bits, or every host by itself; `network`
    /// unless given.
    #[serde(default)]
    pub(crate) scope: ScopeSpec,
    /// Report of a transfer without loss to a gateway; `window` unless given.
    #[serde(default)]
    pub(crate) quiet: QuietSpec,
    /// Report of a loss in slow start to a gateway; `none` unless given.
    #[serde(default)]
    pub(crate) early_loss: EarlyLossSpec,
    /// Reports have whole segments of windows; they are exact to the byte unless given.
    #[serde(default)]
    pub(crate) whole: bool,
    /// Unit of equal weight in a gateway's average; `samples` unless given.
    #[serde(default)]
    pub(crate) weigh: WeighSpec,
    /// Length of a gateway's sliding window; 300s unless given.
    pub(crate) window: Option<Written<Duration>>,
    /// Samples in the window that an answer of a gateway needs at least; 1 unless given.
    pub(crate) enough: Option<HostOrLinkCount>,
    /// With fewer, a gateway's last good estimate halves in this time, again and again; without, it
    /// knows nothing then.
    pub(crate) decay: Option<Written<Duration>>,
    /// Half-life of the window that a host remembers by itself: round trips of the path, or
    /// `never`; `3000rtt` unless given.
    pub(crate) half_life: Option<Written<HalfLife>>,
    /// Older entries are ignored; 600s unless given.
    pub(crate) max_age: Option<Written<Duration>>,
    /// Largest first window that a memory may give; 4MiB unless given.
    pub(crate) cap: Option<Written<Bytes>>,
}

/// Method by which a gateway collects.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CollectingSpec {
    /// Senders report, at once.
    #[default]
    Reports,
    /// Senders write it into a TCP option of segments that leave the site.
    Option,
    /// It is rebuilt from the packets that pass the site's border.
    Passive,
}

/// Report of a transfer without loss.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuietSpec {
    /// The window after the last acknowledgement.
    #[default]
    Window,
    /// The window when the last segment left.
    Sent,
    /// The window, but no more than was in flight at once.
    Used,
    /// The report of the connection's latest loss; before any loss, its window.
    Recorded,
    /// No report.
    None,
}

/// Report of a loss in slow start.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EarlyLossSpec {
    /// No report, nor one at the end of its transfer.
    #[default]
    None,
    /// No report; the end of its transfer reports as if there had been no loss.
    End,
    /// The window less a segment, as a loss in congestion avoidance does.
    Share,
}

/// Unit of equal weight in an average.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WeighSpec {
    /// Every sample.
    #[default]
    Samples,
    /// Every host with a report.
    Hosts,
}

/// Aggregation in a gateway.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScopeSpec {
    /// Addresses that share their first 24 bits.
    #[default]
    Network,
    /// Every host is separate.
    Host,
}

impl Text for HalfLife {
    const NAME: &'static str = "half_life";
    const FORM: &'static str = "round trips, like \"3000rtt\", or \"never\"";
    const PATTERN: &'static str = "^(never|[0-9]+rtt)$";

    fn read(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self::Never);
        }
        let round_trips = text.strip_suffix("rtt").and_then(|number| number.parse().ok());
        let wrong = || format!("cannot read {text:?} as a half-life: expected {}", Self::FORM);
        round_trips.map(Self::RoundTrips).ok_or_else(wrong)
    }
}
