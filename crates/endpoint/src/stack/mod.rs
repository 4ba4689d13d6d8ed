//! The core with the bytes that it does not carry, and with the applications that own them. It has
//! no clock and no I/O: these are the driver's.

mod control;
mod events;
mod input;
mod output;
mod ports;
mod slot;

use crate::budget::Accounts;
use crate::config::{Addresses, EndpointConfig};
use crate::counters::EndpointCounters;
use crate::keys::{CookieKeys, Secrets};
use crate::mailbox::Remote;
use crate::shared::{End, Sizes};
pub(crate) use output::OutgoingSegment;
use ports::Ports;
use slot::{Slot, Slots};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Weak;
use std::task::Waker;
use tcp::{ConnId, Host, HostConfig, Scheme, Transmit};
use tokio::sync::{mpsc, oneshot};
use units::Instant;

/// The stack of an endpoint.
pub(crate) struct Stack {
    host: Host,
    slots: Slots,
    listeners: Vec<Listening>,
    addresses: Addresses,
    ports: Ports,
    mtu: u16,
    config: EndpointConfig,
    counters: EndpointCounters,
    accounts: Accounts,
    /// The applications' end of the mailbox, gone when no application is left.
    remote: Weak<Remote>,
    /// Queued answers to pings.
    replies: VecDeque<Vec<u8>>,
    /// Tasks to wake.
    wakers: Vec<Waker>,
    /// Missing ranges that a segment may fill, as stream offsets.
    gaps: Vec<(u64, u64)>,
    transmit: Transmit,
    /// The endpoint's own cookie keys, if it has any.
    cookie_keys: Option<CookieKeys>,
    /// Callers that wait for the end of all connections.
    closed: Vec<oneshot::Sender<()>>,
}

/// A listening port.
struct Listening {
    port: u16,
    scheme: Scheme,
    accepted: mpsc::Sender<crate::stream::Stream>,
}

impl Stack {
    pub(crate) fn new(
        mut config: EndpointConfig,
        mtu: u16,
        remote: Weak<Remote>,
        secrets: Secrets,
    ) -> Self {
        let Secrets { key, seed, fast_open } = secrets;
        let mut host = Host::new(HostConfig { seed });
        host.set_secret(key);
        host.set_limits(config.limits);
        let own = CookieKeys::new(fast_open);
        host.set_fast_open(config.fast_open.unwrap_or(own.current()));
        host.set_auto_read(false);
        let cookie_keys = config.fast_open.is_none().then_some(own);
        if let Some(setup) = config.setup.take() {
            setup(&mut host);
        }
        Self {
            host,
            slots: Slots::default(),
            listeners: Vec::new(),
            addresses: Addresses { v4: config.v4, v6: config.v6 },
            ports: Ports::new(seed),
            mtu,
            counters: EndpointCounters::default(),
            accounts: Accounts::new(config.buffers),
            config,
            remote,
            replies: VecDeque::new(),
            wakers: Vec::new(),
            gaps: Vec::new(),
            cookie_keys,
            transmit: Transmit::default(),
            closed: Vec::new(),
        }
    }

    /// Returns when [`Stack::handle_timeout`] has something to do.
    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        self.host.poll_timeout()
    }

    /// Runs the timers that are due.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if let Some(keys) = self.cookie_keys.as_mut().and_then(|keys| keys.renew_if_due(now)) {
            self.host.set_fast_open(keys);
        }
        self.host.handle_timeout(now);
        self.digest_events(now);
    }

    /// Wakes the tasks with a new event.
    pub(crate) fn wake_tasks(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// Returns true if nothing is left to wait for: the remaining connections only answer late
    /// packets.
    pub(crate) fn is_quiet(&self) -> bool {
        use tcp::State::{Closed, FinWait2, TimeWait};
        self.slots.iter().all(|slot| {
            let state = self.host.connection(slot.shared.conn).map(tcp::Connection::state);
            slot.is_orphan() && matches!(state, None | Some(Closed | FinWait2 | TimeWait))
        })
    }

    /// Ends all streams, because the driver ends.
    pub(crate) fn end(&mut self, why: ErrorKind) {
        for slot in self.slots.drain() {
            slot.end(End::Failed(why), &mut self.wakers);
        }
        self.listeners.clear();
        self.closed.clear();
        self.wake_tasks();
    }

    /// Returns the buffer sizes of a stream under `scheme`.
    fn sizes(&self, scheme: &Scheme) -> Sizes {
        let receive = &scheme.config().receive;
        // The threshold is small compared with any window, so that no window stays shut for lack of
        // a report of read data.
        let window = u64::from(receive.initial_window.min(receive.max_window));
        let send_most = self.config.send_buffer;
        let send = EndpointConfig::FIRST_SEND_BUFFER.min(send_most);
        Sizes { send, send_most, report_read: (window / 8).clamp(1, 16 << 10) }
    }

    /// Returns a scheme as the endpoint's connections use it.
    fn fit_scheme(&self, scheme: &Scheme) -> Scheme {
        if self.config.nodelay { scheme.without_nagle() } else { scheme.clone() }
    }

    fn slot_of(&mut self, id: ConnId) -> Option<&mut Slot> {
        self.slots.at_mut(id)
    }
}
