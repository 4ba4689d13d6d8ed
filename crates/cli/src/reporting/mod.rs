//! `headstart report`: tells the site's gateway what a connection has met, for hosts without an agent and for applications, as
//! those of the paper do (Zhang, Qiu & Keshav 2000 §5.1).

mod figures;
mod info;
mod lines;
mod outcome;

use crate::failure::{Failure, remark};
use crate::{input, stdout};
use clap::Args;
use cmdline::Appendix;
use figures::Figures;
pub(crate) use figures::{bytes, leaving, network_of};
use gateway_client::{ClientConfig, SiteClient, SiteEvent};
use gateway_proto::v1::{Collector, Report};
use outcome::Outcome;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use units::counted;

/// Longer nobody waits for a gateway.
const PATIENCE: Duration = Duration::from_secs(10);
/// Reports that are sent before it is waited for them.
const AT_ONCE: u64 = 4096;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Gateways and certificates as an agent's configuration names them: the agent.toml of `headstart gateway init`
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
A line has either TCP_INFO of a socket, as getsockopt(2) gives it, in hexadecimal digits:
  {\"peer\": \"192.0.2.7\", \"tcp_info\": \"0100…\"}
or figures:
  {\"network\": \"192.0.2.0/24\", \"window\": 200000, \"bound\": \"loss\", \"rate\": 20000000, \"min_rtt_us\": 80000, \"sent\": 300, \"lost\": 2}
Of an address or a longer prefix only this much leaves this host: 24 bits of IPv4, 48 of IPv6.";

pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let mut teller = Teller::new(args)?;
    match (&args.file, args.fd) {
        (Some(file), _) => tell_lines(&mut teller, file)?,
        (None, Some(fd)) => teller.tell(info::of_socket(args.pid, fd).map_err(Failure::input)?)?,
        (None, None) => teller.tell(args.figures.report().map_err(Failure::input)?)?,
    }
    teller.end()
}

/// Tells line by line, so a program may write for as long as it runs. What is wrong with a line costs that line.
fn tell_lines(teller: &mut Teller, file: &Path) -> Result<(), Failure> {
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
            Ok(report) => teller.tell(report)?,
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

/// Tells the gateway, or shows what it would tell.
pub(crate) struct Teller {
    /// `None`: it only shows.
    client: Option<SiteClient<()>>,
    trouble: Arc<Mutex<String>>,
    told: u64,
}

impl Teller {
    fn new(args: &ReportArgs) -> Result<Self, Failure> {
        let config = client_config(&args.config, Collector::Application)?;
        match args.dry_run {
            true => Ok(Self { client: None, trouble: Arc::default(), told: 0 }),
            false => Self::to(config),
        }
    }

    /// One that tells these gateways.
    pub(crate) fn to(config: ClientConfig) -> Result<Self, Failure> {
        let trouble = Arc::new(Mutex::new(String::new()));
        let why = Arc::clone(&trouble);
        let hear = move |event: SiteEvent<()>| {
            if let SiteEvent::Lost(said) = event {
                *why.lock().unwrap_or_else(PoisonError::into_inner) = said;
            }
            false
        };
        let client = SiteClient::start(config, hear).map_err(Failure::input)?;
        Ok(Self { client: Some(client), trouble, told: 0 })
    }

    pub(crate) fn tell(&mut self, report: Report) -> Result<(), Failure> {
        self.told += 1;
        let Some(client) = &self.client else {
            return stdout::print_on(&(lines::shown(&report) + "\n"));
        };
        client.report(report);
        match self.told % AT_ONCE {
            0 => self.flush(),
            _ => Ok(()),
        }
    }

    /// Waits until all is acknowledged.
    fn flush(&self) -> Result<(), Failure> {
        let Some(client) = &self.client else { return Ok(()) };
        if client.flush(PATIENCE) {
            return Ok(());
        }
        let why = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let why = if why.is_empty() { "it does not acknowledge".to_owned() } else { why };
        Err(Failure::failed(format!("no gateway has taken all reports: {why}")))
    }

    /// Waits until all is acknowledged, and says on standard output what became of it.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        self.outcome()?.map_or(Ok(()), |words| stdout::print(&(words + "\n")))
    }

    /// The same on standard error, where results for machines are on standard output.
    pub(crate) fn end_aside(&self) -> Result<(), Failure> {
        if let Some(words) = self.outcome()? {
            remark(&words);
        }
        Ok(())
    }

    fn outcome(&self) -> Result<Option<String>, Failure> {
        self.flush()?;
        let Some(client) = &self.client else { return Ok(None) };
        let status = client.status();
        let outcome = Outcome {
            told: self.told,
            taken: status.reports_taken,
            dropped: status.reports_dropped,
            refused: client.refusals(),
        };
        outcome.words().map(Some).map_err(Failure::failed)
    }
}

/// Of an agent's configuration, what concerns its gateways.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct AgentFile {
    #[serde(default)]
    gateway: Vec<String>,
    gateway_ca: Option<PathBuf>,
    gateway_certificate: Option<PathBuf>,
    gateway_key: Option<PathBuf>,
}

pub(crate) fn client_config(file: &Path, collector: Collector) -> Result<ClientConfig, Failure> {
    let shown = file.display().to_string();
    let text = String::from_utf8_lossy(&input::read(file)?).into_owned();
    let read: AgentFile = toml::from_str(&text)
        .map_err(|error| Failure::input(faults::Fault::from(error).of_file(&shown, &text)))?;
    let missing = |key: &str| {
        Failure::input(format!(
            "{shown}: {key} is missing; `headstart gateway init` writes a file that has it"
        ))
    };
    if read.gateway.is_empty() {
        return Err(missing("gateway"));
    }
    for address in &read.gateway {
        ClientConfig::check_address(address)
            .map_err(|why| Failure::input(format!("{shown}: gateway: {why}")))?;
    }
    Ok(ClientConfig {
        gateways: read.gateway,
        ca: read.gateway_ca.ok_or_else(|| missing("gateway-ca"))?,
        certificate: read.gateway_certificate.ok_or_else(|| missing("gateway-certificate"))?,
        key: read.gateway_key.ok_or_else(|| missing("gateway-key"))?,
        collector,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        addresses: Vec::new,
    })
}
