//! Telnet: small messages over one connection, with gaps as between keystrokes.

use super::channel::{self, Channel, ChannelEnds};
use crate::application::{AppContext, Application};
use crate::{FlowRecord, HostId};
use rand_pcg::Pcg32;
use tcp::{Event, Scheme};
use workload::Distribution;

/// Ends, sizes and gaps of the messages.
#[derive(Clone, Debug)]
pub struct TelnetSpec {
    /// Name of its random stream: `app/<name>/gaps`.
    pub name: String,
    /// Host that opens the connection and sends.
    pub from: HostId,
    /// Host that accepts and receives.
    pub to: HostId,
    /// Seconds before each message, the first included; [`Distribution::telnet`] is the measured
    /// distribution.
    pub gaps: Distribution,
    /// Size of a message, bytes.
    pub bytes: u64,
    /// Number of messages to send; `None`: endless.
    pub count: Option<u64>,
    /// The sender's scheme.
    pub scheme: Scheme,
    /// The receiver's scheme.
    pub receiver: Scheme,
}

/// A telnet session; finished when its last message has been acknowledged, or the connection was
/// reset. The connection opens with the first message.
#[derive(Debug)]
pub struct Telnet {
    spec: TelnetSpec,
    port: u16,
    gaps: Option<Pcg32>,
    sent: u64,
    channel: Option<Channel>,
}

impl Telnet {
    /// Creates a session that has not started.
    pub const fn new(spec: TelnetSpec) -> Self {
        Self { spec, port: 0, gaps: None, sent: 0, channel: None }
    }

    /// Returns its specification.
    pub const fn spec(&self) -> &TelnetSpec {
        &self.spec
    }

    /// Returns the number of messages written so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the bytes delivered in order so far, by the last event; for an incomplete message,
    /// as of the last stop of the run.
    pub fn received(&self) -> u64 {
        self.channel.map_or(0, |channel| channel.received())
    }

    /// Returns the record of all its messages as one transfer, once the first has been sent.
    pub fn flows(&self) -> &[FlowRecord] {
        self.channel.as_ref().map_or(&[], |channel| std::slice::from_ref(channel.flow()))
    }

    fn await_next(&mut self, context: &mut AppContext<'_>) {
        if self.spec.count != Some(self.sent)
            && let Some(stream) = &mut self.gaps
        {
            let gap = self.spec.gaps.sample_duration(stream);
            context.set_timer(context.now() + gap, 0);
        }
    }

    fn send(&mut self, context: &mut AppContext<'_>) {
        let TelnetSpec { from, to, bytes, scheme, .. } = &self.spec;
        match &mut self.channel {
            Some(channel) => channel.extend(context, *bytes),
            None => {
                let ends = ChannelEnds { from: *from, to: *to, port: self.port };
                self.channel = Some(Channel::open(context, ends, scheme, Some(*bytes)));
            }
        }
        self.sent += 1;
    }
}

impl Application for Telnet {
    fn start(&mut self, context: &mut AppContext<'_>) {
        self.port = channel::listen(context, self.spec.to, &self.spec.receiver);
        self.gaps = Some(context.stream(&format!("{}/gaps", self.spec.name)));
        self.await_next(context);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        if self.channel.is_none_or(|channel| !channel.has_ended()) {
            self.send(context);
            self.await_next(context);
        }
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        let Some(channel) = &mut self.channel else { return };
        let over = channel.on_event(context, host, event);
        if over && (self.spec.count == Some(self.sent) || channel.flow().reset) {
            context.finish();
        }
    }

    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        if let Some(channel) = &mut self.channel {
            channel.on_stop(context);
        }
    }

    fn describe(&self) -> String {
        let TelnetSpec { name, from, to, .. } = &self.spec;
        format!("telnet {name} from host {} to host {}: {} messages", from.0, to.0, self.sent)
    }
}
