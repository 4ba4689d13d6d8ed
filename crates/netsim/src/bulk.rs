//! Bulk transfer: one connection, so many bytes, as fast as TCP lets them go.

use crate::application::{Application, Context};
use crate::{FlowRecord, HostId};
use tcp::{ConnId, Event, EventKind, Scheme, Stats};
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
    received: u64,
    acked: u64,
    flow: Option<FlowRecord>,
}

impl BulkTransfer {
    /// A transfer that has not started.
    pub const fn new(spec: BulkSpec) -> Self {
        Self { spec, sender: None, receiver: None, received: 0, acked: 0, flow: None }
    }

    /// The connection at the sender, once it exists.
    pub const fn sender(&self) -> Option<ConnId> {
        self.sender
    }

    /// The connection at the receiver, once it exists.
    pub const fn receiver(&self) -> Option<ConnId> {
        self.receiver
    }

    /// Its record, once it has started. The counters are those at the last acknowledgement, the
    /// end of the connection or the end of the run, whichever came first; those of a transfer
    /// without end, at the end of the run.
    pub const fn flows(&self) -> &[FlowRecord] {
        self.flow.as_slice()
    }

    /// When it started.
    pub fn started_at(&self) -> Option<Instant> {
        self.flow.map(|flow| flow.started_at)
    }

    /// When the sender's side was established.
    pub fn connected_at(&self) -> Option<Instant> {
        self.flow?.connected_at
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
    pub fn received_at(&self) -> Option<Instant> {
        self.flow?.received_at
    }

    /// When the last byte's acknowledgement had reached the sender.
    pub fn acked_at(&self) -> Option<Instant> {
        self.flow?.acked_at
    }

    /// True if the connection was reset or given up.
    pub fn is_reset(&self) -> bool {
        self.flow.is_some_and(|flow| flow.reset)
    }

    fn on_sender(&mut self, context: &Context<'_>, event: &Event) {
        let now = context.now();
        let Some(flow) = &mut self.flow else { return };
        match event.kind {
            EventKind::Connected => flow.connected_at = Some(now),
            EventKind::Acked { total } => {
                self.acked = total;
                if Some(total) == self.spec.bytes && flow.acked_at.is_none() {
                    flow.acked_at = Some(now);
                    self.note(context);
                }
            }
            EventKind::Reset => {
                flow.reset = true;
                self.note(context);
            }
            // Unless they were noted at the last acknowledgement.
            EventKind::Closed if flow.segments_sent == 0 => self.note(context),
            _ => {}
        }
    }

    fn on_receiver(&mut self, now: Instant, event: &Event) {
        let Some(flow) = &mut self.flow else { return };
        match event.kind {
            EventKind::Accepted => self.receiver = Some(event.conn),
            EventKind::Received { total } => {
                self.received = total;
                if Some(total) == self.spec.bytes {
                    flow.received_at = flow.received_at.or(Some(now));
                }
            }
            EventKind::Reset => flow.reset = true,
            _ => {}
        }
    }

    /// Notes the sender's counters, if it still has any.
    fn note(&mut self, context: &Context<'_>) {
        let Self { flow: Some(flow), sender: Some(conn), spec, .. } = self else { return };
        if let Some(stats) = context.stats(spec.from, *conn) {
            flow.count(&Stats::default(), &stats);
        }
        if spec.bytes.is_none() {
            flow.bytes = self.acked;
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
        self.flow = Some(FlowRecord::new(context.now(), spec.bytes.unwrap_or(0)));
    }

    fn on_event(&mut self, context: &mut Context<'_>, host: HostId, event: &Event) {
        if host == self.spec.from && Some(event.conn) == self.sender {
            self.on_sender(context, event);
        } else {
            self.on_receiver(context.now(), event);
            if event.kind == EventKind::PeerClosed {
                context.shutdown(host, event.conn);
            }
        }
        if self.flow.is_some_and(|flow| flow.is_over()) {
            context.finish();
        }
    }

    fn on_stop(&mut self, context: &mut Context<'_>) {
        if self.flow.is_some_and(|flow| !flow.is_over()) {
            self.note(context);
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
