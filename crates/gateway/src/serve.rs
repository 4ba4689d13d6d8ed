//! Serves HTTP/2 on connections of reporters. tonic's own server gives each call a task of its own, which costs more than most answers. Here
//! the task of a connection reads all calls that have arrived, answers them in turn, and then writes all answers at once. A call that has to wait
//! for something gets a task of its own.

use crate::listen::ReporterStream;
use crate::peer::PeerIdentity;
use crate::service::GatewayService;
use gateway_proto::v1::gateway_server::GatewayServer;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::http2::Builder;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::mem::take;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service as TowerService};

/// A peer that says nothing is asked whether it is there.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Calls of one connection at a time.
const STREAMS: u32 = 256;

/// Answers calls of all `connections` until `drain` is true; then waits until the calls under way have ended.
pub(crate) async fn serve(
    server: GatewayServer<GatewayService>,
    mut connections: mpsc::Receiver<ReporterStream>,
    drain: watch::Receiver<bool>,
) {
    let (mut open, mut draining) = (JoinSet::new(), drain.clone());
    let mut is_draining = pin!(draining.wait_for(|is_draining| *is_draining));
    loop {
        tokio::select! {
            // An error means that nobody can drain any more: the gateway has ended.
            _ = &mut is_draining => break,
            Some(stream) = connections.recv() => {
                open.spawn(serve_connection(server.clone(), stream, drain.clone()));
            }
            Some(_) = open.join_next() => {}
            else => break,
        }
    }
    drop(connections);
    while open.join_next().await.is_some() {}
}

async fn serve_connection(
    server: GatewayServer<GatewayService>,
    stream: ReporterStream,
    mut drain: watch::Receiver<bool>,
) {
    let calls = NewCalls::default();
    let service = PeerService { server, peer: stream.peer().clone() };
    let connection = Builder::new(calls.clone())
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .max_concurrent_streams(STREAMS)
        // Nobody reads it, and each answer would have it.
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let mut is_draining = pin!(drain.wait_for(|is_draining| *is_draining));
    let (mut has_drained, mut waker) = (false, None::<Arc<TaskWaker>>);
    poll_fn(|context| {
        if !has_drained && is_draining.as_mut().poll(context).is_ready() {
            has_drained = true;
            connection.as_mut().graceful_shutdown();
        }
        let waker = TaskWaker::of(&mut waker, context);
        let task = Waker::from(Arc::clone(waker));
        loop {
            let polled = connection.as_mut().poll(&mut Context::from_waker(&task));
            let new = calls.take();
            // Of a connection that has ended, nobody reads answers.
            if new.is_empty() || polled.is_ready() {
                // Why a connection has ended is its peer's concern.
                return polled.map(drop);
            }
            waker.while_at_work(|| new.into_iter().for_each(begin));
        }
    })
    .await;
}

/// Answers a call, or, if that has to wait, gives it a task of its own.
fn begin(mut call: Call) {
    // Whoever pends is polled again by the task, which it then wakes.
    if call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        tokio::spawn(call);
    }
}

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Calls of a connection that have been read and not begun.
#[derive(Clone, Default)]
struct NewCalls(Arc<Mutex<Vec<Call>>>);

impl NewCalls {
    fn take(&self) -> Vec<Call> {
        take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for NewCalls {
    fn execute(&self, call: F) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(call));
    }
}

/// Wakes the task of a connection. While the task answers calls, it is not woken: it looks at the connection again afterwards.
struct TaskWaker {
    task: Waker,
    is_at_work: AtomicBool,
}

impl TaskWaker {
    /// The waker of the task that polls with `context`, kept in `known`.
    fn of<'a>(known: &'a mut Option<Arc<Self>>, context: &Context<'_>) -> &'a Arc<Self> {
        if known.as_ref().is_none_or(|known| !known.task.will_wake(context.waker())) {
            *known = None;
        }
        known.get_or_insert_with(|| {
            let (task, is_at_work) = (context.waker().clone(), AtomicBool::new(false));
            Arc::new(Self { task, is_at_work })
        })
    }

    /// Whoever would wake the task meanwhile has changed the connection before. So its change is seen afterwards.
    fn while_at_work(&self, work: impl FnOnce()) {
        self.is_at_work.store(true, Ordering::SeqCst);
        work();
        self.is_at_work.store(false, Ordering::SeqCst);
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_at_work.load(Ordering::SeqCst) {
            self.task.wake_by_ref();
        }
    }
}

/// The service, for whom the certificate of a connection names.
struct PeerService {
    server: GatewayServer<GatewayService>,
    peer: PeerIdentity,
}

impl Service<Request<Incoming>> for PeerService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer.clone());
        TowerService::call(&mut self.server.clone(), request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use tokio::sync::oneshot;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(AtomicU32);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_task_at_work_is_not_woken_and_is_again_afterwards() {
        let woken = Arc::<Woken>::default();
        let task = Waker::from(Arc::clone(&woken));
        let mut known = None;
        let waker = TaskWaker::of(&mut known, &Context::from_waker(&task));
        let others = Waker::from(Arc::clone(waker));
        waker.while_at_work(|| others.wake_by_ref());
        assert_eq!(woken.0.load(Ordering::SeqCst), 0);
        others.wake_by_ref();
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    }

    /// Of two calls that were read, the one that waits for nothing is over at once; the other goes on when what it waits for has come.
    #[tokio::test]
    async fn a_call_that_waits_gets_a_task_and_others_are_answered_at_once() {
        let (calls, over) = (NewCalls::default(), Arc::<AtomicU32>::default());
        let (come, waited) = oneshot::channel::<()>();
        let (at_once, later) = (Arc::clone(&over), Arc::clone(&over));
        let (ended, end) = oneshot::channel();
        calls.execute(async move {
            let _ = waited.await;
            later.fetch_add(10, Ordering::SeqCst);
            let _ = ended.send(());
        });
        calls.execute(async move { _ = at_once.fetch_add(1, Ordering::SeqCst) });
        calls.take().into_iter().for_each(begin);
        assert!(calls.take().is_empty());
        assert_eq!(over.load(Ordering::SeqCst), 1);
        come.send(()).unwrap();
        end.await.unwrap();
        assert_eq!(over.load(Ordering::SeqCst), 11);
    }
}
