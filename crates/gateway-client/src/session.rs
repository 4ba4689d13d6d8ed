//! The conversation with one gateway after the other: asks, reports and receives, for as long as
//! that one answers.

use crate::config::ClientConfig;
use crate::counts::Counts;
use crate::discovery::{
    Absence, LOOKUP_INTERVAL, MAX_TRIED, ResolvedGateway, addresses_of, gateways_among, is_listed,
};
use crate::message::{Message, SiteEvent, SiteQuestion};
use crate::outbox::Outbox;
use crate::pending::Pending;
use crate::streams::{ClientRole, OtherStreams, Received, Streams, heard, open};
use crate::transport::{GatewayFault, connect};
use gateway_proto::v1::update::What;
use gateway_proto::v1::{
    Answer, FleetComparison, HostStatus, Network, Query, ReportAck, Update, answer,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// Time after which reports are sent although they do not fill a batch.
const TICK_INTERVAL: Duration = Duration::from_millis(250);
/// Time after which a question is given up.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5);
/// Waiting time of a question after which a gateway counts as slow: the next one is tried, if there
/// is one.
const SLOW_AFTER: Duration = Duration::from_millis(750);
/// Pause after all gateways have been tried: the first one, which doubles each time, and the
/// longest.
const MIN_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Shortest time of a connection that did not fail: gateways that accept connections and end them
/// at once are not tried without a pause. Chosen, not measured.
const MIN_CONVERSATION: Duration = Duration::from_secs(1);

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
    /// Gateways behind the connected one's name when it was connected. One with addresses of both
    /// families counts once.
    behind_name: usize,
    /// The last gateway, which has been lost or was slow.
    left: Option<ResolvedGateway>,
    /// Reason for which a gateway has refused sums last; it is an event once.
    refusal: Option<String>,
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
            behind_name: 0,
            left: None,
            refusal: None,
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
            if (had_connected && !self.has_other_gateway() || rounds > 0)
                && self.pause(pause_after(rounds)).await
            {
                return;
            }
        }
    }

    /// Returns whether the gateway was connected for [`MIN_CONVERSATION`], and why the conversation
    /// ended.
    async fn speak_with(&mut self, entry: &str) -> (bool, End) {
        let mut reached = match self.reach(entry).await {
            Ok(reached) => reached,
            Err(end) => return (false, end),
        };
        loop {
            let Reached { gateway, mut streams, behind_name } = reached;
            self.behind_name = behind_name;
            self.counts.connected(&gateway.to_string());
            (self.hear)(SiteEvent::Connected(gateway.to_string()));
            self.outbox.start_over();
            let began = Instant::now();
            let end = self.converse(entry, &gateway, &mut streams).await;
            match end {
                Err(end) => {
                    let given_up = self.pending.give_up(Instant::now(), Duration::ZERO);
                    self.counts.none.add(given_up);
                    self.left = Some(gateway);
                    return (began.elapsed() >= MIN_CONVERSATION, end);
                }
                // The old connection ends here, and its questions are asked once more.
                Ok(moved) => reached = moved,
            }
            self.ask_again(&reached.streams);
        }
    }

    /// Returns whether another gateway can be tried: of another entry, or at another address.
    const fn has_other_gateway(&self) -> bool {
        self.config.gateways.len() > 1 || self.behind_name > 1
    }

    /// Connects to the first address of a gateway that accepts a connection. Reports are gathered
    /// meanwhile, and questions are not answered.
    async fn reach(&mut self, entry: &str) -> Result<Reached, End> {
        // It is left also while another entry is tried.
        let left = self.left.clone();
        let connecting = reach_any(self.role, self.config.clone(), entry.to_owned(), left);
        tokio::pin!(connecting);
        loop {
            tokio::select! {
                reached = &mut connecting => return reached.map_err(End::Lost),
                message = self.inbox.recv() => match message {
                    None => return Err(End::Dropped),
                    Some(message) => self.take_without_gateway(message),
                },
            }
        }
    }

    /// Exchanges messages with a gateway until it is lost, or until its name has other addresses
    /// and one of these has accepted a connection.
    async fn converse(
        &mut self,
        entry: &str,
        gateway: &ResolvedGateway,
        streams: &mut Streams,
    ) -> Result<Reached, End> {
        let mut ticks = interval(TICK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let moving = follow(self.role, self.config.clone(), entry.to_owned(), gateway.clone());
        tokio::pin!(moving);
        loop {
            let went = tokio::select! {
                message = self.inbox.recv() => match message {
                    None => return Err(End::Dropped),
                    Some(message) => {
                        self.take(message, streams);
                        Ok(())
                    }
                },
                ack = streams.acks.message() => heard(ack).map(|ack| self.acknowledged(&ack)),
                other = streams.others.next() => other.map(|other| match other {
                    Received::Answer(answer) => self.answered(answer),
                    Received::Update(update) => self.updated(update),
                    Received::Compared(fleet) => self.compared(&fleet),
                    Received::NotCompared(why) => self.not_compared(why),
                }),
                _ = ticks.tick() => self.tick(streams),
                moved = &mut moving => return Ok(moved),
            };
            if let Err(why) = went {
                return Err(End::Lost(why));
            }
        }
    }

    /// Asks the open questions of the connection before.
    fn ask_again(&mut self, streams: &Streams) {
        let OtherStreams::Agent(streams) = &streams.others else { return };
        for (id, network, size) in self.pending.open() {
            let query = Query { id, network: Some(Network::of(network)), size };
            if streams.queries.try_send(query).is_err() && self.pending.answer(id).is_some() {
                self.counts.none.add(1);
            }
        }
    }

    /// Handles a message while a gateway is connected.
    fn take(&mut self, message: Message<T>, streams: &mut Streams) {
        match (message, &mut streams.others) {
            (Message::Ask(question), OtherStreams::Agent(streams)) => {
                self.ask(question, &streams.queries);
            }
            (Message::Announce(arrival), OtherStreams::Observer { arrivals, .. }) => {
                if arrivals.try_send(arrival).is_err() {
                    self.counts.unannounced.add(1);
                }
            }
            (Message::Compare(host), OtherStreams::Agent(streams)) => streams.compare(host),
            (message, _) => {
                self.take_without_gateway(message);
                self.send_batches(streams);
            }
        }
    }

    /// Sends a question. If there are too many open ones, it counts as not answered.
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

    /// Handles a message without a gateway: reports wait, and questions count as not answered.
    fn take_without_gateway(&mut self, message: Message<T>) {
        match message {
            Message::Ask(_) => self.counts.none.add(1),
            Message::Announce(_) => self.counts.unannounced.add(1),
            Message::Compare(_) => {}
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

    /// Handles an answer: passes it on, and counts whether it was in time.
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

    /// Handles the acknowledgement of a batch.
    fn acknowledged(&mut self, ack: &ReportAck) {
        self.outbox.acknowledge(ack.epoch, ack.sequence);
        if !ack.repeated {
            self.counts.reports_taken.add(ack.taken.into());
        }
        ack.refused.iter().for_each(|refused| self.counts.refused(*refused));
        self.tell_flushed();
    }

    /// Handles an update that the gateway sends without a question.
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

    fn not_compared(&mut self, why: String) {
        // Sums are sent every few seconds, and mostly refused for one reason.
        if self.refusal.as_ref() != Some(&why) {
            (self.hear)(SiteEvent::NotCompared(why.clone()));
            self.refusal = Some(why);
        }
    }

    fn compared(&mut self, fleet: &FleetComparison) {
        self.refusal = None;
        _ = (self.hear)(SiteEvent::Compared(fleet.to_findings()));
    }

    /// Does what is due: sends batches and gives up old questions.
    ///
    /// # Errors
    ///
    /// If the gateway is slow to answer and there is another one.
    fn tick(&mut self, streams: &Streams) -> Result<(), String> {
        let now = Instant::now();
        self.outbox.close(now, self.host_status());
        self.send_batches(streams);
        let is_slow = self.pending.oldest(now) > SLOW_AFTER && self.has_other_gateway();
        self.counts.none.add(self.pending.give_up(now, QUESTION_TIMEOUT));
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

/// A connected address of a gateway, with its streams.
struct Reached {
    gateway: ResolvedGateway,
    streams: Streams,
    /// Number of gateways behind its name.
    behind_name: usize,
}

/// Connects to the first address of a gateway that accepts a connection, and opens its streams. The
/// address that has just been `left` is tried last.
async fn reach_any(
    role: ClientRole,
    config: ClientConfig,
    entry: String,
    left: Option<ResolvedGateway>,
) -> Result<Reached, String> {
    let mut whys = Vec::new();
    let mut found = addresses_of(&config.names, &entry).await?;
    let behind_name = gateways_among(&found);
    // The order of the others stays.
    found.sort_by_key(|gateway| left.as_ref() == Some(gateway));
    for gateway in found.into_iter().take(MAX_TRIED) {
        match reach_address(role, &config, &gateway).await {
            Ok(streams) => return Ok(Reached { gateway, streams, behind_name }),
            Err(fault) => whys.push(fault.to_string()),
        }
    }
    Err(whys.join("; "))
}

/// Connects to one address of a gateway, and opens the streams.
async fn reach_address(
    role: ClientRole,
    config: &ClientConfig,
    gateway: &ResolvedGateway,
) -> Result<Streams, GatewayFault> {
    let channel = connect(config, gateway).await?;
    let opened = open(channel, role, &(config.addresses)()).await;
    opened.map_err(|status| GatewayFault::of_status(&status, config, gateway))
}

/// Waits until the name of a gateway no longer has the connected address, and another address has
/// accepted a connection. While a name cannot be looked up, its gateway stays.
async fn follow(
    role: ClientRole,
    config: ClientConfig,
    entry: String,
    connected: ResolvedGateway,
) -> Reached {
    let mut absence = Absence::default();
    loop {
        tokio::time::sleep(LOOKUP_INTERVAL).await;
        let Ok(is_listed) = is_listed(&config.names, &entry, &connected).await else { continue };
        if !absence.note(is_listed) {
            continue;
        }
        let Ok(found) = addresses_of(&config.names, &entry).await else { continue };
        let behind_name = gateways_among(&found);
        for gateway in found.into_iter().take(MAX_TRIED) {
            if let Ok(streams) = reach_address(role, &config, &gateway).await {
                return Reached { gateway, streams, behind_name };
            }
        }
    }
}

/// Returns a random time between half and one and a half of the pause, so that agents that have
/// lost one gateway do not all return at once.
fn pause_after(rounds: usize) -> Duration {
    let doubled = 1_u32.checked_shl(u32::try_from(rounds).unwrap_or(u32::MAX)).unwrap_or(u32::MAX);
    let longest = MIN_PAUSE.saturating_mul(doubled).min(MAX_PAUSE);
    let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
    longest.mul_f64(0.5 + f64::from(chance) / f64::from(u32::MAX))
}
