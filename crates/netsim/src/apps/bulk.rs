//! Bulk transfer: one connection, a number of bytes, as fast as TCP permits.

use super::channel::{self, Channel, ChannelEnds};
use crate::application::{AppContext, Application};
use crate::{FlowRecord, HostId};
use tcp::{ConnId, Event, Scheme};
use units::{Duration, Instant};

/// Ends, size and schemes of a transfer.
#[derive(Clone, Debug)]
pub struct BulkSpec {
    /// Host that opens the connection and sends.
    pub from: HostId,
    /// Host that accepts and receives.
    pub to: HostId,
    /// Bytes to send; `None`: endless.
    pub bytes: Option<u64>,
    /// The sender's scheme.
    pub scheme: Scheme,
    /// The receiver's scheme.
    pub receiver: Scheme,
    /// Close the connection after the last byte.
    pub close: bool,
}

/// A bulk transfer; finished when every byte has been received and acknowledged, or the
/// connection was reset.
#[derive(Debug)]
pub struct BulkTransfer {
    spec: BulkSpec,
    channel: Option<Channel>,
    /// Weights of its connection, each with its start; the token of a timer is an index.
    weights: Vec<(Duration, u32)>,
}

impl BulkTransfer {
    /// Creates a transfer that has not started.
    pub const fn new(spec: BulkSpec) -> Self {
        Self { spec, channel: None, weights: Vec::new() }
    }

    /// Gives its connection `weight` from `after` its start on, among those that share its path
    /// ([`AppContext::set_weight`]).
    #[must_use]
    pub fn with_weight(mut self, after: Duration, weight: u32) -> Self {
        self.weights.push((after, weight));
        self
    }

    /// Returns the connection at the sender, once it exists.
    pub fn sender(&self) -> Option<ConnId> {
        self.channel.map(|channel| channel.sender())
    }

    /// Returns the connection at the receiver, once it exists.
    pub fn receiver(&self) -> Option<ConnId> {
        self.channel?.receiver()
    }

    /// Returns its record, once it has started. The counters are those at the last acknowledgement,
    /// the end of the connection or the end of the run, whichever is first. For an endless
    /// transfer, they are those at the end of the run.
    pub fn flows(&self) -> &[FlowRecord] {
        self.channel.as_ref().map_or(&[], |channel| std::slice::from_ref(channel.flow()))
    }

    fn flow(&self) -> Option<&FlowRecord> {
        self.flows().first()
    }

    /// Returns when it started.
    pub fn started_at(&self) -> Option<Instant> {
        self.flow().map(|flow| flow.started_at)
    }

    /// Returns when the sender's side was established.
    pub fn connected_at(&self) -> Option<Instant> {
        self.flow()?.connected_at
    }

    /// Returns the bytes delivered in order so far.
    pub fn received(&self) -> u64 {
        self.channel.map_or(0, |channel| channel.received())
    }

    /// Returns the bytes acknowledged to the sender so far.
    pub fn acked(&self) -> u64 {
        self.channel.map_or(0, |channel| channel.acked())
    }

    /// Returns when the last byte was delivered in order to the receiver.
    pub fn received_at(&self) -> Option<Instant> {
        self.flow()?.received_at
    }

    /// Returns when the sender got the last byte's acknowledgement.
    pub fn acked_at(&self) -> Option<Instant> {
        self.flow()?.acked_at
    }

    /// Returns true if the connection was reset or given up.
    pub fn is_reset(&self) -> bool {
        self.flow().is_some_and(|flow| flow.reset)
    }
}

impl Application for BulkTransfer {
    fn start(&mut self, context: &mut AppContext<'_>) {
        let BulkSpec { from, to, bytes, scheme, receiver, close } = &self.spec;
        let port = channel::listen(context, *to, receiver);
        let ends = ChannelEnds { from: *from, to: *to, port };
        let channel = Channel::open(context, ends, scheme, *bytes);
        if *close {
            context.shutdown(*from, channel.sender());
        }
        self.channel = Some(channel);
        let now = context.now();
        for (token, (after, _)) in self.weights.iter().enumerate() {
            context.set_timer(now + *after, token as u32);
        }
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        let weight = self.weights.get(token as usize).map(|(_, weight)| *weight);
        if let Some((conn, weight)) = self.sender().zip(weight) {
            context.set_weight(self.spec.from, conn, weight);
        }
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        if let Some(channel) = &mut self.channel
            && channel.on_event(context, host, event)
        {
            context.finish();
        }
    }

    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        if let Some(channel) = &mut self.channel {
            channel.on_stop(context);
        }
    }

    fn describe(&self) -> String {
        let (from, to) = (self.spec.from.0, self.spec.to.0);
        let bytes = self.spec.bytes.map_or("endless".to_owned(), |bytes| format!("{bytes} bytes"));
        format!(
            "bulk transfer of {bytes} from host {from} to host {to}: {} received, {} acknowledged",
            self.received(),
            self.acked()
        )
    }
}
