//! The command line of `headstart predict`.

use crate::analyze::SendersArgs;
use cmdline::Appendix;
use cmdline::names::{self, SchemeList};
use std::path::PathBuf;
use units::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct PredictArgs {
    /// Captures: pcap or pcapng, also compressed by gzip or zstd; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "json_schema")]
    pub(super) files: Vec<PathBuf>,

    /// Schemes, separated by commas (`headstart schemes`); the one that the servers seem to run is
    /// always shown, and is the baseline
    #[arg(long, value_name = "A,B,…", default_value = "linux,hs-cubic,headstart",
        value_parser = names::schemes)]
    pub(super) schemes: SchemeList,

    #[command(flatten)]
    pub(super) senders: SendersArgs,

    /// Longest wait in queues, if no loss has shown it; 20ms, 0.1s [default: one round trip, or the
    /// longest wait seen]
    #[arg(long, value_name = "TIME")]
    pub(super) queue: Option<Duration>,

    /// Replay at most the first N transfers. Each takes 100 bytes of memory and 32 more for each
    /// scheme, and each client up to 40 kB
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(super) most_transfers: u64,

    /// Seed of random losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// Threads to run on; results do not depend on their number [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) jobs: Option<u16>,

    /// Write a report: one HTML file with the distribution of times, gains, and the replay beside
    /// the capture, transfer by transfer
    #[arg(long, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub(super) report: Option<PathBuf>,

    /// Print JSON instead of words and tables
    #[arg(long)]
    pub(super) json: bool,

    /// Print the schema of the JSON and do nothing else
    #[arg(long)]
    pub(super) json_schema: bool,
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
            ("headstart predict server.pcap --report forecast.html", "Draws it, too."),
            ("headstart predict server.pcap --json", "Prints the same for programs. `--json-schema` says how to read it."),
        ],
        notes: "A client's path is taken from its own packets: rate from the trains of its ACKs, round trip, how long the full queue \
                made packets wait, losses beside that. A request follows the answer before it as it did, and so does a \
                connection that opened soon after an answer. The server thinks as long as it did. The line *captured* has the times of the capture, \
                and the next one its replay under what the servers seem to run. The closer both are, the more the other lines can be trusted. \
                The interval of each ratio has that error in it. If the replay is off by more than a third, nothing is predicted."
            .into(),
        exit: &[
            ("0", "done"),
            ("1", "a capture is damaged, and everything before the damage is used; or the replay is too far off to predict anything"),
            ("2", "the input is wrong, or holds no whole transfer"),
            ("130", "interrupted: everything read before is used, and during the replays there is no result"),
        ],
        see_also: &["headstart-analyze", "headstart-capture", "headstart-agent"],
        more: &["docs/predict.md"],
        ..Appendix::default()
    }
}
