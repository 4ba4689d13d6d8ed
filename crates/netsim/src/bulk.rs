//! Bulk transfer: one connection, so many bytes, as fast as TCP lets them go.

use crate::HostId;
use crate::application::{Application, Context};
use tcp::{ConnId, Event, EventKind, Scheme};
use units::Instant;

/// Stands for "more than any run can send"; far from overflow wherever bytes are added up.
const ENDLESS: u64 = 1 << 60;

/// The port of a service that throws away what it receives (RFC 863).
const DISCARD: u16 = 9;

/// From where to where, how much, with what.
#[derive(Clone, Debug)]
pub struct BulkSpec {
    /// Opens the connection and sends.
    pub from: HostId,
    /// Accepts and receives.
    pub to: HostId,
    /// Bytes to send; `None`: without end.
    pub bytes: Option<u64>,
    /// The sender's scheme.
    pub scheme: Scheme,
    /// The receiver's scheme.
    pub receiver: Scheme,
    /// Close the connection behind the last byte.
    pub close: bool,
}

/// A bulk transfer; finished when every byte has been received and acknowledged, or the
/// connection was reset.
#[derive(Debug)]
pub struct BulkTransfer {
    spec: BulkSpec,
    sender: Option<ConnId>,
    receiver: Option<ConnId>,
    started_at: Option<Instant>,
    connected_at: Option<Instant>,
    received: u64,
    acked: u64,
    received_at: Option<Instant>,
    acked_at: Option<Instant>,
    reset: bool,
}

impl BulkTransfer {
    /// A transfer that has not started.
    pub fn new(spec: BulkSpec) -> Self {
        Self {
            spec,
            sender: None,
            receiver: None,
            started_at: None,
            connected_at: None,
            received: 0,
            acked: 0,
            received_at: None,
            acked_at: None,
            reset: false,
        }
    }

    /// The connection at the sender, once it exists.
    pub const fn sender(&self) -> Option<ConnId> {
        self.sender
    }

    /// The connection at the receiver, once it exists.
    pub const fn receiver(&self) -> Option<ConnId> {
        self.receiver
    }

    /// When it started.
    pub const fn started_at(&self) -> Option<Instant> {
        self.started_at
    }

    /// When the sender's side was established.
    pub const fn connected_at(&self) -> Option<Instant> {
        self.connected_at
    }

    /// Bytes that have arrived in order so far.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Bytes acknowledged to the sender so far.
    pub const fn acked(&self) -> u64 {
        self.acked
    }

    /// When the last byte had arrived in order at the receiver.
    pub const fn received_at(&self) -> Option<Instant> {
        self.received_at
    }

    /// When the last byte's acknowledgement had reached the sender.
    pub const fn acked_at(&self) -> Option<Instant> {
        self.acked_at
    }

    /// True if the connection was reset or given up.
    pub const fn is_reset(&self) -> bool {
        self.reset
    }

    fn on_sender(&mut self, now: Instant, event: &Event) {
        match event.kind {
            EventKind::Connected => self.connected_at = Some(now),
            EventKind::Acked { total } => {
                self.acked = total;
                if Some(total) == self.spec.bytes {
                    self.acked_at = self.acked_at.or(Some(now));
                }
            }
            EventKind::Reset => self.reset = true,
            _ => {}
        }
    }

    fn on_receiver(&mut self, now: Instant, event: &Event) {
        match event.kind {
            EventKind::Accepted => self.receiver = Some(event.conn),
            EventKind::Received { total } => {
                self.received = total;
                if Some(total) == self.spec.bytes {
                    self.received_at = self.received_at.or(Some(now));
                }
            }
            EventKind::Reset => self.reset = true,
            _ => {}
        }
    }
}

impl Application for BulkTransfer {
    fn start(&mut self, context: &mut Context<'_>) {
        let spec = &self.spec;
        let port = context.unused_port(spec.to, DISCARD);
        context.listen(spec.to, port, spec.receiver.clone());
        let conn = context.connect(spec.from, spec.to, port, &spec.scheme);
        context.write(spec.from, conn, spec.bytes.unwrap_or(ENDLESS));
        if spec.close {
            context.shutdown(spec.from, conn);
        }
        self.sender = Some(conn);
        self.started_at = Some(context.now());
    }

    fn on_event(&mut self, context: &mut Context<'_>, host: HostId, event: &Event) {
        let now = context.now();
        if host == self.spec.from && Some(event.conn) == self.sender {
            self.on_sender(now, event);
        } else {
            self.on_receiver(now, event);
            if event.kind == EventKind::PeerClosed {
                context.shutdown(host, event.conn);
            }
        }
        if self.reset || (self.acked_at.is_some() && self.received_at.is_some()) {
            context.finish();
        }
    }

    fn describe(&self) -> String {
        let (from, to) = (self.spec.from.0, self.spec.to.0);
        let bytes = self.spec.bytes.map_or("endless".to_owned(), |bytes| format!("{bytes} bytes"));
        format!(
            "bulk transfer of {bytes} from host {from} to host {to}: {} received, {} acknowledged",
            self.received, self.acked
        )
    }
}
