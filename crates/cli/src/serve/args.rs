//! The command line of `headstart serve`.

use super::network::Network;
use super::weights::WeightSource;
use crate::behind::LinkArgs;
use crate::failure::Failure;
use endpoint::EndpointConfig;
use std::ffi::OsString;
use std::path::PathBuf;
use tcp::{Limits, Scheme};
use units::{Duration, Rate};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder whose files are served
    #[arg(value_name = "DIR")]
    pub(super) root: PathBuf,

    /// What is served with (`headstart schemes`), with parameters like linux+iw=32
    ///
    /// Under schemes that share a path, like etcp, all connections of a client are one ensemble.
    #[arg(long, value_name = "NAME", default_value = "linux", value_parser = parse_scheme)]
    pub(super) scheme: Scheme,

    /// The server's own address and its network, like 10.77.0.1/24; once for IPv4, once for IPv6
    ///
    /// The address must be nobody's. The machine takes another one of the network for its end of the
    /// device. [default: 10.77.0.1/24 and fd00:77::1/64]
    #[arg(long, value_name = "ADDRESS/BITS")]
    pub(super) address: Vec<Network>,

    /// The port
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: u16,

    /// Name of the TUN device; %d is the first number that is free
    #[arg(long, value_name = "NAME", default_value = "headstart%d", value_parser = parse_device)]
    pub(super) device: String,

    /// Weights of a client's connections by what they carry, like html=12,css=6,js=6,image=3
    ///
    /// For schemes that share a path and weigh. Contents are html, css, js, data, font, image, media and
    /// other; what is not said weighs 1. @FILE reads them from a file, and again at every SIGHUP. Without
    /// --weights the scheme's own policy holds, or where it has none html=12,css=6,js=6,data=6,image=3,
    /// font=3,media=3 (Ensemble-TCP's).
    #[arg(long, value_name = "CONTENT=N,…|@FILE", value_parser = WeightSource::parse)]
    pub(super) weights: Option<WeightSource>,

    #[command(flatten)]
    pub(super) links: LinkArgs,

    /// How long a connection may wait for its next request, or take to say it
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(super) idle: Duration,

    /// How long a client may take too little of what waits for it before its connection is reset
    ///
    /// Looked at once in so long, so that a client which stops reading, reads a byte a second or has vanished is freed
    /// after one to two of these. It has taken enough if it has acknowledged all, or a full segment and what --min-rate
    /// asks for. 0s waits as long as TCP does: 13 to 30 minutes for who is silent, for ever for who says that it has no room.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(super) stall: Duration,

    /// What a client has to take on average over each --stall while something waits for it, like 4kbit
    ///
    /// 4kbit are 500 bytes a second, or 30 kB in a minute. Under schemes that share a path, connections of low weight wait for
    /// those of high weight, and that counts. 0bit: a full segment in each --stall is enough.
    #[arg(long, value_name = "RATE", default_value = "4kbit")]
    pub(super) min_rate: Rate,

    /// How long transfers under way may take to finish when the server is to end
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(super) grace: Duration,

    /// Answer nothing below /.headstart/, which shows connections to whoever asks
    #[arg(long)]
    pub(super) no_status: bool,

    /// Tell of addresses and responses in JSON, a line each, or write that to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) json: Option<Option<PathBuf>>,

    /// Say nothing but errors
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// A client to be run behind a link to the server, after --
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  sudo headstart serve site/
      The files of site/ at http://10.77.0.1/, for browsers and programs on this machine.
  sudo headstart serve site/ --scheme etcp-html-pre --weights html=12,css=6,js=6,image=3
      A client's connections share one window, by weight.
  sudo headstart serve site/ --address 192.0.2.1/29 --port 8080
      An address of your own; other machines need a route to it by this one, which has to forward.
  sudo headstart serve site/ --path 20mbit,80ms,100p -- sh -c 'curl -sv $HEADSTART_URL -o /dev/null'
      A client behind a link of 20 Mbit/s and 80 ms, in a network of its own.
  sudo headstart serve site/ --stall 10s --min-rate 64kbit
      Clients that take less than 8 kB a second for ten seconds are reset, so that they hold no memory.
  sudo headstart serve site/ --path-preset lte -- sh -c 'chromium --headless --no-sandbox --dump-dom $HEADSTART_URL'
      A browser over LTE.

http://10.77.0.1/.headstart/ shows connections, paths and memory, status.json there the same for machines. Every
response tells in Server-Timing what the transport knew when it began. SIGINT and SIGTERM let transfers finish
(--grace), a second one does not; the device is gone when the process is, however it ends. COMMAND finds the server
at $HEADSTART_URL and $HEADSTART_URL6, and its end is the server's; its exit code is returned. Needs root or
CAP_NET_ADMIN, with COMMAND also CAP_SYS_ADMIN; more in docs/serve.md.";

fn parse_scheme(text: &str) -> Result<Scheme, String> {
    Scheme::parse(text).map_err(|error| error.to_string())
}

/// The kernel's limit for names of devices (`IFNAMSIZ`, with a zero at the end), and what it refuses.
fn parse_device(name: &str) -> Result<String, String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ':');
    match name.is_empty() || name.len() > 15 || name.contains(odd) {
        true => Err("1 to 15 bytes without slash, colon or space, please".to_owned()),
        false => Ok(name.to_owned()),
    }
}

impl Args {
    /// What peers may cost the server: an endpoint's, and how long those who take nothing are kept.
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
