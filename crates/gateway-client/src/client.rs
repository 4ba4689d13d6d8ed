//! The handle, and the thread behind it.

use crate::config::ClientConfig;
use crate::counts::{ClientStatus, Counts};
use crate::message::{Message, SiteEvent, SiteQuestion};
use crate::session::Speaker;
use crate::streams::ClientRole;
use crate::transport;
use canary::part::CanaryPart;
use canary::trial::TrialSums;
use gateway_proto::v1::{Arrival, HostComparison, Refusal, Report};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc::{self, Sender};
use tokio::sync::oneshot;

/// Maximum number of messages that wait for the thread. It takes all of them at once, also while it
/// connects.
const MAX_WAITING_MESSAGES: usize = 8192;

/// Asks and reports. Ends when it is dropped.
#[derive(Debug)]
pub struct SiteClient<T> {
    inbox: Sender<Message<T>>,
    counts: Arc<Counts>,
}

impl<T: Send + 'static> SiteClient<T> {
    /// Starts on a thread of its own, which calls `hear` for each event. `hear` returns true if an
    /// answer was in time.
    ///
    /// # Errors
    /// If certificates cannot be read, or the system cannot start a thread. If no gateway answers,
    /// that is no error: the client keeps trying.
    pub fn start(
        config: ClientConfig,
        hear: impl FnMut(SiteEvent<T>) -> bool + Send + 'static,
    ) -> Result<Self, String> {
        Self::start_as(ClientRole::Agent, config, hear)
    }

    /// Starts the client's thread. `hear` gets the events; it returns true if an answer was in
    /// time.
    fn start_as(
        role: ClientRole,
        config: ClientConfig,
        hear: impl FnMut(SiteEvent<T>) -> bool + Send + 'static,
    ) -> Result<Self, String> {
        transport::check_files(&config)?;
        let epoch = getrandom::u64().map_err(|error| format!("no random numbers: {error}"))?.max(1);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot speak with gateways: {error}"))?;
        let (inbox, messages) = mpsc::channel(MAX_WAITING_MESSAGES);
        let counts = Arc::new(Counts::default());
        let hear = Box::new(hear);
        let speaker = Speaker::new(role, config, epoch, Arc::clone(&counts), messages, hear);
        let spawned = thread::Builder::new()
            .name("gateway".to_owned())
            .spawn(move || runtime.block_on(speaker.run()));
        spawned.map_err(|error| format!("cannot speak with gateways: {error}"))?;
        Ok(Self { inbox, counts })
    }

    /// Asks; does not wait. A question without room counts as not answered.
    pub fn ask(&self, question: SiteQuestion<T>) {
        self.counts.asked.add(1);
        if self.inbox.try_send(Message::Ask(question)).is_err() {
            self.counts.none.add(1);
        }
    }

    /// Reports; does not wait. A report without room counts as dropped.
    pub fn report(&self, report: Report) {
        if self.inbox.try_send(Message::Report(report)).is_err() {
            self.counts.reports_dropped.add(1);
        }
    }

    /// Announces a visitor; does not wait. Anyone can send SYNs, so visitors take at most half of
    /// the room: reports always have the rest. [`Self::unannounced`] counts visitors without room.
    pub fn announce(&self, arrival: Arrival) {
        let is_for_reports = self.inbox.capacity() <= self.inbox.max_capacity() / 2;
        if is_for_reports || self.inbox.try_send(Message::Announce(arrival)).is_err() {
            self.counts.unannounced.add(1);
        }
    }

    /// Sends the sums of this host's comparison; does not wait. The findings of all hosts are an
    /// event. Sums without a gateway are dropped: later ones replace them.
    pub fn compare(&self, sums: &[(CanaryPart, TrialSums)]) {
        // A full inbox drops them, too.
        let _ = self.inbox.try_send(Message::Compare(HostComparison::of(sums)));
    }

    /// Returns the number of visitors that were not announced, because there was no room or no
    /// gateway.
    pub fn unannounced(&self) -> u64 {
        self.counts.unannounced.get()
    }

    /// Returns the state of the connection, and the counters.
    pub fn status(&self) -> ClientStatus {
        self.counts.status()
    }

    /// Returns the reports that gateways have refused, by reason; reasons without one are left out.
    pub fn refusals(&self) -> Vec<(Refusal, u64)> {
        self.counts.refusals()
    }

    /// Waits until all reports have been acknowledged; false if that takes longer than `patience`.
    pub fn flush(&self, patience: Duration) -> bool {
        let (done, is_done) = oneshot::channel();
        if self.inbox.blocking_send(Message::Flush(done)).is_err() {
            return false;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let Ok(runtime) = runtime else { return false };
        runtime
            .block_on(async { matches!(tokio::time::timeout(patience, is_done).await, Ok(Ok(()))) })
    }
}

impl SiteClient<()> {
    /// Starts as an observer, with an observer's certificate: it reports and announces visitors,
    /// asks nothing and receives no estimates.
    ///
    /// # Errors
    /// The same errors as [`Self::start`].
    pub fn observe(
        config: ClientConfig,
        mut hear: impl FnMut(SiteEvent<()>) + Send + 'static,
    ) -> Result<Self, String> {
        Self::start_as(ClientRole::Observer, config, move |event| {
            hear(event);
            false
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_syns_leaves_reports_half_of_the_room() {
        let (inbox, _messages) = mpsc::channel(4);
        let client = SiteClient::<()> { inbox, counts: Arc::default() };
        (0..4).for_each(|_| client.announce(Arrival::default()));
        assert_eq!(client.unannounced(), 2);
        (0..3).for_each(|_| client.report(Report::default()));
        assert_eq!(client.status().reports_dropped, 1);
    }
}
