//! The gateway's side of the protocol. Each call acts for the connection's certificate, which is
//! checked again with each message. Streams end when the gateway drains, and when their certificate
//! is no longer accepted, even while they are idle.

use super::deadline::{deadline, passed};
use super::panics::{guard, guarded};
use super::peer::PeerIdentity;
use super::statuses::{draining, ended, refusal, too_large};
use super::subscriber::{Sources, Wanted, tell};
use crate::pki::{HolderRole, Identity};
use crate::site::tenant::arrivals::address_of;
use crate::site::tenant::judge::sense_of;
use crate::site::tenant::subscribers::NotifiedHosts;
use crate::site::{GatewaySite, ReporterSession};
use crate::storage::shared::{BatchName, SharedStore};
use gateway_proto::v1::gateway_server::Gateway;
use gateway_proto::v1::{
    AnnounceReply, Answer, Arrival, FleetComparison, ForgetReply, ForgetRequest, HostComparison,
    Network, NoEstimate, Query, ReportAck, ReportBatch, SubscribeRequest, Update, answer,
};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

/// Maximum number of acknowledgements and updates that wait for a peer to read them.
const MAX_WAITING_MESSAGES: usize = 64;
/// Maximum number of estimates that a subscriber may ask for at the start.
const MAX_KNOWN: u32 = 100_000;

/// Answers calls.
#[derive(Clone, Debug)]
pub(crate) struct GatewayService {
    site: Arc<GatewaySite>,
    shared: Option<Arc<SharedStore>>,
    drain: watch::Receiver<bool>,
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl GatewayService {
    /// Creates the service. It ends its streams once `drain` is true, and asks `shared` for the
    /// claims of other gateways.
    pub(crate) const fn new(
        site: Arc<GatewaySite>,
        shared: Option<Arc<SharedStore>>,
        drain: watch::Receiver<bool>,
    ) -> Self {
        Self { site, shared, drain }
    }

    fn session<T>(&self, request: &Request<T>) -> Result<Arc<ReporterSession>, Status> {
        let peer = request.extensions().get::<PeerIdentity>();
        let peer = peer.ok_or_else(|| Status::unauthenticated("no certificate"))?;
        peer.session(&self.site).map_err(refusal)
    }

    /// Returns the session of a holder that may ask and subscribe: an observer may not.
    fn asker<T>(&self, request: &Request<T>) -> Result<Arc<ReporterSession>, Status> {
        let session = self.session(request)?;
        match session.identity().role {
            HolderRole::Agent | HolderRole::Operator => Ok(session),
            HolderRole::Observer => {
                let why = "an observer's certificate may only report and announce visitors; \
                    `headstart gateway certificate` makes one for an agent";
                Err(Status::permission_denied(why))
            }
        }
    }

    /// Waits until streams of `identity` have to end, and returns the reason.
    async fn ending(self, identity: Arc<Identity>, deadline: Option<Instant>) -> Status {
        let mut drain = self.drain;
        tokio::select! {
            why = self.site.silenced(&identity) => ended(&self.site, why),
            // An error means that the sender is gone, because the gateway has ended.
            _ = drain.wait_for(|is_draining| *is_draining) => draining(),
            status = passed(deadline) => status,
        }
    }
}

#[tonic::async_trait]
impl Gateway for GatewayService {
    type ReportStream = Replies<ReportAck>;
    type AskStreamStream = Replies<Answer>;
    type SubscribeStream = Replies<Update>;

    async fn report(
        &self,
        request: Request<Streaming<ReportBatch>>,
    ) -> Result<Response<Self::ReportStream>, Status> {
        let session = self.session(&request)?.as_ref().clone();
        let (acks, replies) = mpsc::channel(MAX_WAITING_MESSAGES);
        let deadline = deadline(request.metadata());
        let (shared, batches) = (self.shared.clone(), request.into_inner());
        let end = self.clone().ending(Arc::clone(session.identity()), deadline);
        let site = Arc::clone(&self.site);
        tokio::spawn(async move {
            let taken = guarded(&site, take_batches(session, shared, batches, &acks, end)).await;
            if let Err(status) = taken.and_then(|taken| taken) {
                let _ = acks.send(Err(status)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(replies))))
    }

    async fn ask(&self, request: Request<Query>) -> Result<Response<Answer>, Status> {
        let session = self.asker(&request)?;
        Ok(Response::new(answer(&session, request.get_ref())))
    }

    async fn ask_stream(
        &self,
        request: Request<Streaming<Query>>,
    ) -> Result<Response<Self::AskStreamStream>, Status> {
        let mut session = self.asker(&request)?.as_ref().clone();
        let deadline = deadline(request.metadata());
        let end = self.clone().ending(Arc::clone(session.identity()), deadline);
        // Questions are answered as they are read, without a queue: while a peer does not read its
        // answers, its questions are not read either.
        let answers = request.into_inner().map(move |query| {
            let query = query.map_err(too_large)?;
            session.renew().map_err(|why| ended(session.site(), why))?;
            Ok(answer(&session, &query))
        });
        let (site, end) = (Arc::clone(&self.site), Some(Box::pin(end) as Pin<Box<_>>));
        Ok(Response::new(Box::pin(Ending { stream: answers, end, site })))
    }

    async fn subscribe(
        &self,
        request: Request<SubscribeRequest>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let session = self.asker(&request)?.as_ref().clone();
        let from = request.extensions().get::<PeerIdentity>().map(|peer| peer.address);
        let wanted = Wanted::new(request.get_ref(), from)?;
        let (updates, replies) = mpsc::channel(MAX_WAITING_MESSAGES);
        let known = request.get_ref().known.min(MAX_KNOWN);
        let deadline = deadline(request.metadata());
        let end = self.clone().ending(Arc::clone(session.identity()), deadline);
        // Subscribing precedes reading the estimates, so that no change is missed between.
        let name = &session.identity().name;
        let (changes, open) = session.tenant().subscribe(name, self.site.clock);
        let sources = Sources { changes, arrivals: session.tenant().arrivals.subscribe(), open };
        let site = Arc::clone(&self.site);
        tokio::spawn(async move {
            let told = guarded(&site, tell(session, &wanted, known, sources, &updates));
            let told = async { told.await.unwrap_or_else(|status| status) };
            tokio::select! {
                end = told => { let _ = updates.send(Err(end)).await; }
                end = end => { let _ = updates.send(Err(end)).await; }
                () = updates.closed() => {}
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(replies))))
    }

    async fn forget(
        &self,
        request: Request<ForgetRequest>,
    ) -> Result<Response<ForgetReply>, Status> {
        let session = self.session(&request)?;
        if session.speaker().identity.role != HolderRole::Operator {
            let why = "only an operator's certificate may have networks forgotten; \
                `headstart gateway certificate --operator` makes one";
            return Err(Status::permission_denied(why));
        }
        let network = request.get_ref().network.as_ref().and_then(Network::to_net);
        let network = network.ok_or_else(|| Status::invalid_argument("no network"))?;
        let tenant = session.tenant();
        let forgotten = tenant.forget(self.site.clock.now(), network).await;
        self.site.note_forget(forgotten);
        let NotifiedHosts { notified, missed } = tenant.notified_hosts();
        let store_missed = match &self.shared {
            Some(shared) => !shared.has_forgets(tenant).await,
            None => false,
        };
        Ok(Response::new(ForgetReply { forgotten, notified, missed, store_missed }))
    }

    async fn compare(
        &self,
        request: Request<HostComparison>,
    ) -> Result<Response<FleetComparison>, Status> {
        let session = self.session(&request)?;
        if session.identity().role != HolderRole::Agent {
            let why = "only an agent's certificate may send sums of a comparison";
            return Err(Status::permission_denied(why));
        }
        let (now, speaker) = (self.site.clock.now(), session.speaker());
        let compared = session.tenant().compare(now, speaker, request.get_ref());
        compared.map(Response::new).map_err(|why| {
            self.site.counts.bad_batches.add(1);
            Status::invalid_argument(why)
        })
    }

    async fn announce(
        &self,
        request: Request<Streaming<Arrival>>,
    ) -> Result<Response<AnnounceReply>, Status> {
        let session = self.session(&request)?.as_ref().clone();
        if session.identity().role != HolderRole::Observer {
            let why = "only an observer's certificate may announce visitors; \
                `headstart gateway certificate --observer` makes one";
            return Err(Status::permission_denied(why));
        }
        let deadline = deadline(request.metadata());
        let end = self.clone().ending(Arc::clone(session.identity()), deadline);
        tokio::select! {
            biased;
            end = end => Err(end),
            read = read_arrivals(session, request.into_inner()) => read,
        }
    }
}

/// Forwards visitors to subscribers until the observer ends the stream.
async fn read_arrivals(
    mut session: ReporterSession,
    mut arrivals: Streaming<Arrival>,
) -> Result<Response<AnnounceReply>, Status> {
    while let Some(arrival) = arrivals.message().await.map_err(too_large)? {
        session.renew().map_err(|why| ended(session.site(), why))?;
        let server = address_of(&arrival.server).map_err(Status::invalid_argument)?;
        let (site, network) = (session.site(), arrival.network.as_ref());
        if session.tenant().announce(site.clock.now(), session.speaker(), server, network).is_err()
        {
            site.counts.refused_arrivals.add(1);
        }
    }
    Ok(Response::new(AnnounceReply {}))
}

/// Takes batches until the peer or `end` ends that.
async fn take_batches(
    mut session: ReporterSession,
    shared: Option<Arc<SharedStore>>,
    mut batches: Streaming<ReportBatch>,
    acks: &mpsc::Sender<Result<ReportAck, Status>>,
    end: impl Future<Output = Status>,
) -> Result<(), Status> {
    let mut end = pin!(end);
    loop {
        // The end is checked between batches. A claimed batch counts nowhere else, so it is taken
        // whole.
        let batch = tokio::select! {
            biased;
            end = &mut end => return Err(end),
            batch = batches.message() => batch.map_err(too_large)?,
        };
        let Some(batch) = batch else { return Ok(()) };
        let ack = take_batch(&mut session, shared.as_deref(), &batch).await?;
        tokio::select! {
            biased;
            sent = acks.send(Ok(ack)) => if sent.is_err() { return Ok(()) },
            end = &mut end => return Err(end),
        }
    }
}

/// Takes a batch of reports, and counts it.
///
/// # Errors
///
/// If the certificate has ended or was revoked, or if the batch makes no sense.
async fn take_batch(
    session: &mut ReporterSession,
    shared: Option<&SharedStore>,
    batch: &ReportBatch,
) -> Result<ReportAck, Status> {
    session.renew().map_err(|why| ended(session.site(), why))?;
    let site = session.site();
    let _under_way = site.begin_batch().await;
    if let Some(shared) = shared {
        claim(session, shared, batch).await;
    }
    let taken = session.tenant().take(site.clock.now(), session.speaker(), batch, &site.counts);
    taken.await.map_err(|why| {
        site.counts.bad_batches.add(1);
        Status::invalid_argument(why)
    })
}

/// Claims a batch that makes sense. If another gateway has claimed it, this one treats it as done;
/// without the store it counts here.
async fn claim(session: &ReporterSession, shared: &SharedStore, batch: &ReportBatch) {
    let (site, tenant, speaker) = (session.site(), session.tenant(), session.speaker());
    if sense_of(batch, speaker.rules).is_err() {
        return;
    }
    let (reporter, epoch, sequence) = (&speaker.identity.name, batch.epoch, batch.sequence);
    let name = BatchName { reporter, epoch, sequence };
    if shared.claim(&tenant.name, name).await == Some(false) {
        tenant.note_claim(site.clock.now(), reporter, epoch, sequence);
    }
}

/// Answers a question, and counts the answer or the reason why there is none.
fn answer(session: &ReporterSession, query: &Query) -> Answer {
    let (site, begun) = (session.site(), session.site().clock.now());
    let result = match session.tenant().answer(begun, session.speaker(), query) {
        Ok(estimate) => {
            site.counts.answered.add(estimate.source as usize, 1);
            answer::Result::Estimate(estimate)
        }
        Err(why) => {
            site.counts.unanswered.add(why as usize, 1);
            answer::Result::None(NoEstimate::into(why))
        }
    };
    site.counts.note_answer_time(site.clock.now().saturating_since(begun).as_nanos());
    Answer { id: query.id, result: Some(result) }
}

/// A stream that ends with the status of `end` once `end` is ready.
struct Ending<S> {
    stream: S,
    /// `None` once it was ready.
    end: Option<Pin<Box<dyn Future<Output = Status> + Send>>>,
    site: Arc<GatewaySite>,
}

impl<T, S: Stream<Item = Result<T, Status>> + Unpin> Stream for Ending<S> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(end) = &mut self.end else { return Poll::Ready(None) };
        if let Poll::Ready(status) = end.as_mut().poll(context) {
            self.end = None;
            return Poll::Ready(Some(Err(status)));
        }
        let Self { stream, end, site } = &mut *self;
        guard(site, || Pin::new(stream).poll_next(context)).unwrap_or_else(|status| {
            *end = None;
            Poll::Ready(Some(Err(status)))
        })
    }
}
