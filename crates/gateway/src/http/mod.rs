//! What people and monitoring see: health, metrics, JSON and the dashboard, by plain HTTP. It only shows, and changes nothing.

use crate::site::Site;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Serves until `ended` is true.
pub async fn serve(listener: TcpListener, site: Arc<Site>, mut ended: watch::Receiver<bool>) {
    let end = async move { drop(ended.wait_for(|ended| *ended).await) };
    // Accepting does not fail for good.
    let _ = axum::serve(listener, router(site)).with_graceful_shutdown(end).await;
}

fn router(site: Arc<Site>) -> Router {
    let ready = Arc::clone(&site);
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(async move || readiness(&ready)))
}

fn readiness(site: &Site) -> (StatusCode, &'static str) {
    match site.is_ready() {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    }
}
