//! The command line of `headstart capture`.

use capture::{PortRange, Rotation};
use cmdline::{Appendix, Failure};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use units::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct CaptureArgs {
    /// The interface, or several, like eth0,eth1; any is all of them
    #[arg(short, long, value_name = "IFACE", value_delimiter = ',', required = true, num_args = 1)]
    pub(super) interface: Vec<String>,

    /// Only segments from or to these ports, like 443 or 80,443,8000-8080; without it, all TCP
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    pub(super) port: Vec<PortRange>,

    /// Write the packets to FILE, as pcap; - is standard output. Without it, only their number is
    /// printed
    #[arg(short, long, value_name = "FILE")]
    pub(super) write: Option<PathBuf>,

    /// Begin another file after this many bytes, like 100MB, or after this time, like 10min
    ///
    /// The time of its first packet goes into the name of each file: server.pcap becomes
    /// server-20261125T013000.123456Z.pcap.
    #[arg(long, value_name = "SIZE|TIME", requires = "write")]
    pub(super) rotate: Option<Turns>,

    /// Keep the latest N files of --rotate and remove older ones, also of earlier runs
    #[arg(long, value_name = "N", requires = "rotate", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) keep: Option<u32>,

    /// Bytes of each packet from its IP header on, payload included; without it, all headers and no
    /// payload
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(40..=65_535))]
    pub(super) snap: Option<u32>,

    /// Replace addresses, keeping which are in one network; by a random key, or by the secret in
    /// FILE
    ///
    /// The same secret gives the same addresses in each run. Ports and times are not replaced.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) anonymize: Option<Option<PathBuf>>,

    /// Stop after so long, like 60s; without it, at Ctrl-C or SIGTERM
    #[arg(long = "for", value_name = "TIME")]
    pub(super) time: Option<Duration>,

    /// Stop after this many packets
    #[arg(long, value_name = "N")]
    pub(super) count: Option<u64>,

    /// Say nothing but errors
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Limit at which another file begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turns {
    Size(u64),
    Time(Duration),
}

impl FromStr for Turns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (units::parse_bytes(text), text.parse::<Duration>()) {
            (Ok(bytes), _) if bytes > 0 => Ok(Self::Size(bytes)),
            (_, Ok(time)) if !time.is_zero() => Ok(Self::Time(time)),
            _ => Err("neither a size, like 100MB, nor a time, like 10min".to_owned()),
        }
    }
}

impl CaptureArgs {
    pub(super) fn check(&self) -> Result<(), Failure> {
        let most = PortRange::MAX_RANGES;
        if self.port.len() > most || self.interface.len() > most {
            return Err(Failure::input(format!("at most {most} ports or ranges, and interfaces")));
        }
        if self.rotate.is_some() && self.is_piped() {
            return Err(Failure::input("--rotate needs a file: standard output has no turns"));
        }
        Ok(())
    }

    pub(super) fn is_piped(&self) -> bool {
        self.write.as_deref() == Some(Path::new("-"))
    }

    pub(super) fn rotation(&self) -> Rotation {
        let keep = self.keep.map(|keep| keep as usize);
        match self.rotate {
            Some(Turns::Size(size)) => Rotation { size: Some(size), every: None, keep },
            Some(Turns::Time(every)) => Rotation { size: None, every: Some(every), keep },
            None => Rotation::default(),
        }
    }

    /// `TCP of port 80, 443 on eth0`.
    pub(super) fn filter_description(&self) -> String {
        let ports: Vec<String> = self.port.iter().map(ToString::to_string).collect();
        let ports =
            if ports.is_empty() { String::new() } else { format!(" of port {}", ports.join(", ")) };
        format!("TCP{ports} on {}", self.interface.join(", "))
    }
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "sudo headstart capture -i eth0 --port 80,443 -w server.pcap",
                "Captures the headers of a web server's segments, both ways, until Ctrl-C.",
            ),
            (
                "sudo headstart capture -i eth0 --port 443 -w /var/tmp/server.pcap --rotate 100MB --keep 10",
                "Captures all the time, in a gigabyte at most.",
            ),
            (
                "sudo headstart capture -i any --port 443 --for 60s --anonymize -w server.pcap",
                "Captures a minute, with addresses replaced.",
            ),
        ],
        notes:
            "Files can be read by their owner alone. Wireshark, tshark and tcpdump open them.\n\n\
            It needs root, or CAP_NET_RAW."
                .into(),
        exit: &[
            ("0", "done, also if Ctrl-C or SIGTERM stopped it"),
            ("1", "capturing or writing failed"),
            ("2", "the input is wrong, or a privilege is missing"),
        ],
        more: &["docs/capture.md"],
        ..Appendix::default()
    }
}
