//! `headstart capture`: what `headstart analyze` needs of a server's packets, and no more.

mod args;
mod sink;

pub(crate) use args::{CaptureArgs, appendix};

use capture::{CaptureError, CaptureTrouble, LiveCapture, LiveOptions};
use cmdline::{Failure, remark};
use sink::Sink;
use std::fmt::Write;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time;
use units::counted;

/// Longest wait for packets between two looks at the signal to stop.
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
    let stop = cmdline::interrupt::stop_flag()?;
    if !args.quiet {
        remark(&format!("capturing {}; Ctrl-C stops", args.filter_description()));
    }
    let captured = receive(args, &mut live, &mut sink, &stop);
    // Packets that are still in the buffer are part of the capture.
    let lost = live.finish(|packet| sink.take(packet));
    sink.finish();
    summarize(args, &sink, *lost.as_ref().unwrap_or(&0))?;
    captured
        .and(lost.map(drop))
        .map_err(|why| Failure::failed(format!("cannot capture: {why}")))?;
    sink.failure().map_or(Ok(()), Err)
}

/// Captures until a signal stops it, its time is over, or nothing more can be written.
fn receive(
    args: &CaptureArgs,
    live: &mut LiveCapture,
    sink: &mut Sink,
    stop: &AtomicBool,
) -> io::Result<()> {
    let started = now();
    let limit = args.time.map(|limit| time::Duration::from_nanos(limit.as_nanos()));
    while sink.wants_more() && !stop.load(Ordering::Relaxed) {
        let left = limit.map_or(WAIT, |limit| limit.saturating_sub(started.elapsed()));
        if left.is_zero() {
            break;
        }
        if !live.receive(left.min(WAIT), |packet| sink.take(packet))? {
            // A reader at the other end gets packets whenever there is time.
            sink.flush();
        }
        for change in live.take_changes() {
            remark(&format!("headstart: {change}"));
        }
    }
    Ok(())
}

/// Says what was captured; on standard error if the packets go to standard output.
fn summarize(args: &CaptureArgs, sink: &Sink, lost: u64) -> Result<(), Failure> {
    if args.quiet {
        return Ok(());
    }
    let text = summary(sink.packets, lost, sink.files());
    match args.is_piped() {
        true => {
            remark(text.trim_end());
            Ok(())
        }
        false => cmdline::stdout::print(&text),
    }
}

fn summary(packets: u64, lost: u64, files: &[PathBuf]) -> String {
    let advice = if lost > 0 { "; fewer with fewer --port, or less other work here" } else { "" };
    let mut text = format!("captured  {}\n", counted(packets, "packet"));
    let _ = writeln!(
        text,
        "dropped   {} that were not fetched in time{advice}",
        counted(lost, "packet")
    );
    for file in files {
        let _ = writeln!(text, "file      {}", file.display());
    }
    text
}

/// Nothing was captured: what is wrong can be put right.
fn refused(error: CaptureError) -> Failure {
    match error.trouble {
        CaptureTrouble::Io(why) => Failure::failed(format!("cannot capture: {why}")),
        _ => Failure::input(error),
    }
}

#[expect(clippy::disallowed_methods, reason = "real time is what --for counts")]
fn now() -> time::Instant {
    time::Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_is_in_the_singular() {
        assert!(summary(1, 1, &[]).starts_with("captured  1 packet\ndropped   1 packet that "));
        assert_eq!(
            summary(0, 0, &["a".into()]),
            "captured  0 packets\ndropped   0 packets that were not fetched in time\nfile      a\n"
        );
    }
}
