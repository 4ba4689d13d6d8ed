//! Constant bit rate: datagrams of one size at one interval, without acknowledgements.

use crate::application::{AppContext, Application};
use crate::{Datagram, HostId};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use units::{Duration, Instant};

/// Ends, size and interval of the datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CbrSpec {
    /// Host that sends.
    pub from: HostId,
    /// Host that receives.
    pub to: HostId,
    /// Size of a datagram on the wire, headers included, bytes.
    pub wire_bytes: u32,
    /// Time between the starts of two datagrams.
    pub interval: Duration,
    /// Number of datagrams to send; `None`: endless.
    pub count: Option<u64>,
}

/// A constant-rate source and its sink; finished when the last datagram has been sent.
#[derive(Debug)]
pub struct Cbr {
    spec: CbrSpec,
    /// Random numbers that vary each interval.
    jitter: Option<Pcg32>,
    sent: u64,
    received: u64,
    last_received_at: Option<Instant>,
}

impl Cbr {
    /// Creates a source that has not started.
    pub const fn new(spec: CbrSpec) -> Self {
        Self { spec, jitter: None, sent: 0, received: 0, last_received_at: None }
    }

    /// Makes each interval half to one and a half times as long, drawn evenly from `stream`, which
    /// no other component may use.
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

    /// Returns the number of datagrams sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the number of datagrams delivered so far.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Returns when the last of them was delivered.
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
