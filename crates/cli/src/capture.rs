//! `headstart capture`: what `headstart analyze` needs of a server's packets, and no more.

use crate::failure::{Failure, remark};
use capture::{
    Anonymizer, CaptureError, CaptureTrouble, CaptureWriter, LiveCapture, LiveOptions, LivePacket,
    PortRange, Rotation,
};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time;
use units::Duration;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CaptureArgs {
    /// The interface, or several, like eth0,eth1; any is all of them
    #[arg(short, long, value_name = "IFACE", value_delimiter = ',', required = true, num_args = 1)]
    interface: Vec<String>,

    /// Only segments from or to these ports, like 443 or 80,443,8000-8080; without it, all TCP
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    port: Vec<PortRange>,

    /// Write the packets to FILE, as pcap; - is standard output. Without it, they are only counted
    #[arg(short, long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Begin another file after so many bytes, like 100MB, or so long, like 10min
    ///
    /// The time of its first packet goes into the name of each file: server.pcap becomes
    /// server-20261125T013000.123456Z.pcap.
    #[arg(long, value_name = "SIZE|TIME", requires = "write")]
    rotate: Option<Turns>,

    /// Of the files that --rotate makes, keep the latest N and remove older ones, also of earlier runs
    #[arg(long, value_name = "N", requires = "rotate", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,

    /// Bytes of each packet from its IP header on, payload included; without it, all headers and no payload
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(40..=65_535))]
    snap: Option<u32>,

    /// Replace addresses, keeping which are in one network; by a random key, or by the secret in FILE
    ///
    /// The same secret gives the same addresses in each run. Ports and times are not replaced.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    anonymize: Option<Option<PathBuf>>,

    /// Stop after so long, like 60s; without it, at Ctrl-C or SIGTERM
    #[arg(long = "for", value_name = "TIME")]
    time: Option<Duration>,

    /// Stop after so many packets
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  sudo headstart capture -i eth0 --port 80,443 -w server.pcap
      Until Ctrl-C: headers of the web server's segments, both ways.
  sudo headstart capture -i eth0 --port 443 -w /var/tmp/server.pcap --rotate 100MB --keep 10
      All the time, in a gigabyte at most.
  sudo headstart capture -i any --port 443 --for 60s --anonymize -w server.pcap
      A minute of it, with addresses that name nobody.

Needs root or CAP_NET_RAW. Files can be read by their owner alone; more in docs/capture.md.";

/// When another file begins.
#[derive(Clone, Copy, Debug)]
enum Turns {
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

/// How long to wait for packets before seeing whether to stop.
const WAIT: time::Duration = time::Duration::from_millis(100);

pub(crate) fn run(args: &CaptureArgs) -> Result<(), Failure> {
    args.check()?;
    let options = LiveOptions {
        interfaces: args.interface.clone(),
        ports: args.port.clone(),
        snap: args.snap,
    };
    let mut live = LiveCapture::open(&options).map_err(refused)?;
    let mut sink = Sink::begin(args)?;
    let stop = stopper()?;
    if !args.quiet {
        remark(&format!("capturing {}; Ctrl-C stops", args.what()));
    }
    let captured = receive(args, &mut live, &mut sink, &stop);
    let lost = finish(args, live, &mut sink, captured.is_ok());
    let written = sink.finish();
    args.summarize(&sink, lost.unwrap_or_default())?;
    captured.and(written)
}

/// Captures until somebody stops it, or it has gone on for long enough.
fn receive(
    args: &CaptureArgs,
    live: &mut LiveCapture,
    sink: &mut Sink,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let begun = now();
    let limit = args.time.map(|limit| time::Duration::from_nanos(limit.as_nanos()));
    let mut left = args.count.unwrap_or(u64::MAX);
    while left > 0 && !stop.load(Ordering::Relaxed) {
        let time_left = limit.map_or(WAIT, |limit| limit.saturating_sub(begun.elapsed()));
        if time_left.is_zero() {
            break;
        }
        let (mut wrote, mut count) = (Ok(()), 0);
        let received = live.receive(time_left.min(WAIT), |packet| {
            count += 1;
            if wrote.is_ok() && count <= left {
                wrote = sink.record(packet);
            }
        });
        received.map_err(|why| Failure::failed(format!("cannot capture: {why}")))?;
        left = left.saturating_sub(count);
        // Who reads along is told what there is whenever there is time to.
        let wrote = if count == 0 { wrote.and_then(|()| sink.flush()) } else { wrote };
        wrote.map_err(|why| sink.failure(&why))?;
    }
    Ok(())
}

/// Ends the capture with what is still there, as long as all went well; how many packets were dropped.
fn finish(
    args: &CaptureArgs,
    live: LiveCapture,
    sink: &mut Sink,
    is_well: bool,
) -> io::Result<u64> {
    let left = args.count.map_or(u64::MAX, |count| count.saturating_sub(sink.packets));
    let (mut wrote, mut count) = (Ok(()), 0);
    let lost = live.finish(|packet| {
        count += 1;
        if is_well && wrote.is_ok() && count <= left {
            wrote = sink.record(packet);
        }
    })?;
    wrote.map(|()| lost)
}

impl CaptureArgs {
    fn check(&self) -> Result<(), Failure> {
        let most = PortRange::MOST;
        if self.port.len() > most || self.interface.len() > most {
            return Err(Failure::input(format!("at most {most} ports or ranges, and interfaces")));
        }
        if self.rotate.is_some() && self.is_piped() {
            return Err(Failure::input("--rotate needs a file: standard output has no turns"));
        }
        Ok(())
    }

    fn is_piped(&self) -> bool {
        self.write.as_deref() == Some(Path::new("-"))
    }

    fn rotation(&self) -> Rotation {
        let keep = self.keep.map(|keep| keep as usize);
        match self.rotate {
            Some(Turns::Size(size)) => Rotation { size: Some(size), every: None, keep },
            Some(Turns::Time(every)) => Rotation { size: None, every: Some(every), keep },
            None => Rotation::default(),
        }
    }

    /// `TCP of port 80, 443 on eth0`.
    fn what(&self) -> String {
        let ports: Vec<String> = self.port.iter().map(ToString::to_string).collect();
        let ports =
            if ports.is_empty() { String::new() } else { format!(" of port {}", ports.join(", ")) };
        format!("TCP{ports} on {}", self.interface.join(", "))
    }

    /// Says what was captured; on standard error if the packets go to standard output.
    fn summarize(&self, sink: &Sink, lost: u64) -> Result<(), Failure> {
        if self.quiet {
            return Ok(());
        }
        let text = summary(sink, lost);
        match self.is_piped() {
            true => {
                remark(text.trim_end());
                Ok(())
            }
            false => crate::stdout::print(&text),
        }
    }
}

fn summary(sink: &Sink, lost: u64) -> String {
    let advice = if lost > 0 { "; fewer with fewer --port, or less other work here" } else { "" };
    let mut text = format!("captured  {} packets\n", sink.packets);
    let _ = writeln!(text, "dropped   {lost} packets that were not fetched in time{advice}");
    for file in sink.files() {
        let _ = writeln!(text, "file      {}", file.display());
    }
    text
}

/// Where packets go.
struct Sink {
    writer: Option<CaptureWriter>,
    anonymizer: Option<Anonymizer>,
    path: PathBuf,
    packets: u64,
}

impl Sink {
    fn begin(args: &CaptureArgs) -> Result<Self, Failure> {
        let path = args.write.clone().unwrap_or_default();
        let anonymizer =
            args.anonymize.as_ref().map(|secret| anonymizer(secret.as_deref())).transpose()?;
        let mut new = Self { writer: None, anonymizer, path, packets: 0 };
        if args.write.is_some() {
            let writer = CaptureWriter::begin(&new.path, LiveCapture::LINK, args.rotation());
            new.writer = Some(writer.map_err(|why| Failure::input(new.trouble(&why)))?);
        }
        Ok(new)
    }

    fn record(&mut self, mut packet: LivePacket<'_>) -> io::Result<()> {
        self.packets += 1;
        if let Some(anonymizer) = &mut self.anonymizer {
            packet.anonymize(anonymizer);
        }
        match &mut self.writer {
            Some(writer) => writer.record(packet.at, packet.record, packet.length),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), CaptureWriter::flush)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let finished = self.writer.as_mut().map_or(Ok(()), CaptureWriter::finish);
        finished.map_err(|why| self.failure(&why))
    }

    fn files(&self) -> &[PathBuf] {
        self.writer.as_ref().map_or(&[], CaptureWriter::files)
    }

    fn trouble(&self, why: &io::Error) -> String {
        format!("cannot write {}: {why}", self.path.display())
    }

    fn failure(&self, why: &io::Error) -> Failure {
        match why.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::failed(self.trouble(why)),
        }
    }
}

fn anonymizer(secret: Option<&Path>) -> Result<Anonymizer, Failure> {
    let Some(path) = secret else { return Anonymizer::random().map_err(Failure::failed) };
    let secret = fs::read(path)
        .map_err(|why| Failure::input(format!("cannot read {}: {why}", path.display())))?;
    if secret.is_empty() {
        return Err(Failure::input(format!("{} is empty: no secret", path.display())));
    }
    Ok(Anonymizer::of_secret(&secret))
}

/// Nothing was captured: what is wrong can be put right.
fn refused(error: CaptureError) -> Failure {
    match error.trouble {
        CaptureTrouble::Io(why) => Failure::failed(format!("cannot capture: {why}")),
        _ => Failure::input(error),
    }
}

/// Set by Ctrl-C and SIGTERM; by the second, the process ends at once.
fn stopper() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

#[expect(clippy::disallowed_methods, reason = "real time is what --for counts")]
fn now() -> time::Instant {
    time::Instant::now()
}
