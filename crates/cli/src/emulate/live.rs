//! Counters on the terminal while the command runs.

use super::args::EmulateArgs;
use emulator::{DirectionTotals, Emulation};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use units::counted;

const PAUSE: Duration = Duration::from_millis(200);

/// Runs `job`, showing the counters meanwhile if they are seen and disturb nothing: on a terminal
/// that the command does not write its results to.
pub(super) fn show_during<T>(
    args: &EmulateArgs,
    emulation: &Emulation,
    job: impl FnOnce() -> T,
) -> T {
    let is_seen = io::stderr().is_terminal() && !io::stdout().is_terminal();
    if args.quiet || !is_seen {
        return job();
    }
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(move || {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{elapsed}  {msg}") {
                bar.set_style(style);
            }
            while is_done.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let totals = emulation.totals();
                bar.set_message(format!(
                    "down {}  up {}",
                    line(&totals.forward),
                    line(&totals.reverse)
                ));
                bar.tick();
            }
            bar.finish_and_clear();
        });
        let result = job();
        drop(done);
        result
    })
}

fn line(totals: &DirectionTotals) -> String {
    format!(
        "{}, {} held, {} dropped",
        counted(totals.delivered_packets, "packet"),
        totals.held_packets,
        totals.link.dropped_packets
    )
}
