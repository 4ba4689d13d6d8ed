//! The command line of `headstart serve`.

use super::network::Network;
use super::weights::WeightSource;
use crate::behind::LinkArgs;
use cmdline::{Appendix, Failure};
use endpoint::EndpointConfig;
use std::ffi::OsString;
use std::path::PathBuf;
use tcp::{Limits, Scheme};
use units::{Duration, Rate};

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Folder whose files are served
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) root: PathBuf,

    /// Scheme of the server (`headstart schemes`), with parameters like linux+iw=32
    ///
    /// Under a scheme that shares a path, like etcp, all connections of a client share one window.
    #[arg(long, value_name = "NAME", default_value = "linux", value_parser = parse_scheme)]
    pub(super) scheme: Scheme,

    /// Address of the server and its network, once for IPv4 and once for IPv6 [default:
    /// 10.77.0.1/24, fd00:77::1/64]
    ///
    /// No machine may have the address already. This machine takes another address of the network
    /// for its end of the device.
    #[arg(long, value_name = "ADDRESS/BITS")]
    pub(super) address: Vec<Network>,

    /// Port of the server
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: u16,

    /// Name of the TUN device; %d stands for the first free number
    #[arg(long, value_name = "NAME", default_value = "headstart%d", value_parser = parse_device)]
    pub(super) device: String,

    /// Weights of a client's connections by what they carry, like html=12,css=6,js=6,image=3
    ///
    /// The scheme has to share a path by weights. Contents are html, css, js, data, font, image,
    /// media and other. Contents without a weight weigh 1. @FILE reads the weights from a file, and
    /// again at every SIGHUP. If --weights is missing, the policy of the scheme holds. If the
    /// scheme has none, the weights are Ensemble-TCP's:
    /// html=12,css=6,js=6,data=6,image=3,font=3,media=3.
    #[arg(long, value_name = "CONTENT=N,…|@FILE", value_parser = WeightSource::parse)]
    pub(super) weights: Option<WeightSource>,

    #[command(flatten)]
    pub(super) links: LinkArgs,

    /// Longest time that a connection may wait for a request, or take to send it
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(super) idle: Duration,

    /// Longest time that a client may acknowledge too little before its connection is reset
    ///
    /// The server checks once in this time. So a client that stops reading, reads a byte a second
    /// or has vanished is reset after one to two of these times. A client acknowledges enough if it
    /// acknowledges all, or a full segment and as much as --min-rate demands. With 0s the server
    /// waits as long as TCP does: 13 to 30 minutes for a silent client, for ever for a client that
    /// advertises a zero window.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(super) stall: Duration,

    /// Lowest rate at which a client has to acknowledge waiting data, on average over each --stall
    ///
    /// 4kbit are 500 bytes a second, or 30 kB in a minute. Under schemes that share a path, a
    /// connection of low weight waits for those of high weight, and this wait counts. With 0bit a
    /// full segment in each --stall is enough.
    #[arg(long, value_name = "RATE", default_value = "4kbit")]
    pub(super) min_rate: Rate,

    /// Longest time that transfers may take to finish once the server is asked to end
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(super) grace: Duration,

    /// Leave out the status page /.headstart/, which shows all connections
    #[arg(long)]
    pub(super) no_status: bool,

    /// Show the status page to every client, not only to programs on this machine
    #[arg(long, conflicts_with = "no_status")]
    pub(super) status_for_all: bool,

    /// Print addresses and responses as lines of JSON, or write them to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) json: Option<Option<PathBuf>>,

    /// Print errors only; what --json=FILE asks for is written nevertheless
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// A client to run behind a link to the server, after --
    #[arg(last = true, value_name = "COMMAND", value_hint = clap::ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "sudo headstart serve site/",
                "Serves the files of site/ at http://10.77.0.1/, to programs on this machine.",
            ),
            (
                "sudo headstart serve site/ --scheme etcp-html-pre --weights html=12,css=6,js=6,image=3",
                "Lets the connections of a client share one window, by weight.",
            ),
            (
                "sudo headstart serve site/ --address 192.0.2.1/29 --port 8080",
                "Uses an address of your own. Other machines need a route to it through this one, which has to forward.",
            ),
            (
                "sudo headstart serve site/ --path 20mbit,80ms,100p -- sh -c 'curl -sv $HEADSTART_URL -o /dev/null'",
                "Runs a client behind a link of 20 Mbit/s and 80 ms, in a network of its own.",
            ),
            (
                "sudo headstart serve site/ --path-preset lte -- sh -c 'chromium --headless --no-sandbox --dump-dom $HEADSTART_URL'",
                "Loads the page in a browser as over LTE.",
            ),
            (
                "sudo headstart serve site/ --stall 10s --min-rate 64kbit",
                "Resets clients that take less than 8 kB a second for ten seconds.",
            ),
        ],
        notes: "http://10.77.0.1/.headstart/ shows connections, paths and memory to programs on this machine, or with \
            --status-for-all to every client, and status.json there the same for programs. \
            Every response has a header `Server-Timing` with the state of the transport when the response began.\n\n\
            SIGINT and SIGTERM let transfers finish (--grace); a second signal ends the server at once. The device is gone \
            when the process is. A server with a COMMAND ends when the COMMAND does.\n\n\
            It needs root or CAP_NET_ADMIN; with a COMMAND also CAP_SYS_ADMIN."
            .into(),
        environment: &[
            ("HEADSTART_URL", "the server's IPv4 URL, for COMMAND"),
            ("HEADSTART_URL6", "the server's IPv6 URL, for COMMAND"),
        ],
        exit: &[
            ("0", "the server ended at a signal"),
            ("1", "the server failed"),
            ("2", "the input is wrong, or a privilege is missing"),
            ("N", "exit code of COMMAND, if there is one"),
        ],
        see_also: &["headstart-schemes", "headstart-emulate"],
        more: &["docs/serve.md"],
        ..Appendix::default()
    }
}

fn parse_scheme(text: &str) -> Result<Scheme, String> {
    Scheme::parse(text).map_err(|error| error.to_string())
}

/// The kernel's limit for names of devices (`IFNAMSIZ`, with a zero at the end), and the characters
/// that it refuses.
fn parse_device(name: &str) -> Result<String, String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ':');
    match name.is_empty() || name.len() > 15 || name.contains(odd) {
        true => Err("1 to 15 bytes without slash, colon or space, please".to_owned()),
        false => Ok(name.to_owned()),
    }
}

impl ServeArgs {
    /// Limits on the cost of peers: an endpoint's, and the time for which clients that do not read
    /// are kept.
    pub(super) fn limits(&self) -> Limits {
        let mut limits = EndpointConfig::new(None, None).limits;
        limits.lifetimes.user_timeout = (!self.stall.is_zero()).then_some(self.stall);
        limits.lifetimes.min_rate = self.min_rate;
        limits
    }

    /// Refuses what does not go together, before anything is set up.
    pub(super) fn check(&self) -> Result<(), Failure> {
        server::check_folder(&self.root).map_err(Failure::input)?;
        if self.weights.is_some() {
            server::check_weights(&self.scheme)
                .map_err(|why| Failure::input(format!("--weights: {why}")))?;
        }
        match (self.command.is_empty(), self.links.is_given()) {
            (true, true) => Err(Failure::input(
                "a path is for a client behind it: give a COMMAND after --, or leave the path out",
            )),
            (false, _) if !self.address.is_empty() => Err(Failure::input(
                "--address is for the device on this machine; a COMMAND has a network of its own",
            )),
            (false, _) if self.json == Some(None) && !self.quiet => Err(Failure::input(
                "COMMAND writes to standard output: name a file for the log, --json=FILE",
            )),
            _ => Ok(()),
        }
    }
}
