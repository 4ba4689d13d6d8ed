//! An agent of a later version meets this gateway: it sends fields and values that the gateway does
//! not know, and makes a call that the gateway lacks.

use crate::bed::{Bed, batch, network, query, report, send};
use gateway_proto::codec::MessageCodec;
use gateway_proto::v1::{Answer, Network, NoEstimate, Refusal, Report, answer};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

/// A question with a field of a later version.
#[derive(Clone, PartialEq, prost::Message)]
struct LaterQuery {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, optional, tag = "2")]
    network: Option<Network>,
    #[prost(string, tag = "2000")]
    reason: String,
}

async fn call(channel: &Channel, name: &str) -> Result<Answer, Status> {
    let query =
        LaterQuery { id: 7, network: Some(network("192.0.2.0/24")), reason: "later".to_owned() };
    let mut grpc = Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let path = PathAndQuery::try_from(format!("/headstart.gateway.v1.Gateway/{name}")).unwrap();
    let codec = MessageCodec::<LaterQuery, Answer>::default();
    grpc.unary(Request::new(query), path, codec).await.map(tonic::Response::into_inner)
}

/// A report whose bound the gateway does not know is refused alone. A start and a group that it
/// does not know count as none. The connection is the same all the time.
#[tokio::test]
async fn an_agent_of_a_later_version_goes_on_without_what_the_gateway_lacks() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let channel = bed.channel(running.grpc, Some(&bed.agent())).await.unwrap();
    let mut client = gateway_proto::v1::gateway_client::GatewayClient::new(channel.clone());
    let unknown = answer::Result::None(NoEstimate::Unknown.into());
    assert_eq!(call(&channel, "Ask").await.unwrap(), Answer { id: 7, result: Some(unknown) });
    assert_eq!(call(&channel, "Later").await.unwrap_err().code(), Code::Unimplemented);
    let good = report("192.0.2.0/24", 100_000);
    let later = [Report { bound: 99, ..good }, Report { start: 99, group: 99, ..good }];
    let acks = send(&mut client, vec![batch(1, later.to_vec())]).await.unwrap();
    let refused: Vec<_> = acks[0].refused.iter().map(|one| (one.why(), one.count)).collect();
    assert_eq!((acks[0].taken, refused), (1, vec![(Refusal::Figures, 1)]));
    let answer = client.ask(query("192.0.2.0/24")).await.unwrap().into_inner();
    assert!(matches!(answer.result, Some(answer::Result::Estimate(_))), "{answer:?}");
    assert_eq!(running.site.counts.connections.get(), 1);
    running.handle.end().await.unwrap();
}
