//! A site's certificates, and its gateways.

use crate::Fake;
use gateway_client::ClientConfig;
use gateway_proto::v1::Collector;
use gateway_proto::v1::gateway_server::GatewayServer;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};

/// Names in the gateways' certificate.
const GATEWAY_NAMES: [&str; 3] = ["127.0.0.1", "a.example", "b.example"];

/// Certificates in a folder that is removed with it.
pub(super) struct Site {
    folder: PathBuf,
    pub(super) ca: CertifiedIssuer<'static, KeyPair>,
    gateway: SignedPem,
}

/// A certificate of a site's authority, and its key (PEM).
pub(super) struct SignedPem {
    certificate: String,
    pub(super) key: String,
}

impl SignedPem {
    pub(super) fn new(ca: &CertifiedIssuer<'static, KeyPair>, names: &[&str]) -> Self {
        let key = KeyPair::generate().unwrap();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, ca).unwrap().pem();
        Self { certificate, key: key.serialize_pem() }
    }
}

impl Site {
    pub(super) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("headstart-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        fs::write(folder.join("ca"), ca.pem()).unwrap();
        let gateway = SignedPem::new(&ca, &GATEWAY_NAMES);
        let site = Self { folder, ca, gateway };
        site.renew();
        site
    }

    /// Gives the client a new certificate and its key.
    pub(super) fn renew(&self) {
        let SignedPem { certificate, key } = SignedPem::new(&self.ca, &["agent"]);
        self.write("cert", &certificate);
        self.write("key", &key);
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn config(&self, gateways: &[String]) -> ClientConfig {
        ClientConfig {
            gateways: gateways.to_vec(),
            ca: self.file("ca"),
            certificate: self.file("cert"),
            key: self.file("key"),
            collector: Collector::Agent,
            version: "1".to_owned(),
            addresses: Vec::new,
            names: gateway_client::SystemNames::shared(),
        }
    }

    /// Runs a gateway until the returned sender is dropped; returns its address.
    pub(super) fn serve(&self, fake: Fake) -> (String, oneshot::Sender<()>) {
        self.serve_at(fake, "127.0.0.1:0")
    }

    pub(super) fn serve_at(&self, fake: Fake, address: &str) -> (String, oneshot::Sender<()>) {
        let address = address.to_owned();
        let tls = ServerTlsConfig::new()
            .identity(Identity::from_pem(&self.gateway.certificate, &self.gateway.key))
            .client_ca_root(Certificate::from_pem(self.ca.pem()));
        let ((stop, stopped), (tell, told)) = (oneshot::channel(), mpsc::channel());
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind(address).await.unwrap();
                tell.send(listener.local_addr().unwrap().to_string()).unwrap();
                let serves = Server::builder()
                    .tls_config(tls)
                    .unwrap()
                    .add_service(GatewayServer::new(fake))
                    .serve_with_incoming(TcpListenerStream::new(listener));
                // It is dropped with its connections, like a killed process.
                tokio::select! { _ = serves => {}, _ = stopped => {} }
            });
        });
        (told.recv().unwrap(), stop)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
