//! `headstart report`: reports connections to the site's gateway, for hosts without an agent and
//! for applications, as in the paper (Zhang, Qiu & Keshav 2000 §5.1).

mod figures;
mod info;
mod lines;

use clap::Args;
use cmdline::{Appendix, Failure, input, remark, stdout};
use figures::Figures;
use gateway_client::{ClientConfig, SiteReporter};
use gateway_proto::v1::{Collector, Report};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use units::counted;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Gateways and certificates as an agent's configuration names them: the agent.toml of
    /// `headstart gateway init`
    #[arg(long, value_name = "agent.toml")]
    config: PathBuf,
    /// Connections to report, a JSON object a line; - is standard input
    #[arg(value_name = "FILE.jsonl", conflicts_with_all = ["fd", "network", "window", "bound", "rate", "rtt", "sent", "lost"], required_unless_present_any = ["fd", "network"])]
    file: Option<PathBuf>,
    /// Report this open socket: its file descriptor, in this process as the shell hands it over
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["network", "window", "bound", "rate", "rtt", "sent", "lost"])]
    fd: Option<u32>,
    /// The descriptor is one of this process
    #[arg(long, value_name = "PROCESS", requires = "fd")]
    pid: Option<u32>,
    #[command(flatten)]
    figures: Figures,
    /// Show what would be reported, as JSON lines, and report nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart report --config DIR/agent.toml --fd 3",
                "Reports the connection that the shell has open as descriptor 3.",
            ),
            (
                "headstart report --config DIR/agent.toml --network 192.0.2.0/24 --window 200kB --bound loss --sent 300 --lost 2 --rate 20mbit --rtt 80ms",
                "Reports figures of your own.",
            ),
            (
                "headstart report --config DIR/agent.toml -",
                "Reports what a program writes, a JSON object a line.",
            ),
        ],
        notes: LINES.into(),
        exit: &[
            ("0", "all was acknowledged, and at least one report was taken"),
            ("1", "no gateway acknowledged all of it within 10 s, or all reports were refused"),
            ("2", "the input is wrong"),
        ],
        more: &[
            "docs/gateway/reference.md",
            "crates/gateway/examples/report.py",
            "crates/gateway/examples/report.go",
        ],
        ..Appendix::default()
    }
}

const LINES: &str = "\
A line may have TCP_INFO of a socket, as getsockopt(2) gives it, in hexadecimal digits.

  {\"peer\": \"192.0.2.7\", \"tcp_info\": \"0100…\"}

Otherwise a line has figures.

  {\"network\": \"192.0.2.0/24\", \"window\": 200000, \"bound\": \"loss\", \"rate\": 20000000, \"min_rtt_us\": 80000, \"sent\": 300, \"lost\": 2}

Only networks leave this host: 24 bits of an IPv4 address, 48 bits of an IPv6 address.";

pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let mut teller = ReportOutput::new(args)?;
    match (&args.file, args.fd) {
        (Some(file), _) => report_lines(&mut teller, file)?,
        (None, Some(fd)) => {
            teller.add_report(info::of_socket(args.pid, fd).map_err(Failure::input)?)?
        }
        (None, None) => teller.add_report(args.figures.report().map_err(Failure::input)?)?,
    }
    teller.end()
}

/// Reports line by line, so a program may write for as long as it runs. A wrong line is skipped
/// with an error.
fn report_lines(teller: &mut ReportOutput, file: &Path) -> Result<(), Failure> {
    let mut reader: Box<dyn BufRead> = match file.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => {
            let opened = File::open(file)
                .map_err(|error| Failure::input(input::unreadable(file, &error)))?;
            Box::new(BufReader::new(opened))
        }
    };
    let (mut wrong, mut first) = (0_u64, None);
    let (mut number, mut bytes) = (0_u64, Vec::new());
    loop {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes);
        if read.map_err(|error| Failure::input(format!("{}: {error}", file.display())))? == 0 {
            break;
        }
        number += 1;
        let line = String::from_utf8_lossy(&bytes);
        if line.trim().is_empty() {
            continue;
        }
        match lines::read(&line) {
            Ok(report) => teller.add_report(report)?,
            Err(why) => {
                wrong += 1;
                let why = format!("{}:{number}: {why}", file.display());
                remark(&format!("headstart: {why}"));
                first.get_or_insert(why);
            }
        }
    }
    match first {
        None => Ok(()),
        Some(why) => {
            teller.end()?;
            Err(Failure::input(format!("{} left out; the first: {why}", counted(wrong, "line"))))
        }
    }
}

/// Reports to the gateway, or shows what it would report.
struct ReportOutput(Option<SiteReporter>);

impl ReportOutput {
    fn new(args: &ReportArgs) -> Result<Self, Failure> {
        let config = input::read(&args.config)?;
        let config = ClientConfig::of_agent(&args.config, &config, Collector::Application);
        let config = config.map_err(Failure::input)?;
        let reporter = (!args.dry_run).then(|| SiteReporter::start(config)).transpose();
        Ok(Self(reporter.map_err(Failure::input)?))
    }

    fn add_report(&mut self, report: Report) -> Result<(), Failure> {
        match &mut self.0 {
            None => stdout::print_on(&(lines::report_line(&report) + "\n")),
            Some(reporter) => reporter.report(report).map_err(Failure::failed),
        }
    }

    /// Waits until all is acknowledged, and says what became of it.
    fn end(&self) -> Result<(), Failure> {
        let Some(reporter) = &self.0 else { return Ok(()) };
        stdout::print(&(reporter.finish().map_err(Failure::failed)? + "\n"))
    }
}
