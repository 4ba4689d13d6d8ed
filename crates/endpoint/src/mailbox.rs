//! The way from applications to the driver: a list of commands, and a bell that is rung only if the
//! driver sleeps.

use crate::info::{ConnectionInfo, EndpointStatus};
use crate::requests::{Requests, SetScheme, Word};
use crate::shared::{SharedStream, Touch};
use crate::stream::Stream;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tcp::Scheme;
use tokio::sync::{mpsc, oneshot};

/// Commands of applications for the driver.
pub(crate) enum Command {
    /// The application's side of a stream has changed.
    Touch(Arc<SharedStream>),
    /// A setting of a stream.
    SetWord(Arc<SharedStream>, Word),
    /// Changes the sender's scheme.
    SetScheme(Box<SetScheme>),
    /// A question about a stream.
    Ask(Arc<SharedStream>, oneshot::Sender<ConnectionInfo>),
    Connect(Box<Connect>),
    Listen(Listen),
    /// Sets the scheme of connections to a port from now on.
    Rescheme(u16, Scheme),
    Unlisten(u16),
    Status(oneshot::Sender<EndpointStatus>),
    /// Resets all connections.
    Abort,
    /// No application is left. The reply is sent when all is over.
    Close(Option<oneshot::Sender<()>>),
}

/// A request to open a connection.
pub(crate) struct Connect {
    pub(crate) to: SocketAddr,
    pub(crate) scheme: Scheme,
    /// Bytes that may be sent with the SYN.
    pub(crate) early: Vec<u8>,
    pub(crate) reply: oneshot::Sender<io::Result<Stream>>,
}

/// A request to listen at a port.
pub(crate) struct Listen {
    pub(crate) port: u16,
    pub(crate) scheme: Scheme,
    pub(crate) accepted: mpsc::Sender<Stream>,
    pub(crate) reply: oneshot::Sender<io::Result<()>>,
}

/// The way to the driver.
pub(crate) struct Mailbox {
    /// The commands; `None` once the driver is gone.
    commands: Mutex<Option<Vec<Command>>>,
    /// True if the driver sleeps, or is about to.
    asleep: AtomicBool,
    bell: EventFd,
}

impl Mailbox {
    pub(crate) fn new() -> io::Result<Self> {
        let bell = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        let commands = Mutex::new(Some(Vec::new()));
        Ok(Self { commands, asleep: AtomicBool::new(false), bell })
    }

    fn commands(&self) -> MutexGuard<'_, Option<Vec<Command>>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a command and makes sure that the driver finds it. Once the driver is gone the
    /// command is dropped, and a caller that waits for a reply learns that by the end of its
    /// channel.
    pub(crate) fn send(&self, command: Command) {
        match &mut *self.commands() {
            Some(commands) => commands.push(command),
            None => return,
        }
        if self.asleep.swap(false, Ordering::SeqCst) {
            // A counter at its limit rings too.
            let _ = self.bell.write(1);
        }
    }

    /// Returns all commands in `taken`, in their order; `taken` must be empty.
    pub(crate) fn take(&self, taken: &mut Vec<Command>) {
        if let Some(commands) = &mut *self.commands() {
            std::mem::swap(commands, taken);
        }
    }

    /// Closes the mailbox, because the driver is gone.
    pub(crate) fn close(&self) {
        // The list is dropped outside of the lock: its commands may send something when dropped.
        let rest = self.commands().take();
        drop(rest);
    }

    /// Notes that the driver is about to sleep. Returns false if there is a command.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        let nothing = self.commands().as_ref().is_none_or(Vec::is_empty);
        if !nothing {
            self.asleep.store(false, Ordering::SeqCst);
        }
        nothing
    }

    /// Notes that the driver is awake; `rung`: the bell woke it.
    pub(crate) fn wake_up(&self, rung: bool) {
        self.asleep.store(false, Ordering::SeqCst);
        if rung {
            let _ = self.bell.read();
        }
    }
}

impl AsFd for Mailbox {
    /// Returns the descriptor, which is readable once the bell has rung.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// The applications' end of the mailbox: when the last of them has dropped it, the driver is
/// notified.
pub(crate) struct Remote {
    pub(crate) mailbox: Arc<Mailbox>,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.mailbox.send(Command::Close(None));
    }
}

impl Touch for Mailbox {
    fn notify_driver(&self, shared: &Arc<SharedStream>) {
        self.send(Command::Touch(Arc::clone(shared)));
    }
}

impl Touch for Remote {
    fn notify_driver(&self, shared: &Arc<SharedStream>) {
        self.mailbox.notify_driver(shared);
    }
}

impl Requests for Remote {
    fn set_word(&self, shared: Arc<SharedStream>, word: Word) {
        self.mailbox.send(Command::SetWord(shared, word));
    }

    fn set_scheme(&self, request: SetScheme) {
        self.mailbox.send(Command::SetScheme(Box::new(request)));
    }

    fn request_info(&self, shared: Arc<SharedStream>, reply: oneshot::Sender<ConnectionInfo>) {
        self.mailbox.send(Command::Ask(shared, reply));
    }
}
