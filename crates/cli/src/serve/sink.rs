//! Lines on their way to a reader. A stalled reader at the other end of a pipe would block a server
//! that writes to it. Therefore a thread of its own waits here. Lines without room meanwhile are
//! left out, and their number is reported.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

/// Lines that may wait.
const ROOM: usize = 4096;
/// Number of looks, at the end, whether the remaining lines have been read.
const LOOKS: u32 = 200;
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(5);

enum Order {
    Line(String),
    /// All before has been written, or could not be.
    Flush(SyncSender<()>),
}

/// Takes lines without waiting.
pub(super) struct Sink {
    orders: SyncSender<Order>,
    left_out: Arc<AtomicU64>,
}

impl Sink {
    /// Writes to `to`; `left_out` puts it into a line how many were.
    pub(super) fn new(to: Box<dyn Write + Send>, left_out: fn(u64) -> String) -> Self {
        let (orders, received) = sync_channel(ROOM);
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        thread::spawn(move || write_all(to, &received, &counted, left_out));
        Self { orders, left_out: count }
    }

    /// Hands on a line, without its end.
    pub(super) fn line(&self, line: String) {
        if self.orders.try_send(Order::Line(line)).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all is written, but not for long.
    pub(super) fn finish(&self) {
        let (sender, flushed) = sync_channel(1);
        let mut order = Order::Flush(sender);
        for _ in 0..LOOKS {
            match self.orders.try_send(order) {
                Err(TrySendError::Full(back)) => order = back,
                _ => {
                    // A reader that does not read in time loses the rest.
                    let _ = flushed.recv_timeout(LOOK * LOOKS);
                    return;
                }
            }
            thread::sleep(LOOK);
        }
    }
}

fn write_all(
    mut to: Box<dyn Write + Send>,
    orders: &Receiver<Order>,
    missing: &AtomicU64,
    left_out: fn(u64) -> String,
) {
    // A reader that has gone gets no more lines, and is no reason to end.
    let mut print = |line: &str| drop(writeln!(to, "{line}").and_then(|()| to.flush()));
    for order in orders {
        match order {
            Order::Line(line) => print(&line),
            Order::Flush(sender) => drop(sender.try_send(())),
        }
        match missing.swap(0, Ordering::Relaxed) {
            0 => {}
            n => print(&left_out(n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::mpsc::{Sender, channel};

    /// A pipe whose reader stalls until it is released, and then keeps all lines.
    struct Stalled {
        go_on: Receiver<()>,
        goes: bool,
        read: Sender<u8>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !self.goes {
                self.go_on.recv().expect("the test goes on");
                self.goes = true;
            }
            for byte in bytes {
                self.read.send(*byte).expect("the test reads");
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Pipe {
        sink: Sink,
        go: Sender<()>,
        lines: Receiver<u8>,
    }

    fn stalled() -> Pipe {
        let ((go, go_on), (read, lines)) = (channel(), channel());
        let sink = Sink::new(Box::new(Stalled { go_on, goes: false, read }), |n| format!("-{n}"));
        Pipe { sink, go, lines }
    }

    #[test]
    fn a_reader_that_stands_still_keeps_nobody_waiting_and_learns_what_it_missed() {
        let Pipe { sink, go, lines } = stalled();
        let wanted = 3 * ROOM;
        (0..wanted).for_each(|n| sink.line(n.to_string()));
        // It is not waited for at the end either, but for the patience there is.
        sink.finish();
        go.send(()).unwrap();
        sink.finish();
        drop(sink);
        let text = String::from_utf8(lines.iter().collect()).unwrap();
        let (reported, missed): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| !line.starts_with('-'));
        let numbers: Vec<usize> = reported.iter().map(|line| line.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "in order");
        let missing: usize = missed.iter().map(|line| line[1..].parse::<usize>().unwrap()).sum();
        assert_eq!(numbers.len() + missing, wanted);
        // The line that is being written, and the lines that fit into the room.
        assert!((ROOM..=ROOM + 1).contains(&numbers.len()), "{}", numbers.len());
    }

    #[test]
    fn what_is_read_is_complete_when_it_has_finished() {
        let Pipe { sink, go, lines } = stalled();
        go.send(()).unwrap();
        (0..100).for_each(|n| sink.line(n.to_string()));
        sink.finish();
        let text = String::from_utf8(lines.try_iter().collect()).unwrap();
        let all: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), all);
    }
}
