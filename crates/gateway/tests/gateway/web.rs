//! The HTTP interface.

use crate::bed::{Bed, batch, get, get_as, query, report, send};
use gateway_proto::v1::{HostStatus, ReportBatch, Source, answer};

#[tokio::test]
async fn health_and_readiness_answer() {
    let bed = Bed::new("");
    let running = bed.run().await;
    assert_eq!(get(running.http, "/healthz").await.0, 200);
    while !running.site.is_ready() {
        tokio::task::yield_now().await;
    }
    assert_eq!(get(running.http, "/readyz").await, (200, "ready\n".to_owned()));
    running.site.set_ready(false);
    assert_eq!(get(running.http, "/readyz").await.0, 503);
    running.handle.end().await.unwrap();
}

const SCHEMA: &str = include_str!("../../../../docs/gateway-api-schema.json");

fn obeys(text: &str, what: &str) {
    let mut schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let value = serde_json::from_str(text).unwrap();
    // A single definition remains, so that one document does not match the schema of another.
    schema.as_object_mut().unwrap().remove("anyOf");
    schema["$ref"] = format!("#/$defs/{what}").into();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{what}: {errors:?}\n{text}");
}

#[tokio::test]
async fn what_the_api_says_obeys_its_schema() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let status = HostStatus {
        version: "1<b>".to_owned(),
        answers_in_time: 3,
        answers_late: 1,
        ..HostStatus::default()
    };
    let one =
        ReportBatch { status: Some(status), ..batch(1, vec![report("192.0.2.0/24", 100_000); 5]) };
    send(&mut client, vec![one]).await.unwrap();
    client.ask(query("192.0.2.0/24")).await.unwrap();
    for (path, what) in [
        ("/api/v1/status", "status"),
        ("/api/v1/networks?limit=5", "networks"),
        ("/api/v1/network?prefix=192.0.2.0/24", "network"),
        ("/api/v1/network?prefix=198.51.100.0/24", "network"),
        ("/api/v1/estimate?address=192.0.2.9&size=3000", "estimate"),
    ] {
        let (code, body) = get(running.http, path).await;
        assert_eq!(code, 200, "{path}: {body}");
        obeys(&body, what);
    }
    let (_, body) = get(running.http, "/api/v1/networks").await;
    assert!(body.contains("\"network\":\"192.0.2.0/24\",\"reports\":5"), "{body}");
    assert_eq!(get(running.http, "/api/v1/estimate").await.0, 400);
    assert_eq!(get(running.http, "/api/v1/networks?tenant=other").await.0, 404);
    assert_eq!(get(running.http, "/api/v1/networks?limt=1").await.0, 400);
    running.handle.end().await.unwrap();
}

/// The site's own distribution has no network: neither a message nor JSON names one, not even that
/// of all addresses.
#[tokio::test]
async fn the_sites_own_distribution_is_of_no_network() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    let reports = (1..=5).map(|n| report(&format!("192.0.{n}.0/24"), 100_000)).collect();
    send(&mut client, vec![batch(1, reports)]).await.unwrap();
    // This network is far from the reported ones: no prefix covers both.
    let answer = client.ask(query("198.51.100.0/24")).await.unwrap().into_inner();
    let Some(answer::Result::Estimate(estimate)) = answer.result else { panic!("{answer:?}") };
    assert_eq!((estimate.source(), estimate.network), (Source::Prior, None));
    let (_, body) = get(running.http, "/api/v1/estimate?address=198.51.100.9").await;
    obeys(&body, "estimate");
    assert!(body.contains("\"network\":null") && body.contains("\"source\":\"prior\""), "{body}");
    let known = client.ask(query("192.0.3.0/24")).await.unwrap().into_inner();
    let Some(answer::Result::Estimate(estimate)) = known.result else { panic!("{known:?}") };
    let answers =
        estimate.network.and_then(|network| network.to_net()).expect("one that it lies in");
    assert!(answers.contains(&"192.0.3.0/24".parse::<ipnet::IpNet>().unwrap()), "{answers}");
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn a_gateway_without_a_store_is_the_only_one() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let (_, body) = get(running.http, "/api/v1/status").await;
    obeys(&body, "status");
    let told: serde_json::Value = serde_json::from_str(&body).unwrap();
    let gateways = told["gateways"].as_array().unwrap();
    assert_eq!(gateways.len(), 1, "{body}");
    assert_eq!((&gateways[0]["this"], &gateways[0]["alive"]), (&true.into(), &true.into()));
    assert!(gateways[0]["wrote_s"].is_null() && gateways[0]["origin"] == running.site.origin);
    let (_, metrics) = get(running.http, "/metrics").await;
    assert!(metrics.contains("headstart_gateway_alive_gateways 1\n"), "{metrics}");
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn events_tell_the_dashboard() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut stream = tokio::net::TcpStream::connect(running.http).await.unwrap();
    let request = format!("GET /api/v1/events HTTP/1.1\r\nHost: {}\r\n\r\n", running.http);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    while !text.contains("\n\n") {
        let mut some = [0; 4096];
        let read = stream.read(&mut some).await.unwrap();
        text.push_str(std::str::from_utf8(&some[..read]).unwrap());
    }
    let data = text.lines().find_map(|line| line.strip_prefix("data: ")).expect("an event");
    obeys(data, "event");
    drop(stream);
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn pages_load_nothing_from_elsewhere_and_answer_no_strange_name() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let (head, body) = get_as(running.http, "/network/192.0.2.0/24", "localhost").await;
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    assert!(!body.contains("http://") && !body.contains("https://"));
    for path in ["/dashboard.js", "/dashboard.css", "/api/v1/schema.json"] {
        assert_eq!(get(running.http, path).await.0, 200, "{path}");
    }
    let (head, _) = get_as(running.http, "/", "attacker.example").await;
    assert!(head.starts_with("HTTP/1.1 421"), "{head}");
    running.handle.end().await.unwrap();
}

#[tokio::test]
async fn metrics_name_no_network_and_count_what_happened() {
    let bed = Bed::new("");
    let running = bed.run().await;
    let mut client = bed.connect(running.grpc, Some(&bed.agent())).await.unwrap();
    send(&mut client, vec![batch(1, vec![report("192.0.2.0/24", 100_000); 5])]).await.unwrap();
    client.ask(query("192.0.2.0/24")).await.unwrap();
    let (_, text) = get(running.http, "/metrics").await;
    for line in [
        "headstart_gateway_reports_total{collector=\"agent\"} 5",
        "headstart_gateway_answers_total{source=\"network\"} 1",
        "headstart_gateway_answer_seconds_count 1",
        "headstart_gateway_alive_reporters{tenant=\"site\"} 1",
        "headstart_gateway_connections 1",
    ] {
        assert!(text.lines().any(|each| each == line), "no {line:?} in\n{text}");
    }
    assert!(!text.contains("192.0.2") && text.ends_with("# EOF\n"));
    running.handle.end().await.unwrap();
}
