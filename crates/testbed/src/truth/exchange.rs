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

    /// Time within its writes in which only the send buffer held the application up.
    fn blocked(&self, samples: &[KernelSample]) -> Duration {
        let waits = self.writes().map(|write| all_sent(samples, write.began, write.ended));
        waits.fold(Duration::ZERO, |sum, wait| sum + wait)
    }

    /// Sleeps between its first write and its last.
    fn pause_time(&self) -> Duration {
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
        slept: response.map_or(Duration::ZERO, Message::pause_time),
        held: response.map_or(Duration::ZERO, |response| wait_before_link(crossing, response)),
        blocked: response
            .map_or(Duration::ZERO, |response| response.blocked(&connection.server.samples)),
        packet_bytes: response
            .map_or(0, |response| crossing.packet_bytes(response.start(), response.end())),
    })
}

/// Time for which bytes waited between their write and the link, behind the first write.
fn wait_before_link(crossing: &Crossing, response: &Message) -> Duration {
    let waits = response.writes().skip(1).filter_map(|write| {
        let sent = crossing.sent(write.written_from)?;
        Some(sent.saturating_since(write.began))
    });
    waits.fold(Duration::ZERO, |sum, wait| sum + wait)
}

#[cfg(test)]
mod tests {
    use super::super::crossing::{AckPassage, PayloadPassage};
    use super::super::sockets::KernelCounters;
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn done(step: ScriptStep, began: u64, ended: u64, written: [u64; 2]) -> DoneStep {
        let [written_from, written_to] = written;
        DoneStep { step, began: at(began), ended: at(ended), written_from, written_to }
    }

    fn log(steps: Vec<DoneStep>) -> EndLog {
        EndLog { steps, ..EndLog::default() }
    }

    fn passage(entered: u64, delivered: u64, range: [u64; 2]) -> PayloadPassage {
        let [start, end] = range;
        let packet_bytes = (end - start) as u32 + 52;
        let (entered, delivered) = (at(entered), Some(at(delivered)));
        PayloadPassage { entered, delivered, start, end, packet_bytes }
    }

    /// Two exchanges over 20 ms a way. The first has 30 ms of thinking, and 50 ms of sleep within
    /// its response. The second response has two writes, and the second one is held for 40 ms.
    fn connection() -> PlayedConnection {
        let client = vec![
            done(ScriptStep::Write(100), 40, 40, [0, 100]),
            done(ScriptStep::Read(2000), 40, 190, [100, 100]),
            done(ScriptStep::Write(100), 200, 200, [100, 200]),
            done(ScriptStep::Read(500), 200, 280, [200, 200]),
        ];
        let server = vec![
            done(ScriptStep::Read(100), 20, 60, [0, 0]),
            done(ScriptStep::Pause(ms(30)), 60, 90, [0, 0]),
            done(ScriptStep::Write(1000), 90, 90, [0, 1000]),
            done(ScriptStep::Pause(ms(50)), 90, 140, [1000, 1000]),
            done(ScriptStep::Write(1000), 140, 145, [1000, 2000]),
            done(ScriptStep::Read(100), 145, 220, [2000, 2000]),
            done(ScriptStep::Write(200), 220, 220, [2000, 2200]),
            done(ScriptStep::Write(300), 220, 220, [2200, 2500]),
        ];
        PlayedConnection { port: 8000, client: log(client), server: log(server) }
    }

    fn crossing() -> Crossing {
        let ack = |delivered, upto| AckPassage { delivered: at(delivered), upto };
        Crossing {
            opened: Some(at(20)),
            established: Some(at(60)),
            last_up: Some(at(300)),
            up: vec![passage(40, 60, [0, 100]), passage(200, 220, [100, 200])],
            down: vec![
                passage(92, 112, [0, 1000]),
                passage(140, 160, [1000, 2000]),
                passage(220, 240, [2000, 2200]),
                passage(260, 280, [2200, 2500]),
            ],
            acks: vec![ack(132, 1000), ack(180, 2000), ack(260, 2200), ack(300, 2500)],
        }
    }

    #[test]
    fn exchanges_begin_and_end_as_the_server_sees_them() {
        let all = of(&connection(), &crossing());
        let [first, second] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((first.began, first.established, first.asked), (at(20), Some(at(60)), at(60)));
        assert_eq!((first.answered, first.ended), (Some(at(92)), at(180)));
        assert_eq!((first.slept, first.held, first.packet_bytes), (ms(50), ms(0), 2104));
        assert_eq!((second.began, second.established, second.asked), (at(220), None, at(220)));
        assert_eq!((second.answered, second.ended), (Some(at(220)), at(300)));
        assert_eq!((second.slept, second.held, second.packet_bytes), (ms(0), ms(40), 604));
    }

    #[test]
    fn an_unanswered_exchange_ends_with_the_clients_last_segment() {
        let mut connection = connection();
        connection.server.steps.truncate(1);
        let all = of(&connection, &crossing());
        assert_eq!((all[0].answered, all[0].ended), (None, at(300)));
        assert_eq!((all[0].slept, all[0].packet_bytes), (ms(0), 0));
    }

    /// The write of 5 ms is blocked between its two samples of 141 and 144 ms.
    #[test]
    fn a_write_is_blocked_while_all_is_sent() {
        let mut connection = connection();
        let counters = KernelCounters { cwnd: 10, unacked: 1, ..KernelCounters::default() };
        let sample = |time| KernelSample { at: at(time), counters };
        connection.server.samples = [130, 141, 144, 150].map(sample).to_vec();
        assert_eq!(of(&connection, &crossing())[0].blocked, ms(3));
    }

    #[test]
    fn tls_ends_with_the_first_byte_of_the_request() {
        let mut connection = connection();
        connection.client.tls_over = Some(at(100));
        let all = of(&connection, &crossing());
        assert_eq!((all[0].secured, all[1].secured), (Some(at(60)), None));
    }
}
