//! A load as the access link saw it: what each server sent and heard, what it was offered, what
//! queues held.
//!
//! A [`LinkWatch`] is told of every packet at the link, in simulation (`recorder`) and in real time
//! alike, and fills a [`LoadRecording`] in. `account` says of it what bounded the load, and reports
//! draw it. `flow` is one connection's packets, `gaps` what of them was lost and not yet repaired,
//! `busy` when the link had data, `queue` what a queue held.

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
    /// When the load began.
    pub start: Instant,
    /// What happened when to each object, by [`workload::ObjectId`].
    pub milestones: Vec<Milestones>,
    /// As which client it was loaded.
    pub client: ClientModel,
    /// Its connections and those of the loads before it, by [`workload::LoadConnId`].
    pub transfers: Vec<TransferRecord>,
    /// When the access link held data of the page, waiting or being sent, in either direction.
    pub busy: Vec<Stretch>,
    /// Servers think as long as the page has it. False: they cannot, and the client asks so much
    /// later.
    pub servers_think: bool,
    /// The access link's queues: down, then up. None, unless they are wanted for figures.
    pub queues: Vec<Queue>,
}

/// One connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferRecord {
    /// Whose, and when it opened.
    pub connection: ConnectionRecord,
    /// Its port at the client.
    pub port: u16,
    /// What its server sent and heard.
    pub sequence: Vec<SequenceEvent>,
    /// The window that its client offered, as its server heard of it; the first may be from before
    /// the load.
    pub offers: Vec<Offer>,
    /// Changes of its server's window; none where the server does not tell them.
    pub window: Vec<WindowChange>,
    /// For the account.
    pub(crate) trace: Trace,
}

/// What a server may send from an instant on (RFC 9293 §3.8.6): up to `acked + window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Since when its server knows.
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

/// Something that happened to bytes `from..to` of a server's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceEvent {
    /// When.
    pub at: Instant,
    /// First byte.
    pub from: u64,
    /// First byte after.
    pub to: u64,
    /// What.
    pub step: SequenceStep,
}

/// What happened to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceStep {
    /// The server sent them.
    Sent,
    /// It sent them again.
    Retransmitted,
    /// A queue or the wire dropped them.
    Dropped,
    /// The server heard that all up to `to` had arrived.
    Acked,
    /// It heard that these had.
    Sacked,
}

impl TransferRecord {
    /// One of which only the loader's side is known.
    pub fn unwatched(connection: ConnectionRecord, port: u16) -> Self {
        let (sequence, offers, window) = (Vec::new(), Vec::new(), Vec::new());
        Self { connection, port, sequence, offers, window, trace: Trace::default() }
    }

    /// Bytes that its server had sent and not heard to have arrived in order (the flight size of
    /// RFC 5681 §2), after each change from the beginning of the load on.
    pub fn flight(&self) -> Vec<(Instant, u64)> {
        let sent = |event: &&SequenceEvent| event.step == SequenceStep::Sent;
        // What was sent before is acknowledged: nothing was wanted of it meanwhile.
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

    /// Somebody saw what it sent.
    pub const fn was_watched(&self) -> bool {
        !self.sequence.is_empty() || !self.window.is_empty()
    }

    /// It was over before the load that this is the record of, or had nothing to do in it.
    pub fn is_unused(&self, recording: &LoadRecording) -> bool {
        self.sequence.is_empty() && self.connection.opened < recording.start
    }
}

impl LoadRecording {
    /// Of a load that has just ended, what the load itself knows.
    pub(super) fn begun(start: Instant, load: &PageLoad) -> Self {
        let connections = load.loader().connections().zip(load.transfers());
        let transfers = connections.map(|(connection, transfer)| {
            // What it was when the load began is the last change before.
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

    /// How long after the load's start something was; zero for what was before.
    pub const fn since_start(&self, at: Instant) -> Duration {
        at.saturating_since(self.start)
    }
}
