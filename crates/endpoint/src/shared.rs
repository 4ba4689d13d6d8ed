//! State that the two sides of a stream share: the application, which reads and writes bytes, and
//! the driver, which sends and receives them.
//!
//! Neither waits for the other for longer than copying bytes takes. [`Touch`] notifies the driver
//! of a change by the application, once until the driver has looked.

use crate::budget::Account;
use crate::low_water::LowWater;
use crate::ring::Ring;
use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tcp::ConnId;
use tokio::io::ReadBuf;

/// Inverse of the share of the buffer that must be free before a writer is woken (Linux
/// `sk_stream_wspace`: a third).
const WORTH_WAKING: u64 = 3;
/// Buffer that a stream may have even when the endpoint's budget is spent, bytes.
const ALWAYS: usize = 16 << 10;

/// One stream.
pub(crate) struct SharedStream {
    pub(crate) conn: ConnId,
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    account: Arc<Account>,
    /// True if the driver was notified and has not looked yet.
    touched: AtomicBool,
    inner: Mutex<Inner>,
}

/// The way to the driver, as far as a stream needs it.
pub(crate) trait Touch: Send + Sync {
    /// Notifies the driver that the application's side of the stream has changed.
    fn notify_driver(&self, shared: &Arc<SharedStream>);
}

/// Sizes of a stream's buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Initial limit of written and unacknowledged data, bytes.
    pub(crate) send: u64,
    /// Upper limit of written and unacknowledged data, however much is in flight, bytes.
    pub(crate) send_most: u64,
    /// Number of bytes read after which the driver must be notified.
    pub(crate) report_read: u64,
}

#[derive(Default)]
struct Inner {
    send: Ring,
    written: u64,
    /// End of the data that was sent at least once.
    sent: u64,
    send_limit: u64,
    send_most: u64,
    receive: Ring,
    /// End of the data delivered in order.
    ready: u64,
    /// End of all delivered data; there may be gaps below.
    arrived_end: u64,
    reported_read: u64,
    report_read: u64,
    peer_closed: bool,
    end: Option<End>,
    shutdown: bool,
    aborted: bool,
    dropped: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    low_water: LowWater,
    /// This stream's part of the account, bytes.
    accounted: usize,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Both sides had closed.
    Closed,
    /// The connection failed.
    Failed(ErrorKind),
}

/// The application's requests for the driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamRequests {
    pub(crate) written: u64,
    pub(crate) read: u64,
    pub(crate) shutdown: bool,
    pub(crate) aborted: bool,
    pub(crate) dropped: bool,
    /// True if delivered data was not read.
    pub(crate) unread: bool,
}

impl SharedStream {
    pub(crate) fn new(
        conn: ConnId,
        local: SocketAddr,
        peer: SocketAddr,
        sizes: Sizes,
        account: Arc<Account>,
    ) -> Self {
        let Sizes { send, send_most, report_read } = sizes;
        let inner = Inner { send_limit: send, send_most, report_read, ..Inner::default() };
        let touched = AtomicBool::new(false);
        Self { conn, local, peer, account, touched, inner: Mutex::new(inner) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the buffers of all streams, or of its peer's streams, are at their limit.
    pub(crate) fn may_take_nothing(&self) -> bool {
        self.account.is_spent()
    }

    /// Notifies the driver of a change.
    pub(crate) fn notify_of_change(self: &Arc<Self>, driver: &dyn Touch) {
        if !self.touched.swap(true, Ordering::AcqRel) {
            driver.notify_driver(self);
        }
    }
}

/// The application's side.
impl SharedStream {
    pub(crate) fn poll_read(
        self: &Arc<Self>,
        cx: &Context<'_>,
        out: &mut ReadBuf<'_>,
        driver: &dyn Touch,
    ) -> Poll<io::Result<()>> {
        let mut inner = self.lock();
        let from = inner.receive.start();
        let to = inner.ready.min(from + out.remaining() as u64);
        if from == to && out.remaining() > 0 {
            return inner.poll_nothing_to_read(cx);
        }
        inner.receive.slices(from, to).iter().for_each(|piece| out.put_slice(piece));
        let empty = to == inner.arrived_end;
        inner.receive.release(to, empty);
        inner.account(&self.account);
        let report = to - inner.reported_read >= inner.report_read;
        drop(inner);
        if report {
            self.notify_of_change(driver);
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) fn poll_write(
        self: &Arc<Self>,
        cx: &Context<'_>,
        data: &[IoSlice<'_>],
        driver: &dyn Touch,
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.lock();
        inner.check_writable()?;
        let before = inner.written;
        let mut room = inner.free_write_space(&self.account);
        for piece in data {
            let taken = piece.len().min(room as usize);
            let at = inner.written;
            inner.send.write_at(at, &piece[..taken]);
            inner.written += taken as u64;
            room -= taken as u64;
        }
        let taken = inner.written - before;
        if taken == 0 && data.iter().any(|piece| !piece.is_empty()) {
            inner.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        inner.account(&self.account);
        drop(inner);
        self.notify_of_change(driver);
        Poll::Ready(Ok(taken as usize))
    }

    /// Returns the bytes written and not yet sent, once they are fewer than `low`; `None` once all
    /// is over.
    pub(crate) fn poll_unsent_below(&self, cx: &Context<'_>, low: u64) -> Poll<Option<u64>> {
        let mut inner = self.lock();
        if inner.end.is_some() {
            return Poll::Ready(None);
        }
        let unsent = inner.unsent_bytes();
        if unsent < low {
            return Poll::Ready(Some(unsent));
        }
        inner.low_water.wait(low, cx.waker());
        Poll::Pending
    }

    /// Writes bytes for the opening of the connection, before there is a stream.
    pub(crate) fn write_early(&self, data: &[u8]) {
        let mut inner = self.lock();
        let at = inner.written;
        inner.send.write_at(at, data);
        inner.written += data.len() as u64;
        inner.account(&self.account);
    }

    pub(crate) fn shutdown(self: &Arc<Self>, driver: &dyn Touch) -> io::Result<()> {
        let mut inner = self.lock();
        if let Some(End::Failed(kind)) = inner.end {
            return Err(kind.into());
        }
        inner.shutdown = true;
        drop(inner);
        self.notify_of_change(driver);
        Ok(())
    }

    pub(crate) fn abort(self: &Arc<Self>, driver: &dyn Touch) {
        self.lock().aborted = true;
        self.notify_of_change(driver);
    }

    /// Notes that the application has dropped the stream.
    pub(crate) fn on_dropped(self: &Arc<Self>, driver: &dyn Touch) {
        let mut inner = self.lock();
        inner.dropped = true;
        (inner.reader, inner.writer) = (None, None);
        drop(inner);
        self.notify_of_change(driver);
    }
}

impl Inner {
    fn poll_nothing_to_read(&mut self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        // The peer has sent FIN, so later events change nothing.
        if self.peer_closed {
            return Poll::Ready(Ok(()));
        }
        match self.end {
            Some(End::Failed(kind)) => Poll::Ready(Err(kind.into())),
            Some(End::Closed) => Poll::Ready(Ok(())),
            None => {
                self.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn check_writable(&self) -> io::Result<()> {
        match self.end {
            Some(End::Failed(kind)) => Err(kind.into()),
            Some(End::Closed) => Err(ErrorKind::BrokenPipe.into()),
            None if self.shutdown || self.aborted => Err(ErrorKind::BrokenPipe.into()),
            None => Ok(()),
        }
    }

    /// Returns the room for writing now, bytes.
    fn free_write_space(&self, account: &Account) -> u64 {
        let held = self.written - self.send.start();
        let room = self.send_limit.saturating_sub(held);
        if account.is_spent() {
            // The stream may use its present buffer, but it does not grow.
            let kept = self.send.capacity().max(ALWAYS) as u64;
            return room.min(kept.saturating_sub(held));
        }
        room
    }

    /// Raises the limit of buffered data, and wakes the writer if there is enough room.
    fn allow(&mut self, limit: u64, account: &Account, wake: &mut Vec<Waker>) {
        self.send_limit = self.send_limit.max(limit.min(self.send_most));
        if self.writer.is_some() && self.free_write_space(account) * WORTH_WAKING >= self.send_limit
        {
            wake.extend(self.writer.take());
        }
    }

    /// Notes that all data below `to` has been sent. This makes room for as much again. While a
    /// loss is repaired nothing is released, and recovery sends new data after the gap.
    fn on_sent(&mut self, to: u64, account: &Account, wake: &mut Vec<Waker>) {
        self.sent = self.sent.max(to);
        let under_way = self.sent - self.send.start();
        if 2 * under_way > self.send_limit {
            self.allow(2 * under_way, account, wake);
        }
    }

    const fn unsent_bytes(&self) -> u64 {
        self.written.saturating_sub(self.sent)
    }

    fn account(&mut self, account: &Account) {
        let now = self.send.capacity() + self.receive.capacity();
        account.on_buffer_change(self.accounted, now);
        self.accounted = now;
    }
}

/// The driver's side. Tasks to wake are added to `wake`.
impl SharedStream {
    /// Returns the application's requests.
    pub(crate) fn requests(&self) -> StreamRequests {
        self.touched.store(false, Ordering::Release);
        let mut inner = self.lock();
        inner.reported_read = inner.receive.start();
        StreamRequests {
            written: inner.written,
            read: inner.receive.start(),
            shutdown: inner.shutdown,
            aborted: inner.aborted,
            dropped: inner.dropped,
            unread: inner.ready > inner.receive.start(),
        }
    }

    /// Stores bytes delivered at `offset`, perhaps after a gap.
    pub(crate) fn store(&self, offset: u64, bytes: &[u8]) {
        let mut inner = self.lock();
        if offset >= inner.receive.start() {
            inner.receive.write_at(offset, bytes);
            inner.arrived_end = inner.arrived_end.max(offset + bytes.len() as u64);
            inner.account(&self.account);
        }
    }

    /// Notes that all data below `total` was delivered.
    pub(crate) fn on_received(&self, total: u64, wake: &mut Vec<Waker>) {
        let mut inner = self.lock();
        inner.ready = inner.ready.max(total);
        wake.extend(inner.reader.take());
    }

    /// Notes that all data below `total` is acknowledged, and the new limit of buffered data.
    pub(crate) fn on_acked(&self, total: u64, send_limit: u64, wake: &mut Vec<Waker>) {
        let mut inner = self.lock();
        let empty = total >= inner.written;
        inner.send.release(total, empty);
        inner.account(&self.account);
        inner.allow(send_limit, &self.account, wake);
        if empty {
            wake.extend(inner.writer.take());
        }
    }

    pub(crate) fn on_peer_closed(&self, wake: &mut Vec<Waker>) {
        let mut inner = self.lock();
        inner.peer_closed = true;
        wake.extend(inner.reader.take());
    }

    /// Notes that the connection is over.
    pub(crate) fn on_end(&self, end: End, wake: &mut Vec<Waker>) {
        let mut inner = self.lock();
        inner.end.get_or_insert(end);
        inner.send = Ring::default();
        inner.written = 0;
        inner.account(&self.account);
        wake.extend(inner.reader.take());
        wake.extend(inner.writer.take());
        inner.low_water.wake_all(wake);
    }

    /// Appends `len` bytes of the written data, from `offset` on, which are sent now; returns false
    /// if they are gone.
    pub(crate) fn copy_written(
        &self,
        offset: u64,
        len: u32,
        out: &mut Vec<u8>,
        wake: &mut Vec<Waker>,
    ) -> bool {
        let mut inner = self.lock();
        let to = offset + u64::from(len);
        let there = inner.send.start() <= offset && to <= inner.written;
        if there {
            inner.send.slices(offset, to).iter().for_each(|piece| out.extend_from_slice(piece));
            inner.on_sent(to, &self.account, wake);
            let unsent = inner.unsent_bytes();
            inner.low_water.on_unsent(unsent, wake);
        }
        there
    }
}

impl Drop for SharedStream {
    fn drop(&mut self) {
        let accounted = self.lock().accounted;
        self.account.on_buffer_change(accounted, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Accounts;
    use crate::mailbox::Mailbox;
    use std::net::{Ipv4Addr, SocketAddr};

    fn stream() -> (Arc<SharedStream>, Mailbox) {
        let end = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let sizes = Sizes { send: 1000, send_most: 1600, report_read: 100 };
        let account = Accounts::new(usize::MAX).of(end.ip());
        let shared = SharedStream::new(ConnId(0), end, end, sizes, account);
        (Arc::new(shared), Mailbox::new().unwrap())
    }

    fn read(shared: &Arc<SharedStream>, mailbox: &Mailbox) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 20];
        let mut out = ReadBuf::new(&mut bytes);
        let _ = shared.poll_read(&Context::from_waker(Waker::noop()), &mut out, mailbox);
        out.filled().to_vec()
    }

    /// All data in order is read while other data waits after a gap, in a ring so large that it is
    /// freed when it is empty.
    #[test]
    fn what_waits_behind_a_gap_survives_the_reading_of_the_rest() {
        let (shared, mailbox) = stream();
        let mut wake = Vec::new();
        shared.store(0, &[1; 100_000]);
        shared.store(100_001, &[3; 10]);
        shared.on_received(100_000, &mut wake);
        assert_eq!(read(&shared, &mailbox), [1; 100_000]);
        shared.store(100_000, &[2]);
        shared.on_received(100_011, &mut wake);
        assert_eq!(read(&shared, &mailbox), [2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]);
    }

    /// A task that waits for fewer than 300 unsent of 1000 bytes is woken once, by the byte that
    /// leaves 299. Retransmissions change nothing.
    #[test]
    fn low_water_counts_what_was_never_sent() {
        let (shared, mailbox) = stream();
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(shared.poll_unsent_below(&cx, 1), Poll::Ready(Some(0)));
        let written = shared.poll_write(&cx, &[IoSlice::new(&[7; 1000])], &mailbox);
        assert!(matches!(written, Poll::Ready(Ok(1000))));
        assert_eq!(shared.poll_unsent_below(&cx, 300), Poll::Pending);
        let send = |offset, len| {
            let mut wake = Vec::new();
            assert!(shared.copy_written(offset, len, &mut Vec::new(), &mut wake));
            wake.len()
        };
        let woken = [(0, 500), (0, 500), (500, 200), (0, 700), (700, 1), (701, 99)];
        assert_eq!(woken.map(|(offset, len)| send(offset, len)), [0, 0, 0, 0, 1, 0]);
        assert_eq!(shared.poll_unsent_below(&cx, 300), Poll::Ready(Some(200)));
        assert_eq!(shared.poll_unsent_below(&cx, 200), Poll::Pending);
        let mut wake = Vec::new();
        shared.on_end(End::Closed, &mut wake);
        assert_eq!(wake.len(), 1);
        assert_eq!(shared.poll_unsent_below(&cx, 200), Poll::Ready(None));
    }

    /// While 600 of 1000 bytes are in flight, 1200 may be buffered, but a sixth of that is not
    /// worth a wake-up. With all 1000 in flight the limit would be 2000, but the upper limit is
    /// lower; 600 of it are free.
    #[test]
    fn what_is_under_way_makes_room_for_as_much_again() {
        let (shared, mailbox) = stream();
        let cx = Context::from_waker(Waker::noop());
        let write =
            |bytes: usize| shared.poll_write(&cx, &[IoSlice::new(&vec![7; bytes])], &mailbox);
        assert!(matches!(write(1000), Poll::Ready(Ok(1000))));
        assert!(write(1).is_pending());
        let send = |offset, len| {
            let mut wake = Vec::new();
            assert!(shared.copy_written(offset, len, &mut Vec::new(), &mut wake));
            wake.len()
        };
        assert_eq!([send(0, 600), send(600, 400), send(0, 100)], [0, 1, 0]);
        assert!(matches!(write(1000), Poll::Ready(Ok(600))));
    }

    #[test]
    fn an_end_after_the_peers_is_the_peers() {
        let (shared, mailbox) = stream();
        let mut wake = Vec::new();
        shared.on_peer_closed(&mut wake);
        shared.on_end(End::Failed(ErrorKind::ConnectionReset), &mut wake);
        let mut bytes = [0; 1];
        let mut out = ReadBuf::new(&mut bytes);
        let end = shared.poll_read(&Context::from_waker(Waker::noop()), &mut out, &mailbox);
        assert!(matches!(end, Poll::Ready(Ok(()))));
    }
}
