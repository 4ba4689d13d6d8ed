//! The conversation with one gateway after the other: asks, reports and receives, for as long as
//! that one answers.

use crate::config::ClientConfig;
use crate::counts::Counts;
use crate::message::{Message, SiteEvent, SiteQuestion};
use crate::outbox::Outbox;
use crate::pending::Pending;
use crate::streams::{ClientRole, OtherStreams, Received, Streams, heard, open};
use crate::transport::{GatewayFault, connect};
use gateway_proto::v1::update::What;
use gateway_proto::v1::{Answer, HostStatus, Network, Query, ReportAck, Update, answer};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// Time after which reports are sent although they do not fill a batch.
const TICK: Duration = Duration::from_millis(250);
/// Time after which a question is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Waiting time of a question after which a gateway counts as slow: the next one is tried, if there
/// is one.
const SLOW: Duration = Duration::from_millis(750);
/// Pause after all gateways have been tried: the first value at first, doubled each time, up to the
/// second.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// The receiver of events; it returns true if an answer was in time.
pub(crate) type Hearer<T> = Box<dyn FnMut(SiteEvent<T>) -> bool + Send>;

pub(crate) struct Speaker<T> {
    role: ClientRole,
    config: ClientConfig,
    counts: Arc<Counts>,
    inbox: Receiver<Message<T>>,
    hear: Hearer<T>,
    pending: Pending<T>,
    outbox: Outbox,
    /// Callers that wait until the outbox is empty.
    flushes: Vec<oneshot::Sender<()>>,
}

/// The reason why the conversation with a gateway ends.
enum End {
    /// The client was dropped.
    Dropped,
    /// The connection failed, for this reason.
    Lost(String),
}

impl<T> Speaker<T> {
    pub(crate) fn new(
        role: ClientRole,
        config: ClientConfig,
        epoch: u64,
        counts: Arc<Counts>,
        inbox: Receiver<Message<T>>,
        hear: Hearer<T>,
    ) -> Self {
        let outbox = Outbox::new(epoch, config.collector);
        Self {
            role,
            config,
            counts,
            inbox,
            hear,
            pending: Pending::default(),
            outbox,
            flushes: Vec::new(),
        }
    }

    /// Runs until the client is dropped.
    pub(crate) async fn run(mut self) {
        let (mut turn, mut failures) = (0, 0);
        loop {
            let gateway = self.config.gateways[turn % self.config.gateways.len()].clone();
            let had_connected = match self.speak_with(&gateway).await {
                (_, End::Dropped) => return,
                (had_connected, End::Lost(why)) => {
                    self.counts.lost(&why);
                    (self.hear)(SiteEvent::Lost(why));
                    had_connected
                }
            };
            failures = if had_connected { 0 } else { failures + 1 };
            turn += 1;
            // Each of the others is tried at once; after all of them there is a pause.
            let rounds = failures / self.config.gateways.len();
            if (had_connected && self.config.gateways.len() == 1 || rounds > 0)
                && self.pause(pause_after(rounds)).await
            {
                return;
            }
        }
    }

    /// Returns whether the gateway accepted a connection, and why the conversation ended.
    async fn speak_with(&mut self, gateway: &str) -> (bool, End) {
        let mut streams = match self.reach(gateway).await {
            Ok(streams) => streams,
            Err(end) => return (false, end),
        };
        self.counts.connected(gateway);
        (self.hear)(SiteEvent::Connected(gateway.to_owned()));
        self.outbox.start_over();
        let end = self.converse(&mut streams).await;
        let given_up = self.pending.give_up(Instant::now(), Duration::ZERO);
        self.counts.none.add(given_up);
        (true, end)
    }

    /// Connects. Reports are gathered meanwhile, and questions are not answered.
    async fn reach(&mut self, gateway: &str) -> Result<Streams, End> {
        let (role, config) = (self.role, self.config.clone());
        let connecting = async {
            let channel = connect(&config, gateway).await?;
            open(channel, role, &(config.addresses)())
                .await
                .map_err(|status| GatewayFault::of_status(&status, &config, gateway))
        };
        tokio::pin!(connecting);
        loop {
            tokio::select! {
                streams = &mut connecting => return streams.map_err(|fault| End::Lost(fault.to_string())),
                message = self.inbox.recv() => match message {
                    None => return Err(End::Dropped),
                    Some(message) => self.take_without_gateway(message),
                },
            }
        }
    }

    async fn converse(&mut self, streams: &mut Streams) -> End {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let went = tokio::select! {
                message = self.inbox.recv() => match message {
                    None => return End::Dropped,
                    Some(message) => {
                        self.take(message, streams);
                        Ok(())
                    }
                },
                ack = streams.acks.message() => heard(ack).map(|ack| self.acknowledged(&ack)),
                other = streams.others.next() => other.map(|other| match other {
                    Received::Answer(answer) => self.answered(answer),
                    Received::Update(update) => self.updated(update),
                }),
                _ = ticks.tick() => self.tick(streams),
            };
            if let Err(why) = went {
                return End::Lost(why);
            }
        }
    }

    fn take(&mut self, message: Message<T>, streams: &Streams) {
        match (message, &streams.others) {
            (Message::Ask(question), OtherStreams::Agent(streams)) => {
                self.ask(question, &streams.queries);
            }
            (Message::Announce(arrival), OtherStreams::Observer { arrivals, .. }) => {
                if arrivals.try_send(arrival).is_err() {
                    self.counts.unannounced.add(1);
                }
            }
            (message, _) => {
                self.take_without_gateway(message);
                self.send_batches(streams);
            }
        }
    }

    fn ask(&mut self, question: SiteQuestion<T>, queries: &Sender<Query>) {
        let (network, size) = (Network::of(question.network), question.size);
        let Ok(id) = self.pending.ask(Instant::now(), question) else {
            self.counts.none.add(1);
            return;
        };
        let query = Query { id, network: Some(network), size };
        if queries.try_send(query).is_err() && self.pending.answer(id).is_some() {
            self.counts.none.add(1);
        }
    }

    fn take_without_gateway(&mut self, message: Message<T>) {
        match message {
            Message::Ask(_) => self.counts.none.add(1),
            Message::Announce(_) => self.counts.unannounced.add(1),
            Message::Report(report) => {
                let now = Instant::now();
                if !self.outbox.put(now, report) {
                    self.counts.reports_dropped.add(1);
                } else if self.outbox.is_full() {
                    self.outbox.close(now, self.host_status());
                }
            }
            Message::Flush(done) => {
                self.flushes.push(done);
                self.tell_flushed();
            }
        }
    }

    fn answered(&mut self, answer: Answer) {
        let Some(question) = self.pending.answer(answer.id) else { return };
        match answer.result {
            Some(answer::Result::Estimate(estimate)) => {
                let in_time = (self.hear)(SiteEvent::Answered(question, estimate));
                let count = if in_time { &self.counts.in_time } else { &self.counts.late };
                count.add(1);
            }
            _ => self.counts.none.add(1),
        }
    }

    fn acknowledged(&mut self, ack: &ReportAck) {
        self.outbox.acknowledge(ack.epoch, ack.sequence);
        if !ack.repeated {
            self.counts.reports_taken.add(ack.taken.into());
        }
        ack.refused.iter().for_each(|refused| self.counts.refused(*refused));
        self.tell_flushed();
    }

    fn updated(&mut self, update: Update) {
        match update.what {
            Some(What::Estimate(estimate)) => _ = (self.hear)(SiteEvent::Told(estimate)),
            Some(What::Arrival(estimate)) => {
                self.counts.arrivals.add(1);
                _ = (self.hear)(SiteEvent::Arriving(estimate));
            }
            Some(What::Forget(network)) => _ = (self.hear)(SiteEvent::Forget(network)),
            Some(What::KeepAlive(_) | What::Dropped(_)) | None => {}
        }
    }

    fn tick(&mut self, streams: &Streams) -> Result<(), String> {
        let now = Instant::now();
        self.outbox.close(now, self.host_status());
        self.send_batches(streams);
        let is_slow = self.pending.oldest(now) > SLOW && self.config.gateways.len() > 1;
        self.counts.none.add(self.pending.give_up(now, PATIENCE));
        is_slow.then_some(()).map_or(Ok(()), |()| Err("it is slow to answer".to_owned()))
    }

    /// Sends the complete batches.
    fn send_batches(&mut self, streams: &Streams) {
        let now = Instant::now();
        while let Some(batch) = self.outbox.next_to_send(now) {
            if streams.batches.try_send(batch).is_err() {
                self.outbox.unsend();
                return;
            }
        }
    }

    fn host_status(&self) -> HostStatus {
        HostStatus {
            version: self.config.version.clone(),
            answers_in_time: self.counts.in_time.get(),
            answers_late: self.counts.late.get(),
            answers_none: self.counts.none.get(),
            reports_dropped: self.counts.reports_dropped.get(),
        }
    }

    fn tell_flushed(&mut self) {
        if self.outbox.is_empty() {
            // A caller that has given up does not need the signal.
            self.flushes.drain(..).for_each(|done| _ = done.send(()));
        }
    }

    /// Waits; returns true if the client was dropped.
    async fn pause(&mut self, pause: Duration) -> bool {
        let end = Instant::now() + pause;
        loop {
            tokio::select! {
                () = sleep_until(end) => return false,
                message = self.inbox.recv() => match message {
                    None => return true,
                    Some(message) => self.take_without_gateway(message),
                },
            }
        }
    }
}

/// Returns a random time between half and one and a half of the pause, so that agents that have
/// lost one gateway do not all return at once.
fn pause_after(rounds: usize) -> Duration {
    let doubled = 1_u32.checked_shl(u32::try_from(rounds).unwrap_or(u32::MAX)).unwrap_or(u32::MAX);
    let longest = PAUSE.0.saturating_mul(doubled).min(PAUSE.1);
    let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
    longest.mul_f64(0.5 + f64::from(chance) / f64::from(u32::MAX))
}
