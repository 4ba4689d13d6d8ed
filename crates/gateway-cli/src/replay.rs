//! `headstart gateway replay`: the answers that a gateway would have given, for an access log, a
//! capture, or tables of an analysis. It can also report them to a running gateway.

use crate::client_config;
use crate::tables;
use clap::Args;
use cmdline::captures::{CAPTURE_ENDINGS, Feed, access_log};
use cmdline::{Appendix, Failure, jobs, remark, stdout};
use findings::access_log::DomainFindings;
use findings::{CumulativeDistribution, GATEWAY_WINDOW, RequestWatch, SharingFindings};
use gateway::os::clock::SiteClock;
use gateway::replay::site_load::SiteLoad;
use gateway::replay::{Replay, ReplayFindings, logged};
use gateway_client::{SiteReporter, network_of};
use gateway_observe::passive::{PassiveReport, PassiveSink, aged};
use gateway_proto::v1::{Collector, Report};
use jiff::Timestamp;
use jiff::fmt::strtime;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufWriter, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use trace::EngineConfig;
use units::{Duration, Instant, counted};

/// Maximum number of transfer starts that wait to be put in order: a transfer is reported when it
/// ends.
const MAX_WAITING_STARTS: usize = 1 << 16;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Access log (common, combined, JSON lines; - is standard input), a packet capture, or the
    /// folder that analyze --out has written
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Also report it to the gateways that this agent's configuration names, as old as it is
    #[arg(long, value_name = "agent.toml")]
    to: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Duration of the log
    #[arg(long = "for", value_name = "TIME", default_value = "5min")]
    span: Duration,
    /// Factor of the paper's requests and networks
    #[arg(long, value_name = "TIMES", default_value_t = 1.0)]
    times: f64,
    /// Start, like 1999-08-03T14:00:00Z (default: the load ends now)
    ///
    /// A running gateway refuses reports older than its key retention, by default an hour.
    #[arg(long, value_name = "TIME")]
    begin: Option<Timestamp>,
    /// Another seed, other visitors
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn replay_appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart gateway replay access.log", "Shows how many requests a gateway would have helped."),
            (
                "headstart gateway replay capture.pcap --to DIR/agent.toml",
                "Rebuilds the senders of a capture, and reports what they have met.",
            ),
            (
                "headstart analyze capture.pcap --out tables && headstart gateway replay tables",
                "Reads the tables of an analysis, which may be kept longer than captures.",
            ),
        ],
        notes: "An access log says who asked when, and nothing of paths: its reports are lower bounds of one initial window. A capture, or the \
            tables transfers and retransmissions of its analysis, say what each transfer has met. A gateway takes either only if its key collect has \"replay\"."
            .into(),
        exit: &[("0", "done"), ("1", "a part could not be read, or no gateway took it"), ("2", "the input is wrong")],
        more: &["docs/gateway/reference.md"],
        ..Appendix::default()
    }
}

pub(crate) fn load_appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart gateway load --for 10min >busy.log",
                "Writes a log like MSNBC's of 1999, simulated.",
            ),
            (
                "headstart gateway load --for 10s --times 400 | headstart gateway replay -",
                "Replays 400 times as much.",
            ),
            (
                "headstart gateway load | headstart gateway replay - --to DIR/agent.toml",
                "Reports the last five minutes of a simulated site to a running gateway.",
            ),
        ],
        exit: cmdline::EXIT,
        more: &["docs/gateway/reference.md"],
        ..Appendix::default()
    }
}

/// The results of a replay, and the answers that a gateway would have given.
#[derive(Serialize)]
struct Replayed {
    /// Figures 6 and 7 of the paper.
    sharing: ReplaySharing,
    /// SP-9; only an access log has names.
    domains: Option<DomainFindings>,
    answers: ReplayFindings,
}

/// The share of networks and, if they are known, hosts that ask again: [`SharingFindings`].
#[derive(Serialize)]
struct ReplaySharing {
    requests: u64,
    soon_after_network: u64,
    soon_after_host: Option<u64>,
    since_network: CumulativeDistribution,
    since_host: Option<CumulativeDistribution>,
    networks_within: CumulativeDistribution,
}

impl ReplaySharing {
    /// Creates the shares. Tables keep networks and no hosts: not `has_hosts`.
    fn new(found: SharingFindings, has_hosts: bool) -> Self {
        Self {
            requests: found.requests,
            soon_after_network: found.soon_after_network,
            soon_after_host: has_hosts.then_some(found.soon_after_host),
            since_network: found.since_network,
            since_host: has_hosts.then_some(found.since_host),
            networks_within: found.networks_within,
        }
    }

    /// Returns the share of requests that another request of their network precedes closely enough
    /// to help, in `0..=1`.
    fn helped(&self) -> f64 {
        self.soon_after_network as f64 / self.requests.max(1) as f64
    }
}

pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let mut live = args.to.as_deref().map(LiveGateway::new).transpose()?;
    let name = args.log.to_string_lossy();
    let is_capture = CAPTURE_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let (replayed, verdict) = match tables::folder(&args.log) {
        Some(folder) => (of_tables(&folder, &mut live)?, Ok(())),
        None if is_capture => of_capture(&args.log, &mut live)?,
        None => of_log(&args.log, &mut live)?,
    };
    match args.json {
        true => stdout::print_json(&replayed)?,
        false => stdout::print(&words(&replayed))?,
    }
    if let Some(live) = live {
        let outcome = live.reporter.finish().map_err(Failure::failed)?;
        match args.json {
            // Results for machines are on standard output.
            true => remark(&outcome),
            false => stdout::print(&(outcome + "\n"))?,
        }
    }
    verdict
}

/// A running gateway that gets the reports.
struct LiveGateway {
    reporter: SiteReporter,
    clock: SiteClock,
}

impl LiveGateway {
    fn new(config: &Path) -> Result<Self, Failure> {
        let reporter = SiteReporter::start(client_config(config, Collector::Replay)?);
        let reporter = reporter.map_err(Failure::input)?;
        Ok(Self { reporter, clock: SiteClock::start() })
    }

    fn tell(&mut self, at: Instant, report: Report) -> Result<(), Failure> {
        self.reporter.report(aged(report, at, self.clock.now())).map_err(Failure::failed)
    }
}

fn of_log(
    log: &Path,
    live: &mut Option<LiveGateway>,
) -> Result<(Replayed, Result<(), Failure>), Failure> {
    let (mut replay, mut told) = (Replay::default(), Ok(()));
    let (sharing, domains, verdict) = access_log::read_each(log, |request| {
        let network = network_of(request.client);
        replay.on_request(request.at, network);
        if let (Some(live), Ok(())) = (live.as_mut(), &told) {
            told = live.tell(request.at, logged(network));
        }
    })?;
    told?;
    let sharing = ReplaySharing::new(sharing, true);
    Ok((Replayed { sharing, domains: Some(domains), answers: replay.findings() }, verdict))
}

/// Replays a capture; returns the results, and an error if a part of it could not be read.
fn of_capture(
    file: &Path,
    live: &mut Option<LiveGateway>,
) -> Result<(Replayed, Result<(), Failure>), Failure> {
    let mut hearer = Hearer::new(live.as_mut());
    let mut feed = Feed::open(&[file.to_owned()]).attended()?;
    let config = EngineConfig::default();
    let models = feed.models("auto", &config, jobs::threads(None))?;
    let sink = PassiveSink::new(|found| hearer.hear(found));
    let (_, verdict) = feed.run(EngineConfig { models, ..config }, sink)?;
    Ok((hearer.replayed(true)?, verdict))
}

fn of_tables(folder: &Path, live: &mut Option<LiveGateway>) -> Result<Replayed, Failure> {
    let mut hearer = Hearer::new(live.as_mut());
    tables::read_each(folder, |found| hearer.hear(found))?;
    hearer.replayed(false)
}

/// Receives transfers.
struct Hearer<'a> {
    replay: Replay,
    watch: RequestWatch,
    /// Starts of transfers and their clients: the earliest goes to `watch` once there are more than
    /// [`MAX_WAITING_STARTS`].
    requests: BinaryHeap<Reverse<(Instant, IpAddr)>>,
    /// A running gateway; it gets reports until it fails.
    live: Option<&'a mut LiveGateway>,
    told: Result<(), Failure>,
}

impl<'a> Hearer<'a> {
    fn new(live: Option<&'a mut LiveGateway>) -> Self {
        let (replay, watch) = (Replay::default(), RequestWatch::default());
        Self { replay, watch, requests: BinaryHeap::new(), live, told: Ok(()) }
    }

    fn hear(&mut self, found: PassiveReport) {
        self.requests.push(Reverse((found.began(), found.client)));
        self.pass(MAX_WAITING_STARTS);
        self.replay.on_transfer(found.began(), found.at, &found.report);
        if let (Some(live), Ok(())) = (&mut self.live, &self.told) {
            self.told = live.tell(found.at, found.report);
        }
    }

    /// Passes the earliest requests to the watch until `most` wait.
    fn pass(&mut self, most: usize) {
        while self.requests.len() > most
            && let Some(Reverse((began, client))) = self.requests.pop()
        {
            self.watch.on_request(began, client);
        }
    }

    fn replayed(mut self, has_hosts: bool) -> Result<Replayed, Failure> {
        self.pass(0);
        self.told?;
        let sharing = ReplaySharing::new(self.watch.findings(), has_hosts);
        Ok(Replayed { sharing, domains: None, answers: self.replay.findings() })
    }
}

fn words(replayed: &Replayed) -> String {
    let answers = &replayed.answers;
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    let mut text = String::new();
    let sharing = &replayed.sharing;
    if sharing.requests > 0 {
        let networks = |share: f64| sharing.networks_within.quantile(share).unwrap_or(0.0);
        text += &format!(
            "{}. {:.1} % follow another of their network within {:.0} minutes (Figure 6; MSNBC: about 90 %).\n\
             Networks within these minutes (Figure 7; MSNBC: 15,000 to 25,000): {:.0} at the median, {:.0} at most.\n",
            counted(sharing.requests, "request"),
            100.0 * sharing.helped(),
            GATEWAY_WINDOW.as_secs_f64() / 60.0,
            networks(0.5),
            networks(1.0),
        );
    }
    if let Some(domains) = replayed.domains.filter(|domains| domains.named_networks > 0) {
        text += &format!(
            "Of {} networks with names {:.1} % have several domains (SP-9; MSNBC: 6.3 %).\n",
            domains.named_networks,
            percent(domains.several_domains, domains.named_networks),
        );
    }
    let line = |name: &str, count: u64| {
        format!("  {name:<22}{count:>12}{:>8.1} %\n", percent(count, answers.asked))
    };
    text += &format!(
        "A gateway that knew nothing before would have answered {} questions by\n",
        answers.asked
    );
    text += &line("the network itself", answers.by_network);
    text += &line("a covering prefix", answers.by_covering);
    text += &line("its neighbours", answers.by_neighbours);
    text += &line("the site's other paths", answers.by_prior);
    text += &line("nothing", answers.unanswered);
    text + &format!(
        "It got {} reports, {} of these with a loss, and knows {} prefixes.\n",
        answers.reported, answers.with_loss, answers.prefixes
    )
}

/// Writes lines of the common log format.
pub(crate) fn load(args: &LoadArgs) -> Result<(), Failure> {
    if !(args.times > 0.0 && args.times <= 10_000.0) {
        return Err(Failure::input(format!(
            "--times {}: above 0, up to 10000, please",
            args.times
        )));
    }
    let begin = begin(args)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (mut second, mut stamp) = (u64::MAX, String::new());
    let until = begin + args.span;
    for request in
        SiteLoad::new(args.seed, begin, args.times).take_while(|request| request.at < until)
    {
        let now = request.at.as_nanos() / 1_000_000_000;
        if now != second {
            second = now;
            stamp = shown(now)?;
        }
        writeln!(out, "{} - - [{stamp}] \"GET /news.asp HTTP/1.0\" 200 10240", request.client)?;
    }
    out.flush()?;
    Ok(())
}

/// Returns the start in whole seconds, since logs have no finer times.
fn begin(args: &LoadArgs) -> Result<Instant, Failure> {
    let ended = SiteClock::wall_seconds().cast_unsigned();
    let lasted = args.span.as_nanos().div_ceil(1_000_000_000);
    let begin = args.begin.map_or(ended.checked_sub(lasted), |at| at.as_second().try_into().ok());
    let begin =
        begin.ok_or_else(|| Failure::input("--begin: not before 1970, please".to_owned()))?;
    Ok(Instant::ZERO + Duration::from_secs(begin))
}

/// Returns a time in the format of logs.
fn shown(second: u64) -> Result<String, Failure> {
    let at = Timestamp::from_second(second.cast_signed()).map_err(Failure::failed)?;
    strtime::format("%d/%b/%Y:%H:%M:%S +0000", at).map_err(Failure::failed)
}
