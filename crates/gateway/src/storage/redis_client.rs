//! The client of the store that gateways share: a server of Redis's protocol, or a cluster of them.
//! The gateway waits for neither: the first command makes a connection, also after one was lost.

use crate::config::{StoreConfig, StorePlace};
use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::cluster::{ClusterClient, ClusterConfig};
use redis::cluster_async::ClusterConnection;
use redis::{
    Client, ClientTlsConfig, Cmd, Pipeline, RedisError, RedisFuture, TlsCertificates, Value,
};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Longest time of a command; after that the gateway goes on alone.
const COMMAND_TIMEOUT: Duration = Duration::from_millis(500);

/// A connection to the store.
#[derive(Clone)]
pub(super) enum StoreConnection {
    /// One server.
    Server(ConnectionManager),
    /// Several servers, each with a part of the keys.
    Cluster(ClusterConnection),
}

impl StoreConnection {
    /// Opens a connection to the store that `config` names, whether it answers now or later.
    ///
    /// # Errors
    /// If a URL is invalid, or a certificate cannot be read. URLs may have a password, so errors
    /// leave them out.
    pub(super) fn open(config: &StoreConfig) -> Result<Self, String> {
        match &config.place {
            StorePlace::Server(url) => server(url, config).map(Self::Server),
            StorePlace::Cluster(urls) => cluster(urls, config).map(Self::Cluster),
        }
    }
}

/// Creates a client of one server, which connects when it is first used.
fn server(url: &str, config: &StoreConfig) -> Result<ConnectionManager, String> {
    let wrong = |error| format!("redis: {error}; like redis://127.0.0.1:6379/0");
    let client = match url.starts_with("rediss://") {
        true => Client::build_with_tls(url, certificates(config)?),
        false => Client::open(url),
    };
    let manager = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(COMMAND_TIMEOUT))
        .set_response_timeout(Some(COMMAND_TIMEOUT))
        .set_number_of_retries(0);
    let client = client.map_err(wrong)?;
    ConnectionManager::new_lazy_with_config(client, manager).map_err(wrong)
}

/// Creates a client of a cluster, which connects when it is first used.
fn cluster(urls: &[String], config: &StoreConfig) -> Result<ClusterConnection, String> {
    let wrong = |error: RedisError| {
        format!(
            "redis-cluster: {error}; like [\"redis://10.0.0.1:6379\", \"redis://10.0.0.2:6379\"]"
        )
    };
    let builder = ClusterClient::builder(urls.iter().map(String::as_str)).retries(1);
    let builder = match urls.iter().any(|url| url.starts_with("rediss://")) {
        true => builder.certs(certificates(config)?),
        false => builder,
    };
    let patient = ClusterConfig::new()
        .set_connection_timeout(COMMAND_TIMEOUT)
        .set_response_timeout(COMMAND_TIMEOUT);
    let client = builder.build().map_err(wrong)?;
    Ok(client.get_pending_async_connection_with_config(patient))
}

fn certificates(config: &StoreConfig) -> Result<TlsCertificates, String> {
    let shown = config.shown.as_ref().map(|(certificate, key)| {
        Ok::<_, String>(ClientTlsConfig { client_cert: read(certificate)?, client_key: read(key)? })
    });
    let root_cert = config.ca.as_deref().map(read).transpose()?;
    Ok(TlsCertificates { client_tls: shown.transpose()?, root_cert })
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}

impl ConnectionLike for StoreConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Server(server) => server.req_packed_command(cmd),
            Self::Cluster(cluster) => cluster.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Server(server) => server.req_packed_commands(pipeline, offset, count),
            Self::Cluster(cluster) => cluster.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Server(server) => server.get_db(),
            Self::Cluster(cluster) => cluster.get_db(),
        }
    }
}
