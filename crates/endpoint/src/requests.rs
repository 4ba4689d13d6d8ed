//! Requests of a stream and its handles to the driver, independent of the way there.

use crate::info::ConnectionInfo;
use crate::shared::{SharedStream, Touch};
use std::io;
use std::sync::Arc;
use tcp::Scheme;
use tcp::sharing::Content;
use tokio::sync::oneshot;

/// The way from one connection to the driver. Once the driver is gone, a caller that waits for a
/// reply learns that by the end of its channel.
pub(crate) trait Requests: Touch {
    /// Sends a setting of a stream.
    fn set_word(&self, shared: Arc<SharedStream>, word: Word);
    /// Requests another scheme.
    fn set_scheme(&self, request: SetScheme);
    /// Requests the state of a connection.
    fn request_info(&self, shared: Arc<SharedStream>, reply: oneshot::Sender<ConnectionInfo>);
}

/// A setting of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// Number of bytes about to be written.
    Size(u64),
    Weight(u32),
    Content(Content),
    Client(u64),
}

/// A request for another scheme of a stream.
pub(crate) struct SetScheme {
    pub(crate) shared: Arc<SharedStream>,
    pub(crate) scheme: Scheme,
    pub(crate) reply: oneshot::Sender<io::Result<()>>,
}
