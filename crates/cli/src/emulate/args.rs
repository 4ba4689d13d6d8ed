//! The command line of `headstart emulate`.

use crate::behind::LinkArgs;
use cmdline::Appendix;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct EmulateArgs {
    #[command(flatten)]
    pub(super) links: LinkArgs,

    /// Write a row for every packet: when it was queued, sent and delivered, or how it was lost
    ///
    /// The rows are CSV, or JSON lines if the name ends in .jsonl. Times are nanoseconds.
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,

    /// Write captures at both ends, DIR/client.pcap and DIR/host.pcap
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) pcap: Option<PathBuf>,

    /// Print the summary as JSON when the command has ended, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) json: Option<Option<PathBuf>>,

    /// Print errors only
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// The command and its arguments, after --
    #[arg(last = true, required = true, value_name = "COMMAND", value_hint = clap::ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "sudo headstart emulate --path 20mbit,80ms,100p -- sh -c 'ping -c 3 $HEADSTART_PEER'",
                "Runs ping behind the link. The peer is this machine.",
            ),
            (
                "sudo headstart emulate --path-preset lte -- sh -c 'curl -o /dev/null http://$HEADSTART_PEER:8000/'",
                "Loads from a server on this machine as over LTE. The server has to listen on all addresses.",
            ),
            (
                "sudo headstart emulate --path 20mbit,80ms,100p,fq_codel -- bash",
                "Opens a shell behind the link.",
            ),
            (
                "sudo headstart emulate --down trace=down.trace,20ms,200p --up 2mbit,20ms,50p --log log.csv -- COMMAND",
                "Describes each direction by itself, with a rate that changes; writes a row for every packet.",
            ),
        ],
        notes: "The command reaches this machine and no other. When the command ends, or headstart is killed, the \
            network, the devices and all processes of the command are gone.\n\n\
            It needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN."
            .into(),
        environment: &[
            ("HEADSTART_PEER", "IPv4 address of this machine, as the command sees it"),
            ("HEADSTART_PEER6", "IPv6 address of this machine, as the command sees it"),
            ("HEADSTART_ADDRESS", "the command's own IPv4 address"),
            ("HEADSTART_ADDRESS6", "the command's own IPv6 address"),
        ],
        exit: &[
            ("N", "exit code of the command; 128 plus the signal's number if a signal ended it"),
            ("126", "the command cannot be run"),
            ("127", "there is no such command"),
            ("2", "the input is wrong, or a privilege is missing"),
        ],
        see_also: &["headstart-paths", "headstart-serve"],
        more: &["docs/emulate.md"],
        ..Appendix::default()
    }
}
