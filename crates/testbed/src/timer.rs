//! Sleeping to the nanosecond. Timers of async runtimes count milliseconds, which would lengthen
//! every think time of a page by half of one.

use emulator::Clock;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;
use units::Instant;

/// Sleeps until `at`; for ever if there is none.
pub(crate) async fn sleep_until(clock: &Clock, at: Option<Instant>) {
    let Some(at) = at else { return std::future::pending().await };
    if !at.saturating_since(clock.now()).is_zero() {
        // Without timers the world has failed long before.
        let _ = sleep(at.saturating_since(clock.now())).await;
    }
}

async fn sleep(time: units::Duration) -> io::Result<()> {
    let timer =
        TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    // Zero would disarm it.
    let time = std::time::Duration::from_nanos(time.as_nanos().max(1));
    let time = Expiration::OneShot(TimeSpec::from_duration(time));
    timer.set(time, TimerSetTimeFlags::empty())?;
    #[expect(
        deprecated,
        reason = "what replaces it is unsafe, and the descriptor is ours till it goes"
    )]
    let timer = AsyncFd::new(OwnedFd::from(timer))?;
    timer.readable().await?.retain_ready();
    Ok(())
}
