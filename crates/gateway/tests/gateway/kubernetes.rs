//! The manifests for Kubernetes fit each other: names, ports, mounted files and certificates.

use gateway::config::DaemonConfig;
use gateway::config::options::GatewayOptions;
use gateway::os::clock::system_time;
use gateway::pki::{Authority, CertificateContent, Identity};
use rcgen::{CertificateParams, KeyPair, SanType};
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use std::path::Path;

const GATEWAY: &str = include_str!("../../share/kubernetes/headstart-gateway.yaml");
const CERTIFICATES: &str = include_str!("../../share/kubernetes/certificates.yaml");
const AGENT: &str = include_str!("../../share/kubernetes/agent-of-gateway.yaml");
const KUSTOMIZATION: &str = include_str!("../../share/kubernetes/kustomization.yaml");
/// The name of the gateways' service.
const SERVICE: &str = "headstart-gateway.headstart.svc.cluster.local";

/// Returns the lines of a file within a `ConfigMap`, by its indentation.
fn file(name: &str) -> String {
    let (_, block) = GATEWAY.split_once(&format!("  {name}: |\n")).unwrap();
    let lines = block.lines().take_while(|line| line.starts_with("    ") || line.is_empty());
    lines.map(|line| format!("{}\n", line.trim_start())).collect()
}

fn config() -> DaemonConfig {
    let options = GatewayOptions::parse(&file("gateway.toml"), "gateway.toml").unwrap();
    DaemonConfig::new(&options, Path::new("/etc/headstart/gateway"), None).unwrap()
}

/// Returns the only value of a key in a manifest.
#[track_caller]
fn value<'a>(manifest: &'a str, key: &str) -> &'a str {
    let start = format!("{key}: ");
    let mut found = manifest
        .lines()
        .filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix(&start));
    let value = found.next().unwrap_or_else(|| panic!("no {key}"));
    assert_eq!(found.next(), None, "{key}");
    value
}

/// Files are where volumes are mounted, and HTTP is for the pod alone.
#[test]
fn the_gateways_configuration_names_mounted_files() {
    let config = config();
    assert!(config.http.ip().is_loopback() && config.listen.ip().is_unspecified());
    assert_eq!(config.rules.permissions.tenants().collect::<Vec<_>>(), ["site"]);
    let mounts: Vec<_> =
        GATEWAY.lines().filter_map(|line| line.trim().strip_prefix("mountPath: ")).collect();
    let state = config.state.unwrap();
    for file in [&config.revoked, &config.tls.ca, &state] {
        let folder = file.parent().unwrap().to_str().unwrap();
        assert!(mounts.contains(&folder), "{}", file.display());
    }
    // cert-manager's names in a Secret.
    for (file, name) in [
        (&config.tls.ca, "ca.crt"),
        (&config.tls.certificate, "tls.crt"),
        (&config.tls.key, "tls.key"),
    ] {
        assert_eq!(file.file_name().unwrap(), name);
    }
    assert!(CERTIFICATES.contains(&format!("secretName: {}\n", value(GATEWAY, "secretName"))));
    assert!(file("revoked.txt").starts_with('#'));
}

/// A cluster's name server has `_PORT._tcp.SERVICE` (RFC 2782) for each named port, and the name of
/// each pod, of which the gateway's certificate is.
#[test]
fn agents_find_the_gateway_by_the_name_in_its_certificate() {
    let port = config().listen.port();
    assert!(GATEWAY.contains(&format!("- name: headstart\n      port: {port}\n")));
    assert!(GATEWAY.contains(&format!("- name: headstart\n              containerPort: {port}\n")));
    assert!(AGENT.contains(&format!("- --gateway=_headstart._tcp.{SERVICE}\n")));
    let hosts = CERTIFICATES.lines().skip_while(|line| line.trim() != "dnsNames:").nth(1).unwrap();
    let hosts = hosts.trim().trim_start_matches("- ").trim_matches('"').to_owned();
    let content = CertificateContent::server(system_time(), 1, &[hosts]).unwrap();
    let (authority, _) = Authority::new(system_time()).unwrap();
    let issued = authority.issue(content).unwrap();
    let der = CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap();
    let certificate = ParsedCertificate::try_from(&der).unwrap();
    for pod in ["headstart-gateway-0", "headstart-gateway-1"] {
        let name = ServerName::try_from(format!("{pod}.{SERVICE}")).unwrap();
        verify_server_name(&certificate, &name).unwrap();
    }
}

/// The gateway accepts the URI of an agent's certificate, and each pod is a host of its own.
#[test]
fn each_agent_is_a_host_of_the_gateways_tenant() {
    let config = config();
    let uri = value(AGENT, "csi.cert-manager.io/uri-sans");
    let identity = |pod: &str| {
        let mut params = CertificateParams::default();
        let uri = uri.replace("${POD_NAME}", pod);
        params.subject_alt_names = vec![SanType::URI(uri.try_into().unwrap())];
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        Identity::of_certificate(certificate.der(), &config.holders).unwrap()
    };
    let agent = identity("headstart-agent-x7k2p");
    assert_eq!(agent.to_string(), "agent site/headstart-agent-x7k2p");
    assert!(config.rules.permissions.of(&agent).is_some());
    assert_eq!(value(AGENT, "csi.cert-manager.io/key-usages"), "digital signature,client auth");
    let issuer = value(AGENT, "csi.cert-manager.io/issuer-name");
    assert!(CERTIFICATES.contains(&format!("kind: Issuer\nmetadata:\n  name: {issuer}\n")));
}

/// Kustomize reads the agent's own manifest, and these.
#[test]
fn all_manifests_are_applied_together() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("share/kubernetes");
    for name in KUSTOMIZATION.lines().filter_map(|line| line.trim().strip_prefix("- ")) {
        let name = name.trim_start_matches("path: ");
        assert!(name.starts_with("name: ") || folder.join(name).exists(), "{name}");
    }
    assert!(folder.join("../../../agent/share/kubernetes/kustomization.yaml").exists());
}
