//! What a stream and its handles ask of the driver, however they reach it.

use crate::info::ConnectionInfo;
use crate::shared::{SharedStream, Touch};
use std::io;
use std::sync::Arc;
use tcp::Scheme;
use tcp::sharing::Content;
use tokio::sync::oneshot;

/// The way from one connection to the driver. Once the driver is gone, whoever waits for a reply learns that by
/// its channel's closing.
pub(crate) trait Requests: Touch {
    /// Says something of a stream.
    fn tell(&self, shared: Arc<SharedStream>, word: Word);
    /// Asks for another scheme.
    fn set_scheme(&self, request: SetScheme);
    /// Asks how a connection stands.
    fn ask(&self, shared: Arc<SharedStream>, reply: oneshot::Sender<ConnectionInfo>);
}

/// What an application says of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// So many bytes are about to be written.
    Size(u64),
    Weight(u32),
    Content(Content),
    Client(u64),
}

/// Another scheme for a stream.
pub(crate) struct SetScheme {
    pub(crate) shared: Arc<SharedStream>,
    pub(crate) scheme: Scheme,
    pub(crate) reply: oneshot::Sender<io::Result<()>>,
}
