//! What an application may say about a connection, and what it may ask.

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

/// The other way to a connection, beside its stream. Clones are the same; it keeps no connection
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

    fn tell(&self, word: Word) {
        self.driver.tell(Arc::clone(&self.shared), word);
    }

    /// The application is about to write `bytes`. Start-ups that suit themselves to the transfer
    /// need not wait until all of it is written.
    pub fn set_size(&self, bytes: u64) {
        self.tell(Word::Size(bytes));
    }

    /// Its weight among the connections that share its path, at least 1, from now on. Without effect
    /// under schemes that share no path.
    pub fn set_weight(&self, weight: u32) {
        self.tell(Word::Weight(weight));
    }

    /// What it carries, for schemes that let that decide who sends next.
    pub fn set_content(&self, content: Content) {
        self.tell(Word::Content(content));
    }

    /// For whom behind the peer's address it is there, by any number; for schemes that count clients.
    pub fn set_client(&self, client: u64) {
        self.tell(Word::Client(client));
    }

    /// From now on it sends by `scheme`: start-up, congestion control, recovery, memory, and whom it shares its path with.
    /// What the handshake agreed on stays (SACK, timestamps, scaling, ECN), as does how it receives. A server that
    /// has read a request chooses so what it answers by, before it writes.
    ///
    /// # Errors
    /// `InvalidInput` if it has sent data already, or if `scheme` opens without a handshake; `NotConnected` if it is over.
    pub async fn set_scheme(&self, scheme: &Scheme) -> io::Result<()> {
        let (reply, answer) = oneshot::channel();
        let (shared, scheme) = (Arc::clone(&self.shared), scheme.clone());
        self.driver.set_scheme(SetScheme { shared, scheme, reply });
        answer.await.unwrap_or_else(|_| Err(ErrorKind::NotConnected.into()))
    }

    /// Waits until fewer than `low` bytes are written and not yet sent, and says how many; `None` if it is
    /// over. What was sent and waits for its ACK does not count (Linux `TCP_NOTSENT_LOWAT`).
    pub async fn unsent_below(&self, low: u64) -> Option<u64> {
        poll_fn(|cx| self.shared.poll_unsent_below(cx, low)).await
    }

    /// How it stands; `None` if it is over.
    pub async fn info(&self) -> Option<ConnectionInfo> {
        let (reply, answer) = oneshot::channel();
        self.driver.ask(Arc::clone(&self.shared), reply);
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
