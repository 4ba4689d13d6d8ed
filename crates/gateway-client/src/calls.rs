//! Single calls, for people with an occasional question or order. Each uses a connection of its own
//! to the first gateway that accepts one, and waits for the answer.

use crate::config::ClientConfig;
use crate::discovery::{MAX_TRIED, ResolvedGateway, addresses_of};
use crate::transport::{GatewayFault, check_files, connect};
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Answer, ForgetReply, ForgetRequest, Network, Query};
use ipnet::{IpNet, Ipv4Net};
use std::net::Ipv4Addr;
use std::time::Duration;
use tonic::Status;
use tonic::transport::Channel;

/// A network of no visitor (RFC 5737).
const DOCUMENTATION_NETWORK: IpNet =
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(192, 0, 2, 0), 24));
/// Time limit of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest reply of a gateway, bytes: 65,536 names of 63 bytes, twice.
const MAX_REPLY_BYTES: usize = 16 << 20;

/// Returns a gateway's answer for `network` and a transfer of `size` bytes; 0: of any size.
///
/// # Errors
/// If a certificate cannot be used, if no gateway accepts a connection, or if the connected one did
/// not answer: the reason.
pub fn ask_once(config: &ClientConfig, network: IpNet, size: u64) -> Result<Answer, String> {
    let query = Query { id: 1, network: Some(Network::of(network)), size };
    call(config, async |client| Ok(client.ask(query).await?.into_inner()))
}

/// A gateway of the configuration, and its reply to an order to forget, or why it did not.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayForget {
    /// Its address.
    pub gateway: String,
    /// The reply.
    pub reply: Result<ForgetReply, String>,
}

/// Makes each gateway of the configuration forget `network` and all networks within, and through
/// them their store and all connected agents.
///
/// # Errors
/// If files or certificates are wrong here: the reason.
pub fn forget_everywhere(
    config: &ClientConfig,
    network: IpNet,
) -> Result<Vec<GatewayForget>, String> {
    check_files(config)?;
    let request = ForgetRequest { network: Some(Network::of(network)) };
    let forget = async |client: &mut GatewayClient<Channel>| {
        // All names of a large site are more than the usual limit of a message.
        let mut client = client.clone().max_decoding_message_size(MAX_REPLY_BYTES);
        Ok(client.forget(request).await?.into_inner())
    };
    run(async {
        let mut replies = Vec::new();
        for (gateway, reply) in ask_all(config, forget).await {
            // A gateway that refuses does not keep the others from the order.
            replies
                .push(GatewayForget { gateway, reply: reply.map_err(|fault| fault.to_string()) });
        }
        replies
    })
}

/// The result of a question to a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GatewayState {
    /// It answers, and knows our certificate.
    Answers,
    /// It does not answer now, for this reason. An agent starts nevertheless, and tries again.
    Silent(String),
}

/// Asks each gateway of the configuration a question. Returns each with its name, in the
/// configuration's order.
///
/// # Errors
///
/// If files or certificates are wrong, here or at one of the gateways: which, and the solution.
pub fn check_gateways(config: &ClientConfig) -> Result<Vec<(String, GatewayState)>, String> {
    check_files(config)?;
    let query = Query { id: 1, network: Some(Network::of(DOCUMENTATION_NETWORK)), size: 0 };
    let asked = run(ask_all(config, async |client| client.ask(query).await))?;
    let states = asked.into_iter().map(|(gateway, reply)| match reply {
        Ok(_) => Ok((gateway, GatewayState::Answers)),
        Err(GatewayFault::Silent(why)) => Ok((gateway, GatewayState::Silent(why))),
        Err(GatewayFault::Certificates(why)) => Err(why),
    });
    states.collect()
}

/// Asks each address of each gateway, over connections of their own. A gateway whose name has
/// addresses of both families may listen at one of them only. So a family without any answer is
/// left out if the other one answers.
async fn ask_all<T>(
    config: &ClientConfig,
    ask: impl AsyncFn(&mut GatewayClient<Channel>) -> Result<T, Status>,
) -> Vec<(String, Result<T, GatewayFault>)> {
    let mut all = Vec::new();
    for entry in &config.gateways {
        let addresses = match addresses_of(&config.names, entry).await {
            Ok(addresses) => addresses,
            Err(why) => {
                all.push((entry.clone(), Err(GatewayFault::Silent(why))));
                continue;
            }
        };
        let mut asked = Vec::new();
        for gateway in addresses {
            let reply = match connect(config, &gateway).await {
                Ok(channel) => ask_at(config, &gateway, channel, &ask).await,
                Err(fault) => Err(fault),
            };
            asked.push((gateway, reply));
        }
        let answers = |is_v4: bool| {
            asked.iter().any(|(of, reply)| of.address.is_ipv4() == is_v4 && reply.is_ok())
        };
        let answering = [answers(false), answers(true)];
        let has_any = answering.contains(&true);
        let counts =
            |of: &ResolvedGateway| !has_any || answering[usize::from(of.address.is_ipv4())];
        let counted = asked.into_iter().filter(|(of, _)| counts(of));
        all.extend(counted.map(|(of, reply)| (of.to_string(), reply)));
    }
    all
}

/// Makes a single call at the first gateway that answers.
fn call<T>(
    config: &ClientConfig,
    ask: impl AsyncFn(&mut GatewayClient<Channel>) -> Result<T, Status>,
) -> Result<T, String> {
    run(async {
        let (gateway, channel) = reach(config).await?;
        let asked = ask_at(config, &gateway, channel, &ask).await;
        asked.map_err(|fault| fault.to_string())
    })?
}

fn run<T>(task: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot speak with gateways: {error}"))?;
    Ok(runtime.block_on(task))
}

/// Makes a call at `gateway`, within [`CALL_TIMEOUT`].
async fn ask_at<T>(
    config: &ClientConfig,
    gateway: &ResolvedGateway,
    channel: Channel,
    ask: &impl AsyncFn(&mut GatewayClient<Channel>) -> Result<T, Status>,
) -> Result<T, GatewayFault> {
    let mut client = GatewayClient::new(channel);
    match tokio::time::timeout(CALL_TIMEOUT, ask(&mut client)).await {
        Ok(asked) => asked.map_err(|status| GatewayFault::of_status(&status, config, gateway)),
        Err(_) => {
            let limit = CALL_TIMEOUT.as_secs();
            Err(GatewayFault::Silent(format!("{gateway} does not answer within {limit} s")))
        }
    }
}

/// Connects to the first gateway that accepts a connection.
async fn reach(config: &ClientConfig) -> Result<(ResolvedGateway, Channel), String> {
    let mut whys = Vec::new();
    for entry in &config.gateways {
        match addresses_of(&config.names, entry).await {
            Err(why) => whys.push(why),
            Ok(addresses) => {
                for gateway in addresses.into_iter().take(MAX_TRIED) {
                    match connect(config, &gateway).await {
                        Ok(channel) => return Ok((gateway, channel)),
                        Err(why) => whys.push(why.to_string()),
                    }
                }
            }
        }
    }
    Err(whys.join("; "))
}
