//! A tenant's estimator behind its locks. Questions never wait for long: neither for a reader of
//! the whole memory, nor for reports that wait for that reader.

use memory::site::{SiteConfig, SiteMemory};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::Duration;

/// Time between two attempts of a change while the whole memory is read.
const READING: Duration = Duration::from_millis(1);

/// An estimator that answers, takes changes, and is now and then read as a whole.
pub(super) struct TenantMemory {
    memory: RwLock<SiteMemory>,
    /// Held shared by each change, and exclusively while the whole memory is read. A change that
    /// cannot get its share does not queue for `memory`: later questions would wait behind it.
    changes: RwLock<()>,
}

impl TenantMemory {
    /// Creates an estimator with an empty memory.
    pub(super) fn new(config: SiteConfig) -> Self {
        Self { memory: RwLock::new(SiteMemory::new(config)), changes: RwLock::default() }
    }

    /// Returns the estimator, to answer questions.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, SiteMemory> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the estimator, to change it at once; a reader of the whole delays that, and all
    /// questions with it.
    pub(super) fn write(&self) -> RwLockWriteGuard<'_, SiteMemory> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the estimator as soon as no reader has the whole of it. No question is answered
    /// while `change` runs.
    pub(super) async fn change<T>(&self, mut change: impl FnOnce(&mut SiteMemory) -> T) -> T {
        loop {
            change = match self.try_change(change) {
                Ok(changed) => return changed,
                Err(change) => change,
            };
            tokio::time::sleep(READING).await;
        }
    }

    /// Runs `change`, or returns it if a reader has the whole.
    fn try_change<T, F: FnOnce(&mut SiteMemory) -> T>(&self, change: F) -> Result<T, F> {
        let _share = match self.changes.try_read() {
            Ok(share) => share,
            Err(TryLockError::Poisoned(share)) => share.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(change),
        };
        Ok(change(&mut self.write()))
    }

    /// Reads the whole memory. It waits for running changes, each of which is short, and delays
    /// later ones. Questions are answered meanwhile.
    pub(super) fn read_whole<T>(&self, read: impl FnOnce(&SiteMemory) -> T) -> T {
        let _alone = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        read(&self.read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory::site::{Bound, Reporter, SiteForget, SiteReport};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use units::{Duration as Span, Instant, Rate};

    const NETWORK: &str = "192.0.2.0/24";

    fn report() -> SiteReport {
        SiteReport {
            network: NETWORK.parse().unwrap(),
            reporter: Reporter(1),
            window: 200_000,
            rate: Some(Rate::from_bps(20_000_000)),
            min_rtt: Some(Span::from_millis(80)),
            sent: 100,
            lost: 1,
            bound: Bound::Loss,
        }
    }

    /// A thread reads the whole memory until the sender is dropped.
    fn hold_whole(memory: &Arc<TenantMemory>) -> (mpsc::Sender<()>, thread::JoinHandle<()>) {
        let (hold, release) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let memory = Arc::clone(memory);
        let reader = thread::spawn(move || {
            memory.read_whole(|_| {
                begun.send(()).unwrap();
                // The wait has a limit, in case a thread of the test waits for it.
                let _ = release.recv_timeout(Duration::from_secs(20));
            });
        });
        has_begun.recv().unwrap();
        (hold, reader)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn questions_are_answered_while_changes_wait_for_a_reader_of_the_whole() {
        let memory = Arc::new(TenantMemory::new(SiteConfig::default()));
        let now = Instant::ZERO + Span::from_secs(1_800_000_000);
        memory.change(|memory| memory.report(now, &report())).await;
        let (hold, reader) = hold_whole(&memory);
        let forgets = {
            let memory = Arc::clone(&memory);
            tokio::spawn(async move {
                memory
                    .change(|memory| memory.forget(SiteForget::new(now, NETWORK.parse().unwrap())))
                    .await
            })
        };
        // This gives the task time to start waiting.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (answer, answered) = mpsc::channel();
        let asked = Arc::clone(&memory);
        thread::spawn(move || {
            let estimate = asked.read().estimate(now, "192.0.2.1".parse().unwrap(), None);
            let _ = answer.send(estimate.is_some());
        });
        let answered = answered.recv_timeout(Duration::from_secs(5));
        assert_eq!(answered, Ok(true), "it waits behind a change, or the change did not wait");
        assert!(!forgets.is_finished());
        drop(hold);
        assert_eq!(forgets.await.unwrap(), 1);
        reader.join().unwrap();
    }
}
