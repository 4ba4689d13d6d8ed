//! The command line of `headstart emulate`.

use crate::behind::LinkArgs;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) links: LinkArgs,

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
