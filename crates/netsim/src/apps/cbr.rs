//! Constant bit rate: datagrams of one size at one interval, which no one acknowledges.

use crate::application::{AppContext, Application};
use crate::{Datagram, HostId};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use units::{Duration, Instant};

/// From where to where, how much, how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CbrSpec {
    /// Sends.
    pub from: HostId,
    /// Receives.
    pub to: HostId,
    /// Bytes of a datagram on the wire, headers included.
    pub wire_bytes: u32,
    /// Between the beginnings of two datagrams.
    pub interval: Duration,
    /// Datagrams to send; `None`: without end.
    pub count: Option<u64>,
}

/// A constant-rate source and its sink; finished when the last datagram has been sent.
#[derive(Debug)]
pub struct Cbr {
    spec: CbrSpec,
    /// Varies each interval.
    jitter: Option<Pcg32>,
    sent: u64,
    received: u64,
    last_received_at: Option<Instant>,
}

impl Cbr {
    /// A source that has not started.
    pub const fn new(spec: CbrSpec) -> Self {
        Self { spec, jitter: None, sent: 0, received: 0, last_received_at: None }
    }

    /// The same source with each interval half to one and a half times as long, drawn evenly from
    /// `stream`, which no one else may use.
    #[must_use]
    pub fn with_jitter(self, stream: Pcg32) -> Self {
        Self { jitter: Some(stream), ..self }
    }

    fn next_interval(&mut self) -> Duration {
        let interval = self.spec.interval;
        let Some(stream) = &mut self.jitter else { return interval };
        let nanos = u128::from(interval.as_nanos());
        // A draw of 32 bits is a fraction of 2^32; less than the interval itself, so it fits.
        let varied = nanos / 2 + ((nanos * u128::from(stream.next_u32())) >> 32);
        Duration::from_nanos(varied as u64)
    }

    /// Datagrams sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Datagrams that have arrived so far.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// When the last of those arrived.
    pub const fn last_received_at(&self) -> Option<Instant> {
        self.last_received_at
    }

    fn send(&mut self, context: &mut AppContext<'_>) {
        let CbrSpec { from, to, wire_bytes, count, .. } = self.spec;
        if count != Some(self.sent) {
            context.send_datagram(from, to, wire_bytes, self.sent);
            self.sent += 1;
        }
        if count == Some(self.sent) {
            context.finish();
        } else {
            let interval = self.next_interval();
            context.set_timer(context.now() + interval, 0);
        }
    }
}

impl Application for Cbr {
    fn start(&mut self, context: &mut AppContext<'_>) {
        self.send(context);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        self.send(context);
    }

    fn on_datagram(&mut self, context: &mut AppContext<'_>, _host: HostId, _datagram: Datagram) {
        self.received += 1;
        self.last_received_at = Some(context.now());
    }

    fn describe(&self) -> String {
        let CbrSpec { from, to, .. } = self.spec;
        format!("constant-rate source from host {} to host {}: {} sent", from.0, to.0, self.sent)
    }
}
