//! One direction in real time: reads packets at one port, delivers them at the other when they are
//! due, and sleeps in between.

use crate::totals::Live;
use crate::{Clock, Pipe, Port};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time;
use units::{Duration, Instant, Rate};

/// IP's largest packet.
const LARGEST: usize = 65_535;
/// Packets handed over for each that is read, at most: neither end starves the other.
const BATCH: usize = 8;
/// Packets read one after another before the thread looks whether it is to stop.
const READS: u32 = 64;
/// Largest number of delays kept back while the counters are locked.
const MAX_UNREPORTED: usize = 64;

/// Mover of the packets of one direction.
pub(crate) struct Driver {
    pub(crate) pipe: Pipe,
    pub(crate) source: Port,
    pub(crate) sink: Port,
    pub(crate) stop: Arc<EventFd>,
    pub(crate) clock: Clock,
    /// Within this of the next event the thread does not sleep.
    pub(crate) spin: Duration,
    pub(crate) live: Arc<Mutex<Live>>,
    /// Rate of the link from the next packet on, bits a second; 0: unchanged.
    pub(crate) next_rate: Arc<AtomicU64>,
}

/// Changes since the last report.
#[derive(Default)]
struct UnreportedDeliveries {
    late: Vec<Duration>,
    delivered_bytes: u64,
    refused: u64,
}

/// Reason why the thread continues.
#[derive(PartialEq, Eq)]
enum WakeReason {
    ByPacketOrTime,
    ByStop,
}

impl Driver {
    /// Moves packets until it is stopped, or a port is gone.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut unreported = UnreportedDeliveries::default();
        let result = self.drive(&mut unreported);
        let live = Arc::clone(&self.live);
        self.report(&mut unreported, live.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        result
    }

    fn drive(&mut self, unreported: &mut UnreportedDeliveries) -> io::Result<()> {
        let mut buffer = vec![0; LARGEST];
        let mut reads = 0_u32;
        loop {
            self.hand_over(unreported);
            reads = reads.wrapping_add(1);
            // A source that never runs dry must not keep it from looking.
            if reads.is_multiple_of(READS) && self.is_stopped()? {
                return Ok(());
            }
            match self.source.read(&mut buffer) {
                // The other side of an in-process port is closed.
                Ok(0) => return Ok(()),
                Ok(length) => {
                    self.change_rate();
                    self.pipe.offer(self.clock.now(), &buffer[..length]);
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock => {
                        self.try_report(unreported);
                        if self.wait_for_event()? == WakeReason::ByStop {
                            return Ok(());
                        }
                    }
                    _ => return Err(error),
                },
            }
        }
    }

    /// Sets the requested rate of the link, if there is one. A sleeping thread need not be woken
    /// for it: the rate matters from the next packet on.
    fn change_rate(&mut self) {
        if self.next_rate.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.pipe.set_rate(Rate::from_bps(self.next_rate.swap(0, Ordering::Acquire)));
    }

    /// Whether it is to stop; does not wait.
    fn is_stopped(&self) -> io::Result<bool> {
        let mut fds = [PollFd::new(self.stop.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut fds, Some(timespec(Duration::ZERO)), None) {
            Ok(_) => Ok(fds[0].any().unwrap_or(false)),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Delivers the packets that are due.
    fn hand_over(&mut self, unreported: &mut UnreportedDeliveries) {
        let now = self.clock.now();
        if self.pipe.poll_timeout().is_none_or(|due| due > now) {
            return;
        }
        self.pipe.handle_timeout(now);
        for _ in 0..BATCH {
            let now = self.clock.now();
            let Some(delivery) = self.pipe.poll_delivery(now) else {
                break;
            };
            unreported.count_delivery(&delivery, now, self.sink.write(delivery.packet));
        }
        if unreported.late.len() >= MAX_UNREPORTED {
            self.try_report(unreported);
        }
    }

    /// Sleeps until a packet comes, the next is due, or it is over.
    fn wait_for_event(&mut self) -> io::Result<WakeReason> {
        let due = self.pipe.poll_timeout();
        let timeout = match due.map(|due| due.saturating_since(self.clock.now())) {
            Some(left) if left <= self.spin => Duration::ZERO,
            Some(left) => left.saturating_sub(self.spin),
            None => Duration::MAX,
        };
        let mut fds = [
            PollFd::new(self.source.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.stop.as_fd(), PollFlags::POLLIN),
        ];
        match ppoll(&mut fds, (timeout != Duration::MAX).then(|| timespec(timeout)), None) {
            Ok(_) if fds[1].any().unwrap_or(false) => Ok(WakeReason::ByStop),
            Ok(_) | Err(Errno::EINTR) => Ok(WakeReason::ByPacketOrTime),
            Err(error) => Err(error.into()),
        }
    }

    /// Reports the changes, unless a reader holds the lock right now: this thread does not wait.
    fn try_report(&self, unreported: &mut UnreportedDeliveries) {
        if let Ok(live) = self.live.try_lock() {
            self.report(unreported, live);
        }
    }

    fn report(&self, unreported: &mut UnreportedDeliveries, mut live: MutexGuard<'_, Live>) {
        live.totals.link = *self.pipe.counters();
        live.totals.delivered_packets += unreported.late.len() as u64;
        live.totals.delivered_bytes += std::mem::take(&mut unreported.delivered_bytes);
        live.totals.refused_packets += std::mem::take(&mut unreported.refused);
        live.totals.held_packets = self.pipe.held() as u64;
        unreported.late.drain(..).for_each(|late| live.scheduling_delay.record(late));
    }
}

impl UnreportedDeliveries {
    fn count_delivery(
        &mut self,
        delivery: &crate::DeliveredPacket<'_>,
        now: Instant,
        written: io::Result<()>,
    ) {
        match written {
            Ok(()) => {
                self.late.push(now.saturating_since(delivery.due));
                self.delivered_bytes += delivery.packet.len() as u64;
            }
            Err(_) => self.refused += 1,
        }
    }
}

fn timespec(duration: Duration) -> TimeSpec {
    TimeSpec::from_duration(time::Duration::from_nanos(duration.as_nanos()))
}
