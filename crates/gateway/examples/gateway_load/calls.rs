//! Questions with a call each, from one thread without other work: it sleeps until a question is
//! due, and then reads answers. Due questions of one connection are written together. So the client
//! takes little of the processors that it shares with the gateway.

use super::ask::{ASKERS, Asked, Load, PATIENCE, SLEEP};
use super::now;
use super::wire::{CallConnection, Due, tls_of};
use hdrhistogram::Histogram;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::error::Error;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// Interval of reads once no more question is due.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Connections that ask.
pub(crate) struct Askers(Vec<CallConnection>);

impl Askers {
    /// Connects them.
    pub(crate) fn connect(load: &Load<'_>) -> Result<Self, Box<dyn Error>> {
        let tls = tls_of(load.folder)?;
        let open = |asker| CallConnection::open(load.address, tls.clone(), load.networks_of(asker));
        Ok(Self((0..ASKERS).map(open).collect::<Result<_, _>>()?))
    }

    /// Asks at `rate` for `span`, each in turn.
    pub(crate) fn ask(&mut self, rate: u64, span: Duration) -> Result<Asked, Box<dyn Error>> {
        let gap = Duration::from_nanos(1_000_000_000 / rate.max(1));
        let (begin, mut times) = (now(), Histogram::new(3)?);
        let (mut at, mut number) = (begin, 0);
        loop {
            let time = now();
            while at <= time && at < begin + span {
                let asker = number as usize % self.0.len();
                self.0[asker].due.push_back(Due { number, at });
                number += 1;
                at += gap;
            }
            for asker in &mut self.0 {
                asker.turn(&mut times)?;
            }
            let is_over = at >= begin + span;
            let is_answered = self.0.iter().all(|asker| asker.open_questions() == 0);
            if is_over && (is_answered || time > begin + span + PATIENCE) {
                return Ok(Asked { times, number, took: begin.elapsed() });
            }
            self.wait(if is_over { time + LOOK_EVERY } else { at })?;
        }
    }

    /// Sleeps until a question is due, no shorter than [`SLEEP`]: all questions that became due
    /// meanwhile are asked together. Answers are read then, too. So their times include that delay,
    /// and the processors are left to the gateway.
    fn wait(&mut self, until: Instant) -> Result<(), Box<dyn Error>> {
        let left = until.saturating_duration_since(now());
        let sleep = if left.is_zero() { left } else { left.max(SLEEP) };
        let wanted = |asker: &CallConnection| match asker.is_full() {
            true => PollFlags::POLLIN | PollFlags::POLLOUT,
            false => PollFlags::POLLIN,
        };
        let watched = self.0.iter().map(|asker| PollFd::new(asker.socket.as_fd(), wanted(asker)));
        let mut watched: Vec<_> = watched.collect();
        thread::sleep(sleep);
        ppoll(&mut watched, Some(TimeSpec::from_duration(Duration::ZERO)), None)?;
        let readable = PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR;
        let seen = watched
            .iter()
            .map(|watched| watched.revents().is_some_and(|seen| seen.intersects(readable)));
        let seen: Vec<_> = seen.collect();
        for (asker, is_readable) in self.0.iter_mut().zip(seen) {
            asker.is_readable |= is_readable;
        }
        Ok(())
    }
}
