//! The driver's wait: for its device, its bell, or the first timer, to the nanosecond that the
//! kernel supports.

use super::Driver;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::AsFd;
use units::Duration;

/// Interval of the checks for the end, while applications are closing.
const CLOSING: Duration = Duration::from_millis(20);

/// Makes the calling thread's timers as exact as possible.
pub(super) fn prepare() {
    // Without it timers are 50 us late, no worse.
    let _ = set_timerslack(1);
}

impl Driver {
    /// Sleeps until an event. Returns true if the bell has rung.
    pub(super) fn sleep(&mut self) -> io::Result<bool> {
        let now = self.clock.now();
        let due = self.stack.poll_timeout().map(|at| at.saturating_since(now));
        let due =
            if self.closing.is_some() { due.or(Some(CLOSING)).min(Some(CLOSING)) } else { due };
        let timeout =
            due.map(|due| TimeSpec::from(std::time::Duration::from_nanos(due.as_nanos())));
        let wanted = if self.outbox.is_blocked() {
            PollFlags::POLLIN | PollFlags::POLLOUT
        } else {
            PollFlags::POLLIN
        };
        let mut descriptors = [
            PollFd::new(self.mailbox.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.device.as_fd(), wanted),
        ];
        match ppoll(&mut descriptors, timeout, None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(descriptors[0].any().unwrap_or(false)),
            Err(errno) => Err(errno.into()),
        }
    }
}
