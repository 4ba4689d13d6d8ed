//! The command line of `headstart predict`.

use crate::analyze::vantage_named;
use crate::failure::Failure;
use crate::names::{self, SchemeList};
use cmdline::Appendix;
use std::path::PathBuf;
use trace::{NamedServers, ServerPattern, Vantage};

#[derive(Debug, clap::Args)]
pub(crate) struct PredictArgs {
    /// Captures: pcap or pcapng, also compressed by gzip or zstd; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Schemes, separated by commas (`headstart schemes`); `linux` is always shown, and others are held against it
    #[arg(long, value_name = "A,B,…", default_value = "linux,hs-cubic,headstart",
        value_parser = names::schemes)]
    pub(super) schemes: SchemeList,

    /// Take only connections to these servers: ports, addresses, networks, or addresses with ports
    #[arg(long, value_name = "ADDR|PORT", value_delimiter = ',')]
    server: Vec<ServerPattern>,

    /// What TCP the servers ran: linux, newreno, bbr, or another that `headstart analyze --sender` takes; auto: the one that
    /// explains their packets best
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(super) sender: String,

    /// Where the captures were made: server, client or middle [default: as each handshake tells]
    #[arg(long, value_name = "PLACE")]
    vantage: Option<String>,

    /// Ignore what servers sent, and rebuild it from the ACKs of their clients
    #[arg(long)]
    pub(super) acks_only: bool,

    /// Replay so many transfers at most, the first ones; they are kept in memory, 100 bytes each, and up to 5 kB for each client
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(super) most_transfers: u64,

    /// Seed of random losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// Threads to run on; results do not depend on their number [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) jobs: Option<u16>,

    /// Print JSON instead of words and tables
    #[arg(long)]
    pub(super) json: bool,
}

impl PredictArgs {
    pub(super) fn vantage(&self) -> Result<Option<Vantage>, Failure> {
        self.vantage.as_deref().map(vantage_named).transpose()
    }

    pub(super) fn servers(&self) -> NamedServers {
        self.server.iter().copied().collect()
    }
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart predict server.pcap",
                "Says what the agent, and the scheme headstart, would make of the transfers in this capture.",
            ),
            (
                "headstart predict server-*.pcap.zst --server 443 --schemes linux+iw=32,linux-bbr,hs-bbr",
                "Compares settings that you consider, over the paths of your own visitors.",
            ),
            ("headstart predict server.pcap --json", "Prints the same for programs."),
        ],
        notes: "A client's path is taken from its own packets: rate from its fastest bursts, round trip, how long the full queue \
                made packets wait, losses beside that. Connections open when they did. Within one, each request follows the \
                answer before as it did, and the server thinks as long. The line *captured* has the times of the capture: \
                the nearer `linux` is to it, the more the other lines can be believed."
            .into(),
        exit: &[
            ("0", "done"),
            ("1", "a capture is damaged"),
            ("2", "the input is wrong, or holds no whole transfer"),
            ("130", "interrupted"),
        ],
        see_also: &["headstart-analyze", "headstart-capture", "headstart-agent"],
        more: &["docs/predict.md"],
        ..Appendix::default()
    }
}
