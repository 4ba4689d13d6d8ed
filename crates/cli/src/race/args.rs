//! The command line of `headstart race`, and the race it describes.

// Help texts have brackets around what may be left out.
#![allow(rustdoc::broken_intra_doc_links)]

use super::budget::RaceBudget;
use super::page;
use cmdline::{Appendix, Failure, names};
use link::path::{DEFAULT_PRESET, PathSpec, TraceStart, preset};
use race::{
    BASELINE, Hosts, ProcessingDelay, REAL_PROCESSING, Race, RaceResult, Visits, WAKING_PROCESSING,
    World,
};
use std::path::PathBuf;
use std::sync::Arc;
use tcp::Scheme;
use testbed::{Browser, ClientTcp, Contender, ServerChoice};
use units::Duration;
use workload::{
    BUILTINS, ClientModel, Http, LoaderConfig, Page, PageMilestone, RecordedRun, ServerModel,
    TLS_SERVER_FLIGHT, Tls,
};

/// Races if none are named: servers of today, and what their operators choose among.
const DEFAULT_SCHEMES: &str = "linux,linux+iw=32,linux-bbr,hs-cubic";

/// Enough for an interval of the median, and few enough for real time.
const DEFAULT_REPEATS: u32 = 7;
/// Phases of a recorded rate: the interval of their median leaves out the seven lowest and highest
/// times.
const DEFAULT_PHASES: u32 = 25;

#[derive(Debug, clap::Args)]
pub(crate) struct RaceArgs {
    /// A page by name (`headstart pages`), one object of a size, like 30kB, or a HAR file
    ///
    /// A browser's network panel exports HAR files. A file may be compressed by gzip, or be UTF-16. `-` reads it from
    /// standard input.
    #[arg(value_name = "PAGE|SIZE|FILE.har", default_value = BUILTINS[0].name)]
    pub(super) page: String,

    /// Page of a HAR file: a number, an id, or all [default: the one that began first]
    ///
    /// `all` races each of them as a run of one page. Times and gains are medians over the runs.
    #[arg(long, value_name = "N|ID|all")]
    har_page: Option<String>,

    /// The path: RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P][,from=TIME], like 20mbit,80ms,100p
    ///
    /// RATE is the rate towards the client. up= is the rate away from it; without up= both rates are equal. RTT is the
    /// round trip without transmission times. QUEUE is the size of the queue in each direction, like 100p (packets),
    /// 64kB, 0.5bdp (bandwidth-delay products) or inf; it counts the packet in service. DISCIPLINE is droptail (the
    /// default), pdrop, red, codel, fq_codel or acks-first. loss= is the probability that a packet is lost, like 0.01
    /// or 1%, in either direction.
    ///
    /// trace=FILE in place of a rate follows a recorded rate over and over: a trace of mahimahi, or
    /// a table with a time and a rate in each row. If the header does not name columns and units,
    /// options behind FILE do: :column=NAME :unit=kbit/s :time=NAME :time-unit=ms, without spaces.
    /// Without up= the rate up is then a fifth of the mean.
    /// Each repeat starts at another time of the recording; from=TIME starts all of them there.
    #[arg(long, value_name = "PATH", conflicts_with = "path_preset", value_parser = names::path)]
    path: Option<PathSpec>,

    /// A path by name (`headstart paths`) [default: cable]
    #[arg(long, value_name = "NAME", value_parser = names::path_preset)]
    path_preset: Option<PathSpec>,

    /// Schemes, separated by commas (`headstart schemes`); `linux` and `limit` are always shown
    ///
    /// Simulations also show `perfect start`: servers that know the path and their share of it.
    ///
    /// Parameters follow the name of a scheme: linux+iw=32+pacing=on. hs-cubic, hs-bbr and hs-session are Linux with an
    /// agent (`headstart agent`): on `kernel` by the agent, elsewhere by the same decisions.
    #[arg(long, value_name = "A,B,…", default_value = DEFAULT_SCHEMES, value_parser = parse_schemes)]
    schemes: SchemeList,

    /// HTTP version of all hosts: 1.0, 1.1, 2 or 3 [default: as the page says]
    ///
    /// HTTP/3 is simulated over a transport like QUIC, with the start-up and congestion control of
    /// each scheme. On wire and kernel, pages recorded over HTTP/3 are loaded over HTTP/2.
    #[arg(long, value_name = "VERSION", value_parser = parse_http)]
    pub(super) http: Option<Http>,

    /// Connections open at once to a host under HTTP/1.0 and 1.1 [default: as the page says, else 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    connections: Option<u32>,

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
    tls_flight: Option<u64>,

    /// Bulk downloads by `linux` to the same client; they start ten seconds before the page
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1000))]
    background: u32,

    /// Visits of the page by the same client, one after another
    ///
    /// The table then has a row for the first visit, and one for the mean of the repeated visits. Connections that HTTP
    /// keeps alive stay open. Under schemes with a memory, hosts remember the path.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    visits: u32,

    /// Open new connections on each visit, as a browser does after a restart
    #[arg(long, requires = "visits")]
    reconnect: bool,

    /// Idle time between two visits, like 30 or 1.5s
    #[arg(long, value_name = "SECONDS", default_value = "30", requires = "visits", value_parser = parse_idle)]
    idle: Duration,

    /// Servers behind each host of the page; visits go to them in turn, and they share a gateway
    #[arg(long, value_name = "N", default_value_t = 1, requires = "visits", value_parser = clap::value_parser!(u32).range(1..=64))]
    site: u32,

    /// Worlds to race in, separated by commas: sim, wire, kernel
    ///
    /// `sim` simulates. In `wire`, headstart's own TCP sends to a Linux client; in `kernel`, Linux sends to Linux. Real
    /// worlds emulate the path between network namespaces and take real time; schemes and worlds are interleaved. Real
    /// worlds need root and TUN devices. Without these, headstart says so and runs `sim` alone.
    ///
    /// `kernel` has the schemes linux (its CUBIC), linux-bbr and linux-reno, also with iw=N (set by a route). If
    /// headstart-agent is installed, `kernel` also has hs-cubic, hs-bbr and hs-session. Each client then meets an agent
    /// of its own, whose memory is empty on the first visit. `sim` and `wire` have these schemes without an agent.
    #[arg(long, value_name = "A,B,…", default_value = "sim", value_delimiter = ',')]
    pub(super) on: Vec<World>,

    /// Web server in the world `kernel`: auto, nginx, builtin, or the path of an nginx
    ///
    /// `builtin` answers as the simulated server does, with the same think times and the same order of HTTP/2 frames.
    /// `auto` is nginx if it is installed and can serve the page, else `builtin`.
    #[arg(long, value_name = "SERVER", default_value = "auto")]
    pub(super) server: ServerChoice,

    /// Web server that simulated servers write as: builtin or nginx
    ///
    /// nginx writes headers by themselves, answers in the order of the requests, and changes `TCP_NODELAY` and `TCP_CORK` as it writes.
    /// With `--server nginx` it is what simulation is compared with; nothing else chooses it. The model is of nginx in the clear; a
    /// note says so if the page speaks TLS.
    #[arg(long, value_name = "MODEL", default_value_t = ServerModel::Builtin)]
    pub(super) server_model: ServerModel,

    /// Client in the worlds `wire` and `kernel`: loader (as in simulation), or the installed curl or chromium
    ///
    /// chromium loads a page over HTTP/1.1 without TLS from headstart's endpoint, and finds the page's objects by itself. curl loads one object without TLS, like 30kB. Each visit is a process of its own, so several visits need
    /// --reconnect. The simulation always uses the loader.
    #[arg(long = "client", value_name = "CLIENT", default_value = "loader")]
    pub(super) browser: Browser,

    /// Client that the loader imitates: loader (none) or chromium
    ///
    /// chromium opens two connections to the page's first host at once, under HTTP/1.1, and takes 20 ms to read a document.
    /// `--client chromium` does not select it; give both.
    #[arg(long, value_name = "MODEL", default_value_t = ClientModel::Loader)]
    pub(super) client_model: ClientModel,

    /// Receive window that the client offers from the start, like 1MB [default: Linux' own, 64 kB at first]
    ///
    /// A first flight is never larger than this window.
    #[arg(long, value_name = "SIZE", value_parser = parse_window)]
    client_window: Option<u32>,

    /// Loads under each scheme, each with other start phases and delays [default: 7; 1 with
    /// --exact; 25 in simulation over a recorded rate]
    ///
    /// The table shows medians. From six repeats on it also shows a 95 % confidence interval of the gain. If the
    /// interval contains zero, the table says "no difference".
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: Option<u32>,

    /// Let simulated hosts answer at once, without jitter: one load that is always the same
    ///
    /// Real hosts take 50 to 130 us to answer a packet, and the time varies. If two packets race for the last place in
    /// a queue, these microseconds decide which one is lost. So one exact load may be far from the usual.
    #[arg(long)]
    pub(super) exact: bool,

    /// Seed of start phases and losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// End of a load: load (its event) or last (the last byte) [default: load if it is recorded]
    ///
    /// Times, gains, bounds and harm count up to this milestone. Later objects are loaded, too.
    /// `load` needs a HAR file with the time of its load event.
    #[arg(long, value_name = "MILESTONE", value_parser = parse_until)]
    until: Option<PageMilestone>,

    /// Exit with code 3 if results exceed these limits, like load=2s,gain=10%
    ///
    /// Keys of times are document, content_loaded, load and last_byte: no median under the first
    /// scheme may be later. The key gain is the least gain over `linux` that some scheme has to
    /// have. Perfect start does not count.
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

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart race",
                "Loads the page `news` over the path `cable`: a page of today, seconds of computing.",
            ),
            (
                "headstart race page.har --path 20mbit,80ms,100p --schemes newreno,linux+iw=32",
                "Loads your page, exported from a browser's network panel, over your path.",
            ),
            (
                "headstart race --path-preset lte --report lte.html",
                "Draws a waterfall, time-sequence plots, windows with the causes of their changes, and queues.",
            ),
            (
                "headstart race 500kB --path trace=drive.csv,40ms,200p,up=10mbit --schemes linux,linux+iw=32",
                "Loads an object over a recorded link, from 25 different times of the recording on.",
            ),
            (
                "headstart race --background 2",
                "Loads it against two downloads. Harm is what the downloads lose compared with linux.",
            ),
            (
                "headstart race --visits 3 --idle 20 --schemes linux,newreno-ssr,newreno-nssr,fs",
                "Loads the page three times, 20 s apart: first and repeated visits.",
            ),
            (
                "headstart race --visits 4 --site 4 --schemes linux,spand",
                "Visits four servers in turn. They share what they learn of the client's network.",
            ),
            (
                "sudo headstart race --on sim,kernel --schemes linux,linux-bbr",
                "Loads the page over the same path in simulation and by the Linux kernel.",
            ),
            (
                "sudo headstart race 200kB --on kernel --visits 2 --idle 1 --reconnect --schemes linux,hs-cubic",
                "Compares the Linux kernel with and without an agent: first and repeated visits.",
            ),
            (
                "sudo headstart race pages/article.har --http 1.1 --tls none --on sim,wire --client chromium --client-model chromium --schemes headstart",
                "Loads a page by a browser, and simulates the same.",
            ),
            (
                "sudo headstart race 30kB --on kernel --client curl --schemes linux,linux-bbr",
                "Loads one object from nginx by curl, both as they are installed.",
            ),
            (
                "headstart race map --http 1.0 --path-preset t1-1998 --json",
                "Loads a page of 1998. `--json-schema` says how to read the output.",
            ),
        ],
        notes: "Times count from the start of the load. Name lookups are not part of it.".into(),
        exit: &[
            ("0", "all loads have completed"),
            ("1", "a load has not completed after 600 s"),
            ("2", "the input is wrong, or a privilege is missing"),
        ],
        see_also: &["headstart-schemes", "headstart-pages", "headstart-paths"],
        more: &["docs/first-race.md", "docs/race.md", "docs/worlds.md"],
        ..Appendix::default()
    }
}

/// The race of one run of the page.
pub(super) struct RaceOfRun {
    /// The run's id in the recording.
    pub(super) id: Option<String>,
    pub(super) race: Race,
}

#[derive(Clone, Debug)]
struct SchemeList(Vec<Contender>);

fn parse_schemes(list: &str) -> Result<SchemeList, String> {
    let meant = |error| tcp::scheme::scheme_meant(list).unwrap_or(error);
    Contender::list(list).map(SchemeList).map_err(meant)
}

/// TCP announces no more (RFC 7323 §2.3).
const MOST_WINDOW: u64 = 1 << 30;
/// Less would be no window of a browser's.
const LEAST_WINDOW: u64 = 4096;

fn parse_window(text: &str) -> Result<u32, String> {
    let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
    match u32::try_from(bytes) {
        Ok(window) if (LEAST_WINDOW..=MOST_WINDOW).contains(&bytes) => Ok(window),
        _ => Err("from 4kB to 1GB, please".to_owned()),
    }
}

/// The longest idle time: a day. Background traffic is simulated throughout.
const MOST_IDLE: Duration = Duration::from_secs(86_400);

fn parse_idle(text: &str) -> Result<Duration, String> {
    let is_bare = text.ends_with(|c: char| c.is_ascii_digit());
    let text = if is_bare { format!("{text}s") } else { text.to_owned() };
    let idle: Duration = text.parse().map_err(|error: units::ParseUnitError| error.to_string())?;
    match idle <= MOST_IDLE {
        true => Ok(idle),
        false => Err("a day at most, please".to_owned()),
    }
}

fn parse_until(text: &str) -> Result<PageMilestone, String> {
    match text {
        "load" => Ok(PageMilestone::Load),
        "last" => Ok(PageMilestone::LastByte),
        _ => Err("use load or last".to_owned()),
    }
}

fn parse_http(text: &str) -> Result<Http, String> {
    match text.parse() {
        // The scheme `phttp` brings its own way; it is no version.
        Ok(Http::Persistent) | Err(_) => Err("use 1.0, 1.1, 2 or 3".to_owned()),
        Ok(http) => Ok(http),
    }
}

fn parse_tls(text: &str) -> Result<Tls, String> {
    text.parse().map_err(|_| "use none, 1.2, 1.3 or 0rtt".to_owned())
}

/// The longest chain of certificates that clients accept: OpenSSL's limit
/// (`SSL_CTX_set_max_cert_list`).
const MOST_TLS_FLIGHT: u64 = 100 << 10;

fn parse_tls_flight(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text).map_err(|error| error.to_string())? {
        bytes @ 200..=MOST_TLS_FLIGHT => Ok(bytes),
        _ => Err("from 200B to 100kB, please".to_owned()),
    }
}

impl RaceArgs {
    /// Who races: the race's schemes, and those that only the kernel has.
    pub(super) fn contenders(&self) -> &[Contender] {
        &self.schemes.0
    }

    /// The client in worlds that have Linux as such.
    pub(super) const fn client(&self) -> ClientTcp {
        ClientTcp { window: self.client_window }
    }

    /// The simulated browser's TCP; `None`: as its servers'. Beside real worlds it has the clock of this machine's
    /// kernel, else results would depend on the machine.
    fn client_tcp(&self) -> Option<Scheme> {
        if !self.is_simulated_only() {
            return Some(self.client().model());
        }
        let window = self.client_window?;
        Some(Scheme::parse(&format!("{BASELINE}+rwnd={window}B")).expect("linux takes a window"))
    }

    /// The runs of the page, all loaded until the same milestone.
    fn pages(&self) -> Result<Vec<RecordedRun>, Failure> {
        let pages = page::pages(&self.page, self.har_page.as_deref())?;
        let know = |until| pages.iter().all(|run| run.page.knows(until));
        let until = match self.until {
            None if know(PageMilestone::Load) => PageMilestone::Load,
            None => PageMilestone::LastByte,
            Some(until) if know(until) => until,
            Some(_) => {
                return Err(Failure::input(format!(
                    "--until load: {} has no time of a load event (pageTimings.onLoad); --until last measures the last byte",
                    self.page
                )));
            }
        };
        let measured = |run: RecordedRun| {
            let page = run.page.measured_until(until);
            RecordedRun { page, ..run }
        };
        Ok(pages.into_iter().map(measured).collect())
    }

    /// Refuses a budget for what the page does not know.
    pub(super) fn check_budget(&self, races: &[RaceOfRun]) -> Result<(), Failure> {
        let Some(budget) = &self.budget else { return Ok(()) };
        races.iter().try_for_each(|run| budget.check(&run.race.page))
    }

    /// Fails if the result exceeds the budget.
    pub(super) fn judge(&self, result: &RaceResult) -> Result<(), Failure> {
        let Some(budget) = &self.budget else { return Ok(()) };
        budget.judge(result, self.schemes.0.first().map_or(BASELINE, Contender::name))
    }

    /// The race of each run of the page; reads the page.
    pub(super) fn races(&self) -> Result<Vec<RaceOfRun>, Failure> {
        let race = |run: RecordedRun| Ok(RaceOfRun { id: run.id, race: self.race(run.page)? });
        self.pages()?.into_iter().map(race).collect()
    }

    fn race(&self, page: Page) -> Result<Race, Failure> {
        let default = || preset(DEFAULT_PRESET).map(|preset| preset.spec());
        let is_real = !self.is_simulated_only();
        let path = self.path.or(self.path_preset).or_else(default);
        let path = path.ok_or_else(|| Failure::input("no default path"))?;
        Ok(Race {
            page: Arc::new(page),
            path,
            loader: LoaderConfig {
                http: self.http,
                without_quic: is_real && self.http.is_none(),
                tls: self.tls,
                tls_server_flight: self.tls_flight.unwrap_or(TLS_SERVER_FLIGHT),
                connections: self.connections,
                server: self.server_model,
                client: self.client_model,
                ..LoaderConfig::default()
            },
            schemes: self.schemes.0.iter().map(|one| one.scheme().clone()).collect(),
            client: self.client_tcp(),
            hosts: if is_real { Hosts::Together } else { Hosts::Apart },
            processing: match (self.exact, is_real) {
                (true, _) => ProcessingDelay::NONE,
                (false, true) => WAKING_PROCESSING,
                (false, false) => REAL_PROCESSING,
            },
            visits: Visits {
                count: self.visits,
                idle: self.idle,
                site: self.site,
                reconnects: self.reconnect,
                other: None,
            },
            background: self.background,
            repeats: self.repeat.unwrap_or(match (path.trace_start(), self.exact) {
                (TraceStart::Anywhere, _) if path.is_changing() && !is_real => DEFAULT_PHASES,
                (_, true) => 1,
                (_, false) => DEFAULT_REPEATS,
            }),
            seed: self.seed,
        })
    }
}
