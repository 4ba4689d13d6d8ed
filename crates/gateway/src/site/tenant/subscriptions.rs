//! Updates for a tenant's subscribers. A slow subscriber loses some changes of estimates, but no
//! network to forget.

use gateway_proto::v1::update::What;
use gateway_proto::v1::{Estimate, Network, Update};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};
use units::Instant;

/// Maximum number of updates that wait for a subscriber.
const MAX_WAITING_UPDATES: usize = 4096;
/// Number of networks to forget that are kept for subscribers who have lost updates.
const MAX_KEPT_FORGETS: usize = 1024;

/// The sender of updates.
#[derive(Clone, Debug)]
pub(crate) struct Updates {
    sender: Sender<Update>,
    forgets: Arc<Mutex<ForgetLog>>,
}

/// The last networks that subscribers were ordered to forget.
#[derive(Debug, Default)]
struct ForgetLog {
    /// Each with the time at which this gateway got the order.
    last: VecDeque<(Instant, IpNet)>,
    /// Number of them since the start.
    count: u64,
}

impl ForgetLog {
    /// Adds an order. If [`MAX_KEPT_FORGETS`] orders are kept, the oldest is dropped.
    fn push(&mut self, network: IpNet, now: Instant) {
        if self.last.len() == MAX_KEPT_FORGETS {
            self.last.pop_front();
        }
        self.last.push_back((now, network));
        self.count += 1;
    }

    /// Returns the networks to forget after the first `sent` ones. If some of these are no longer
    /// in the log, returns both address families as a whole, so the subscriber forgets everything.
    fn since(&self, sent: u64) -> Vec<IpNet> {
        let missed = usize::try_from(self.count.saturating_sub(sent)).unwrap_or(usize::MAX);
        match self.last.len().checked_sub(missed) {
            Some(first) => self.last.range(first..).map(|(_, network)| *network).collect(),
            None => vec![Ipv4Net::default().into(), Ipv6Net::default().into()],
        }
    }
}

/// The receiver of a subscriber's updates.
#[derive(Debug)]
pub(crate) struct UpdateReceiver {
    updates: Updates,
    receiver: Receiver<Update>,
    /// Number of networks to forget of which it has been notified.
    sent: u64,
    /// Networks to forget that precede any other update.
    missed: VecDeque<IpNet>,
}

impl Default for Updates {
    fn default() -> Self {
        Self { sender: broadcast::channel(MAX_WAITING_UPDATES).0, forgets: Arc::default() }
    }
}

impl Updates {
    /// Returns a receiver of the updates from now on. It first gets the networks `forgotten` that
    /// the memory has noted, and those whose orders this gateway has received since `since`. An
    /// order that comes after the memory was read is in the log, or is sent to the receiver.
    pub(crate) fn subscribe(&self, since: Instant, forgotten: Vec<IpNet>) -> UpdateReceiver {
        let log = self.log();
        let late = log.last.iter().filter(|(at, _)| *at >= since).map(|(_, network)| *network);
        let late: Vec<_> = late.filter(|network| !forgotten.contains(network)).collect();
        UpdateReceiver {
            updates: self.clone(),
            receiver: self.sender.subscribe(),
            sent: log.count,
            missed: forgotten.into_iter().chain(late).collect(),
        }
    }

    /// Returns true if there is a subscriber.
    pub(crate) fn has_subscribers(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Makes all subscribers forget a network. A slow subscriber delays no other.
    pub(crate) fn forget(&self, network: IpNet, now: Instant) {
        let mut log = self.log();
        log.push(network, now);
        self.send(What::Forget(Network::of(network)));
    }

    /// Returns the number of networks to forget so far.
    pub(crate) fn forgets(&self) -> u64 {
        self.log().count
    }

    /// Sends all subscribers an estimate that was made after the first `forgets` networks were
    /// forgotten. If its network was forgotten since, the estimate may be older than that, and is
    /// not sent.
    pub(crate) fn tell(&self, network: IpNet, estimate: Estimate, forgets: u64) {
        let log = self.log();
        if log.since(forgets).iter().all(|forgotten| !forgotten.contains(&network)) {
            self.send(What::Estimate(estimate));
        }
    }

    fn send(&self, what: What) {
        // Sending fails if there is no subscriber.
        let _ = self.sender.send(Update { what: Some(what) });
    }

    fn log(&self) -> MutexGuard<'_, ForgetLog> {
        self.forgets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UpdateReceiver {
    /// Returns the next update. A subscriber that has lost some goes on with the newest ones, and
    /// first gets the networks to forget.
    ///
    /// # Errors
    /// With the number of lost updates, or if no more will follow.
    pub(crate) async fn recv(&mut self) -> Result<Update, RecvError> {
        if let Some(missed) = self.next_missed() {
            return Ok(missed);
        }
        match self.receiver.recv().await {
            Ok(update) => {
                self.sent += u64::from(matches!(update.what, Some(What::Forget(_))));
                Ok(update)
            }
            Err(RecvError::Lagged(lost)) => Err(RecvError::Lagged(lost + self.catch_up())),
            Err(RecvError::Closed) => Err(RecvError::Closed),
        }
    }

    /// Returns a network to forget whose own update was lost.
    pub(crate) fn next_missed(&mut self) -> Option<Update> {
        let network = self.missed.pop_front()?;
        Some(Update { what: Some(What::Forget(Network::of(network))) })
    }

    /// Skips all waiting updates but networks to forget; returns the number of skipped updates.
    fn catch_up(&mut self) -> u64 {
        let log = self.updates.log();
        let left_out = self.receiver.len() as u64;
        self.receiver = self.receiver.resubscribe();
        self.missed.extend(log.since(self.sent));
        self.sent = log.count;
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(n: u32) -> IpNet {
        IpNet::new(std::net::Ipv4Addr::from(n << 8).into(), 24).unwrap()
    }

    fn tell(updates: &Updates, count: u32) {
        for n in 0..count {
            updates.tell(
                network(n),
                Estimate { window: n.into(), ..Estimate::default() },
                updates.forgets(),
            );
        }
    }

    fn forget(n: u32) -> Update {
        Update { what: Some(What::Forget(Network::of(network(n)))) }
    }

    /// The queue keeps 4096 of 5002 updates: the forgotten network is among the first, which are
    /// lost.
    #[tokio::test]
    async fn a_subscriber_that_was_too_slow_is_told_all_that_is_to_be_forgotten() {
        let updates = Updates::default();
        let mut receiver = updates.subscribe(Instant::ZERO, Vec::new());
        updates.forget(network(1), Instant::ZERO);
        assert_eq!(receiver.recv().await, Ok(forget(1)));
        updates.forget(network(2), Instant::ZERO);
        tell(&updates, 5000);
        updates.forget(network(3), Instant::ZERO);
        assert_eq!(receiver.recv().await, Err(RecvError::Lagged(5002)));
        // Each network is sent once, and later ones follow in order.
        updates.forget(network(4), Instant::ZERO);
        for n in 2..5 {
            assert_eq!(receiver.recv().await, Ok(forget(n)));
        }
        tell(&updates, 1);
        let next = receiver.recv().await.unwrap();
        assert!(matches!(next.what, Some(What::Estimate(_))), "{next:?}");
    }

    #[tokio::test]
    async fn who_has_missed_more_than_are_kept_forgets_everything() {
        let updates = Updates::default();
        let mut receiver = updates.subscribe(Instant::ZERO, Vec::new());
        (0..=MAX_KEPT_FORGETS as u32).for_each(|n| updates.forget(network(n), Instant::ZERO));
        tell(&updates, 5000);
        assert!(matches!(receiver.recv().await, Err(RecvError::Lagged(_))));
        let sent = [receiver.recv().await.unwrap(), receiver.recv().await.unwrap()];
        let all = ["0.0.0.0/0", "::/0"].map(|all| Network::of(all.parse().unwrap()));
        assert_eq!(sent, all.map(|all| Update { what: Some(What::Forget(all)) }));
    }

    /// The subscriber had the updates until 3,400 s, and the memory notes networks 1 and 3. The
    /// order for 0 precedes that time. Those for 2 and 3 came since, maybe after the memory was
    /// read.
    #[tokio::test]
    async fn what_was_forgotten_lately_comes_before_anything_else() {
        let updates = Updates::default();
        let at = |seconds| Instant::ZERO + units::Duration::from_secs(seconds);
        for (n, seconds) in [(0, 3_399), (2, 3_400), (3, 5_000)] {
            updates.forget(network(n), at(seconds));
        }
        let mut receiver = updates.subscribe(at(3_400), vec![network(1), network(3)]);
        updates.forget(network(4), at(5_001));
        for n in [1, 3, 2] {
            assert_eq!(receiver.next_missed(), Some(forget(n)));
        }
        assert_eq!(receiver.next_missed(), None);
        assert_eq!(receiver.recv().await, Ok(forget(4)));
    }

    #[tokio::test]
    async fn an_estimate_of_before_is_not_told_after_its_network_was_forgotten() {
        let updates = Updates::default();
        let mut receiver = updates.subscribe(Instant::ZERO, Vec::new());
        let begun = updates.forgets();
        updates.forget(network(1), Instant::ZERO);
        for n in [1, 2] {
            updates.tell(network(n), Estimate { window: n.into(), ..Estimate::default() }, begun);
        }
        assert_eq!(receiver.recv().await, Ok(forget(1)));
        let next = receiver.recv().await.unwrap();
        assert!(matches!(next.what, Some(What::Estimate(estimate)) if estimate.window == 2));
    }
}
