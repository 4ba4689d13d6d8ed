//! Checks of a script in addition to its grammar, so that a run can only fail by the TCP's
//! behaviour. They are descriptors in their order, calls that fit their sockets, and time that does
//! not run backwards.

use super::super::machine::MachineHistory;
use super::super::model::{
    Call, CallKind, CallOutcome, Errno, Position, Script, ScriptAction, ScriptEvent,
    ScriptSettings, Shutdown, When,
};
use super::{Parsed, Refusal};
use std::collections::BTreeMap;
use tcp::Flags;
use units::Duration;

/// State of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Socket {
    Fresh,
    Listening,
    Connection,
    /// The descriptor is closed.
    Closed,
}

/// Sockets by their descriptors.
type Sockets = BTreeMap<u32, Socket>;

/// Checks `script`, whose text ends at `end`.
pub(super) fn check(script: &Script, end: Position) -> Parsed<()> {
    if script.events.is_empty() {
        return Err((end, "expected at least one event after the options".into()));
    }
    let mut sockets = Sockets::new();
    let mut clock = Some(Duration::ZERO);
    let mut machine = WatchedMachine::new(&script.settings);
    for event in &script.events {
        clock = check_time(event, clock)?;
        machine.check(event)?;
        if let ScriptAction::Call(call) = &event.action {
            check_call(&mut sockets, call).map_err(|refusal| (event.position, refusal))?;
        }
    }
    Ok(())
}

/// The machine in the course of a script. Settings that the kernel reads while a connection is open
/// cannot change here once one is.
struct WatchedMachine {
    machine: MachineHistory,
    /// The settings with which the connection under test has opened, if it has.
    opened_with: Option<Vec<String>>,
    changed_at: Position,
}

impl WatchedMachine {
    fn new(settings: &ScriptSettings) -> Self {
        let machine = MachineHistory::new(settings.mss(), settings.remote.is_ipv6());
        Self { machine, opened_with: None, changed_at: Position { line: 1, column: 1 } }
    }

    fn check(&mut self, event: &ScriptEvent) -> Parsed<()> {
        let opens = match &event.action {
            ScriptAction::Shell(settings) => {
                settings.iter().for_each(|setting| self.machine.set(setting));
                self.changed_at = event.position;
                return Ok(());
            }
            // The socket that is made last is the one under test.
            ScriptAction::Call(Call { kind: CallKind::Socket { .. }, .. }) => {
                self.opened_with = None;
                return Ok(());
            }
            ScriptAction::Call(Call { kind: CallKind::Close, .. }) => return Ok(()),
            ScriptAction::Inbound(segment) => segment.has(Flags::SYN),
            ScriptAction::Call(call) => {
                matches!(call.kind, CallKind::Connect | CallKind::ConnectWith(_))
            }
            _ => false,
        };
        let now = self.machine.now.asked_when_open();
        if let Some(then) = &self.opened_with {
            let changed = now.iter().find(|parameter| !then.contains(parameter));
            let gone = then.iter().find(|parameter| !now.contains(parameter));
            if let Some(parameter) = changed.or(gone) {
                let why = format!("a change to {parameter:?} while a connection is open");
                return Err((self.changed_at, Refusal::not_modelled(why)));
            }
        } else if opens {
            self.opened_with = Some(now);
        }
        Ok(())
    }
}

/// The event's time, if it is known before running.
fn check_time(event: &ScriptEvent, clock: Option<Duration>) -> Parsed<Option<Duration>> {
    match (event.when, clock) {
        (When::At(time) | When::AtRange(time, _), Some(clock)) if time < clock => {
            let message = format!(
                "this event is at {} s, before the one above it at {} s",
                time.as_secs_f64(),
                clock.as_secs_f64()
            );
            Err((event.position, message.into()))
        }
        (When::At(time), _) => Ok(Some(time)),
        (When::After(delay), Some(clock)) => Ok(Some(clock + delay)),
        _ => Ok(None),
    }
}

fn check_call(sockets: &mut Sockets, call: &Call) -> Result<(), Refusal> {
    let fd = call.fd;
    let socket = sockets.get(&fd).copied();
    let next = match (socket, call.kind) {
        (None | Some(Socket::Closed), CallKind::Socket { .. }) => Socket::Fresh,
        (Some(Socket::Fresh | Socket::Listening), CallKind::Listen) => Socket::Listening,
        // It listens no more, as if it had never.
        (Some(Socket::Listening), CallKind::Shutdown(Shutdown::Reading | Shutdown::Both)) => {
            Socket::Fresh
        }
        (Some(Socket::Listening), CallKind::Shutdown(Shutdown::Writing)) => Socket::Listening,
        (Some(Socket::Fresh), CallKind::Connect | CallKind::ConnectWith(_)) => after_connect(call),
        (Some(Socket::Listening), CallKind::Accept) => {
            if let CallOutcome::Value(new) = call.outcome {
                // packetdrill does not mind a descriptor that is in use: a script then speaks of
                // the new one.
                if new > u64::from(u16::MAX) || new == u64::from(fd) {
                    return Err("accept returns a new descriptor".into());
                }
                sockets.insert(new as u32, Socket::Connection);
            }
            Socket::Listening
        }
        (Some(Socket::Fresh | Socket::Listening | Socket::Connection), CallKind::Close) => {
            Socket::Closed
        }
        (Some(socket @ (Socket::Fresh | Socket::Listening)), kind) if before_opening(kind) => {
            socket
        }
        (Some(Socket::Connection), CallKind::Disconnect) => Socket::Fresh,
        (Some(Socket::Connection), kind) if when_open(kind) => Socket::Connection,
        (Some(Socket::Connection), CallKind::ReceiveBuffer(_)) => {
            let why = "a receive buffer that changes while a connection is open";
            return Err(Refusal::not_modelled(why));
        }
        _ => return Err(out_of_place(socket, call).into()),
    };
    sockets.insert(fd, next);
    Ok(())
}

/// An attempt that is refused at once leaves the socket as it is.
const fn after_connect(call: &Call) -> Socket {
    match call.outcome {
        CallOutcome::Error(Errno::NotSupported | Errno::Fault) => Socket::Fresh,
        _ => Socket::Connection,
    }
}

fn any_time(kind: CallKind) -> bool {
    matches!(
        kind,
        CallKind::Nothing
            | CallKind::WithoutEffect(_)
            | CallKind::FileFlags
            | CallKind::LingerZero(_)
            | CallKind::NonBlocking(_)
            | CallKind::Get(..)
            | CallKind::SendBuffer(_)
            | CallKind::NotSentLowWater(_)
            | CallKind::UserTimeout(_)
            | CallKind::SynRetries(_)
            | CallKind::NoDelay(_)
            | CallKind::BadPointer
            | CallKind::ConnectNowhere
            | CallKind::PathMtu(_)
            | CallKind::Poll(_)
    )
}

fn before_opening(kind: CallKind) -> bool {
    any_time(kind)
        || matches!(
            kind,
            CallKind::MaxSegment(_)
                | CallKind::ReceiveBuffer(_)
                | CallKind::Cork(_)
                | CallKind::FastOpenQueue(_)
                | CallKind::FastOpenConnect(_)
                | CallKind::FastOpenKey(_)
        )
}

fn when_open(kind: CallKind) -> bool {
    any_time(kind)
        || matches!(
            kind,
            CallKind::Read(_)
                | CallKind::Peek(_)
                | CallKind::Write(_)
                | CallKind::Shutdown(_)
                | CallKind::Cork(_)
                | CallKind::MaxSegment(_)
                | CallKind::Connect
                | CallKind::ConnectWith(_)
        )
}

fn out_of_place(socket: Option<Socket>, call: &Call) -> String {
    let state = match socket {
        None => "there is no socket yet: begin with 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        Some(_) if matches!(call.kind, CallKind::Socket { .. }) => "the descriptor is in use",
        Some(Socket::Fresh) => "it is a socket that neither listens nor connects yet",
        Some(Socket::Listening) => "it listens",
        Some(Socket::Connection) => "it is a connection, and this is set or done before one opens",
        Some(Socket::Closed) => "the descriptor is closed",
    };
    format!("{} is out of place: {state}", call.text)
}
