//! The streams between a client and its gateway: those of an agent, or those of an observer.

use crate::network::bytes_of;
use crate::transport::told;
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{
    Answer, Arrival, FleetComparison, HostComparison, Query, ReportAck, ReportBatch,
    SubscribeRequest, Update,
};
use std::net::IpAddr;
use std::pin::Pin;
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

/// Maximum number of questions and batches that a gateway has not read yet.
const MAX_UNREAD: usize = 256;
/// Maximum number of addresses that a gateway lets a subscriber name.
const MAX_ADDRESSES: usize = 256;

/// The role of the client's certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClientRole {
    /// Reports, asks and subscribes.
    Agent,
    /// Reports and announces visitors.
    Observer,
}

/// The streams of a gateway.
pub(crate) struct Streams {
    pub(crate) batches: Sender<ReportBatch>,
    pub(crate) acks: Streaming<ReportAck>,
    pub(crate) others: OtherStreams,
}

/// The streams that a role has besides reports.
pub(crate) enum OtherStreams {
    Agent(Box<AgentStreams>),
    Observer { arrivals: Sender<Arrival>, call: AnnounceCall },
}

pub(crate) struct AgentStreams {
    pub(crate) queries: Sender<Query>,
    answers: Streaming<Answer>,
    updates: Streaming<Update>,
    client: GatewayClient<Channel>,
    /// The call that sends sums, until it has its reply.
    comparing: Option<CompareCall>,
}

/// The call that compares.
type CompareCall = Pin<Box<dyn Future<Output = Result<FleetComparison, Status>> + Send>>;

/// The call that sends arrivals. It ends when the gateway ends it.
pub(crate) type AnnounceCall = Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>;

/// A message of [`OtherStreams`].
pub(crate) enum Received {
    Answer(Answer),
    Update(Update),
    Compared(FleetComparison),
    /// The gateway refuses the sums, for this reason.
    NotCompared(String),
}

impl AgentStreams {
    /// Sends sums, and ends a call before that has no reply yet.
    pub(crate) fn compare(&mut self, host: HostComparison) {
        let mut client = self.client.clone();
        self.comparing =
            Some(Box::pin(
                async move { client.compare(host).await.map(tonic::Response::into_inner) },
            ));
    }

    /// Returns the findings of all hosts, or why the gateway refuses the sums. Waits forever if no
    /// call is open, or if the gateway cannot answer.
    async fn compared(comparing: &mut Option<CompareCall>) -> Received {
        if let Some(call) = comparing {
            let reply = call.await;
            *comparing = None;
            match reply {
                Ok(fleet) => return Received::Compared(fleet),
                Err(status) if is_refusal(&status) => {
                    return Received::NotCompared(told(&status));
                }
                Err(_) => {}
            }
        }
        std::future::pending().await
    }
}

/// Returns whether the gateway refuses the sums themselves. A gateway of an earlier version does
/// not compare, and one that is lost, or refuses the host, ends the other streams.
fn is_refusal(status: &Status) -> bool {
    status.code() == Code::InvalidArgument
}

impl OtherStreams {
    /// Returns the next message; an error if a stream has ended.
    pub(crate) async fn next(&mut self) -> Result<Received, String> {
        match self {
            Self::Agent(streams) => tokio::select! {
                answer = streams.answers.message() => heard(answer).map(Received::Answer),
                update = streams.updates.message() => heard(update).map(Received::Update),
                compared = AgentStreams::compared(&mut streams.comparing) => Ok(compared),
            },
            Self::Observer { call, .. } => heard(call.await.map(|()| None)),
        }
    }
}

/// Opens the streams that a role has.
///
/// # Errors
/// The status of the call that the gateway refuses.
pub(crate) async fn open(
    channel: Channel,
    role: ClientRole,
    serves_at: &[IpAddr],
) -> Result<Streams, Status> {
    let mut client = GatewayClient::new(channel);
    let (batches, sent) = mpsc::channel(MAX_UNREAD);
    let acks = client.report(ReceiverStream::new(sent)).await?.into_inner();
    let others = match role {
        ClientRole::Agent => open_as_agent(client, serves_at).await?,
        ClientRole::Observer => {
            let (arrivals, seen) = mpsc::channel(MAX_UNREAD);
            let call = async move { client.announce(ReceiverStream::new(seen)).await.map(drop) };
            OtherStreams::Observer { arrivals, call: Box::pin(call) }
        }
    };
    Ok(Streams { batches, acks, others })
}

/// Opens the streams of an agent: questions with their answers, and updates. `serves_at`: addresses
/// at which visitors arrive.
async fn open_as_agent(
    mut client: GatewayClient<Channel>,
    serves_at: &[IpAddr],
) -> Result<OtherStreams, Status> {
    let (queries, asked) = mpsc::channel(MAX_UNREAD);
    let answers = client.ask_stream(ReceiverStream::new(asked)).await?.into_inner();
    let addresses = serves_at.iter().take(MAX_ADDRESSES).copied().map(bytes_of).collect();
    let wanted = SubscribeRequest { addresses, ..SubscribeRequest::default() };
    let updates = client.subscribe(wanted).await?.into_inner();
    let comparing = None;
    Ok(OtherStreams::Agent(Box::new(AgentStreams { queries, answers, updates, client, comparing })))
}

/// Returns the message of a stream; an error if the stream has ended.
pub(crate) fn heard<T>(message: Result<Option<T>, Status>) -> Result<T, String> {
    match message {
        Ok(Some(message)) => Ok(message),
        Ok(None) => Err("it has ended the conversation".to_owned()),
        Err(status) => Err(told(&status)),
    }
}
