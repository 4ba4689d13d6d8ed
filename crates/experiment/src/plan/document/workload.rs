//! Workloads: senders and receivers, their traffic, its times and schemes.

use super::distribution::SpreadSpec;
use super::quantity::{At, Bytes, Count, HostOrLinkCount, ItemCount, TextOr, Written};
use schemars::JsonSchema;
use serde::Deserialize;
use tcp::Scheme;
use units::{Duration, Rate};

/// A number of members that do the same, each from one host to another.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    /// Traffic of each member.
    pub(crate) traffic: At<Traffic>,
    /// Source of the data: a group of hosts, `group[2]`, `group[0..4]`, or one host.
    pub(crate) from: At<String>,
    /// Destination of the data.
    pub(crate) to: At<String>,
    /// Pairing of the hosts of both groups; in parallel unless given.
    #[serde(default)]
    pub(crate) pairing: Pairing,
    /// Members; 1 unless given.
    pub(crate) count: Option<At<u32>>,
    /// Start of each member; 0s unless given.
    pub(crate) start: Option<At<TextOr<Duration, StartSpec>>>,
    /// The scheme of its senders; that of the sweep unless given.
    pub(crate) scheme: Option<Written<Scheme>>,
    /// Parameters of its schemes, `window=8+ssthresh=8`: they come behind the plan's.
    pub(crate) parameters: Option<At<String>>,
    /// The scheme of its receivers; that of its senders unless given.
    pub(crate) receiver: Option<Written<Scheme>>,
    /// Whether the run does not wait for it, and a cell's metrics leave it out.
    #[serde(default)]
    pub(crate) background: bool,
}

/// Pairing of a member's hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pairing {
    /// Member n has the n-th host of either group, from the first again at a group's end.
    #[default]
    Parallel,
    /// Each member has hosts drawn at random, with a link between them that is no side link.
    Random,
}

/// Starts of members.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum StartSpec {
    /// Each at an instant drawn evenly.
    Uniform(UniformStart),
    /// One after another.
    Staggered(StaggeredStart),
}

/// Evenly from `from` to below `until`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UniformStart {
    /// Earliest; 0s unless given.
    pub(crate) from: Option<Written<Duration>>,
    /// Latest start.
    pub(crate) until: At<Written<Duration>>,
}

/// Member n begins at `from + n × every`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StaggeredStart {
    /// The first; 0s unless given.
    pub(crate) from: Option<Written<Duration>>,
    /// Time between two starts.
    pub(crate) every: Written<Duration>,
}

/// Bytes, the same each time or drawn.
pub(crate) type Sizes = At<TextOr<Bytes, SpreadSpec<Written<Bytes>>>>;
/// A time, the same each time or drawn.
pub(crate) type Times = At<TextOr<Duration, SpreadSpec<Written<Duration>>>>;

/// Traffic of a member.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum Traffic {
    /// One connection or several at once, as fast as TCP lets them.
    Bulk(Bulk),
    /// Transfers in rounds over kept connections: all transfer, all are idle, and the next round
    /// begins.
    Rounds(RoundsTraffic),
    /// Transfers that arrive at random, each over a connection of its own.
    Poisson(Poisson),
    /// A user who requests objects one after another and thinks between pages: a closed loop.
    User(UserTraffic),
    /// Visits to a page, from servers to a browser, with time to think between.
    Page(PageTraffic),
    /// Small messages over one connection, as typed.
    Telnet(TelnetTraffic),
    /// Datagrams of one size at one interval.
    Cbr(CbrTraffic),
    /// Bursts of datagrams, and silences between them.
    OnOff(OnOffTraffic),
}

/// One connection, or several at once.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    /// Bytes to send, drawn for each transfer; without end unless given.
    pub(crate) size: Option<Sizes>,
    /// Transfers of a member that begin together, each over a connection of its own. Under a scheme
    /// that has all of a page on one connection (`phttp`) they run one after another over one. 1
    /// unless given.
    pub(crate) parallel: Option<HostOrLinkCount>,
    /// Weights of a member's parallel transfers, of the first, the second, and so on, from the
    /// first again at the end. They apply under a scheme whose connections share a path by weight
    /// or tickets. 1 unless given.
    #[serde(default)]
    pub(crate) weights: Vec<HostOrLinkCount>,
    /// Close the connection behind the last byte; false unless given.
    #[serde(default)]
    pub(crate) close: bool,
}

/// Transfers in rounds over kept connections (the experiments of TCP/SPAND). The workload's `start`
/// says when the first round begins.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoundsTraffic {
    /// Bytes of each transfer.
    pub(crate) size: Sizes,
    /// Number of rounds.
    pub(crate) rounds: Count,
    /// Start of transfers after the beginning of their round; at once unless given.
    pub(crate) jitter: Option<Times>,
    /// Start of transfers in the first round; as `jitter` unless given.
    pub(crate) first_jitter: Option<Times>,
    /// From the end of a round's last transfer to the next round; 0s unless given.
    pub(crate) idle: Option<Written<Duration>>,
    /// From the beginning of a round to the next, if the round is over by then and `idle` has
    /// passed: keeps the rounds of several workloads together.
    pub(crate) every: Option<Written<Duration>>,
}

/// A Poisson process of transfers between all pairs of the workload's hosts. Pairs are the n-th of
/// either group in turn or, with random pairing, any of one with any of the other. Each opens a
/// connection, sends, and closes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Poisson {
    /// Mean time between two arrivals.
    pub(crate) mean_gap: At<Written<Duration>>,
    /// Bytes of each transfer.
    pub(crate) size: Sizes,
    /// Transfers of each member; without end unless given.
    pub(crate) flows: Option<Count>,
}

/// A user who requests the objects of a page one after another, reads, and requests the next page,
/// like a user equivalent of SURGE (Barford & Crovella 1998). Each object comes over a connection
/// of its own and is a transfer in results; asking takes no time. A member is one user.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserTraffic {
    /// Bytes of each object.
    pub(crate) size: Sizes,
    /// Objects of each page; 1 unless given.
    pub(crate) objects: Option<At<TextOr<ItemCount, SpreadSpec<Written<ItemCount>>>>>,
    /// From the end of an object to asking for the next of its page; none unless given.
    pub(crate) pause: Option<Times>,
    /// Before each page, the first included.
    pub(crate) think: Times,
    /// Pages of each member; without end unless given.
    pub(crate) pages: Option<Count>,
}

/// Visits to a page. The page's servers are the hosts of the workload's `from`, in turn; the
/// browser is the member's host of `to`. Each visit has connections of its own, which close with
/// it, and is one transfer in results: from its start to its last byte.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageTraffic {
    /// A page that comes with headstart (`headstart pages`), or a HAR file beside the plan.
    pub(crate) page: At<String>,
    /// Time at which objects of the papers' pages are requested; at the first segment of the HTML
    /// that names them unless given.
    pub(crate) requests: Option<At<Requests>>,
    /// Delay of the request after that; of the papers' pages too. 0s unless given.
    pub(crate) request_delay: Option<At<Written<Duration>>>,
    /// Sizes of the objects of the papers' pages that the paper calls small, within its ranges;
    /// spread over them unless given.
    pub(crate) small_sizes: Option<At<PageSizes>>,
    /// Sizes of the objects that it calls medium.
    pub(crate) medium_sizes: Option<At<PageSizes>>,
    /// Order of asking, of the papers' pages too; small ones first unless given.
    pub(crate) order: Option<At<AskingOrder>>,
    /// HTML part of the papers' frame set that names its images; those of 7 and 83 KB unless given.
    pub(crate) naming: Option<At<Naming>>,
    /// Bytes of a kilobyte of the papers' pages: 1024 or 1000. 1024 unless given.
    pub(crate) kilobyte: Option<At<u64>>,
    /// Load as simulations do whose agents only send: requests take no trip, the server connects to
    /// the browser, and connections go, without a packet, when the next visit begins. Its schemes
    /// should `open=one-way`. False unless given.
    #[serde(default)]
    pub(crate) one_way: bool,
    /// HTTP version of all hosts: 1.0, 1.1, 2 or 3, as text; as the page says unless given.
    pub(crate) http: Option<At<String>>,
    /// Connections open at once per host under HTTP/1.0 and 1.1; as the page says, or 6, unless
    /// given.
    pub(crate) connections: Option<Count>,
    /// Time from the last byte of an object under HTTP/1.0 until another connection may replace its
    /// own; 0s unless given.
    pub(crate) turnaround: Option<At<Written<Duration>>>,
    /// Security of all hosts, none or 1.3, as text; as the page says unless given.
    pub(crate) tls: Option<At<String>>,
    /// Visits of each member, one after another; 1 unless given.
    pub(crate) visits: Option<Count>,
    /// Time between the end of a visit and the next; none unless given.
    pub(crate) think: Option<Times>,
}

/// Time at which the objects that an HTML part of the papers' pages names are requested.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Requests {
    /// All at the delivery of the part's first segment.
    FirstSegment,
    /// One after another, as the part arrives.
    EvenlySpread,
    /// All at the delivery of the whole part.
    AtEnd,
    /// Everything, HTML included, at the start.
    AllAtOnce,
}

/// Sizes within the ranges that a paper gives of its pages' objects.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PageSizes {
    /// From one end of the range to the other.
    Spread,
    /// All the smallest.
    Smallest,
    /// All the middle.
    Middle,
    /// All the largest.
    Largest,
}

/// Order in which the objects of an HTML part of the papers' pages are requested.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AskingOrder {
    /// Order of the paper's list: small ones first.
    AsListed,
    /// Large ones first.
    Reversed,
}

/// HTML part of the papers' frame set that names its images.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Naming {
    /// The parts of 7 and 83 KB.
    Frames,
    /// The part of 83 KB.
    Largest,
    /// The frame set itself.
    Root,
}

/// Small messages over one connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TelnetTraffic {
    /// Before each message; as telnet's unless given.
    pub(crate) gaps: Option<Times>,
    /// Bytes of a message; 1B unless given.
    pub(crate) size: Option<Written<Bytes>>,
    /// Messages; without end unless given.
    pub(crate) messages: Option<Count>,
}

/// Datagrams of one size at a constant rate.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CbrTraffic {
    /// Bits per second on the wire.
    pub(crate) rate: Written<Rate>,
    /// Bytes of a datagram on the wire, headers included; 1000B unless given.
    pub(crate) packet: Option<At<Written<Bytes>>>,
    /// Datagrams; without end unless given.
    pub(crate) packets: Option<Count>,
}

/// Bursts at a constant rate, and silences. It begins with a silence and never finishes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnOffTraffic {
    /// Bits per second on the wire during a burst.
    pub(crate) rate: Written<Rate>,
    /// Bytes of a datagram on the wire, headers included; 1000B unless given.
    pub(crate) packet: Option<At<Written<Bytes>>>,
    /// Length of a burst.
    pub(crate) on: Times,
    /// Length of a silence.
    pub(crate) off: Times,
}
