//! A load as seen at the access link: the segments of each server, its ACKs, the windows offered to
//! it, and the contents of queues.
//!
//! A [`LinkWatch`] receives every packet at the link, in simulation (`recorder`) and in real time
//! alike, and fills in a [`LoadRecording`]. `account` derives the bounds of the load from it, and
//! reports draw it. `flow` has the packets of one connection, `gaps` their losses that are not
//! repaired, `busy` the times with data on the link, `queue` the contents of a queue.

mod busy;
mod flow;
mod gaps;
mod queue;
mod recorder;
mod seen;
mod stretch;
mod watch;

pub use queue::{Queue, QueueLevel};
pub(crate) use recorder::Recorder;
pub use seen::{LinkStep, SeenAtLink, Way};
pub use stretch::Stretch;
pub use watch::LinkWatch;

pub(crate) use flow::RequestData;
use flow::Trace;
use netsim::PageLoad;
use tcp::WindowChange;
use units::{Duration, Instant};
use workload::{ClientModel, ConnectionRecord, Milestones};

/// A load as it happened. Instants are those of its world's clock; `start` is the load's beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRecording {
    /// Start of the load.
    pub start: Instant,
    /// Times of each object's milestones, by [`workload::ObjectId`].
    pub milestones: Vec<Milestones>,
    /// Model of the client that loaded it.
    pub client: ClientModel,
    /// Its connections and those of the loads before it, by [`workload::LoadConnId`].
    pub transfers: Vec<TransferRecord>,
    /// Times at which the access link held data of the page, waiting or being sent, in either
    /// direction.
    pub busy: Vec<Stretch>,
    /// Servers think as long as the page has it. False: they cannot, and the client delays its
    /// requests by the think time.
    pub servers_think: bool,
    /// The access link's queues: down, then up. The list is empty unless figures need it.
    pub queues: Vec<Queue>,
}

/// One connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferRecord {
    /// The connection, and its opening time.
    pub connection: ConnectionRecord,
    /// Its port at the client.
    pub port: u16,
    /// Segments that its server sent and acknowledgements that it received.
    pub sequence: Vec<SequenceEvent>,
    /// The window that its client offered, from its arrival at the server; the first may be from
    /// before the load.
    pub offers: Vec<Offer>,
    /// Changes of its server's window; none where the server does not report them.
    pub window: Vec<WindowChange>,
    /// Data for the account.
    pub(crate) trace: Trace,
}

/// Limit of a server's data from an instant on (RFC 9293 §3.8.6): up to `acked + window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Time at which its server received it.
    pub at: Instant,
    /// Offset in the server's stream up to which all is acknowledged.
    pub acked: u64,
    /// The offered receive window, bytes.
    pub window: u64,
}

impl Offer {
    /// Offset of the first byte that the server may not send.
    pub const fn edge(&self) -> u64 {
        self.acked.saturating_add(self.window)
    }
}

/// Event of bytes `from..to` of a server's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceEvent {
    /// Time of the event.
    pub at: Instant,
    /// First byte.
    pub from: u64,
    /// First byte after.
    pub to: u64,
    /// Kind of the event.
    pub step: SequenceStep,
}

/// Event of a range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceStep {
    /// The server sent them.
    Sent,
    /// The server retransmitted these bytes.
    Retransmitted,
    /// A queue or the wire dropped them.
    Dropped,
    /// The server received an acknowledgement of all bytes up to `to`.
    Acked,
    /// It received a selective acknowledgement of these bytes.
    Sacked,
}

impl TransferRecord {
    /// Creates a record of which only the loader's side is known.
    pub fn unwatched(connection: ConnectionRecord, port: u16) -> Self {
        let (sequence, offers, window) = (Vec::new(), Vec::new(), Vec::new());
        Self { connection, port, sequence, offers, window, trace: Trace::default() }
    }

    /// Bytes that its server had sent and that were not acknowledged in order (the flight size of
    /// RFC 5681 §2), after each change from the beginning of the load on.
    pub fn flight(&self) -> Vec<(Instant, u64)> {
        let sent = |event: &&SequenceEvent| event.step == SequenceStep::Sent;
        // Data sent before the load is acknowledged: the load wanted nothing of it.
        let before = self.sequence.iter().find(sent).map_or(0, |event| event.from);
        let (mut sent, mut acked) = (before, before);
        let mut levels: Vec<(Instant, u64)> = Vec::new();
        for event in &self.sequence {
            match event.step {
                SequenceStep::Sent => sent = sent.max(event.to),
                SequenceStep::Acked => acked = acked.max(event.to),
                SequenceStep::Retransmitted | SequenceStep::Dropped | SequenceStep::Sacked => {
                    continue;
                }
            }
            // The acknowledgement of a FIN counts one more than was sent.
            let level = (event.at, sent.saturating_sub(acked));
            match levels.last_mut() {
                Some(last) if last.0 == level.0 => *last = level,
                _ => levels.push(level),
            }
        }
        levels
    }

    /// Whether its segments were seen at the link.
    pub const fn was_watched(&self) -> bool {
        !self.sequence.is_empty() || !self.window.is_empty()
    }

    /// It was over before the load that this is the record of, or had nothing to do in it.
    pub fn is_unused(&self, recording: &LoadRecording) -> bool {
        self.sequence.is_empty() && self.connection.opened < recording.start
    }
}

impl LoadRecording {
    /// Starts the recording of a load that has just ended with the data that the load itself has.
    pub(super) fn start_recording(start: Instant, load: &PageLoad) -> Self {
        let connections = load.loader().connections().zip(load.transfers());
        let transfers = connections.map(|(connection, transfer)| {
            // The last change before the load gives the window at its start.
            let changes = transfer.window();
            let before = changes.iter().take_while(|change| change.at < start).count();
            let window = changes[before.saturating_sub(1)..].to_vec();
            TransferRecord { window, ..TransferRecord::unwatched(connection, transfer.port()) }
        });
        Self {
            start,
            milestones: load.loader().milestones().to_vec(),
            client: load.loader().client(),
            transfers: transfers.collect(),
            busy: Vec::new(),
            servers_think: true,
            queues: Vec::new(),
        }
    }

    /// Time from the load's start to an event; zero for earlier events.
    pub const fn since_start(&self, at: Instant) -> Duration {
        at.saturating_since(self.start)
    }
}
