//! ON/OFF sources: bursts of datagrams at a constant rate, and silences between them.
//!
//! With Pareto distributed periods, many of them together are self-similar (Willinger et al. 1997).

use crate::application::{AppContext, Application};
use crate::{Datagram, HostId};
use rand_pcg::Pcg32;
use units::{Duration, Rate};
use workload::Distribution;

/// Ends, rate and periods of a source.
#[derive(Clone, Debug)]
pub struct OnOffSpec {
    /// Names its random streams, `app/<name>/on` and `app/<name>/off`.
    pub name: String,
    /// Host that sends.
    pub from: HostId,
    /// Host that receives.
    pub to: HostId,
    /// Size of a datagram on the wire, headers included, bytes.
    pub wire_bytes: u32,
    /// Rate during a burst; above zero.
    pub rate: Rate,
    /// Length of a burst, seconds; in effect a whole number of datagrams, at least one.
    pub on: Distribution,
    /// Silence between the end of a burst (a datagram's time after its last one began) and the
    /// next, seconds.
    pub off: Distribution,
}

/// An ON/OFF source and its sink. It begins with a silence, so that sources that start together
/// are not in step, and never finishes.
#[derive(Debug)]
pub struct OnOff {
    spec: OnOffSpec,
    interval: Duration,
    streams: Option<Streams>,
    /// Number of datagrams of this burst still to send.
    remaining: u64,
    sent: u64,
    received: u64,
}

#[derive(Debug)]
struct Streams {
    on: Pcg32,
    off: Pcg32,
}

impl OnOff {
    /// Creates a source that has not started.
    pub fn new(spec: OnOffSpec) -> Self {
        let interval = spec.rate.transmit_time(u64::from(spec.wire_bytes));
        Self { spec, interval, streams: None, remaining: 0, sent: 0, received: 0 }
    }

    /// Returns its specification.
    pub const fn spec(&self) -> &OnOffSpec {
        &self.spec
    }

    /// Returns the number of datagrams sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the number of datagrams delivered so far.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Draws the silence before the next burst, and the burst. Returns the silence.
    fn draw_cycle(&mut self) -> Duration {
        let Some(streams) = &mut self.streams else {
            return Duration::ZERO;
        };
        let on = self.spec.on.sample(&mut streams.on);
        self.remaining = ((on / self.interval.as_secs_f64()).round() as u64).max(1);
        self.spec.off.sample_duration(&mut streams.off)
    }
}

impl Application for OnOff {
    fn start(&mut self, context: &mut AppContext<'_>) {
        let stream = |period| context.stream(&format!("{}/{period}", self.spec.name));
        self.streams = Some(Streams { on: stream("on"), off: stream("off") });
        let silence = self.draw_cycle();
        context.set_timer(context.now() + silence, 0);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        let OnOffSpec { from, to, wire_bytes, .. } = self.spec;
        context.send_datagram(from, to, wire_bytes, self.sent);
        self.sent += 1;
        self.remaining -= 1;
        let mut next = context.now() + self.interval;
        if self.remaining == 0 {
            next += self.draw_cycle();
        }
        context.set_timer(next, 0);
    }

    fn on_datagram(&mut self, _context: &mut AppContext<'_>, _host: HostId, _datagram: Datagram) {
        self.received += 1;
    }

    fn describe(&self) -> String {
        let OnOffSpec { name, from, to, .. } = &self.spec;
        format!("on/off source {name} from host {} to host {}: {} sent", from.0, to.0, self.sent)
    }
}
