//! Serves HTTP/2 on connections of reporters.
//!
//! tonic's own server gives each call a task of its own, which costs more than most answers. In
//! this module the task of a connection reads all received calls, answers them in turn, and then
//! writes all answers at once. A call that has to wait gets a task of its own.

use super::listen::ReporterStream;
use super::panics::guard;
use super::peer::PeerIdentity;
use super::service::GatewayService;
use super::statuses::too_large;
use crate::site::GatewaySite;
use gateway_proto::v1::gateway_server::GatewayServer;
use hyper::body::{Body as _, Incoming};
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
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service as TowerService};
use tonic::{Code, Status};

/// Time after which a silent peer is pinged.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Maximum number of calls of one connection at a time.
const MAX_STREAMS: u32 = 256;
/// Maximum size of a report in a message, bytes: 11 fields, each with its key, and a network.
const MAX_REPORT_BYTES: usize = 128;
/// Maximum size of a message besides its reports, bytes: a subscription to 1,024 networks and 256
/// addresses has 24 KiB.
const MAX_OTHER_BYTES: usize = 32 << 10;

/// Returns the maximum size of a message, bytes: the size of the largest batch, 557,056 by default.
const fn most_bytes(max_batch: usize) -> usize {
    max_batch.saturating_mul(MAX_REPORT_BYTES).saturating_add(MAX_OTHER_BYTES)
}

/// Answers calls of all `connections` until `drain` is true; then waits until the open calls have
/// ended.
pub(crate) async fn serve(
    site: Arc<GatewaySite>,
    server: GatewayServer<GatewayService>,
    mut connections: mpsc::Receiver<ReporterStream>,
    drain: watch::Receiver<bool>,
) {
    let (mut open, mut draining) = (JoinSet::new(), drain.clone());
    let mut is_draining = pin!(draining.wait_for(|is_draining| *is_draining));
    loop {
        tokio::select! {
            // An error means that the sender is gone, because the gateway has ended.
            _ = &mut is_draining => break,
            Some(stream) = connections.recv() => {
                let (server, peer) = (server.clone(), stream.peer().clone());
                let service = PeerService { server, peer, site: Arc::clone(&site) };
                open.spawn(serve_connection(service, stream, Arc::clone(&site), drain.clone()));
            }
            Some(_) = open.join_next() => {}
            else => break,
        }
    }
    drop(connections);
    while open.join_next().await.is_some() {}
}

/// Serves the calls of one connection until it ends. If the gateway drains, only calls under way
/// are completed.
async fn serve_connection<S>(
    service: S,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    site: Arc<GatewaySite>,
    mut drain: watch::Receiver<bool>,
) where
    S: Service<
            Request<Incoming>,
            Response = Response<Body>,
            Error = Infallible,
            Future = GuardedCall,
        >,
{
    let calls = NewCalls::default();
    let connection = Builder::new(calls.clone())
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .max_concurrent_streams(MAX_STREAMS)
        // No client reads the date, and each answer would have it.
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
            // If a connection has ended, no client reads answers.
            if new.is_empty() || polled.is_ready() {
                // The reason why a connection has ended is its peer's concern.
                return polled.map(drop);
            }
            waker.while_at_work(|| new.into_iter().for_each(|call| begin(&site, call)));
        }
    })
    .await;
}

/// Answers a call, or, if that has to wait, gives it a task of its own.
fn begin(site: &GatewaySite, mut call: Call) {
    // A pending call is polled again by the task, so its waker does nothing. Without a guard, a
    // panic here would end the connection. The guard around answers has sent a status already, so
    // there is nothing left to send.
    let begun =
        guard(site, || call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    if begun.unwrap_or(false) {
        tokio::spawn(call);
    }
}

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Calls of a connection that have been read and not started.
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

/// Wakes the task of a connection, except while the task answers calls: it looks at the connection
/// again afterwards.
struct TaskWaker {
    task: Waker,
    is_at_work: AtomicBool,
}

impl TaskWaker {
    /// Returns the waker of the task that polls with `context`, kept in `known`.
    fn of<'a>(known: &'a mut Option<Arc<Self>>, context: &Context<'_>) -> &'a Arc<Self> {
        if known.as_ref().is_none_or(|known| !known.task.will_wake(context.waker())) {
            *known = None;
        }
        known.get_or_insert_with(|| {
            let (task, is_at_work) = (context.waker().clone(), AtomicBool::new(false));
            Arc::new(Self { task, is_at_work })
        })
    }

    /// Suppresses wake-ups during `work`. A wake-up follows a change of the connection, so the task
    /// sees that change afterwards.
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

/// The service for the certificate's holder of one connection.
struct PeerService {
    server: GatewayServer<GatewayService>,
    peer: PeerIdentity,
    site: Arc<GatewaySite>,
}

impl Service<Request<Incoming>> for PeerService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = GuardedCall;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer.clone());
        // `max-batch` may change while a connection is open. A call keeps the limit with which it
        // begins.
        let most = most_bytes(self.site.max_batch());
        let mut server = self.server.clone().max_decoding_message_size(most);
        let call = TowerService::call(&mut server, request);
        GuardedCall { call, site: Arc::clone(&self.site) }
    }
}

/// A call up to its response. If it panics, its status is `INTERNAL`.
struct GuardedCall {
    call: BoxFuture<Response<Body>, Infallible>,
    site: Arc<GatewaySite>,
}

impl Future for GuardedCall {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { call, site } = &mut *self;
        match guard(site, || call.as_mut().poll(context)) {
            Ok(polled) => polled.map(|response| response.map(refused_as_too_large)),
            Err(status) => Poll::Ready(Ok(status.into_http())),
        }
    }
}

/// Returns the response unmodified, except that a refusal of a too large message gets the status of
/// gRPC for that.
fn refused_as_too_large(response: Response<Body>) -> Response<Body> {
    // A refusal has no body, so the headers of other responses need no look.
    if !response.body().is_end_stream() {
        return response;
    }
    match Status::from_header_map(response.headers()) {
        Some(status) if status.code() == Code::OutOfRange => too_large(status).into_http(),
        _ => response,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DaemonConfig;
    use crate::config::init::FirstGateway;
    use bytes::Bytes;
    use hyper::body::Frame;
    use std::sync::atomic::AtomicU32;
    use tokio::sync::oneshot;
    use tokio_stream::{Stream, StreamExt};

    /// Returns a site with the configuration that `headstart gateway init` writes.
    fn site() -> Arc<GatewaySite> {
        let name = format!("headstart-serve-{}-{}", std::process::id(), crate::os::draw::number());
        let folder = std::env::temp_dir().join(name);
        let (hosts, agent, observe) = (vec![], "agent".to_owned(), vec![]);
        let first = FirstGateway { hosts, agent, observe, user: None, force: false };
        first.write(&folder, crate::os::clock::system_time()).unwrap();
        let config = DaemonConfig::read(&folder.join("gateway.toml")).unwrap();
        let site = GatewaySite::new(&config, 1).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        Arc::new(site)
    }

    /// Counts its wake-ups.
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

    /// Two calls were read. The first waits for nothing and is over at once; the other goes on when
    /// its event has happened.
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
        let site = site();
        calls.take().into_iter().for_each(|call| begin(&site, call));
        assert!(calls.take().is_empty());
        assert_eq!(over.load(Ordering::SeqCst), 1);
        come.send(()).unwrap();
        end.await.unwrap();
        assert_eq!(over.load(Ordering::SeqCst), 11);
    }

    /// Panics at the path `/panic` before it responds, and at `/body` while it does; answers
    /// anything else at once.
    struct Panicking(Arc<GatewaySite>);

    impl Service<Request<Incoming>> for Panicking {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = GuardedCall;

        fn call(&self, request: Request<Incoming>) -> GuardedCall {
            let call: BoxFuture<_, _> = Box::pin(async move {
                let broken = tokio_stream::iter([()])
                    .map(|()| -> Result<Bytes, Status> { panic!("a test has a body panic") });
                match request.uri().path() {
                    "/panic" => panic!("a test has a call panic"),
                    "/body" => Ok(Response::new(Body::new(StreamBody(broken)))),
                    _ => Ok(Response::new(Body::empty())),
                }
            });
            GuardedCall { call, site: Arc::clone(&self.0) }
        }
    }

    /// A body from a stream.
    struct StreamBody<S>(S);

    impl<S: Stream<Item = Result<Bytes, Status>> + Unpin> hyper::body::Body for StreamBody<S> {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            Pin::new(&mut self.0).poll_next(context).map_ok(Frame::data)
        }
    }

    /// Three calls share one connection. The first one panics and has the status 13 (`INTERNAL`).
    /// The second one ends without a status because its response had started. The third one is
    /// answered.
    #[tokio::test]
    async fn a_panic_ends_a_call_and_not_its_connection() {
        let (site, (near, far)) = (site(), tokio::io::duplex(1 << 16));
        let (_drain, drained) = watch::channel(false);
        let service = Panicking(Arc::clone(&site));
        let serving = tokio::spawn(serve_connection(service, far, Arc::clone(&site), drained));
        let (mut client, connection) = h2::client::handshake(near).await.unwrap();
        tokio::spawn(connection);
        let mut call = async |path: &str| {
            let request = Request::get(format!("http://gateway{path}")).body(()).unwrap();
            client = client.clone().ready().await.unwrap();
            client.send_request(request, true).unwrap().0.await
        };
        let failed = call("/panic").await.unwrap();
        assert_eq!(failed.headers()["grpc-status"], "13");
        assert_eq!(site.counts.failed_calls.get(), 1);
        let body = match call("/body").await {
            Ok(response) => response.into_body().data().await.and_then(Result::ok),
            Err(_) => None,
        };
        assert_eq!(body, None);
        assert_eq!(site.counts.failed_calls.get(), 2);
        assert_eq!(call("/good").await.unwrap().status(), 200);
        assert!(!serving.is_finished());
    }
}
