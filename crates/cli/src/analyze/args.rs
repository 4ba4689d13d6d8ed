//! The command line of `headstart analyze`.

use super::tables::TableName;
use cmdline::captures::{ChosenTime, SegmentChoice};
use cmdline::{Appendix, Failure};
use findings::access_log::LogLineFormat;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use trace::{ClientPattern, NamedServers, SenderProfile, ServerPattern, Vantage};
use units::{Duration, Instant};

/// Options that select the packets of a capture, and how they are read.
#[derive(Debug, clap::Args)]
pub(crate) struct SendersArgs {
    /// Take only connections to these servers: ports, addresses, networks, or addresses with ports
    ///
    /// Like 443, or 192.0.2.1,192.0.2.7:8443,2001:db8::/48. It also says which end is the server
    /// where the capture has no handshake. Without it, the end that answers a SYN is the server, or
    /// else the end with the lower port.
    #[arg(long, value_name = "ADDR|PORT", value_delimiter = ',')]
    server: Vec<ServerPattern>,

    /// Take only connections of these clients: networks or addresses, like
    /// 192.0.2.0/24,2001:db8::/48
    #[arg(long, value_name = "NET", value_delimiter = ',')]
    client: Vec<ClientPattern>,

    /// Take only packets from this time on: 2026-11-25T07:13:20Z, or so long after the first TCP
    /// segment, like 12.5s
    ///
    /// The packets before do not exist for the analysis. So a connection that began earlier has no
    /// handshake. Its server is the named one, or the end with the lower port. Its receive windows
    /// count only while they are shut. If a transfer is under way, only its rest counts, and its
    /// time begins there. Begin a few seconds early if that matters.
    #[arg(long, value_name = "TIME", value_parser = chosen_time)]
    from: Option<ChosenTime>,

    /// Take only packets before this time, in the same words
    ///
    /// Connections and transfers that go on end there, as at the end of a capture.
    #[arg(long, value_name = "TIME", value_parser = chosen_time)]
    to: Option<ChosenTime>,

    /// TCP of the servers: linux, linux-sack, newreno, reno, bbr, or a scheme that
    /// `headstart schemes` lists; auto: for each server the one that explains its first packets
    /// best
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) sender: String,

    /// Vantage point of the captures: server, client or middle [default: by each handshake]
    #[arg(long, value_name = "PLACE")]
    vantage: Option<String>,

    /// Ignore what servers send, and predict it from the ACKs of their clients
    #[arg(long)]
    pub(crate) acks_only: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AnalyzeArgs {
    /// Captures: pcap or pcapng, also compressed by gzip or zstd; - is standard input
    ///
    /// Several files are read in the order of their times, whatever the order on the command line.
    /// Files that overlap are merged.
    #[arg(value_name = "FILE", required_unless_present_any = ["access_log", "merge"])]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) senders: SendersArgs,

    /// Predict what servers send from the ACKs of their clients, too, and print how far that is
    /// from what was captured
    #[arg(long, conflicts_with_all = ["acks_only", "json"])]
    pub(super) error: bool,

    /// Print JSON instead of words and tables
    ///
    /// `--json` prints one object per connection, in an array: its ends, retransmissions and
    /// transfers. `--json=findings` prints one object with all that was found: where the time went,
    /// warm starts, losses, ACK compression and parallel connections.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true)]
    json: Option<Option<AnalyzeJson>>,

    /// Print a line for each connection as it ends, and the summary at the end
    ///
    /// For a capture that is still being written to a pipe. A line comes about two seconds after
    /// the last packet of a connection that was closed or reset, and five minutes after that of an
    /// idle one. Without --sender, servers are taken for linux, since nothing is read ahead.
    #[arg(long, conflicts_with_all = ["json", "error"])]
    pub(super) follow: bool,

    /// Write tables in Parquet to this folder: connections, transfers, retransmissions, loss
    /// epochs, windows
    ///
    /// DuckDB, pandas and Spark read them. docs/analyze.md and the files themselves say what each
    /// column means.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// Write sums.json to --out, too, for --merge; memory grows by up to 64 bytes per request
    #[arg(long, requires = "out")]
    pub(super) mergeable: bool,

    /// Print the results of several runs as those of one: their --out, with --mergeable
    ///
    /// Each capture was followed alone: no connection may be in two captures. Findings on hosts
    /// that come again, and on parallel connections, are those of one run if no client network is
    /// in two captures. Networks are listed as by one run if all captures together have at most
    /// 65,536 client networks. Name --sender in each run, because a survey sees one capture alone.
    /// The requests of all runs are in memory.
    #[arg(long, value_name = "DIR", num_args = 1.., value_hint = clap::ValueHint::DirPath, conflicts_with_all = [
        "files", "server", "client", "from", "to", "sender", "vantage", "acks_only", "error", "follow", "out", "mergeable", "report",
        "anonymize", "jobs",
    ])]
    pub(super) merge: Vec<PathBuf>,

    /// Write a report: one HTML file with plots, tables that sort, and the worst connections drawn
    ///
    /// It shows where the time went, the papers' figures of this capture, and time-sequence plots
    /// of the 20 connections that lost the most time to what a sender can change. It loads nothing
    /// from elsewhere.
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,

    /// Write only these tables to --out [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "out")]
    pub(super) tables: Vec<TableName>,

    /// Read a web server's access log instead of captures; - is standard input
    ///
    /// Says how soon the same networks ask again, how many networks there are to remember, and how
    /// many networks have several domains (TCP/SPAND, §5.2). Reads the common and combined log
    /// formats, JSON objects, W3C logs with their line #Fields: (IIS, CloudFront), HAProxy, Envoy,
    /// S3 and AWS load balancers; the file may be compressed. Prints no address. --json and
    /// --report go with it.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "files", "server", "client", "from", "to", "sender", "vantage", "acks_only", "error", "follow", "out", "merge", "anonymize", "jobs",
    ])]
    pub(super) access_log: Option<PathBuf>,

    /// Columns or keys of an access log in a format of its own, like client=1,time=4,request=5
    ///
    /// Columns count from 1; blanks within quotes or brackets separate none. JSON objects have
    /// keys, like client=ip,time=at.utc,request=http.path, with points between objects. time=1+2
    /// joins a date and a time of day. Without request= no request counts as one of an image.
    #[arg(long, value_name = "COLUMNS", requires = "access_log")]
    pub(super) log_format: Option<LogLineFormat>,

    /// Threads that read captures and rebuild senders; results do not depend on their number
    /// [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) jobs: Option<u16>,

    /// Replace addresses in all output, keeping which are in one network; by a random key, or by
    /// the secret in FILE
    ///
    /// The same secret gives the same addresses in each run, also in those of `headstart capture`.
    /// Ports and times are not replaced. --server names the real addresses.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) anonymize: Option<Option<PathBuf>>,
}

/// Kinds of output of `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnalyzeJson {
    /// One object per connection
    Connections,
    /// One object with all that was found
    Findings,
}

impl AnalyzeArgs {
    /// Kind of JSON output, if `--json` is given.
    pub(super) fn json(&self) -> Option<AnalyzeJson> {
        self.json.map(|what| what.unwrap_or(AnalyzeJson::Connections))
    }

    /// Returns the name of the servers' TCP. A survey would read ahead of the connections that are
    /// followed.
    pub(super) fn sender(&self) -> &str {
        match self.senders.sender.as_str() {
            "auto" if self.follow => SenderProfile::Linux.name(),
            name => name,
        }
    }

    /// Refuses options that an access log cannot serve.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.access_log.is_some() && self.json == Some(Some(AnalyzeJson::Connections)) {
            return Err(Failure::input(
                "--json=connections is for captures: an access log has no connections; --json prints what was found",
            ));
        }
        Ok(())
    }

    /// The files that are read.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Path> {
        let secret = self.anonymize.as_ref().and_then(Option::as_ref);
        self.files.iter().chain(secret).chain(&self.access_log).map(PathBuf::as_path)
    }
}

impl SendersArgs {
    pub(crate) fn vantage(&self) -> Result<Option<Vantage>, Failure> {
        self.vantage.as_deref().map(vantage_named).transpose()
    }

    /// The segments that are looked at.
    pub(crate) fn segment_choice(&self) -> Result<SegmentChoice, Failure> {
        let is_empty = match (self.from, self.to) {
            (Some(ChosenTime::At(from)), Some(ChosenTime::At(to))) => from >= to,
            (Some(ChosenTime::After(from)), Some(ChosenTime::After(to))) => from >= to,
            (None, Some(ChosenTime::After(to))) => to.is_zero(),
            _ => false,
        };
        if is_empty {
            return Err(Failure::input("--to is no later than --from: no packet is between them"));
        }
        let clients = self.client.iter().copied().collect();
        Ok(SegmentChoice { from: self.from, to: self.to, clients })
    }

    pub(crate) fn servers(&self) -> NamedServers {
        self.server.iter().copied().collect()
    }
}

/// Reads an instant by RFC 3339, or a time into the capture.
fn chosen_time(text: &str) -> Result<ChosenTime, String> {
    if let Ok(offset) = text.parse::<Duration>() {
        return Ok(ChosenTime::After(offset));
    }
    let time = text.parse::<Timestamp>().ok();
    let nanos = time.and_then(|time| u64::try_from(time.as_nanosecond()).ok());
    nanos.map(|nanos| ChosenTime::At(Instant::from_nanos(nanos))).ok_or_else(|| {
        "neither a time with its zone, like 2026-11-25T07:13:20Z or 2026-11-25T08:13:20+01:00, nor a time into the capture, like 12.5s"
            .to_owned()
    })
}

fn vantage_named(name: &str) -> Result<Vantage, Failure> {
    let all = [Vantage::Server, Vantage::Client, Vantage::Middle];
    let found = all.into_iter().find(|vantage| vantage.name() == name);
    found.ok_or_else(|| Failure::Input(format!("--vantage {name}: server, client or middle")))
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart analyze server.pcap",
                "Says where the time of transfers went, and why data was retransmitted.",
            ),
            (
                "headstart analyze server-*.pcap.zst --server 443 --json",
                "Prints each connection of port 443 with its retransmissions.",
            ),
            (
                "headstart analyze server.pcap --json=findings",
                "Prints all that was found as one object.",
            ),
            (
                "headstart analyze server.pcap --report server.html",
                "Writes a page with plots, also of the worst connections.",
            ),
            (
                "headstart analyze server.pcap --out tables",
                "Writes tables in Parquet, for DuckDB, pandas or Spark.",
            ),
            (
                "headstart analyze --merge tables-*",
                "Prints the results of several runs as one, each made with --out tables-N --mergeable.",
            ),
            (
                "headstart analyze server.pcap --client 192.0.2.0/24 --from 12.5s --to 60s",
                "Looks at one network of clients, from 12.5 s to 60 s into the capture.",
            ),
            (
                "headstart analyze --access-log /var/log/nginx/access.log",
                "Says from an access log whom a memory of networks would help, and how large it is.",
            ),
            (
                "headstart analyze --acks-only --sender bbr server.pcap",
                "Uses nothing but the ACKs of clients.",
            ),
        ],
        notes: "From a running tcpdump, until Ctrl-C: tcpdump -i eth0 -U -s 128 -w - tcp port 443 | headstart analyze --follow -\n\n\
                Memory is bounded: 1,048,576 connections are followed at most. Above that, the one whose last packet is oldest \
                ends early; the output has their number."
            .into(),
        exit: &[
            ("0", "done"),
            ("1", "a capture is damaged; everything before the damage is analysed"),
            ("2", "the input is wrong"),
            ("130", "interrupted; everything read before is analysed"),
        ],
        see_also: &["headstart-capture", "headstart-lab-check-traces"],
        more: &["docs/analyze.md"],
        ..Appendix::default()
    }
}
