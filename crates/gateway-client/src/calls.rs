//! Single calls, for people who have a question or an order now and then. Each goes over a connection of its own to the first
//! gateway that can be reached, and is waited for.

use crate::config::ClientConfig;
use crate::transport::{connect, told};
use gateway_proto::v1::gateway_client::GatewayClient;
use gateway_proto::v1::{Answer, ForgetRequest, Network, Query};
use ipnet::IpNet;
use std::time::Duration;
use tonic::Status;
use tonic::transport::Channel;

/// No call takes longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a gateway answers of `network` for a transfer of `size` bytes; 0: of any.
///
/// # Errors
/// Which certificate cannot be used, why no gateway can be reached, or why the one that was did not answer.
pub fn ask_once(config: &ClientConfig, network: IpNet, size: u64) -> Result<Answer, String> {
    let query = Query { id: 1, network: Some(Network::of(network)), size };
    call(config, async |client| Ok(client.ask(query).await?.into_inner()))
}

/// Has a gateway, and all others and all agents through it, forget what is known of `network` and of all within. How many networks
/// that gateway knew.
///
/// # Errors
/// As [`ask_once`], and if the certificate is not an operator's.
pub fn forget_once(config: &ClientConfig, network: IpNet) -> Result<u64, String> {
    let request = ForgetRequest { network: Some(Network::of(network)) };
    call(config, async |client| Ok(client.forget(request).await?.into_inner().forgotten))
}

fn call<T>(
    config: &ClientConfig,
    ask: impl AsyncFnOnce(&mut GatewayClient<Channel>) -> Result<T, Status>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot speak with gateways: {error}"))?;
    runtime.block_on(async {
        let (gateway, channel) = reach(config).await?;
        let mut client = GatewayClient::new(channel);
        match tokio::time::timeout(PATIENCE, ask(&mut client)).await {
            Ok(answered) => answered.map_err(|status| format!("{gateway}: {}", told(&status))),
            Err(_) => Err(format!("{gateway} does not answer within {} s", PATIENCE.as_secs())),
        }
    })
}

/// The first gateway that can be reached.
async fn reach(config: &ClientConfig) -> Result<(&str, Channel), String> {
    let mut whys = Vec::new();
    for gateway in &config.gateways {
        match connect(config, gateway).await {
            Ok(channel) => return Ok((gateway, channel)),
            Err(why) => whys.push(why),
        }
    }
    Err(whys.join("; "))
}
