//! The read-only interface for people and monitoring: health, metrics, JSON and the dashboard, by
//! plain HTTP.

mod assets;
mod metrics;
mod status;

use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use assets::{dashboard, script, style};
use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use service::metrics::metrics_page;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_stream::wrappers::IntervalStream;
use tokio_stream::{Stream, StreamExt};

/// Maximum number of networks in a list.
const MAX_NETWORKS: usize = 1000;
/// Number of networks on the dashboard.
const SHOWN_NETWORKS: usize = 25;
/// Time between two updates of the dashboard.
const NOTIFY_INTERVAL: Duration = Duration::from_secs(1);
/// The JSON schema of the API.
const SCHEMA: &str = include_str!("../../../../docs/gateway-api-schema.json");

/// Serves until `ended` is true.
pub(crate) async fn serve(
    listener: TcpListener,
    site: Arc<GatewaySite>,
    mut ended: watch::Receiver<bool>,
) {
    let is_local = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let end = async move { drop(ended.wait_for(|ended| *ended).await) };
    service::http::serve(listener, router(site, is_local), SocketAddr::ip, end).await;
}

/// Returns the routes of the pages. `is_local`: the address is of this host alone.
fn router(site: Arc<GatewaySite>, is_local: bool) -> Router {
    let router = Router::new()
        .route("/", get(dashboard))
        .route("/network/{*prefix}", get(dashboard))
        .route("/dashboard.js", get(script))
        .route("/dashboard.css", get(style))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readiness))
        .route("/metrics", get(metrics))
        .route("/api/v1/status", get(status))
        .route("/api/v1/networks", get(networks))
        .route("/api/v1/network", get(network))
        .route("/api/v1/estimate", get(estimate))
        .route("/api/v1/events", get(events))
        .route("/api/v1/schema.json", get(async || json_text(SCHEMA.to_owned())));
    let router = router.layer(middleware::from_fn(harmless));
    let router =
        if is_local { router.layer(middleware::from_fn(for_this_machine)) } else { router };
    router.with_state(site)
}

/// Refuses other host names. A page of another site must not read this one by a name of its own
/// that resolves to this host (DNS rebinding).
async fn for_this_machine(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    match name == "localhost" || name.is_empty() || name.parse::<IpAddr>().is_ok() {
        true => next.run(request).await,
        false => (StatusCode::MISDIRECTED_REQUEST, "ask by address, or by the name localhost\n")
            .into_response(),
    }
}

/// Sets headers: browsers load nothing from elsewhere, and show this page in no other one.
async fn harmless(request: Request, next: Next) -> Response {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn readiness(State(site): State<Arc<GatewaySite>>) -> (StatusCode, &'static str) {
    match site.is_ready() {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    }
}

async fn metrics(State(site): State<Arc<GatewaySite>>, headers: HeaderMap) -> Response {
    metrics_page(&headers, metrics::metrics(&site)).into_response()
}

async fn status(State(site): State<Arc<GatewaySite>>) -> Response {
    json(&status::site(&site))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    tenant: Option<String>,
    limit: Option<usize>,
    prefix: Option<IpNet>,
    address: Option<IpAddr>,
    size: Option<u64>,
}

async fn networks(State(site): State<Arc<GatewaySite>>, Query(asked): Query<Asked>) -> Response {
    let most = asked.limit.unwrap_or(100).min(MAX_NETWORKS);
    of_tenant(&site, &asked, |tenant| json(&status::networks(tenant, site.clock.now(), most)))
}

async fn network(State(site): State<Arc<GatewaySite>>, Query(asked): Query<Asked>) -> Response {
    let Some(prefix) = asked.prefix else { return missing("prefix=192.0.2.0/24") };
    of_tenant(&site, &asked, |tenant| json(&status::network(tenant, site.clock.now(), prefix)))
}

async fn estimate(State(site): State<Arc<GatewaySite>>, Query(asked): Query<Asked>) -> Response {
    let Some(address) = asked.address else { return missing("address=192.0.2.1") };
    let size = asked.size;
    of_tenant(&site, &asked, |tenant| {
        json(&status::estimate(tenant, site.clock.now(), address, size))
    })
}

/// The dashboard's data.
#[derive(Serialize)]
struct Shown {
    status: status::SiteStatus,
    /// The selected tenant.
    tenant: String,
    networks: Vec<status::NetworkStatus>,
    /// The selected network with its history, if one is selected.
    network: Option<status::NetworkStatus>,
}

/// Answers with a stream of events: what the dashboard shows, again and again.
async fn events(State(site): State<Arc<GatewaySite>>, Query(asked): Query<Asked>) -> Response {
    if let Err(why) = chosen(&site, &asked) {
        return unknown(why);
    }
    let events: std::pin::Pin<Box<dyn Stream<Item = Result<Event, Infallible>> + Send>> = Box::pin(
        IntervalStream::new(tokio::time::interval(NOTIFY_INTERVAL))
            .map(move |_| Ok(event(&site, &asked))),
    );
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

/// Returns what the dashboard shows of a tenant now.
fn event(site: &GatewaySite, asked: &Asked) -> Event {
    let Ok(tenant) = chosen(site, asked) else {
        return Event::default().comment("the tenant is gone");
    };
    let now = site.clock.now();
    let shown = Shown {
        status: status::site(site),
        tenant: tenant.name.clone(),
        networks: status::networks(&tenant, now, SHOWN_NETWORKS),
        network: asked.prefix.map(|prefix| status::network(&tenant, now, prefix)),
    };
    Event::default()
        .json_data(&shown)
        .unwrap_or_else(|_| Event::default().comment("not to be shown"))
}

/// Returns the selected tenant, or the first; if there is no such tenant, an error that lists all.
fn chosen(site: &GatewaySite, asked: &Asked) -> Result<Arc<Tenant>, String> {
    let tenants = site.tenants();
    let tenant = match &asked.tenant {
        Some(name) => tenants.iter().find(|tenant| tenant.name == *name),
        None => tenants.first(),
    };
    tenant.cloned().ok_or_else(|| {
        let names: Vec<_> = tenants.iter().map(|tenant| tenant.name.as_str()).collect();
        support::errors::unknown("tenant", asked.tenant.as_deref().unwrap_or_default(), &names, "")
    })
}

fn unknown(why: String) -> Response {
    (StatusCode::NOT_FOUND, why + "\n").into_response()
}

fn of_tenant(
    site: &GatewaySite,
    asked: &Asked,
    answer: impl FnOnce(&Tenant) -> Response,
) -> Response {
    chosen(site, asked).map_or_else(unknown, |tenant| answer(&tenant))
}

fn missing(example: &str) -> Response {
    (StatusCode::BAD_REQUEST, format!("say which, like {example}\n")).into_response()
}

fn json(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => json_text(text),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

fn json_text(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}
