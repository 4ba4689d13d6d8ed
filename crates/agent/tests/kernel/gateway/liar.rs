//! A gateway with answers and delays that a test chooses: late, or wrong. It has a valid
//! certificate.

use super::running::{SiteFolder, any_port};
use gateway_proto::v1::gateway_server::{Gateway, GatewayServer};
use gateway_proto::v1::{
    AnnounceReply, Answer, Arrival, Estimate, FleetComparison, ForgetReply, ForgetRequest,
    HostComparison, Network, Query, ReportAck, ReportBatch, SubscribeRequest, Update, answer,
    update,
};
use std::fs;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status, Streaming};

/// Updates come so often.
const UPDATE_INTERVAL: Duration = Duration::from_millis(10);

/// Its answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Lies {
    /// Delay of each answer.
    pub(super) late: Duration,
    /// Estimates for each network that is asked for; one after the other, and again.
    pub(super) estimates: Vec<Estimate>,
    /// Asked to forget everything, all the time.
    pub(super) has_all_forgotten: bool,
}

/// The lying gateway; ends when it is dropped.
pub(super) struct Liar {
    files: SiteFolder,
    address: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Liar {
    pub(super) fn start(lies: Lies) -> Self {
        let files = SiteFolder::new(any_port());
        let read = |name: &str| fs::read_to_string(files.file(name)).unwrap();
        let tls = ServerTlsConfig::new()
            .identity(Identity::from_pem(read("server.pem"), read("server.key")))
            .client_ca_root(Certificate::from_pem(read("ca.pem")));
        let ((end, ended), (sender, receiver)) = (oneshot::channel(), mpsc::channel());
        let thread = thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind(any_port()).await.unwrap();
                sender.send(listener.local_addr().unwrap().to_string()).unwrap();
                let serves = Server::builder()
                    .tls_config(tls)
                    .unwrap()
                    .add_service(GatewayServer::new(lies))
                    .serve_with_incoming(TcpListenerStream::new(listener));
                tokio::select! { _ = serves => {}, _ = ended => {} }
            });
        });
        Self { files, address: receiver.recv().unwrap(), end: Some(end), thread: Some(thread) }
    }

    /// Options of an agent that uses it.
    pub(super) fn options(&self) -> Vec<String> {
        self.files.options(&self.address)
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

type Replies<T> = ReceiverStream<Result<T, Status>>;

/// Passes each message to `reply`, after `late` each.
fn each<I: Send + 'static, O: Send + 'static>(
    mut messages: Streaming<I>,
    late: Duration,
    mut reply: impl FnMut(I) -> O + Send + 'static,
) -> Response<Replies<O>> {
    let (out, replies) = tokio::sync::mpsc::channel(256);
    tokio::spawn(async move {
        while let Ok(Some(message)) = messages.message().await {
            let (out, reply) = (out.clone(), reply(message));
            // No answer waits for another.
            tokio::spawn(async move {
                sleep(late).await;
                let _ = out.send(Ok(reply)).await;
            });
        }
    });
    Response::new(ReceiverStream::new(replies))
}

#[tonic::async_trait]
impl Gateway for Lies {
    type ReportStream = Replies<ReportAck>;
    type AskStreamStream = Replies<Answer>;
    type SubscribeStream = Replies<Update>;

    async fn report(
        &self,
        batches: Request<Streaming<ReportBatch>>,
    ) -> Result<Response<Self::ReportStream>, Status> {
        Ok(each(batches.into_inner(), self.late, |batch| ReportAck {
            epoch: batch.epoch,
            sequence: batch.sequence,
            taken: u32::MAX,
            ..ReportAck::default()
        }))
    }

    async fn ask(&self, _: Request<Query>) -> Result<Response<Answer>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn ask_stream(
        &self,
        queries: Request<Streaming<Query>>,
    ) -> Result<Response<Self::AskStreamStream>, Status> {
        let mut estimates = self.estimates.clone().into_iter().cycle();
        Ok(each(queries.into_inner(), self.late, move |query| {
            let estimate =
                estimates.next().map(|estimate| Estimate { network: query.network, ..estimate });
            Answer { id: query.id, result: estimate.map(answer::Result::Estimate) }
        }))
    }

    async fn subscribe(
        &self,
        _: Request<SubscribeRequest>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let (out, updates) = tokio::sync::mpsc::channel(16);
        let forgets = self.has_all_forgotten;
        tokio::spawn(async move {
            while !out.is_closed() {
                sleep(UPDATE_INTERVAL).await;
                // Both halves of the Internet: a prefix has a bit at least.
                for half in ["0.0.0.0/1", "128.0.0.0/1"] {
                    let half = Network::of(half.parse().expect("a network"));
                    let what = Some(update::What::Forget(half));
                    if forgets && out.send(Ok(Update { what })).await.is_err() {
                        return;
                    }
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(updates)))
    }

    async fn compare(
        &self,
        _: Request<HostComparison>,
    ) -> Result<Response<FleetComparison>, Status> {
        Err(Status::unimplemented("nothing is compared"))
    }

    async fn announce(
        &self,
        _: Request<Streaming<Arrival>>,
    ) -> Result<Response<AnnounceReply>, Status> {
        Err(Status::unimplemented("nothing is announced"))
    }

    async fn forget(&self, _: Request<ForgetRequest>) -> Result<Response<ForgetReply>, Status> {
        Err(Status::unimplemented(""))
    }
}
