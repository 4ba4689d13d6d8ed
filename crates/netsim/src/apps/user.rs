//! A user: asks for the objects of a page one after another, reads, asks for the next page.
//!
//! It is a *user equivalent* of SURGE (Barford & Crovella 1998 §3): each request waits for the
//! answer to the one before. So a crowd of users slows down with the network, unlike Poisson
//! arrivals. A request takes no time: the server opens a connection for each object, sends it, and
//! closes.

use super::channel::{self, Channel, ChannelEnds};
use super::flow_log::{FlowLog, FlowTotals};
use crate::application::{AppContext, Application};
use crate::{FlowRecord, HostId};
use rand_pcg::Pcg32;
use tcp::{Event, EventKind, Scheme};
use units::Duration;
use workload::Distribution;

/// Ends, sizes and times of a user.
#[derive(Clone, Debug)]
pub struct UserSpec {
    /// Name of its random stream: `app/<name>/user`.
    pub name: String,
    /// The server, which opens the connections.
    pub from: HostId,
    /// The user's host.
    pub to: HostId,
    /// Number of objects of a page, at least 1.
    pub objects: Distribution,
    /// Bytes of an object, at least 1.
    pub bytes: Distribution,
    /// Seconds from the end of an object to the request for the next of its page.
    pub pause: Distribution,
    /// Seconds before each page, the first included.
    pub think: Distribution,
    /// Number of pages to ask for; `None`: endless.
    pub pages: Option<u64>,
    /// The server's scheme.
    pub scheme: Scheme,
    /// The user's scheme.
    pub receiver: Scheme,
}

/// A user; finished when the last object of the last page is over. Random draws follow the order in
/// which the user needs them, so they do not depend on how fast objects arrive.
pub struct User {
    spec: UserSpec,
    port: u16,
    draws: Option<Pcg32>,
    /// Number of unfinished objects of this page.
    left: u64,
    /// Number of pages started.
    pages: u64,
    /// The current object.
    channel: Option<Channel>,
    log: FlowLog,
}

impl User {
    /// Creates a user who has not started. Every object's record is kept.
    pub fn new(spec: UserSpec) -> Self {
        Self::with_log(spec, FlowLog::keeping_all())
    }

    /// Does the same as [`User::new`], but passes each record to `sink` when its object is over,
    /// and does not keep it.
    pub fn with_sink(spec: UserSpec, sink: impl FnMut(&FlowRecord) + 'static) -> Self {
        Self::with_log(spec, FlowLog::handing_to(Box::new(sink)))
    }

    fn with_log(spec: UserSpec, log: FlowLog) -> Self {
        Self { spec, port: 0, draws: None, left: 0, pages: 0, channel: None, log }
    }

    /// Returns the number of pages started so far.
    pub const fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the record of the unfinished object, as of the last stop of the run.
    pub fn under_way(&self) -> Option<&FlowRecord> {
        self.channel.as_ref().map(Channel::flow)
    }

    /// Returns sums over all finished objects.
    pub const fn totals(&self) -> &FlowTotals {
        self.log.totals()
    }

    /// Returns records in the order of the objects, unless they went to a sink.
    pub fn flows(&self) -> &[FlowRecord] {
        self.log.flows()
    }

    fn draw_quantity(&mut self, of: impl Fn(&UserSpec) -> &Distribution) -> f64 {
        self.draws.as_mut().map_or(0.0, |stream| of(&self.spec).sample(stream))
    }

    fn draw_count(&mut self, of: impl Fn(&UserSpec) -> &Distribution) -> u64 {
        self.draws.as_mut().map_or(1, |stream| of(&self.spec).sample_count(stream))
    }

    fn set_timer(&mut self, context: &mut AppContext<'_>, seconds: f64) {
        context.set_timer(context.now() + Duration::from_secs_f64(seconds), 0);
    }

    fn send_request(&mut self, context: &mut AppContext<'_>) {
        if self.left == 0 {
            self.left = self.draw_count(|spec| &spec.objects);
            self.pages += 1;
        }
        let bytes = self.draw_count(|spec| &spec.bytes);
        let UserSpec { from, to, scheme, .. } = &self.spec;
        let ends = ChannelEnds { from: *from, to: *to, port: self.port };
        let channel = Channel::open(context, ends, scheme, Some(bytes));
        context.shutdown(*from, channel.sender());
        self.channel = Some(channel);
    }

    /// Handles the end of the current object.
    fn on_over(&mut self, context: &mut AppContext<'_>) {
        let Some(channel) = self.channel.take() else { return };
        self.log.push(channel.flow());
        self.left -= 1;
        if self.left > 0 {
            let pause = self.draw_quantity(|spec| &spec.pause);
            self.set_timer(context, pause);
        } else if self.spec.pages == Some(self.pages) {
            context.finish();
        } else {
            let think = self.draw_quantity(|spec| &spec.think);
            self.set_timer(context, think);
        }
    }

    /// Returns true if an event concerns the current object, and not a finished one that closes.
    fn is_of_object(&self, context: &AppContext<'_>, host: HostId, event: &Event) -> bool {
        let Some(channel) = &self.channel else { return false };
        if host == self.spec.from {
            return event.conn == channel.sender();
        }
        if event.kind != EventKind::Accepted {
            return channel.receiver() == Some(event.conn);
        }
        let caller = context.peer(host, event.conn).map(|peer| peer.port);
        let own = context.peer(self.spec.from, channel.sender()).map(|peer| peer.local_port);
        caller == own
    }
}

impl Application for User {
    fn start(&mut self, context: &mut AppContext<'_>) {
        self.port = channel::listen(context, self.spec.to, &self.spec.receiver);
        self.draws = Some(context.stream(&format!("{}/user", self.spec.name)));
        let think = self.draw_quantity(|spec| &spec.think);
        self.set_timer(context, think);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        self.send_request(context);
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        if event.kind == EventKind::PeerClosed {
            channel::close(context, host, event.conn);
        }
        if !self.is_of_object(context, host, event) {
            return;
        }
        if let Some(channel) = &mut self.channel
            && channel.on_event(context, host, event)
        {
            self.on_over(context);
        }
    }

    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        if let Some(channel) = &mut self.channel {
            channel.on_stop(context);
        }
    }

    fn describe(&self) -> String {
        let UserSpec { name, .. } = &self.spec;
        format!("user {name}: page {}, {} objects of it not over", self.pages, self.left)
    }
}
