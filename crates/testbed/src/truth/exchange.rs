//! The exchanges of a connection: when each was asked, answered and over, as the server saw it.

use super::crossing::{Crossing, delivered, delivered_whole};
use super::play::{DoneStep, EndLog};
use super::played::PlayedConnection;
use super::samples::{KernelSample, all_sent};
use super::script::ScriptStep;
use units::{Duration, Instant};

/// A request and its response. Instants are those at the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerExchange {
    /// The SYN, or the request's first byte.
    pub(super) began: Instant,
    /// The handshake was over; `None` but for the first exchange.
    pub(super) established: Option<Instant>,
    /// The TLS handshake was over, if there was one.
    pub(super) secured: Option<Instant>,
    /// The request's last byte.
    pub(super) asked: Instant,
    /// The response's first byte was sent.
    pub(super) answered: Option<Instant>,
    /// The last byte of the response was acknowledged; or the connection was over before.
    pub(super) ended: Instant,
    /// Time slept between two writes of the response.
    pub(super) slept: Duration,
    /// Time between the write of a byte and its packet, all writes behind the first together.
    pub(super) held: Duration,
    /// Time within writes with all that was written sent already, and room in the window.
    pub(super) blocked: Duration,
    /// Bytes of packets that the response needs.
    pub(super) packet_bytes: u64,
}

/// Writes of one end that no read interrupts.
#[derive(Clone, Debug)]
struct Message {
    steps: Vec<DoneStep>,
}

impl Message {
    /// All of an end. A message without writes is one that was never sent.
    fn all(log: &EndLog) -> Vec<Self> {
        let mut all = vec![Self { steps: Vec::new() }];
        for done in &log.steps {
            match all.last_mut() {
                Some(last) if !done.step.reads() => last.steps.push(*done),
                _ => all.push(Self { steps: Vec::new() }),
            }
        }
        all.retain(|message| message.writes().next().is_some());
        all
    }

    fn writes(&self) -> impl Iterator<Item = &DoneStep> {
        self.steps.iter().filter(|done| done.step.writes())
    }

    fn start(&self) -> u64 {
        self.writes().next().map_or(0, |write| write.written_from)
    }

    fn end(&self) -> u64 {
        self.writes().last().map_or(0, |write| write.written_to)
    }

    /// Time within its writes for which the send buffer alone held the application up.
    fn blocked(&self, samples: &[KernelSample]) -> Duration {
        let waits = self.writes().map(|write| all_sent(samples, write.began, write.ended));
        waits.fold(Duration::ZERO, |sum, wait| sum + wait)
    }

    /// Sleeps between its first write and its last.
    fn slept(&self) -> Duration {
        let is_write = |done: &DoneStep| done.step.writes();
        let first = self.steps.iter().position(is_write).unwrap_or(0);
        let last = self.steps.iter().rposition(is_write).unwrap_or(0);
        let between = self.steps[first..=last].iter();
        let pauses = between.filter(|done| matches!(done.step, ScriptStep::Pause(_)));
        pauses.fold(Duration::ZERO, |sum, done| sum + done.ended.saturating_since(done.began))
    }
}

/// All exchanges of a connection, in order.
pub(super) fn of(connection: &PlayedConnection, crossing: &Crossing) -> Vec<ServerExchange> {
    let requests = Message::all(&connection.client);
    let responses = Message::all(&connection.server);
    let both = requests.iter().enumerate();
    let one = |(n, request): (usize, &Message)| {
        exchange(connection, crossing, request, responses.get(n), n == 0)
    };
    both.filter_map(one).collect()
}

fn exchange(
    connection: &PlayedConnection,
    crossing: &Crossing,
    request: &Message,
    response: Option<&Message>,
    is_first: bool,
) -> Option<ServerExchange> {
    let (start, end) = (request.start(), request.end());
    let asked = delivered_whole(&crossing.up, start, end)?;
    let began = if is_first { crossing.opened? } else { delivered(&crossing.up, start)? };
    let is_secured = connection.client.tls_over.is_some() && is_first;
    let ended = response.and_then(|response| crossing.acknowledged(response.end()));
    Some(ServerExchange {
        began,
        established: crossing.established.filter(|_| is_first),
        secured: delivered(&crossing.up, start).filter(|_| is_secured),
        asked,
        answered: response.and_then(|response| crossing.sent(response.start())),
        // An exchange that was cut short ends with the client's last segment.
        ended: ended.or(crossing.last_up)?,
        slept: response.map_or(Duration::ZERO, Message::slept),
        held: response.map_or(Duration::ZERO, |response| held(crossing, response)),
        blocked: response
            .map_or(Duration::ZERO, |response| response.blocked(&connection.server.samples)),
        packet_bytes: response
            .map_or(0, |response| crossing.packet_bytes(response.start(), response.end())),
    })
}

/// Time for which bytes waited between their write and the link, behind the first write.
fn held(crossing: &Crossing, response: &Message) -> Duration {
    let waits = response.writes().skip(1).filter_map(|write| {
        let sent = crossing.sent(write.written_from)?;
        Some(sent.saturating_since(write.began))
    });
    waits.fold(Duration::ZERO, |sum, wait| sum + wait)
}
