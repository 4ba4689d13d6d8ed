//! What a script must be beyond its grammar, so that a run can only fail by what the TCP does:
//! descriptors in their order, calls that fit their sockets, time that does not run backwards.

use super::super::model::{
    Call, CallKind, CallOutcome, Errno, Position, Script, ScriptAction, ScriptEvent, When,
};
use super::Parsed;
use std::collections::BTreeMap;
use units::Duration;

/// What has become of a socket.
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
    for event in &script.events {
        clock = check_time(event, clock)?;
        if let ScriptAction::Call(call) = &event.action {
            check_call(&mut sockets, call).map_err(|message| (event.position, message.into()))?;
        }
    }
    Ok(())
}

/// The event's time, where it can be told before running.
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

fn check_call(sockets: &mut Sockets, call: &Call) -> Result<(), String> {
    let fd = call.fd;
    let socket = sockets.get(&fd).copied();
    let next = match (socket, call.kind) {
        (None | Some(Socket::Closed), CallKind::Socket) => Socket::Fresh,
        (Some(Socket::Fresh), CallKind::Listen) => Socket::Listening,
        (Some(Socket::Fresh), CallKind::Connect | CallKind::ConnectWith(_)) => after_connect(call),
        (Some(Socket::Listening), CallKind::Accept) => {
            if let CallOutcome::Value(new) = call.outcome {
                // packetdrill does not mind a descriptor that is in use: a script then speaks of the new one.
                if new > u64::from(u16::MAX) || new == u64::from(fd) {
                    return Err("accept returns a new descriptor".to_owned());
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
        _ => return Err(out_of_place(socket, call)),
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
            | CallKind::LingerZero(_)
            | CallKind::NonBlocking(_)
            | CallKind::Get(..)
            | CallKind::SendBuffer(_)
            | CallKind::ReceiveBuffer(_)
            | CallKind::NotSentLowWater(_)
            | CallKind::UserTimeout(_)
            | CallKind::SynRetries(_)
            | CallKind::NoDelay(_)
            | CallKind::BadPointer
            | CallKind::ConnectNowhere
            | CallKind::NoPathMtu
            | CallKind::Poll(_)
    )
}

fn before_opening(kind: CallKind) -> bool {
    any_time(kind)
        || matches!(
            kind,
            CallKind::MaxSegment(_)
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
                | CallKind::Write(_)
                | CallKind::Shutdown(_)
                | CallKind::Cork(_)
                | CallKind::Connect
                | CallKind::ConnectWith(_)
        )
}

fn out_of_place(socket: Option<Socket>, call: &Call) -> String {
    let state = match socket {
        None => "there is no socket yet: begin with 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        Some(_) if call.kind == CallKind::Socket => "the descriptor is in use",
        Some(Socket::Fresh) => "it is a socket that neither listens nor connects yet",
        Some(Socket::Listening) => "it listens",
        Some(Socket::Connection) => "it is a connection; its segment size is set before it opens",
        Some(Socket::Closed) => "the descriptor is closed",
    };
    format!("{} is out of place: {state}", call.text)
}
