//! The process: a capture, the clients that report its findings, and `/metrics`.

use crate::config::ObserveConfig;
use crate::counts::ObserverCounts;
use crate::live::RunningCapture;
use crate::log::{LogPriority, say};
use crate::reporting::GatewayReporter;
use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use sd_notify::NotifyState;
use service::metrics::metrics_page;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// An observer that reads packets.
#[derive(Debug)]
pub struct SiteObserver {
    reporter: Arc<GatewayReporter>,
    capture: RunningCapture,
    metrics: Option<TcpListener>,
}

impl SiteObserver {
    /// Starts to read packets, and to report them.
    ///
    /// # Errors
    ///
    /// If an interface is unknown, the right to capture is missing, a certificate cannot be read or
    /// the address of the metrics is taken: with the solution. It is no error if no gateway
    /// answers: the observer tries again.
    pub fn start(config: &ObserveConfig) -> Result<Self, String> {
        let metrics = config.metrics.map(bind).transpose()?;
        let reporter = Arc::new(GatewayReporter::new(config)?);
        let capture = RunningCapture::start(config.capture.clone(), Arc::clone(&reporter))?;
        Ok(Self { reporter, capture, metrics })
    }

    /// Returns the counters of the capture.
    pub fn counts(&self) -> &ObserverCounts {
        &self.reporter.counts
    }

    /// Returns true while gateways accept its reports.
    pub fn is_connected(&self) -> bool {
        self.reporter.is_connected()
    }

    /// Runs until a signal ends the observer, or the capture ends by itself.
    ///
    /// # Errors
    ///
    /// The same errors as [`Self::end`], and if the metrics can no longer be served.
    pub fn run(mut self) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot wait for signals: {error}"))?;
        let waited = runtime.block_on(self.wait());
        self.end().and(waited)
    }

    /// Serves metrics meanwhile.
    async fn wait(&mut self) -> Result<(), String> {
        let listen = |kind| signal(kind).map_err(|why| format!("cannot listen for signals: {why}"));
        let mut terminate = listen(SignalKind::terminate())?;
        let mut interrupt = listen(SignalKind::interrupt())?;
        say(LogPriority::Notice, "reads packets");
        // It fails without a service manager.
        let _ = sd_notify::notify(&[NotifyState::Ready]);
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
            () = self.capture.ended() => Ok(()),
            served = serve(self.metrics.take(), Arc::clone(&self.reporter)) => served,
        }
    }

    /// Ends the capture and waits until the gateway has acknowledged the reports. A capture of
    /// interfaces also reports the current transfers. Blocks, so it may not run on a thread of an
    /// asynchronous runtime.
    ///
    /// # Errors
    ///
    /// If the capture has failed, or no gateway acknowledges the reports within seconds.
    pub fn end(self) -> Result<(), String> {
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
        let read = self.capture.end();
        let sent = self.reporter.flush();
        read?;
        let lost = || "no gateway has acknowledged the last reports; they are lost".to_owned();
        sent.then_some(()).ok_or_else(lost)
    }
}

/// Listens at the address of the metrics.
///
/// # Errors
///
/// If the address is taken; the message says how to find out by whom.
fn bind(address: SocketAddr) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| {
        format!(
            "metrics = \"{address}\": {error}; `ss -ltnp` shows who has the port, or name another"
        )
    })
}

/// Serves `/metrics`; without a listener, waits forever.
async fn serve(
    listener: Option<TcpListener>,
    reporter: Arc<GatewayReporter>,
) -> Result<(), String> {
    let Some(listener) = listener else { return std::future::pending().await };
    let failed = |error| format!("metrics: {error}");
    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
    let metrics = async move |headers: HeaderMap| metrics_page(&headers, reporter.metrics());
    let router = Router::new().route("/metrics", get(metrics));
    service::http::serve(listener, router, SocketAddr::ip, std::future::pending()).await;
    Ok(())
}
