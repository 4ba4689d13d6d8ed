//! `headstart capture`: what `headstart analyze` needs of a server's packets, and no more.

mod args;
mod sink;

pub(crate) use args::{Args, appendix};

use crate::failure::{Failure, remark};
use capture::{CaptureError, CaptureTrouble, LiveCapture, LiveOptions};
use sink::Sink;
use std::fmt::Write;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time;

/// How long to wait for packets before seeing whether to stop.
const WAIT: time::Duration = time::Duration::from_millis(100);

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
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
    summarize(args, &sink, lost.unwrap_or_default())?;
    captured.and(written)
}

/// Captures until somebody stops it, or it has gone on for long enough.
fn receive(
    args: &Args,
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
fn finish(args: &Args, live: LiveCapture, sink: &mut Sink, is_well: bool) -> io::Result<u64> {
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

/// Says what was captured; on standard error if the packets go to standard output.
fn summarize(args: &Args, sink: &Sink, lost: u64) -> Result<(), Failure> {
    if args.quiet {
        return Ok(());
    }
    let text = summary(sink, lost);
    match args.is_piped() {
        true => {
            remark(text.trim_end());
            Ok(())
        }
        false => crate::stdout::print(&text),
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
