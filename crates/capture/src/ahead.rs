//! A source that is read on a thread of its own.

use crate::counters::CaptureCounters;
use crate::error::CaptureError;
use crate::observed::Observed;
use crate::source::{InputProgress, SegmentSource};
use std::io;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Number of batches in the channel: enough for both threads to work, few enough to stay in a
/// cache.
const CAPACITY: usize = 4;
/// Longest wait for a batch before the next look at the stop flag.
const WAIT: Duration = Duration::from_millis(100);

/// Reads a source ahead: its thread reads, decompresses and decodes while the user's works on the
/// batches before. Batches, errors and their order are those of the source.
///
/// Dropping it does not wait for a source that waits for packets; the thread ends with its next
/// batch.
pub struct ReadAhead {
    from: Receiver<Delivery>,
    /// Used batches, to be filled again.
    back: SyncSender<Vec<Observed>>,
    thread: Option<JoinHandle<()>>,
    /// Ends the source once it is set.
    stop: Option<Arc<AtomicBool>>,
    counters: CaptureCounters,
    progress: InputProgress,
}

/// The reason why there is no batch.
enum NoMore {
    /// The thread has ended.
    Ended,
    /// The stop flag was set.
    Stopped,
    /// The source still waits for packets.
    Yet,
}

struct Delivery {
    /// The batch; `None` at the end.
    batch: Result<Option<Vec<Observed>>, CaptureError>,
    counters: CaptureCounters,
    progress: InputProgress,
}

impl ReadAhead {
    /// Starts to read.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn new(source: impl SegmentSource + Send + 'static) -> io::Result<Self> {
        let (to, from) = sync_channel(CAPACITY);
        let (back, used) = sync_channel(CAPACITY + 2);
        let (counters, progress) = (source.counters(), source.progress());
        let thread = thread::Builder::new().name("capture".to_owned());
        let thread = thread.spawn(move || run(source, &to, &used))?;
        Ok(Self { from, back, thread: Some(thread), stop: None, counters, progress })
    }

    /// Makes the source end once `stop` is set, even while it waits for packets. Its user need not
    /// wait with it: a batch is empty after each tenth of a second without packets.
    #[must_use]
    pub fn ending_on(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Returns the next delivery of the thread.
    fn next_delivery(&self) -> Result<Delivery, NoMore> {
        let Some(stop) = &self.stop else { return self.from.recv().map_err(|_| NoMore::Ended) };
        self.from.recv_timeout(WAIT).map_err(|why| match why {
            RecvTimeoutError::Disconnected => NoMore::Ended,
            RecvTimeoutError::Timeout if stop.load(Ordering::Relaxed) => NoMore::Stopped,
            RecvTimeoutError::Timeout => NoMore::Yet,
        })
    }
}

fn run(mut source: impl SegmentSource, to: &SyncSender<Delivery>, used: &Receiver<Vec<Observed>>) {
    loop {
        let mut batch = used.try_recv().unwrap_or_default();
        let read = source.next_batch(&mut batch);
        let is_end = matches!(read, Ok(false));
        let batch = read.map(|more| more.then_some(batch));
        let delivery = Delivery { batch, counters: source.counters(), progress: source.progress() };
        if to.send(delivery).is_err() || is_end {
            return;
        }
    }
}

impl SegmentSource for ReadAhead {
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError> {
        let delivery = match self.next_delivery() {
            Ok(delivery) => delivery,
            Err(NoMore::Stopped) => {
                batch.clear();
                return Ok(false);
            }
            Err(NoMore::Yet) => {
                batch.clear();
                return Ok(true);
            }
            // The source has ended, or its thread has panicked; a panic propagates to the user.
            Err(NoMore::Ended) => {
                batch.clear();
                return match self.thread.take().map(JoinHandle::join) {
                    Some(Err(why)) => panic::resume_unwind(why),
                    _ => Ok(false),
                };
            }
        };
        self.counters = delivery.counters;
        self.progress = delivery.progress;
        let Some(next) = delivery.batch.inspect_err(|_| batch.clear())? else {
            batch.clear();
            return Ok(false);
        };
        let old = std::mem::replace(batch, next);
        // The channel is full only if the source ends, and then the batch is not needed.
        let _ = self.back.try_send(old);
        Ok(true)
    }

    fn counters(&self) -> CaptureCounters {
        self.counters
    }

    fn progress(&self) -> InputProgress {
        self.progress
    }
}
