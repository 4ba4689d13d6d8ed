//! Accepts connections, has each served, and ends them when it is time.

use crate::access::StatusAccess;
use crate::body::EndedResponse;
use crate::files::Files;
use crate::regard::ResponseProperty;
use crate::respond::respond;
use crate::site::{Open, Site, SiteMembership, lock};
use crate::weights::Weights;
use endpoint::{Endpoint, Listener, Stream};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tcp::Scheme;
use tokio::time::{Instant, timeout_at};

/// Options of a server.
pub struct ServerOptions {
    /// The folder.
    pub root: PathBuf,
    /// The scheme that the port is listened at with.
    pub scheme: Scheme,
    /// Weights by content; `None`: the scheme's own policy, or Ensemble-TCP's where it has none.
    pub weights: Option<Weights>,
    /// Clients that get an answer at [`crate::STATUS_PATH`].
    pub status: StatusAccess,
    /// Time for which a connection may wait for its next request.
    pub idle: Duration,
    /// Called for every response that is over.
    pub on_response: Box<dyn Fn(&EndedResponse) + Send + Sync>,
}

/// An HTTP server. Clones share its state. Clones are the same.
#[derive(Clone)]
pub struct HttpServer(Arc<Site>);

/// Outcome of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Connections that had to be reset because time was up.
    pub reset: usize,
}

impl HttpServer {
    /// A server of files over `endpoint`.
    ///
    /// # Errors
    /// If the folder cannot be read; it is named.
    pub fn new(endpoint: Endpoint, options: ServerOptions) -> io::Result<Self> {
        let ServerOptions { root, scheme, weights, status, idle, on_response } = options;
        Ok(Self(Arc::new(Site {
            files: Files::new(&root)?,
            endpoint,
            regard: Mutex::new(ResponseProperty::new(&scheme, weights)),
            scheme,
            status,
            listener: Arc::from(on_response),
            started: Instant::now(),
            requests: AtomicU64::new(0),
            idle,
            open: Mutex::default(),
        })))
    }

    /// Responses have these weights from now on, those under way included.
    pub fn set_weights(&self, weights: Weights) {
        let regard = ResponseProperty::new(&self.0.scheme, Some(weights));
        *lock(&self.0.regard) = regard.clone();
        for open in lock(&self.0.open).values() {
            if let Some(kind) = *lock(&open.kind) {
                regard.set_kind(&open.handle, kind);
            }
        }
    }

    /// Serves until `stop`. Then no connection is accepted, and responses under way have `grace` to
    /// be delivered; the rest is reset.
    ///
    /// # Errors
    /// If the endpoint is gone, with its device.
    pub async fn run(
        &self,
        mut listener: Listener,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) -> io::Result<Ended> {
        let graceful = GracefulShutdown::new();
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (stream, peer) = accepted?;
                    tokio::spawn(serve(Arc::clone(&self.0), stream, peer, graceful.watcher()));
                }
                () = &mut stop => break,
            }
        }
        drop(listener);
        Ok(self.end(graceful, Instant::now() + grace).await)
    }

    async fn end(&self, graceful: GracefulShutdown, deadline: Instant) -> Ended {
        let endpoint = &self.0.endpoint;
        let all = async {
            graceful.shutdown().await;
            // Written data has to be delivered, too.
            endpoint.clone().close().await;
        };
        if timeout_at(deadline, all).await.is_ok() {
            return Ended { reset: 0 };
        }
        // An endpoint that is gone has nothing left to reset.
        let reset = endpoint.status().await.map_or(0, |status| status.connections.len());
        endpoint.clone().abort().await;
        Ended { reset }
    }
}

async fn serve(site: Arc<Site>, stream: Stream, peer: SocketAddr, watcher: Watcher) {
    let open = Arc::new(Open { peer, handle: stream.handle(), kind: Mutex::new(None) });
    let _listed = SiteMembership::new(&site, &open);
    let service = service_fn(|request| respond(Arc::clone(&site), Arc::clone(&open), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(site.idle)
        // A client that has made all its requests may send a FIN, and gets its answers.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    // A client that goes away, or sends nonsense, has already got its answer.
    let _ = watcher.watch(connection).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use endpoint::{Device, EndpointConfig};
    use std::net::Ipv4Addr;

    /// A task that ends amid its connection, as by a panic, leaves no entry of the connection.
    #[tokio::test]
    async fn a_task_that_is_ended_leaves_no_entry() {
        let [client, server] = [1, 2].map(|host| Ipv4Addr::new(10, 0, 0, host));
        let (a, b) = Device::pair(1500).unwrap();
        let of_client = Endpoint::open(a, EndpointConfig::new(Some(client), None)).unwrap();
        let endpoint = Endpoint::open(b, EndpointConfig::new(Some(server), None)).unwrap();
        let scheme = Scheme::parse("linux").unwrap();
        let mut listener = endpoint.listen(80, &scheme).await.unwrap();
        let options = ServerOptions {
            root: env!("CARGO_MANIFEST_DIR").into(),
            scheme: scheme.clone(),
            weights: None,
            status: StatusAccess::Nobody,
            idle: Duration::from_secs(60),
            on_response: Box::new(|_| ()),
        };
        let HttpServer(site) = HttpServer::new(endpoint, options).unwrap();
        let _stream = of_client.connect((server, 80).into(), &scheme).await.unwrap();
        let (stream, peer) = listener.accept().await.unwrap();
        let graceful = GracefulShutdown::new();
        let task = tokio::spawn(serve(Arc::clone(&site), stream, peer, graceful.watcher()));
        while lock(&site.open).is_empty() {
            tokio::task::yield_now().await;
        }
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(lock(&site.open).is_empty());
    }
}
