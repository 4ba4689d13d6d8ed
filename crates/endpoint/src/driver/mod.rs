//! The thread that owns device, stack and timers. One turn handles applications' commands, received
//! packets and due timers, and sends. Then the driver wakes waiting tasks, and sleeps until there
//! is more.

mod outbox;
mod sleep;

use crate::clock::Clock;
use crate::config::EndpointConfig;
use crate::device::{Device, OFFLOAD_HEADER, SendOutcome};
use crate::keys::Secrets;
use crate::mailbox::{Command, Mailbox, Remote};
use crate::stack::{OutgoingSegment, Stack};
use outbox::Outbox;
use std::io;
use std::sync::Arc;
use std::thread;
use units::{Duration, Instant};

/// Maximum number of packets read before it sends.
const READ_AT_ONCE: usize = 64;
/// Maximum number of segments sent before it reads.
const SENT_AT_ONCE: usize = 512;

/// Starts the driver of `device`.
pub(crate) fn start(
    device: Device,
    config: EndpointConfig,
    remote: &Arc<Remote>,
) -> io::Result<()> {
    let (mailbox, remote) = (Arc::clone(&remote.mailbox), Arc::downgrade(remote));
    let secrets = Secrets::generate()?;
    let thread = thread::Builder::new().name("endpoint".to_owned());
    thread.spawn(move || {
        sleep::prepare();
        let linger = config.linger;
        // The host shares memory within its thread only, so it is created on this thread.
        let stack = Stack::new(config, device.mtu(), remote, secrets);
        Driver::new(device, stack, mailbox, linger).run();
    })?;
    Ok(())
}

struct Driver {
    device: Device,
    stack: Stack,
    mailbox: Arc<Mailbox>,
    clock: Clock,
    commands: Vec<Command>,
    /// Buffer for received packets.
    buffer: Vec<u8>,
    outbox: Outbox,
    /// The next segment, which waits for room in the device.
    next: Option<OutgoingSegment>,
    linger: Duration,
    /// Time since which no application is left.
    closing: Option<Instant>,
}

impl Driver {
    fn new(device: Device, stack: Stack, mailbox: Arc<Mailbox>, linger: Duration) -> Self {
        let outbox = Outbox::new(device.offloads());
        Self {
            device,
            stack,
            mailbox,
            clock: Clock::start(),
            commands: Vec::new(),
            buffer: vec![0; wire::MAX_PACKET + OFFLOAD_HEADER],
            outbox,
            next: None,
            linger,
            closing: None,
        }
    }

    /// Runs until no application is left, or the device is gone.
    fn run(&mut self) {
        let ended = loop {
            match self.run_once() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.mailbox.close();
        // The last packets may have ended connections; the core reports that only once it was asked
        // to send.
        let now = self.clock.now();
        while self.stack.poll_transmit(now).is_some() {}
        self.stack.end(ended.err().map_or(io::ErrorKind::NotConnected, |error| error.kind()));
    }

    /// Runs one turn; returns false once all is over.
    fn run_once(&mut self) -> io::Result<bool> {
        let now = self.clock.now();
        self.handle_commands(now);
        let more_to_read = self.receive(now)?;
        self.stack.handle_timeout(now);
        let more_to_send = self.transmit()?;
        self.stack.wake_tasks();
        if self.is_over(now) {
            return Ok(false);
        }
        if !more_to_read && !more_to_send && self.mailbox.fall_asleep() {
            let rung = self.sleep()?;
            self.mailbox.wake_up(rung);
        }
        Ok(true)
    }

    fn handle_commands(&mut self, now: Instant) {
        let mut commands = std::mem::take(&mut self.commands);
        self.mailbox.take(&mut commands);
        for command in commands.drain(..) {
            if matches!(command, Command::Close(_)) {
                self.closing.get_or_insert(now);
            }
            self.stack.handle_command(now, command);
        }
        self.commands = commands;
    }

    /// Receives packets; returns true if there may be more.
    fn receive(&mut self, now: Instant) -> io::Result<bool> {
        for _ in 0..READ_AT_ONCE {
            match self.device.receive(&mut self.buffer)? {
                Some(frame) => self.stack.handle_frame(now, &frame),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Sends segments; returns true if there may be more.
    fn transmit(&mut self) -> io::Result<bool> {
        let now = self.clock.now();
        while let Some(reply) = self.stack.poll_reply() {
            let sent = self.outbox.send_reply(&self.device, &reply)?;
            self.stack.on_sent(sent);
        }
        for _ in 0..SENT_AT_ONCE {
            let Some(outgoing) = self.next.take().or_else(|| self.stack.poll_transmit(now)) else {
                self.flush()?;
                return Ok(false);
            };
            if !self.outbox.joins(&outgoing) && !self.flush()? {
                self.next = Some(outgoing);
                return Ok(false);
            }
            if self.stack.copy_payload(&outgoing, self.outbox.payload()) {
                self.outbox.add(&outgoing);
            }
        }
        self.flush()
    }

    /// Sends the queued packet; returns false if the device has no room for it.
    fn flush(&mut self) -> io::Result<bool> {
        let Some(sent) = self.outbox.flush(&self.device)? else { return Ok(true) };
        self.stack.on_sent(sent);
        Ok(sent != SendOutcome::Blocked)
    }

    fn is_over(&self, now: Instant) -> bool {
        let Some(since) = self.closing else { return false };
        self.stack.is_quiet() || now.saturating_since(since) >= self.linger
    }
}
