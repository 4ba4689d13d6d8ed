//! A connection that carries transfers from its opener to the other end, one after another.

use crate::application::AppContext;
use crate::{FlowRecord, HostId, Losses};
use tcp::{ConnId, Event, EventKind, Scheme, State, Stats};

/// A number larger than any run can send; far from overflow in sums of bytes.
const ENDLESS: u64 = 1 << 60;

/// The port of a service that discards its input (RFC 863).
pub(super) const DISCARD: u16 = 9;

/// Accepts connections whose data is discarded, at the port that is returned.
pub(super) fn listen(context: &mut AppContext<'_>, host: HostId, scheme: &Scheme) -> u16 {
    let port = context.unused_port(host, DISCARD);
    context.listen(host, port, scheme.clone());
    port
}

/// Closes this end: sends a FIN, or aborts if the end is in TIME-WAIT already. A port is used again
/// only after thousands of connections, so TIME-WAIT would guard against nothing.
pub(super) fn close(context: &mut AppContext<'_>, host: HostId, conn: ConnId) {
    let state = context.host(host).connection(conn).map(tcp::Connection::state);
    match state {
        Some(State::TimeWait) => context.abort(host, conn),
        Some(_) => context.shutdown(host, conn),
        None => {}
    }
}

/// Ends of a channel's connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelEnds {
    /// The host that opens the connection and sends.
    pub(super) from: HostId,
    /// The host that accepts it.
    pub(super) to: HostId,
    /// The port at which `to` listens.
    pub(super) port: u16,
}

/// A connection and the transfer on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    sender: ConnId,
    receiver: Option<ConnId>,
    receiver_ended: bool,
    /// Payload bytes since the connection began, by the last event.
    acked: u64,
    received: u64,
    /// Totals of both at the end of this transfer; `None`: it is endless.
    goal: Option<u64>,
    flow: FlowRecord,
    /// The sender's counters at the start of this transfer.
    before: Stats,
    /// The connection's losses at the start of this transfer.
    lost_before: Losses,
    ended: bool,
}

impl Channel {
    /// Opens a connection and starts its first transfer.
    pub(super) fn open(
        context: &mut AppContext<'_>,
        ends: ChannelEnds,
        scheme: &Scheme,
        bytes: Option<u64>,
    ) -> Self {
        let ChannelEnds { from, to, port } = ends;
        let sender = context.connect(from, to, port, scheme);
        context.write(from, sender, bytes.unwrap_or(ENDLESS));
        context.set_low_water(from, sender, bytes.unwrap_or(ENDLESS));
        Self {
            sender,
            receiver: None,
            receiver_ended: false,
            acked: 0,
            received: 0,
            goal: bytes,
            flow: FlowRecord::new(from, to, context.now(), bytes.unwrap_or(0)),
            before: Stats::default(),
            lost_before: Losses::default(),
            ended: false,
        }
    }

    /// Starts the next transfer; all before it are over.
    pub(super) fn begin(&mut self, context: &mut AppContext<'_>, bytes: u64) {
        let (now, from) = (context.now(), self.flow.from);
        self.before = context.stats(from, self.sender).unwrap_or_default();
        self.lost_before = context.losses(from, self.sender);
        self.goal = self.goal.map(|goal| goal + bytes);
        self.flow = FlowRecord::new(from, self.flow.to, now, bytes);
        self.flow.connected_at = Some(now);
        context.write(from, self.sender, bytes);
        self.subscribe_to_end(context);
    }

    /// Adds to the current transfer.
    pub(super) fn extend(&mut self, context: &mut AppContext<'_>, bytes: u64) {
        self.goal = self.goal.map(|goal| goal + bytes);
        self.flow.bytes += bytes;
        self.flow.acked_at = None;
        self.flow.received_at = None;
        context.write(self.flow.from, self.sender, bytes);
        self.subscribe_to_end(context);
    }

    /// Requests events only for the end of the transfer.
    fn subscribe_to_end(&self, context: &mut AppContext<'_>) {
        let goal = self.goal.unwrap_or(ENDLESS);
        if !self.ended {
            context.set_low_water(self.flow.from, self.sender, goal);
        }
        if let Some(receiver) = self.receiver.filter(|_| !self.receiver_ended) {
            context.set_low_water(self.flow.to, receiver, goal);
        }
    }

    /// Returns the connection at the sender.
    pub(super) const fn sender(&self) -> ConnId {
        self.sender
    }

    /// Returns the connection at the receiver, once it exists.
    pub(super) const fn receiver(&self) -> Option<ConnId> {
        self.receiver
    }

    /// Returns the bytes acknowledged to the sender, as of the last event or the end of the run.
    /// Events come only at the end of a transfer.
    pub(super) const fn acked(&self) -> u64 {
        self.acked
    }

    /// Returns the bytes delivered in order, as of the last event or the end of the run.
    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// Returns the current transfer, or the last one.
    pub(super) const fn flow(&self) -> &FlowRecord {
        &self.flow
    }

    /// Returns true if the connection is closed or reset: it carries nothing more.
    pub(super) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Handles an event of either end; returns true if it ends the transfer.
    pub(super) fn on_event(
        &mut self,
        context: &mut AppContext<'_>,
        host: HostId,
        event: &Event,
    ) -> bool {
        let was_over = self.flow.is_over();
        if host == self.flow.from && event.conn == self.sender {
            self.on_sender(context, event);
        } else {
            self.on_receiver(context, host, event);
        }
        self.flow.is_over() && !was_over
    }

    fn on_sender(&mut self, context: &AppContext<'_>, event: &Event) {
        match event.kind {
            EventKind::Connected => self.flow.connected_at = Some(context.now()),
            EventKind::Acked { total } => {
                self.acked = total;
                if Some(total) == self.goal && self.flow.acked_at.is_none() {
                    self.flow.acked_at = Some(context.now());
                    self.count(context);
                }
            }
            EventKind::Reset => {
                self.ended = true;
                if !self.flow.is_over() {
                    self.flow.reset = true;
                    self.count(context);
                }
            }
            EventKind::Closed => {
                self.ended = true;
                // The counters may have been taken at the last acknowledgement.
                if self.flow.segments_sent == 0 {
                    self.count(context);
                }
            }
            _ => {}
        }
    }

    fn on_receiver(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        match event.kind {
            EventKind::Accepted => {
                self.receiver = Some(event.conn);
                self.subscribe_to_end(context);
            }
            EventKind::Received { total } => {
                self.received = total;
                if Some(total) == self.goal {
                    self.flow.received_at = self.flow.received_at.or(Some(context.now()));
                }
            }
            EventKind::PeerClosed => context.shutdown(host, event.conn),
            EventKind::Reset => {
                self.receiver_ended = true;
                if !self.flow.is_over() {
                    self.flow.reset = true;
                    self.count(context);
                }
            }
            EventKind::Closed => self.receiver_ended = true,
            _ => {}
        }
    }

    /// Updates the record of an unfinished transfer when the run stops.
    pub(super) fn on_stop(&mut self, context: &AppContext<'_>) {
        if self.flow.is_over() {
            return;
        }
        let connection = |host, conn| context.host(host).connection(conn);
        let sender = Some(self.sender).filter(|_| !self.ended);
        if let Some(sender) = sender.and_then(|conn| connection(self.flow.from, conn)) {
            self.acked = sender.acked();
        }
        let receiver = self.receiver.filter(|_| !self.receiver_ended);
        if let Some(receiver) = receiver.and_then(|conn| connection(self.flow.to, conn)) {
            self.received = receiver.received();
        }
        self.count(context);
    }

    /// Takes the sender's counters, if it still has any.
    fn count(&mut self, context: &AppContext<'_>) {
        if let Some(stats) = context.stats(self.flow.from, self.sender) {
            self.flow.count(&self.before, &stats);
            let losses = context.losses(self.flow.from, self.sender);
            self.flow.losses = losses.since(self.lost_before);
        }
        let path = context.host(self.flow.from).path_of(self.sender).filter(|_| !self.ended);
        self.flow.startup = path.map(|path| *path.startup_report());
        if self.goal.is_none() {
            self.flow.bytes = self.acked;
        }
    }
}
