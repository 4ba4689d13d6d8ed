//! The command line of `headstart emulate`, and the links it describes.

use super::one_way::OneWay;
use crate::failure::Failure;
use experiment::path::{DEFAULT_PRESET, PathSpec, preset};
use link::LinkConfig;
use std::ffi::OsString;
use std::path::PathBuf;
use units::Duration;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The path: RATE,RTT,QUEUE[,DISCIPLINE][,up=RATE][,loss=P]
    ///
    /// As `headstart race` takes it: RATE is towards the command, like 20mbit; RTT is the round trip, like
    /// 80ms; QUEUE is 100p, 64kB, 0.5bdp or inf and counts the packet in service. DISCIPLINE is droptail (the
    /// default), pdrop, red, codel, fq_codel or acks-first.
    #[arg(long, conflicts_with_all = ["path_preset", "down", "up"], value_parser = parse_path)]
    path: Option<PathSpec>,

    /// A path by name (`headstart paths`) [default: cable]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["down", "up"], value_parser = parse_preset)]
    path_preset: Option<PathSpec>,

    /// The link towards the command: RATE|trace=FILE,DELAY,QUEUE[,DISCIPLINE][,loss=P][,jitter=TIME]
    ///
    /// DELAY is that of this direction alone. trace=FILE in the place of a rate follows a trace in
    /// mahimahi's format: a line for every 1504 bytes, when they may go, in milliseconds. jitter= delays each
    /// packet by up to that time more, so that they overtake each other.
    #[arg(long, value_name = "SPEC", requires = "up")]
    down: Option<OneWay>,

    /// The link away from the command, in the same form
    #[arg(long, value_name = "SPEC", requires = "down")]
    up: Option<OneWay>,

    /// Seed of losses, jitter and random drops
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// Write a row for every packet: when it came, left and was handed over, and what became of it
    ///
    /// CSV, or JSON lines if the name ends in .jsonl. Times are nanoseconds.
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,

    /// Write captures at both ends, DIR/client.pcap and DIR/host.pcap
    #[arg(long, value_name = "DIR")]
    pub(super) pcap: Option<PathBuf>,

    /// Print the summary as JSON when the command has ended, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) json: Option<Option<PathBuf>>,

    /// Say nothing but errors
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// Look at the clock instead of sleeping when a packet is due within TIME
    ///
    /// Packets are then handed over more exactly, for that much of a core each. Worth it above some
    /// 20 Mbit/s if gaps between packets matter, with a core to spare.
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    pub(super) spin: Duration,

    /// The command and its arguments, after --
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  sudo headstart emulate --path 20mbit,80ms,100p -- sh -c 'ping -c 3 $HEADSTART_PEER'
      The command runs behind the link, in a network of its own; the host is at the other end.
  sudo headstart emulate --path-preset lte -- sh -c 'curl -o /dev/null http://$HEADSTART_PEER:8000/'
      A server on this machine, seen over LTE. It has to listen on all addresses.
  sudo headstart emulate --path 20mbit,80ms,100p,fq_codel -- bash
      A shell behind the link.
  sudo headstart emulate --down trace=down.trace,20ms,200p --up 2mbit,20ms,50p --log log.csv -- COMMAND
      Each direction by itself, down at a rate that changes; a row for every packet.

The command finds the host at $HEADSTART_PEER (IPv4) and $HEADSTART_PEER6 (IPv6), and its own addresses in
$HEADSTART_ADDRESS and $HEADSTART_ADDRESS6. Beyond the host there is nothing. Its exit code is returned, 128 and
the number of the signal if one ended it, 127 if there is no such command, 126 if it cannot be run.
The network, the devices and all that the command has started are gone when it ends, or when headstart is
killed. Needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN; more in docs/emulate.md.";

fn parse_path(text: &str) -> Result<PathSpec, String> {
    text.parse().map_err(|error: experiment::path::PathError| error.to_string())
}

fn parse_preset(name: &str) -> Result<PathSpec, String> {
    let names = || experiment::path::PRESETS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
    preset(name).map(|preset| preset.spec()).ok_or_else(|| format!("there are {}", names()))
}

impl Args {
    /// The links down and up.
    pub(super) fn links(&self) -> Result<[LinkConfig; 2], Failure> {
        if let (Some(down), Some(up)) = (&self.down, &self.up) {
            let rtt = down.delay + up.delay;
            return Ok([
                down.link(rtt).map_err(|why| Failure::input(format!("--down: {why}")))?,
                up.link(rtt).map_err(|why| Failure::input(format!("--up: {why}")))?,
            ]);
        }
        let default = || preset(DEFAULT_PRESET).map(|preset| preset.spec());
        let path = self.path.or(self.path_preset).or_else(default);
        let links = path.ok_or_else(|| Failure::input("no default path"))?.links();
        Ok([links.forward, links.reverse])
    }
}
