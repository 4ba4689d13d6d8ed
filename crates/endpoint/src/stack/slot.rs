//! The stack's own state of a connection, beside the core's.

use crate::shared::{End, SharedStream};
use crate::stream::Stream;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::task::Waker;
use tcp::{ConnId, FourTuple};
use tokio::sync::oneshot;
use units::{Duration, Instant, Rate};

/// A connection.
pub(super) struct Slot {
    pub(super) shared: Arc<SharedStream>,
    pub(super) tuple: FourTuple,
    /// Name of its scheme.
    pub(super) scheme: Arc<str>,
    /// Bytes passed to the core.
    pub(super) written: u64,
    pub(super) read: u64,
    pub(super) shutdown: bool,
    /// State of the stream's owner.
    pub(super) owner: Owner,
    pub(super) rate: RateMeter,
}

/// The owner of the stream.
pub(super) enum Owner {
    /// It has no owner yet: a peer is opening it.
    Nobody,
    /// A caller waits for it to open.
    Connecting(oneshot::Sender<io::Result<Stream>>),
    Application,
    /// It has no owner any more.
    Dropped,
}

impl Slot {
    pub(super) fn new(shared: Arc<SharedStream>, tuple: FourTuple, scheme: Arc<str>) -> Self {
        Self {
            shared,
            tuple,
            scheme,
            written: 0,
            read: 0,
            shutdown: false,
            owner: Owner::Nobody,
            rate: RateMeter::default(),
        }
    }

    pub(super) const fn is_orphan(&self) -> bool {
        matches!(self.owner, Owner::Dropped)
    }

    /// Ends the slot, because the connection is over.
    pub(super) fn end(self, end: End, wake: &mut Vec<Waker>) {
        if let Owner::Connecting(reply) = self.owner {
            let kind = match end {
                End::Failed(kind) => kind,
                End::Closed => ErrorKind::ConnectionAborted,
            };
            // The caller may have stopped waiting.
            let _ = reply.send(Err(kind.into()));
        }
        self.shared.on_end(end, wake);
    }
}

/// Slots by the numbers of their connections.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Option<Slot>>,
    live: usize,
}

impl Slots {
    pub(super) fn at(&self, id: ConnId) -> Option<&Slot> {
        self.slots.get(id.0 as usize)?.as_ref()
    }

    pub(super) fn at_mut(&mut self, id: ConnId) -> Option<&mut Slot> {
        self.slots.get_mut(id.0 as usize)?.as_mut()
    }

    /// Returns the slot of a stream, unless its number is another one's by now.
    pub(super) fn of(&mut self, shared: &Arc<SharedStream>) -> Option<&mut Slot> {
        self.at_mut(shared.conn).filter(|slot| Arc::ptr_eq(&slot.shared, shared))
    }

    pub(super) fn insert(&mut self, id: ConnId, slot: Slot) {
        let index = id.0 as usize;
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, || None);
        }
        self.live += usize::from(self.slots[index].replace(slot).is_none());
    }

    pub(super) fn take(&mut self, id: ConnId) -> Option<Slot> {
        let slot = self.slots.get_mut(id.0 as usize)?.take();
        self.live -= usize::from(slot.is_some());
        slot
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
    }

    pub(super) fn drain(&mut self) -> Vec<Slot> {
        self.live = 0;
        std::mem::take(&mut self.slots).into_iter().flatten().collect()
    }
}

/// Measures the rate of acknowledged bytes, over a round trip at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateMeter {
    since: Instant,
    acked: u64,
    rate: Rate,
}

impl RateMeter {
    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    /// Notes that `total` bytes are acknowledged. A pause restarts the measurement.
    pub(super) fn on_acked(&mut self, now: Instant, total: u64, srtt: Duration) {
        let passed = now.saturating_since(self.since);
        if passed < srtt || passed.is_zero() {
            return;
        }
        if passed < srtt.saturating_mul(2) {
            let bits = u128::from(total - self.acked) * 8 * 1_000_000_000;
            let bits = bits / u128::from(passed.as_nanos());
            self.rate = Rate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX));
        }
        (self.since, self.acked) = (now, total);
    }
}
