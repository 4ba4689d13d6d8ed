//! The options of one race.

// Help texts have brackets around what may be left out.
#![allow(rustdoc::broken_intra_doc_links)]

use super::budget::RaceBudget;
use super::values::{
    HostRtt, LookupTime, SchemeList, parse_http, parse_idle, parse_schemes, parse_tls,
    parse_tls_flight, parse_until, parse_upload, parse_window,
};
use cmdline::names;
use link::path::PathSpec;
use race::World;
use std::path::PathBuf;
use tcp::LinuxVersion;
use testbed::{Browser, ServerChoice};
use units::Duration;
use workload::{BUILTINS, ClientModel, Http, PageMilestone, ServerModel, Tls};

/// Races if none are named: servers of today, and what their operators choose among.
const DEFAULT_SCHEMES: &str = "linux,linux+iw=32,linux-bbr,hs-cubic";

#[derive(Debug, clap::Args)]
pub(crate) struct RaceArgs {
    /// A page by name (`headstart pages`), one object of a size, like 30kB, or a HAR file
    ///
    /// Several pages are compared: `before.har after.har` shows what changed between them. A
    /// browser's network panel exports HAR files. A file may be compressed by gzip, or be UTF-16.
    /// `-` reads it from standard input.
    #[arg(value_name = "PAGE|SIZE|FILE.har", default_value = BUILTINS[0].name)]
    pub(super) page: String,

    /// Page of a HAR file: a number, an id, or all [default: the one that began first]
    ///
    /// `all` races each of them as a run of one page. Times and gains are medians over the runs.
    #[arg(long, value_name = "N|ID|all")]
    pub(super) har_page: Option<String>,

    /// The path: RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P]
    /// [,ordered-jitter=TIME][,rtt-steps=TIME:RTT/…][,from=TIME], like 20mbit,80ms,100p
    ///
    /// RATE is the rate towards the client. up= is the rate away from it; without up= both rates
    /// are equal. RTT is the round trip without transmission times. QUEUE is the size of the queue
    /// in each direction, like 100p (packets), 64kB, 0.5bdp (bandwidth-delay products), 50ms (of
    /// sending) or inf; it counts the packet in service. DISCIPLINE is droptail (the default),
    /// pdrop, red, codel, fq_codel or acks-first. loss= is the probability that a packet is lost in
    /// either direction. It is written like 0.01 or 1%. With ordered-jitter= each packet is late by
    /// up to TIME, and none overtakes another. With rtt-steps=2s:80ms/5s:40ms the round trip
    /// changes 2 s and 5 s into the load, in simulations only; packets keep their order.
    ///
    /// trace=FILE in place of a rate follows a recorded rate over and over: a trace of mahimahi, or
    /// a table with a time and a rate in each row. If the header does not name columns and units,
    /// options behind FILE do: :column=NAME :unit=kbit/s :time=NAME :time-unit=ms, without spaces.
    /// Without up= the rate up is then a fifth of the mean. Each repeat starts at another time of
    /// the recording; from=TIME starts all of them there.
    #[arg(long, value_name = "PATH", conflicts_with = "path_preset", value_parser = names::path)]
    pub(super) path: Option<PathSpec>,

    /// A path by name (`headstart paths`) [default: cable]
    #[arg(long, value_name = "NAME", value_parser = names::path_preset)]
    pub(super) path_preset: Option<PathSpec>,

    /// Schemes, separated by commas (`headstart schemes`); `linux` and `limit` are always shown
    ///
    /// Simulations also show `perfect start`: servers that know the path and their share of it.
    ///
    /// Parameters follow the name of a scheme: linux+iw=32+pacing=on. hs-cubic, hs-bbr and
    /// hs-session are Linux with an agent (`headstart agent`): on `kernel` by the agent, elsewhere
    /// by the same decisions.
    #[arg(long, value_name = "A,B,…", default_value = DEFAULT_SCHEMES, value_parser = parse_schemes)]
    pub(super) schemes: SchemeList,

    /// Version of Linux that all schemes follow: 6.12, 6.18 or 7.0 [default: 6.18]
    ///
    /// A scheme that names a version, like linux+linux=7.0, keeps it. Versions differ in the
    /// client: its largest receive window (6 MiB until 6.15, 32 MiB since), and how long it holds
    /// back ACKs behind a loss (longer since 6.19). Simulations only.
    #[arg(long, value_name = "VERSION")]
    pub(super) linux: Option<LinuxVersion>,

    /// Body of each request, like 1MB: the client uploads it before it is answered
    ///
    /// The client sends by the scheme of its row, as the servers do, so that the rows compare the
    /// client's schemes. The time until the last body is received counts. Simulations only.
    #[arg(long, value_name = "SIZE", value_parser = parse_upload)]
    pub(super) upload: Option<u64>,

    /// HTTP version of all hosts: 1.0, 1.1, 2 or 3 [default: as the page says]
    ///
    /// HTTP/3 is simulated over a transport like QUIC, with the start-up and congestion control of
    /// each scheme. On wire and kernel, pages recorded over HTTP/3 are loaded over HTTP/2.
    #[arg(long, value_name = "VERSION", value_parser = parse_http)]
    pub(super) http: Option<Http>,

    /// Connections open at once to a host under HTTP/1.0 and 1.1 [default: as the page says, else
    /// 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) connections: Option<u32>,

    /// TLS of all hosts: none, 1.2, 1.3 or 0rtt [default: as the page says]
    ///
    /// A handshake takes two round trips with 1.2 and one with 1.3. 0rtt is a resumed session of
    /// TLS 1.3 whose first requests go with the ClientHello.
    #[arg(long, value_name = "VERSION", value_parser = parse_tls)]
    pub(super) tls: Option<Tls>,

    /// Size of a server's TLS flight, certificates included, like 12kB [default: 3.5kB]
    ///
    /// A flight that does not fit into the first window takes a round trip more.
    #[arg(long, value_name = "SIZE", value_parser = parse_tls_flight)]
    pub(super) tls_flight: Option<u64>,

    /// Round trip to a host of the page, like cdn.example=80ms, in place of the path's; repeatable
    ///
    /// `recorded` takes those of a recording: the shortest TCP handshake with each host. Hosts
    /// without one keep the path's. Simulations only.
    #[arg(long, value_name = "HOST=TIME|recorded")]
    pub(super) rtt_of: Vec<HostRtt>,

    /// Time of a name lookup, like 30ms, or recorded [default: lookups are not part of a load]
    ///
    /// Each name is looked up once, before the first connection to its host. `recorded` takes the
    /// times of a recording; hosts without one are looked up in no time. Simulations only.
    #[arg(long, value_name = "TIME|recorded")]
    pub(super) dns: Option<LookupTime>,

    /// Bulk downloads by `linux` to the same client; they start ten seconds before the page
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub(super) background: u32,

    /// Visits of the page by the same client, one after another
    ///
    /// The table then has a row for the first visit, and one for the mean of the repeated visits.
    /// Connections that HTTP keeps alive stay open. Under schemes with a memory, hosts remember the
    /// path.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) visits: u32,

    /// Open new connections on each visit, as a browser does after a restart
    #[arg(long, requires = "visits")]
    pub(super) reconnect: bool,

    /// Idle time between two visits, like 30 or 1.5s
    #[arg(long, value_name = "SECONDS", default_value = "30", requires = "visits", value_parser = parse_idle)]
    pub(super) idle: Duration,

    /// Servers behind each host of the page; visits go to them in turn, and they share a gateway
    #[arg(long, value_name = "N", default_value_t = 1, requires = "visits", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(super) site: u32,

    /// Worlds to race in, separated by commas: sim, wire, kernel
    ///
    /// `sim` simulates. In `wire`, headstart's own TCP sends to a Linux client; in `kernel`, Linux
    /// sends to Linux. Real worlds emulate the path between network namespaces and take real time;
    /// schemes and worlds are interleaved. Real worlds need root and TUN devices. Without these,
    /// headstart says so and runs `sim` alone.
    ///
    /// `kernel` has the schemes linux (its CUBIC), linux-bbr and linux-reno, also with iw=N (set by
    /// a route). If headstart-agent is installed, `kernel` also has hs-cubic, hs-bbr and
    /// hs-session. Each client then meets an agent of its own, whose memory is empty on the first
    /// visit. `sim` and `wire` have these schemes without an agent.
    #[arg(long, value_name = "A,B,…", default_value = "sim", value_delimiter = ',')]
    pub(super) on: Vec<World>,

    /// Web server in the world `kernel`: auto, nginx, builtin, or the path of an nginx
    ///
    /// `builtin` answers as the simulated server does, with the same think times and the same order
    /// of HTTP/2 frames. `auto` is nginx if it is installed and can serve the page, else `builtin`.
    #[arg(long, value_name = "SERVER", default_value = "auto")]
    pub(super) server: ServerChoice,

    /// Web server that simulated servers write as: builtin or nginx
    ///
    /// nginx writes headers by themselves, answers in the order of the requests, and changes
    /// `TCP_NODELAY` and `TCP_CORK` as it writes. Without this option, simulated servers write as
    /// the server in the world `kernel`, else as `builtin`. The model is of nginx in the clear. If
    /// the worlds have different servers for that, a line above the table says so.
    #[arg(long, value_name = "MODEL")]
    pub(super) server_model: Option<ServerModel>,

    /// Client in the worlds `wire` and `kernel`: loader (as in simulation), or the installed curl
    /// or chromium
    ///
    /// chromium loads a page over HTTP/1.1 without TLS from headstart's endpoint, and finds the
    /// page's objects by itself. curl loads one object without TLS, like 30kB. Each visit is a
    /// process of its own, so several visits need --reconnect. The simulation always uses the
    /// loader.
    #[arg(long = "client", value_name = "CLIENT", default_value = "loader")]
    pub(super) browser: Browser,

    /// Client that the loader imitates: loader (none) or chromium
    ///
    /// chromium opens two connections to the page's first host at once, under HTTP/1.1, and takes
    /// 20 ms to read a document. `--client chromium` does not select it; give both.
    #[arg(long, value_name = "MODEL", default_value_t = ClientModel::Loader)]
    pub(super) client_model: ClientModel,

    /// Receive window that the client offers from the start, like 1MB [default: Linux' own, 64 kB
    /// at first]
    ///
    /// A first flight is never larger than this window.
    #[arg(long, value_name = "SIZE", value_parser = parse_window)]
    pub(super) client_window: Option<u32>,

    /// Loads under each scheme, each with other start phases and delays [default: 7; 1 with
    /// --exact; 25 in simulation over a recorded rate]
    ///
    /// The table shows medians. From six repeats on it also shows a 95 % confidence interval of the
    /// gain. If the interval contains zero, the table says "no difference".
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) repeat: Option<u32>,

    /// Let simulated hosts answer at once, without jitter: one load that is always the same
    ///
    /// Real hosts take 50 to 130 us to answer a packet, and the time varies. If two packets race
    /// for the last slot of a queue, these microseconds decide which one is lost. So one exact load
    /// may be far from the usual.
    #[arg(long)]
    pub(super) exact: bool,

    /// Seed of start phases and losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// End of a load: load (its event) or last (the last byte) [default: load if it is recorded]
    ///
    /// Times, gains, bounds and harm count up to this milestone. Later objects are loaded, too.
    /// `load` needs a HAR file with the time of its load event.
    #[arg(long, value_name = "MILESTONE", value_parser = parse_until)]
    pub(super) until: Option<PageMilestone>,

    /// Exit with code 3 if results exceed these limits, like load=2s,gain=10%
    ///
    /// Keys of times are document, content_loaded, load and last_byte: no median under the first
    /// scheme may be later. The key gain is the least gain over `linux` that some scheme has to
    /// have. Perfect start does not count. If a page or an option is varied, the last variant is
    /// judged; slower=5% fails if the first scheme then takes more than 5 % longer than in the
    /// first variant.
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub(super) budget: Option<RaceBudget>,

    /// Print JSON instead of a table
    #[arg(long)]
    pub(super) json: bool,

    /// Print the schema of the JSON and do nothing else
    #[arg(long)]
    pub(super) json_schema: bool,

    /// Write a report with pictures; they show the first repeat
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,

    /// Write captures of the access link in the first repeat, headers only
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) pcap: Option<PathBuf>,

    /// Threads to run on; results do not depend on their number [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}
