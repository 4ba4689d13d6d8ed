//! Settings of a connection, and questions about it, for an application.

use crate::info::ConnectionInfo;
use crate::requests::{Requests, SetScheme, Word};
use crate::shared::SharedStream;
use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use tcp::Scheme;
use tcp::sharing::Content;
use tokio::sync::oneshot;

/// Access to a connection beside its stream. All clones are the same handle; it keeps no connection
/// open.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<SharedStream>,
    driver: Arc<dyn Requests>,
}

impl Handle {
    pub(crate) const fn new(shared: Arc<SharedStream>, driver: Arc<dyn Requests>) -> Self {
        Self { shared, driver }
    }

    fn set_word(&self, word: Word) {
        self.driver.set_word(Arc::clone(&self.shared), word);
    }

    /// Announces that the application is about to write `bytes`. Start-ups that depend on the size
    /// of the transfer need not wait until all of it is written.
    pub fn set_size(&self, bytes: u64) {
        self.set_word(Word::Size(bytes));
    }

    /// Sets its weight among the connections that share its path, at least 1, from now on. It has
    /// no effect under schemes that share no path.
    pub fn set_weight(&self, weight: u32) {
        self.set_word(Word::Weight(weight));
    }

    /// Sets the kind of its content, for schemes that let that decide the order of senders.
    pub fn set_content(&self, content: Content) {
        self.set_word(Word::Content(content));
    }

    /// Sets the client behind the peer's address that it serves, by any number; for schemes that
    /// count clients.
    pub fn set_client(&self, client: u64) {
        self.set_word(Word::Client(client));
    }

    /// Changes its `scheme` from now on: start-up, congestion control, recovery, memory, and
    /// sharing of its path.
    ///
    /// The results of the handshake stay (SACK, timestamps, scaling, ECN), as do the rules of
    /// receiving. A server that has read a request selects the scheme of its answer with this,
    /// before it writes.
    ///
    /// # Errors
    /// `InvalidInput` if it has sent data already, or if `scheme` opens without a handshake;
    /// `NotConnected` if it is over.
    pub async fn set_scheme(&self, scheme: &Scheme) -> io::Result<()> {
        let (reply, answer) = oneshot::channel();
        let (shared, scheme) = (Arc::clone(&self.shared), scheme.clone());
        self.driver.set_scheme(SetScheme { shared, scheme, reply });
        answer.await.unwrap_or_else(|_| Err(ErrorKind::NotConnected.into()))
    }

    /// Waits until fewer than `low` bytes are written and not yet sent, and returns their number;
    /// `None` if it is over. Data that was sent and waits for its ACK does not count (Linux
    /// `TCP_NOTSENT_LOWAT`).
    pub async fn unsent_below(&self, low: u64) -> Option<u64> {
        poll_fn(|cx| self.shared.poll_unsent_below(cx, low)).await
    }

    /// Returns its state; `None` if it is over.
    pub async fn info(&self) -> Option<ConnectionInfo> {
        let (reply, answer) = oneshot::channel();
        self.driver.request_info(Arc::clone(&self.shared), reply);
        answer.await.ok()
    }

    /// Ends it with a reset.
    pub fn abort(&self) {
        self.shared.abort(&*self.driver);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({} to {})", self.shared.local, self.shared.peer)
    }
}
