//! A connection to a gateway without an async runtime. Its owner polls the socket, and calls it to
//! read and write. TLS is by rustls, HTTP/2 by [`frames`](super::frames).

use super::frames::{FrameReader, FrameWriter, Said};
use gateway_proto::v1::{Answer, Network, Query};
use hdrhistogram::Histogram;
use prost::Message;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::collections::VecDeque;
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Size of a message's header, bytes: whether it is compressed, and its length.
const HEAD: usize = 5;

/// A question: its number, and when it is due.
#[derive(Clone, Copy)]
pub(crate) struct Due {
    pub(crate) number: u64,
    pub(crate) at: Instant,
}

/// Sets up TLS with the certificates in `folder`.
pub(crate) fn tls_of(folder: &Path) -> Result<Arc<ClientConfig>, Box<dyn Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("ca.pem"))?)?;
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(folder.join("agent.pem"))?.collect();
    let key = PrivateKeyDer::from_pem_file(folder.join("agent.key"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain?, key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

/// One connection that asks.
pub(crate) struct CallConnection {
    pub(crate) socket: TcpStream,
    tls: ClientConnection,
    writer: FrameWriter,
    reader: FrameReader,
    networks: Vec<Network>,
    /// Questions that are due.
    pub(crate) due: VecDeque<Due>,
    /// Calls in the order of their streams, from the oldest unanswered one.
    calls: VecDeque<Call>,
    /// The stream of the first call.
    first_stream: u32,
    /// True if the socket may have something to read.
    pub(crate) is_readable: bool,
}

impl CallConnection {
    /// Connects, and waits for that.
    pub(crate) fn open(
        address: SocketAddr,
        tls: Arc<ClientConfig>,
        networks: Vec<Network>,
    ) -> Result<Self, Box<dyn Error>> {
        let mut socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        let mut tls = ClientConnection::new(tls, ServerName::from(address.ip()))?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            tls,
            writer: FrameWriter::new(address.to_string()),
            reader: FrameReader::default(),
            networks,
            due: VecDeque::new(),
            calls: VecDeque::new(),
            first_stream: 1,
            is_readable: true,
        })
    }

    /// Returns the number of unanswered questions, and of the few answered ones that wait for an
    /// older one.
    pub(crate) fn open_questions(&self) -> usize {
        self.due.len() + self.calls.len()
    }

    /// Returns true if data waits to be written because the socket was full.
    pub(crate) fn is_full(&self) -> bool {
        self.tls.wants_write()
    }

    /// Reads all available data, asks the questions that are due, and writes everything at once.
    /// Times of answers go to `times`, microseconds.
    pub(crate) fn turn(&mut self, times: &mut Histogram<u64>) -> Result<(), Box<dyn Error>> {
        if self.is_readable {
            self.is_readable = false;
            self.receive()?;
            self.hear(times)?;
        }
        self.ask()?;
        self.send()
    }

    fn receive(&mut self) -> Result<(), Box<dyn Error>> {
        match self.tls.read_tls(&mut self.socket) {
            Ok(0) => return Err("the gateway has ended a connection".into()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let there = self.tls.process_new_packets()?.plaintext_bytes_to_read();
        let (begin, bytes) = (self.reader.bytes.len(), &mut self.reader.bytes);
        bytes.resize(begin + there, 0);
        Ok(self.tls.reader().read_exact(&mut bytes[begin..])?)
    }

    fn hear(&mut self, times: &mut Histogram<u64>) -> Result<(), Box<dyn Error>> {
        let Self { reader, writer, calls, first_stream, .. } = self;
        reader.read(writer, |stream, said| {
            let call = stream.checked_sub(*first_stream).map(|behind| behind as usize / 2);
            let call = call.and_then(|call| calls.get_mut(call)).ok_or("an answer of no call")?;
            call.hear(&said, times)
        })?;
        while calls.pop_front_if(|call| call.state == CallState::Over).is_some() {
            *first_stream += 2;
        }
        Ok(())
    }

    /// Asks the questions that are due, within the limit of open calls.
    fn ask(&mut self) -> Result<(), Box<dyn Error>> {
        while let Some(due) = self.due.front().copied() {
            let network = Some(self.networks[due.number as usize % self.networks.len()]);
            let question = message(&Query { id: due.number, network, size: 0 });
            if !self.writer.may_call(self.calls.len(), question.len()) {
                break;
            }
            self.writer.call(&question);
            self.calls.push_back(Call { due, state: CallState::Asked });
            self.due.pop_front();
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), Box<dyn Error>> {
        if !self.writer.bytes.is_empty() {
            self.tls.writer().write_all(&self.writer.bytes)?;
            self.writer.bytes.clear();
        }
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Returns a message with its header.
fn message(query: &Query) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    bytes.push(0);
    bytes.extend_from_slice(&(query.encoded_len() as u32).to_be_bytes());
    query.encode(&mut bytes).unwrap_or_else(|_| unreachable!("a vector has room"));
    bytes
}

/// An unanswered question.
struct Call {
    due: Due,
    state: CallState,
}

#[derive(PartialEq, Eq)]
enum CallState {
    Asked,
    Answered,
    Over,
}

impl Call {
    /// Takes the output of a call. The answer must be one message in one frame, for this question.
    /// A gateway that refuses a call sends headers alone, so the call ends without an answer.
    fn hear(&mut self, said: &Said<'_>, times: &mut Histogram<u64>) -> Result<(), Box<dyn Error>> {
        match said {
            Said::Data(bytes) => {
                let answer = Answer::decode(bytes.get(HEAD..).unwrap_or_default())?;
                if answer.id != self.due.number || answer.result.is_none() {
                    return Err(format!("to question {}: {answer:?}", self.due.number).into());
                }
                self.state = CallState::Answered;
            }
            Said::End if self.state == CallState::Answered => {
                times.record(self.due.at.elapsed().as_micros() as u64).unwrap_or_default();
                self.state = CallState::Over;
            }
            Said::End => return Err(format!("question {} is not answered", self.due.number).into()),
        }
        Ok(())
    }
}
