//! The command line of `headstart race`, and the race it describes.

// Help texts have brackets around what may be left out.
#![allow(rustdoc::broken_intra_doc_links)]

use crate::failure::Failure;
use crate::{input, names};
use race::path::{DEFAULT_PRESET, PathSpec, preset};
use race::{BASELINE, Hosts, ProcessingDelay, REAL_PROCESSING, Race, Visits, World};
use std::path::PathBuf;
use std::sync::Arc;
use tcp::Scheme;
use units::Duration;
use workload::{BUILTINS, Http, LoaderConfig, Tls};
use worlds::{Browser, Client, Contender, ServerChoice};

/// Races if none are named: what servers run, what they could, what they ran and what its page did.
const DEFAULT_SCHEMES: &str = "linux,linux+iw=32+pacing=on,newreno,newreno+iw=1,phttp";

/// Enough for an interval of the median, and few enough for real time.
const DEFAULT_REPEATS: u32 = 7;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A HAR file, a page that comes with headstart (`headstart pages`), or one object of a size, like 30kB
    ///
    /// A HAR file may be compressed by gzip or in UTF-16; `-` is standard input.
    #[arg(value_name = "PAGE|SIZE|FILE.har", default_value = BUILTINS[0].name)]
    pub(super) page: String,

    /// Which page of a HAR file that has several, by number or id [default: the one that began first]
    #[arg(long, value_name = "N|ID")]
    har_page: Option<String>,

    /// The path: RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P]
    ///
    /// RATE is towards the client, like 20mbit; RTT is the round trip, like 80ms; QUEUE is 100p, 64kB,
    /// 0.5bdp or inf and counts the packet in service. DISCIPLINE is droptail (the default), pdrop, red,
    /// codel, fq_codel or acks-first. Without up= both ways have the same rate. loss= strikes each packet
    /// of either direction, like 0.01 or 1%.
    #[arg(long, conflicts_with = "path_preset", value_parser = parse_path)]
    path: Option<PathSpec>,

    /// A path by name (`headstart paths`) [default: cable]
    #[arg(long, value_name = "NAME", value_parser = names::path_preset)]
    path_preset: Option<PathSpec>,

    /// The schemes, separated by commas; `linux` and `limit` always run
    ///
    /// hs-cubic, hs-bbr and hs-session are Linux with an agent (`headstart agent`): they run on `kernel` alone.
    #[arg(long, value_name = "A,B,…", default_value = DEFAULT_SCHEMES, value_parser = parse_schemes)]
    schemes: SchemeList,

    /// HTTP version of all hosts [default: as the page says]
    #[arg(long, value_name = "VERSION", value_parser = parse_http)]
    http: Option<Http>,

    /// Connections open at once to a host under HTTP/1.0 and 1.1 [default: as the page says, and 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    connections: Option<u32>,

    /// Security of all hosts, none or 1.3 [default: as the page says]
    #[arg(long, value_name = "VERSION", value_parser = parse_tls)]
    tls: Option<Tls>,

    /// Bulk linux flows to the same client, begun ten seconds before the page
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1000))]
    background: u32,

    /// Visits of the page by the same client, each under the same scheme
    ///
    /// The table then has first visits, and repeated ones on average. Connections that HTTP keeps alive stay
    /// open, and hosts remember what their scheme has them remember.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    visits: u32,

    /// Each visit opens connections of its own, as a browser does that was closed between
    #[arg(long, requires = "visits")]
    reconnect: bool,

    /// Idle time between visits, like 30 or 1.5s
    #[arg(long, value_name = "SECONDS", default_value = "30", requires = "visits", value_parser = parse_idle)]
    idle: Duration,

    /// Servers behind each of the page's hosts, visited in turn and sharing a gateway
    #[arg(long, value_name = "N", default_value_t = 1, requires = "visits", value_parser = clap::value_parser!(u32).range(1..=64))]
    site: u32,

    /// Where: sim, wire (our endpoint to a Linux client), kernel (Linux to Linux), separated by commas
    ///
    /// Real worlds emulate the path between network namespaces and take real time, schemes and worlds interleaved. They need root and TUN devices; without them only `sim`
    /// is run, and said so. The kernel has the schemes linux (its cubic), linux-bbr and linux-reno, also with iw=N
    /// (by a route), and, where there is headstart-agent, hs-cubic, hs-bbr and hs-session: each client's visits with an agent of their own, which knows
    /// nothing at first.
    #[arg(long, value_name = "A,B,…", default_value = "sim", value_delimiter = ',')]
    pub(super) on: Vec<World>,

    /// What serves in the world kernel: auto, nginx, builtin, or the path of an nginx
    ///
    /// auto is nginx where it is installed and can have the page, else builtin: a server that answers
    /// as the simulated one does, with the same think times and the same order of HTTP/2's frames.
    #[arg(long, value_name = "SERVER", default_value = "auto")]
    pub(super) server: ServerChoice,

    /// What loads on wire and kernel: loader, as in simulation, or curl as it is installed
    ///
    /// curl loads one object in the clear, like 30kB, and tells the time: a process for each visit, so several
    /// take --reconnect. In simulation the loader loads all the same.
    #[arg(long = "client", value_name = "CLIENT", default_value = "loader")]
    pub(super) browser: Browser,

    /// Window that the client offers from the beginning, like 1MB [default: Linux' own, 64 kB at first]
    ///
    /// The client is Linux then, or its model. What is sent at once is never more.
    #[arg(long, value_name = "SIZE", value_parser = parse_window)]
    client_window: Option<u32>,

    /// Loads under each scheme, each with other start phases and delays [default: 7; 1 with --exact]
    ///
    /// Medians are shown, and from six repeats on a 95 % interval of the gain; where it holds zero there is no
    /// difference.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: Option<u32>,

    /// Simulated hosts answer at once, with no jitter: one load that is always the same
    ///
    /// Real hosts take 50 to 130 us to answer a packet, each time another. Where packets race for the last place in a
    /// queue this decides who wins, so one exact load may be far from what is usual.
    #[arg(long)]
    pub(super) exact: bool,

    /// Seed of start phases and losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print JSON instead of a table
    #[arg(long)]
    pub(super) json: bool,

    /// Print the JSON's schema and do nothing else
    #[arg(long)]
    pub(super) json_schema: bool,

    /// Write a report with pictures of the first repeat
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,

    /// Write captures of the access link, headers only, of the first repeat
    #[arg(long, value_name = "DIR")]
    pub(super) pcap: Option<PathBuf>,

    /// Threads to run on; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}

const EXAMPLES: &str = "\
Examples:
  headstart race
      The page `news` over the path `cable`: a page of today, seconds of computing.
  headstart race page.har --path 20mbit,80ms,100p --schemes newreno,linux+iw=32
      Your page (exported from a browser's network panel) over your path.
  headstart race --path-preset lte --report lte.html
      Pictures: waterfall, time-sequence plots, windows and why they moved, queues.
  headstart race --background 2
      Against two downloads; harm is what the downloads lose compared with linux.
  headstart race --visits 3 --idle 20 --schemes linux,newreno-ssr,newreno-nssr,fs
      The same page three times, 20 s apart: first visits, and repeated ones.
  headstart race --visits 4 --site 4 --schemes linux,spand
      Four servers in turn, which share what they learn of the client's network.
  sudo headstart race --on sim,kernel --schemes linux,linux-bbr
      The same page over the same path, simulated and sent by the Linux kernel.
  sudo headstart race 200kB --on kernel --visits 2 --idle 1 --reconnect --schemes linux,linux-bbr,hs-cubic,hs-bbr
      The Linux kernel as it is and with an agent: first visits, and repeated ones over new connections.
  sudo headstart race 30kB --on kernel --client curl --schemes linux,linux-bbr
      One object from nginx to curl, both as they are installed.
  headstart race map --http 1.0 --path-preset t1-1998 --json
      A page of 1998, machine-readable (--json-schema says how to read it).

Times count from the start of the load. Name lookups are not part of it.";

#[derive(Clone, Debug)]
struct SchemeList(Vec<Contender>);

fn parse_path(text: &str) -> Result<PathSpec, String> {
    text.parse().map_err(|error: race::path::PathError| error.to_string())
}

fn parse_schemes(list: &str) -> Result<SchemeList, String> {
    let meant = |error| names::scheme_meant(list).unwrap_or(error);
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

fn parse_http(text: &str) -> Result<Http, String> {
    match text.parse() {
        // The scheme `phttp` brings its own way; it is no version.
        Ok(Http::Persistent) | Err(_) => Err("use 1.0, 1.1 or 2".to_owned()),
        Ok(http) => Ok(http),
    }
}

fn parse_tls(text: &str) -> Result<Tls, String> {
    text.parse().map_err(|_| "use none or 1.3".to_owned())
}

impl Args {
    /// Who races: the race's schemes, and those that only the kernel has.
    pub(super) fn contenders(&self) -> &[Contender] {
        &self.schemes.0
    }

    /// The client in worlds that have Linux as such.
    pub(super) const fn client(&self) -> Client {
        Client { window: self.client_window }
    }

    /// The simulated browser's TCP; `None`: as its servers'. Beside real worlds it has the clock of this machine's
    /// kernel, else results would depend on the machine.
    fn client_model(&self) -> Option<Scheme> {
        if !self.is_simulated_only() {
            return Some(self.client().model());
        }
        let window = self.client_window?;
        Some(Scheme::parse(&format!("{BASELINE}+rwnd={window}B")).expect("linux takes a window"))
    }

    /// The race they describe; reads the page.
    pub(super) fn race(&self) -> Result<Race, Failure> {
        let default = || preset(DEFAULT_PRESET).map(|preset| preset.spec());
        let is_real = !self.is_simulated_only();
        let path = self.path.or(self.path_preset).or_else(default);
        Ok(Race {
            page: Arc::new(input::page(&self.page, self.har_page.as_deref())?),
            path: path.ok_or_else(|| Failure::input("no default path"))?,
            loader: LoaderConfig {
                http: self.http,
                tls: self.tls,
                connections: self.connections,
                ..LoaderConfig::default()
            },
            schemes: self.schemes.0.iter().filter_map(Contender::core).cloned().collect(),
            client: self.client_model(),
            hosts: if is_real { Hosts::Together } else { Hosts::Apart },
            processing: if self.exact { ProcessingDelay::NONE } else { REAL_PROCESSING },
            visits: Visits {
                count: self.visits,
                idle: self.idle,
                site: self.site,
                reconnects: self.reconnect,
            },
            background: self.background,
            repeats: self.repeat.unwrap_or(if self.exact { 1 } else { DEFAULT_REPEATS }),
            seed: self.seed,
        })
    }
}
