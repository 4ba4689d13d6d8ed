//! The named schemes: an entry each, with the recipe that makes it.

use super::pages;
use super::recipes::{
    classic, headstart, linux, linux_bbr, linux_etcp, linux_session, rapid_start, session_member,
    with_startup,
};
use super::{Recipe, Transfers};
use crate::config::{AckPolicy, IdleRestart, MemoryKind, Opening};
use crate::congestion::vegas as vegas_window;
use crate::congestion::{linux_reno::LINUX_RENO, proxy::PROXY};
use crate::recovery::Overtaken;
use crate::recovery::dupacks::LIMITED_TRANSMIT;
use crate::recovery::integrated::INTEGRATED;
use crate::recovery::newreno::NEWRENO;
use crate::recovery::reno::RENO;
use crate::recovery::sack::SACK;
use crate::recovery::tahoe::TAHOE;
use crate::recovery::vegas as vegas_recovery;
use crate::registry::PolicyPage;
use crate::sharing::{JoinPacing, Scheduling, Sharing, Tickets, TimerScope};
use crate::startup::StartUpDescriptor;
use crate::startup::bbr::BBR3_START;
use crate::startup::careful_resume::CAREFUL_RESUME;
use crate::startup::ewma_iw::EWMA_IW;
use crate::startup::fast_start::{self, FAST_START};
use crate::startup::hoe::HOE;
use crate::startup::hystart_plus_plus::HYSTART_PLUS_PLUS;
use crate::startup::jump_start::JUMP_START;
use crate::startup::paced_start::PACED_START;
use crate::startup::picoquic_resume::PICOQUIC_RESUME;
use crate::startup::quicly_jump::QUICLY_JUMP;
use crate::startup::rbp::{self, RBP, RBP_VEGAS};
use crate::startup::search::SEARCH;
use crate::startup::slow_start::LINUX_SLOW_START;
use crate::startup::spand::SPAND;
use crate::startup::stateful_tcp::STATEFUL_TCP;
use crate::startup::suss::SUSS;
use crate::startup::vegas::VEGAS_START;
use crate::startup::warm::WARM;

/// A scheme's entry.
#[derive(Clone, Copy, Debug)]
pub struct NamedScheme {
    /// Name, as `--schemes` takes it.
    pub name: &'static str,
    /// The scheme in a sentence.
    pub about: &'static str,
    /// Its specification.
    pub source: &'static str,
    /// The parts of its page that its start-up's page lacks.
    pub(super) page: Option<&'static PolicyPage>,
    pub(super) recipe: fn() -> Recipe,
}

const fn new_scheme(
    name: &'static str,
    about: &'static str,
    source: &'static str,
    recipe: fn() -> Recipe,
) -> NamedScheme {
    NamedScheme { name, about, source, page: None, recipe }
}

impl NamedScheme {
    /// Returns the scheme with a page of its own beside its start-up's.
    const fn with_page(self, page: &'static PolicyPage) -> Self {
        Self { page: Some(page), ..self }
    }
}

const CATALOGUE: &[NamedScheme] = &[
    new_scheme("tahoe", "fast retransmit, then slow start from one segment", "Jacobson 1988", || {
        classic(&TAHOE)
    }),
    new_scheme("tahoe-ssr", "tahoe, slow start again after idle (as tahoe)", "Jacobson 1988", || {
        classic(&TAHOE)
    }),
    new_scheme(
        "tahoe-nssr",
        "tahoe, the old window again after idle",
        "Zhang, Qiu & Keshav 2000 §6.2",
        || keep_window_after_idle(classic(&TAHOE)),
    ),
    new_scheme("reno", "fast recovery until the first new ACK", "RFC 5681", || classic(&RENO)),
    new_scheme("reno-ssr", "reno, slow start again after idle (as reno)", "RFC 5681 §4.1", || {
        classic(&RENO)
    }),
    new_scheme(
        "reno-nssr",
        "reno, the old window again after idle",
        "Zhang, Qiu & Keshav 2000 §6.2",
        || keep_window_after_idle(classic(&RENO)),
    ),
    new_scheme("newreno", "fast recovery that repairs one loss per round trip", "RFC 6582", || {
        classic(&NEWRENO)
    }),
    new_scheme(
        "newreno-ssr",
        "newreno, slow start again after idle (as newreno)",
        "RFC 6582, RFC 5681 §4.1",
        || classic(&NEWRENO),
    ),
    new_scheme(
        "newreno-nssr",
        "newreno, the old window again after idle",
        "Zhang, Qiu & Keshav 2000 §6.2",
        || keep_window_after_idle(classic(&NEWRENO)),
    ),
    new_scheme("sack", "repair by selective acknowledgements", "RFC 6675, RFC 2018", || classic(&SACK)),
    new_scheme(
        "sack-ssr",
        "sack, slow start again after idle (as sack)",
        "RFC 6675, RFC 5681 §4.1",
        || classic(&SACK),
    ),
    new_scheme(
        "sack-nssr",
        "sack, the old window again after idle",
        "Zhang, Qiu & Keshav 2000 §6.2",
        || keep_window_after_idle(classic(&SACK)),
    ),
    new_scheme(
        "phttp",
        "newreno, all transfers of a page one after another on one persistent connection",
        "Padmanabhan & Katz 1998 §6.3",
        || Recipe { transfers: Transfers::Sequential, ..classic(&NEWRENO) },
    ).with_page(&pages::PHTTP),
    new_scheme(
        "right-edge",
        "newreno, a new segment on the first and second duplicate ACK, whatever the window",
        "Balakrishnan et al. 1998 §4.1",
        right_edge,
    ).with_page(&pages::RIGHT_EDGE),
    new_scheme(
        "vegas",
        "window by how much is queued, checked by a fine clock",
        "Brakmo & Peterson 1995",
        || vegas(&VEGAS_START),
    ),
    new_scheme(
        "vegas-ssr",
        "vegas, slow start again after idle (as vegas)",
        "Brakmo & Peterson 1995, RFC 5681 §4.1",
        || vegas(&VEGAS_START),
    ),
    new_scheme("vegas-nssr", "vegas, the old window again after idle", "Brakmo & Peterson 1995", || {
        keep_window_after_idle(vegas(&VEGAS_START))
    }),
    new_scheme(
        "hoe",
        "newreno, first slow-start threshold by packet pair: bandwidth times round trip",
        "Hoe 1996 §4",
        || with_startup(classic(&NEWRENO), &HOE),
    ),
    new_scheme(
        "rbp",
        "reno, after idle three quarters of the old window, paced until ACKs clock",
        "Visweswaraiah & Heidemann 1997",
        || with_startup(classic(&RENO), &RBP),
    ),
    new_scheme(
        "rbp-vegas",
        "vegas, after idle three quarters of the old rate, paced until ACKs clock",
        "Visweswaraiah & Heidemann 1997",
        paced_vegas,
    ),
    new_scheme(
        "spand",
        "newreno, first window by a gateway's share of the path and the transfer's size, in a token bucket",
        "Zhang, Qiu & Keshav 2000",
        || with_startup(classic(&NEWRENO), &SPAND),
    ),
    new_scheme(
        "past",
        "sack, paced trains search the rate available: Paced Start",
        "Hu & Steenkiste 2003",
        || with_startup(classic(&SACK), &PACED_START),
    ),
    new_scheme(
        "fs",
        "newreno, after idle the last window that went through whole, spaced, slow start if it fails",
        "Padmanabhan & Katz 1998 §3",
        fast_start,
    ),
    new_scheme(
        "fs-pdrop",
        "fs, what slow start would not have sent marked for queues to drop first",
        "Padmanabhan & Katz 1998 §3",
        marked_fast_start,
    ),
    new_scheme(
        "fs-pdrop-noflr",
        "fs-pdrop without its quick recovery: no reset timer, no falling back",
        "Padmanabhan & Katz 1998 §4",
        unguarded_fast_start,
    ),
    new_scheme(
        "session",
        "newreno, connections to a host share window and timer and take turns by weight: TCP Session",
        "Padmanabhan & Katz 1998 §6, §7.3",
        session,
    ).with_page(&pages::SESSION),
    new_scheme(
        "session-fs",
        "session, its path remembered and started by fast start",
        "Padmanabhan & Katz 1998 §6.2, §7.3",
        session_fast_start,
    ).with_page(&pages::SESSION),
    new_scheme(
        "tcp-int",
        "newreno, connections to a host share a window and take turns: TCP-INT",
        "Balakrishnan et al. 1998 §5.3",
        || integrated(Scheduling::RoundRobin, Overtaken::OLDEST_LOST),
    ).with_page(&pages::TCP_INT),
    new_scheme(
        "tcp-int-proxy",
        "tcp-int, the window of as many TCPs as there are clients behind the host",
        "Balakrishnan et al. 1998 §5.5",
        || Recipe {
            congestion: &PROXY,
            ..integrated(Scheduling::RoundRobin, Overtaken::OLDEST_LOST)
        },
    ).with_page(&pages::TCP_INT),
    new_scheme(
        "etcp-fair",
        "reno, connections to a host share a window, a ticket each: Ensemble-TCP",
        "Eggert, Heidemann & Touch 2000",
        || ensemble_tcp(Tickets::Fair),
    ).with_page(&pages::ETCP_SHARED),
    new_scheme(
        "etcp-content",
        "etcp-fair, tickets by content: HTML 12, code 6, images 3, else 1",
        "Eggert, Heidemann & Touch 2000 §4",
        || ensemble_tcp(Tickets::Content),
    ).with_page(&pages::ETCP_SHARED),
    new_scheme(
        "etcp-decay",
        "etcp-fair, 16 tickets that decay with what was sent",
        "Eggert, Heidemann & Touch 2000 §4",
        || ensemble_tcp(Tickets::Decay),
    ).with_page(&pages::ETCP_SHARED),
    new_scheme(
        "etcp-html-pre",
        "etcp-content, HTML before everything else",
        "Eggert, Heidemann & Touch 2000 §4",
        || ensemble_tcp(Tickets::HtmlFirst),
    ).with_page(&pages::ETCP_SHARED),
    new_scheme(
        "etcp",
        "etcp-html-pre, begins where the last path to the host ended, paced; data in the SYN there",
        "Eggert, Heidemann & Touch 2000 §3.1, §5",
        remembering_ensemble_tcp,
    ).with_page(&pages::ETCP),
    new_scheme(
        "linux",
        "a Linux 6.x server: CUBIC, IW10, HyStart, SACK, RACK-TLP, PRR, F-RTO and D-SACK undo",
        "RFC 9438, RFC 6928, RFC 8985, RFC 6937, RFC 5682; Linux 6.x",
        linux,
    ).with_page(&pages::LINUX),
    new_scheme(
        "linux-bbr",
        "a Linux 6.x server with BBR v1: paced by a model of bandwidth and round trip; SACK, RACK-TLP",
        "draft-cardwell-iccrg-bbr-congestion-control-00; Linux 6.x",
        linux_bbr,
    ).with_page(&pages::LINUX_BBR),
    new_scheme(
        "linux-reno",
        "linux with Reno's window and plain slow start: net.ipv4.tcp_congestion_control=reno",
        "RFC 5681; Linux 6.x",
        || with_startup(Recipe { congestion: &LINUX_RENO, ..linux() }, &LINUX_SLOW_START),
    ).with_page(&pages::LINUX_RENO),
    new_scheme(
        "careful-resume",
        "linux, jumps to half of a remembered window once the path has proved to be the same",
        "RFC 9959",
        || with_startup(linux(), &CAREFUL_RESUME),
    ),
    new_scheme(
        "jump-start",
        "linux, paces all there is to send over the first round trip",
        "Liu, Allman, Jin & Wang 2007",
        || with_startup(linux(), &JUMP_START),
    ),
    new_scheme(
        "hs-cubic",
        "linux with the agent: begins with what is remembered of the path, cold starts measure it",
        "docs/agent/README.md; docs/adr/0020-one-policy.md",
        || with_startup(linux(), &WARM),
    ).with_page(&pages::HS_AGENT),
    new_scheme(
        "hs-bbr",
        "linux-bbr with the agent: begins with what is remembered of the path",
        "docs/agent/README.md; docs/adr/0020-one-policy.md",
        || with_startup(linux_bbr(), &WARM),
    ).with_page(&pages::HS_AGENT),
    new_scheme(
        "hs-session",
        "linux with the agent: one window, as of one CUBIC, for all connections to a host",
        "docs/agent/README.md; docs/adr/0020-one-policy.md",
        session_member,
    ).with_page(&pages::HS_AGENT),
    new_scheme(
        "headstart",
        "hs-cubic with timers that know the path, and first flights interleaved at its rate",
        "docs/adr/0022-headstart.md",
        headstart,
    ).with_page(&pages::HEADSTART),
    new_scheme(
        "linux-session",
        "linux, connections to a host share a window and take turns by weight, as in TCP Session",
        "Padmanabhan & Katz 1998 §6, §7.3; Linux 6.x",
        linux_session,
    ).with_page(&pages::LINUX_SESSION),
    new_scheme(
        "linux-session-fs",
        "linux-session, its path remembered and started by fast start",
        "Padmanabhan & Katz 1998 §6.2, §7.3; Linux 6.x",
        || with_startup(linux_session(), &FAST_START),
    ).with_page(&pages::LINUX_SESSION),
    new_scheme(
        "linux-etcp",
        "linux, paths shared and remembered, started paced and with data in the SYN, as in Ensemble-TCP",
        "Eggert, Heidemann & Touch 2000; Linux 6.x",
        linux_etcp,
    ).with_page(&pages::LINUX_ETCP),
    new_scheme("hystartpp", "linux, slow start with HyStart++", "RFC 9406", || {
        with_startup(linux(), &HYSTART_PLUS_PLUS)
    }),
    new_scheme("search", "linux, slow start with SEARCH", "draft-chung-ccwg-search-09", || {
        with_startup(linux(), &SEARCH)
    }),
    new_scheme(
        "suss",
        "linux, flights of slow start quadruple where ACK trains say that the path stays free",
        "Arghavani et al. 2024: SUSS; project SUSSdeveloper/SUSS",
        || with_startup(linux(), &SUSS),
    ),
    new_scheme(
        "rapid-start",
        "linux, paced window of 20 that triples until the round trip grows: Rapid Start",
        "draft-kazuho-ccwg-rapid-start-02",
        rapid_start,
    ),
    new_scheme(
        "stateful-tcp",
        "linux, paces the remembered rate times round trip at that rate: Stateful-TCP",
        "draft-lee-tcpm-stateful-tcp-00; project Stateful-TCP 2020",
        || with_startup(linux(), &STATEFUL_TCP),
    ),
    new_scheme(
        "quicly-jump",
        "linux, paces the whole remembered rate times round trip over the first: quicly's jump",
        "project h2o/quicly, 2026",
        || with_startup(linux(), &QUICLY_JUMP),
    ),
    new_scheme(
        "picoquic-resume",
        "linux, begins with the whole remembered window where the round trip is the same: picoquic",
        "project picoquic, 2026",
        || with_startup(linux(), &PICOQUIC_RESUME),
    ),
    new_scheme(
        "ewma-iw",
        "linux, begins at once with the moving average of earlier windows",
        "project tesi-ebpf-initcwnd 2026",
        || with_startup(linux(), &EWMA_IW),
    ),
    new_scheme("bbr3-start", "linux-bbr, begins as BBRv3", "draft-ietf-ccwg-bbr §5.3.1", || {
        with_startup(linux_bbr(), &BBR3_START)
    }),
];

/// All named schemes, in the order they are listed to users.
pub const fn catalogue() -> &'static [NamedScheme] {
    CATALOGUE
}

/// The entry of a name.
pub(super) fn find_scheme(name: &str) -> Option<&'static NamedScheme> {
    CATALOGUE.iter().find(|scheme| scheme.name == name)
}

/// The recipe of a named scheme.
pub(super) fn recipe(name: &str) -> Option<Recipe> {
    find_scheme(name).map(|scheme| (scheme.recipe)())
}

/// Returns the recipe with the old window again after idle.
fn keep_window_after_idle(mut recipe: Recipe) -> Recipe {
    recipe.config.idle = IdleRestart::Keep;
    recipe
}

/// NewReno with right-edge recovery.
fn right_edge() -> Recipe {
    let mut recipe = classic(&NEWRENO);
    recipe.set(&LIMITED_TRANSMIT, "edge");
    recipe
}

/// Connections to the same host share a window, and repair each other's losses: the integrated
/// congestion control and loss recovery of TCP-INT and TCP Session.
fn integrated(scheduling: Scheduling, later_acks: Overtaken) -> Recipe {
    let mut recipe = classic(&NEWRENO);
    recipe.set_recovery(&INTEGRATED);
    recipe.later_acks = Some(later_acks);
    recipe.sharing = Some(Sharing { scheduling, ..Sharing::default() });
    recipe
}

/// TCP Session: a window that begins with one segment, a timer for all, and weights.
fn session() -> Recipe {
    let mut recipe = integrated(Scheduling::WeightedRoundRobin, Overtaken::ALL_LOST);
    recipe.sharing = recipe.sharing.map(|s| Sharing { timer: TimerScope::Path, ..s });
    recipe.config.initial_window = 1;
    recipe
}

/// TCP Session and Fast Start together (Padmanabhan & Katz 1998 §6.2, §7.3): the path is remembered
/// when its last connection has gone, and begins where it was.
fn session_fast_start() -> Recipe {
    let mut recipe = with_startup(session(), &FAST_START);
    recipe.config.show_priority = true;
    recipe.config.memory = MemoryKind::Temporal;
    recipe
}

/// Ensemble-TCP: the rules of Reno, towards receivers that acknowledge every segment; what finds no
/// ACK clock, also after idle, is paced.
fn ensemble_tcp(tickets: Tickets) -> Recipe {
    let mut recipe = with_startup(classic(&RENO), &RBP);
    let scheduling = Scheduling::Stride(tickets);
    recipe.sharing =
        Some(Sharing { scheduling, joins: JoinPacing::Smoothed, ..Sharing::default() });
    recipe.later_acks = Some(Overtaken::Each);
    // "Only works well with immediate ACKs" (§3.3).
    recipe.config.receive.ack = AckPolicy::Immediate;
    recipe.set(&rbp::SCALE, "1");
    recipe.set(&rbp::END, "used-up");
    recipe
}

/// Ensemble-TCP with temporal sharing.
fn remembering_ensemble_tcp() -> Recipe {
    let mut recipe = ensemble_tcp(Tickets::HtmlFirst);
    recipe.config.memory = MemoryKind::Temporal;
    recipe.config.opening = Opening::Remembered;
    recipe
}

/// Vegas in all three policies.
fn vegas(startup: &'static StartUpDescriptor) -> Recipe {
    let recipe = classic(&vegas_recovery::VEGAS);
    with_startup(Recipe { congestion: &vegas_window::VEGAS, ..recipe }, startup)
}

/// Rate-based pacing with Vegas's rate on Vegas.
fn paced_vegas() -> Recipe {
    let mut recipe = vegas(&RBP_VEGAS);
    recipe.set(&rbp::RATE, "measured");
    recipe.set(&rbp::ROUND_TRIP, "latest");
    recipe.set(&rbp::END, "ack");
    recipe
}

/// Fast start on NewReno; queues do not see what it marks.
fn fast_start() -> Recipe {
    let mut recipe = with_startup(classic(&NEWRENO), &FAST_START);
    recipe.config.show_priority = false;
    recipe
}

/// Fast start whose marks queues see.
fn marked_fast_start() -> Recipe {
    let mut recipe = fast_start();
    recipe.config.show_priority = true;
    recipe
}

/// Returns fast start without its reset timer, so that it never falls back.
fn unguarded_fast_start() -> Recipe {
    let mut recipe = marked_fast_start();
    recipe.set(&fast_start::QUICK, "off");
    recipe
}
