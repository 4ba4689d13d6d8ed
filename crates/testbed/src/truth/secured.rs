//! TLS of a connection's ends: certificates, sessions, and the stream over both.

use super::play::Counted;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
    SupportedProtocolVersion,
};
use serde::Serialize;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Version and session of a connection's TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TlsSetup {
    /// TLS 1.2, and not 1.3.
    pub is_old: bool,
    /// The session of an earlier connection is resumed.
    pub resumes: bool,
    /// The certificate has about 17 kB, more than the initial window of ten segments.
    pub large_certificate: bool,
}

impl TlsSetup {
    /// TLS 1.3 with a new session and a small certificate.
    pub(super) const NEW: Self = Self { is_old: false, resumes: false, large_certificate: false };

    fn versions(self) -> &'static [&'static SupportedProtocolVersion] {
        const OLD: &[&SupportedProtocolVersion] = &[&TLS12];
        const NEW: &[&SupportedProtocolVersion] = &[&TLS13];
        if self.is_old { OLD } else { NEW }
    }
}

/// The sessions of both ends.
pub(super) struct TlsEnds {
    pub(super) client: ClientConnection,
    pub(super) server: ServerConnection,
}

/// The server's name in certificates.
const NAME: &str = "truth.example";
/// Names in the large certificate, of 60 bytes each.
const NAMES: usize = 270;

/// A certificate and its key.
struct Certificate {
    chain: CertificateDer<'static>,
    key: Vec<u8>,
}

/// Certificates of all rows.
pub(super) struct Secrets {
    small: Certificate,
    large: Certificate,
}

impl Secrets {
    /// Creates key and certificates.
    ///
    /// # Errors
    /// If the machine has no randomness.
    pub(super) fn new() -> io::Result<Self> {
        let padding = (0..NAMES).map(|n| format!("{n:0>46}.{NAME}"));
        let names = [NAME.to_owned()].into_iter();
        Ok(Self {
            small: Certificate::of(names.clone().collect())?,
            large: Certificate::of(names.chain(padding).collect())?,
        })
    }

    /// Both ends of a connection. A session that is to be resumed is opened in memory first.
    ///
    /// # Errors
    /// If TLS refuses a certificate or a message.
    pub(super) fn tls_ends(&self, setup: TlsSetup) -> io::Result<TlsEnds> {
        let certificate = if setup.large_certificate { &self.large } else { &self.small };
        let mut roots = RootCertStore::empty();
        roots.add(certificate.chain.clone()).map_err(io::Error::other)?;
        let versions = setup.versions();
        let client = ClientConfig::builder_with_protocol_versions(versions);
        let client = Arc::new(client.with_root_certificates(roots).with_no_client_auth());
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certificate.key.clone()));
        let server = ServerConfig::builder_with_protocol_versions(versions).with_no_client_auth();
        let server = server.with_single_cert(vec![certificate.chain.clone()], key);
        let server = Arc::new(server.map_err(io::Error::other)?);
        let ends = || -> io::Result<TlsEnds> {
            let name = ServerName::try_from(NAME).map_err(io::Error::other)?;
            let client = ClientConnection::new(Arc::clone(&client), name);
            let server = ServerConnection::new(Arc::clone(&server));
            Ok(TlsEnds {
                client: client.map_err(io::Error::other)?,
                server: server.map_err(io::Error::other)?,
            })
        };
        if setup.resumes {
            ends()?.shake_hands_in_memory()?;
        }
        ends()
    }
}

impl Certificate {
    fn of(names: Vec<String>) -> io::Result<Self> {
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key = made.signing_key.serialize_der();
        Ok(Self { chain: made.cert.der().clone(), key })
    }
}

impl TlsEnds {
    /// Both ends know a session afterwards: the server's tickets have been read, too.
    fn shake_hands_in_memory(self) -> io::Result<()> {
        let mut ends = [Connection::from(self.client), Connection::from(self.server)];
        let mut moved = true;
        while moved {
            moved = false;
            for from in 0..2 {
                let mut bytes = Vec::new();
                while ends[from].wants_write() {
                    ends[from].write_tls(&mut bytes)?;
                }
                moved |= !bytes.is_empty();
                let mut rest = bytes.as_slice();
                while !rest.is_empty() {
                    ends[1 - from].read_tls(&mut rest)?;
                    ends[1 - from].process_new_packets().map_err(io::Error::other)?;
                }
            }
        }
        Ok(())
    }
}

/// A stream over TLS.
pub(super) struct SecuredStream {
    session: Connection,
    below: Counted,
}

impl SecuredStream {
    /// A new session over a connection.
    pub(super) const fn new(session: Connection, below: Counted) -> Self {
        Self { session, below }
    }

    /// Does the handshake.
    ///
    /// # Errors
    /// If the connection fails, or the other end is not trusted.
    pub(super) fn shake_hands(&mut self) -> io::Result<()> {
        while self.session.is_handshaking() {
            self.session.complete_io(&mut self.below)?;
        }
        self.push()
    }

    fn push(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.below)?;
        }
        Ok(())
    }
}

impl Read for SecuredStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            self.session.read_tls(&mut self.below)?;
            self.session.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

impl Write for SecuredStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.session.writer().write(bytes)?;
        self.push()?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.push()
    }
}
