//! A source that is read on a thread of its own.

use crate::error::CaptureError;
use crate::observed::Observed;
use crate::source::{InputProgress, SegmentSource};
use crate::tally::Tally;
use std::io;
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Batches on their way: enough for both threads to work, few enough to stay in a cache.
const CAPACITY: usize = 4;

/// Reads a source ahead: its thread reads, decompresses and decodes while the user's works on the batches
/// before. Batches, errors and their order are those of the source.
///
/// Dropped, it does not wait for a source that waits for packets; the thread ends with its next batch.
pub struct ReadAhead {
    from: Receiver<Delivery>,
    /// Batches that have been used, to be filled again.
    back: SyncSender<Vec<Observed>>,
    thread: Option<JoinHandle<()>>,
    tally: Tally,
    progress: InputProgress,
}

struct Delivery {
    /// `None` at the end.
    batch: Result<Option<Vec<Observed>>, CaptureError>,
    tally: Tally,
    progress: InputProgress,
}

impl ReadAhead {
    /// Begins to read.
    ///
    /// # Errors
    /// If there are no more threads.
    pub fn new(source: impl SegmentSource + Send + 'static) -> io::Result<Self> {
        let (to, from) = sync_channel(CAPACITY);
        let (back, used) = sync_channel(CAPACITY + 2);
        let (tally, progress) = (source.tally(), source.progress());
        let thread = thread::Builder::new().name("capture".to_owned());
        let thread = thread.spawn(move || run(source, &to, &used))?;
        Ok(Self { from, back, thread: Some(thread), tally, progress })
    }
}

fn run(mut source: impl SegmentSource, to: &SyncSender<Delivery>, used: &Receiver<Vec<Observed>>) {
    loop {
        let mut batch = used.try_recv().unwrap_or_default();
        let read = source.next_batch(&mut batch);
        let is_end = matches!(read, Ok(false));
        let batch = read.map(|more| more.then_some(batch));
        let delivery = Delivery { batch, tally: source.tally(), progress: source.progress() };
        if to.send(delivery).is_err() || is_end {
            return;
        }
    }
}

impl SegmentSource for ReadAhead {
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError> {
        let Ok(delivery) = self.from.recv() else {
            // The thread has ended: behind the end, or by a panic, which is everybody's.
            batch.clear();
            return match self.thread.take().map(JoinHandle::join) {
                Some(Err(why)) => panic::resume_unwind(why),
                _ => Ok(false),
            };
        };
        self.tally = delivery.tally;
        self.progress = delivery.progress;
        let Some(next) = delivery.batch.inspect_err(|_| batch.clear())? else {
            batch.clear();
            return Ok(false);
        };
        let old = std::mem::replace(batch, next);
        // Full, if the source ends: then nobody needs it.
        let _ = self.back.try_send(old);
        Ok(true)
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    fn progress(&self) -> InputProgress {
        self.progress
    }
}
