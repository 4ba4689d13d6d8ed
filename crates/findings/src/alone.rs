//! Findings about each connection alone: losses, ACK compression, receive windows.
//!
//! They need no other connection, so each shard of the engine has a part of its own, on its own
//! thread. A [`FindingsNote`] passes on facts that concern other connections. The sums of several
//! parts are added up at the end.

use crate::compression::{AckWatch, CompressionCounters};
use crate::losses::LossCounters;
use crate::notes::{Acked, FindingsNote, SentTo, TakesNotes};
use crate::numbered::Numbered;
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, SenderSnapshot, SentData, TracedSender,
    TransferReport,
};
use units::Instant;

/// Findings of connections, each alone.
#[derive(Default)]
pub(crate) struct PerConnection {
    connections: Numbered<Watched>,
    pub(crate) losses: LossCounters,
    pub(crate) compression: CompressionCounters,
}

/// A connection. Data reads the fields at the beginning, ACKs read all of them.
#[derive(Debug, Default)]
#[repr(C)]
struct Watched {
    acks: Option<Box<AckWatch>>,
    /// The client has asked, and the server has sent nothing since.
    asked: bool,
    over: bool,
    /// The congestion window grew above the client's window.
    window_limited: bool,
    /// Lowest unacknowledged offset.
    una: u64,
    /// The largest window that the client offered.
    window: u64,
}

impl Watched {
    /// Starts to watch ACKs at the first data.
    #[cold]
    fn watch_acks(&mut self, sent: &SentData) {
        self.acks.insert(Box::default()).on_sent(sent);
    }
}

impl PerConnection {
    /// Adds the results of another part. Connections that it still follows are left out.
    pub(crate) fn add(&mut self, other: &Self) {
        self.losses.add(&other.losses);
        self.compression.add(&other.compression);
    }

    pub(crate) fn begin(&mut self, of: &TracedSender, at: Instant, notes: &mut impl TakesNotes) {
        self.connections.insert(of.connection, Watched::default());
        notes.take(of.connection, FindingsNote::Begin(of.client.ip, at));
    }

    pub(crate) fn over(&mut self, connection: u64, at: Instant, notes: &mut impl TakesNotes) {
        self.close(connection);
        notes.take(connection, FindingsNote::Over(at));
    }

    /// Ends a connection, and adds what it has shown to the sums.
    pub(crate) fn end(&mut self, summary: &ConnectionTrace, notes: &mut impl TakesNotes) {
        let connection = summary.connection;
        self.close(connection);
        notes.take(connection, FindingsNote::End(summary.ended));
        let (window, limited) = match self.connections.remove(connection) {
            Some(ended) => (ended.window, ended.window_limited),
            None => (0, false),
        };
        self.losses.on_connection(summary, window, limited);
    }

    /// Ends the sums over ACKs of a connection that has closed. Nothing further of it counts.
    fn close(&mut self, connection: u64) {
        let watched = self.connections.get_mut(connection).filter(|watched| !watched.over);
        let Some(watched) = watched else { return };
        watched.over = true;
        if let Some(acks) = watched.acks.take() {
            acks.finish(&mut self.compression);
        }
    }

    /// Notes the first request of a connection.
    pub(crate) fn on_request(
        &mut self,
        of: &TracedSender,
        at: Instant,
        notes: &mut impl TakesNotes,
    ) {
        if let Some(watched) = self.connections.get_mut(of.connection)
            && !std::mem::replace(&mut watched.asked, true)
        {
            notes.take(of.connection, FindingsNote::Request(of.client.ip, at));
        }
    }

    /// Notes new data of a server. It is inlined into its caller, as most packets are data.
    #[inline(always)]
    pub(crate) fn on_sent(
        &mut self,
        connection: u64,
        sent: &SentData,
        notes: &mut impl TakesNotes,
    ) {
        self.losses.on_sent(sent);
        let Some(watched) = self.connections.get_mut(connection) else { return };
        watched.asked = false;
        match &mut watched.acks {
            Some(acks) => acks.on_sent(sent),
            None => watched.watch_acks(sent),
        }
        let payload = match sent.segments {
            0 | 1 => sent.bytes,
            segments => sent.bytes / segments,
        };
        notes.take_sent(connection, SentTo { end: sent.end, payload });
    }

    /// Counts a segment that a server has retransmitted because it was lost.
    pub(crate) fn on_retransmission(
        &mut self,
        of: &TracedSender,
        again: &Retransmission,
        notes: &mut impl TakesNotes,
    ) {
        let lost = again.len > 0 && again.kind != RetransmissionKind::TailProbe;
        if !of.is_server || !lost {
            return;
        }
        self.losses.on_loss(again);
        let watched = self.connections.get_mut(of.connection);
        if let Some(acks) = watched.and_then(|watched| watched.acks.as_deref_mut()) {
            acks.on_loss(again);
        }
        let note = FindingsNote::Loss(of.client.ip, again.at, again.start);
        notes.take(of.connection, note);
    }

    /// Notes an ACK for a server's sender. It is inlined into its caller, so that unused values are
    /// not computed.
    #[inline(always)]
    pub(crate) fn on_window(
        &mut self,
        connection: u64,
        point: &SenderSnapshot,
        notes: &mut impl TakesNotes,
    ) {
        let Some(watched) = self.connections.get_mut(connection) else { return };
        if let Some(acks) = watched.acks.as_deref_mut() {
            acks.on_ack(point, watched.una, &mut self.compression);
        }
        watched.una = watched.una.max(point.una);
        if let Some(offered) = point.receive_window {
            watched.window = watched.window.max(offered);
            watched.window_limited |= point.cwnd > offered;
        }
        if !watched.over {
            notes.take_acked(connection, Acked::of(point));
        }
    }

    pub(crate) fn on_transfer(
        &self,
        of: &TracedSender,
        report: &TransferReport,
        notes: &mut impl TakesNotes,
    ) {
        notes.take(of.connection, FindingsNote::Transfer(of.client.ip, Box::new(*report)));
    }
}
