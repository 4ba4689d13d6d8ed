//! What a script must be beyond its grammar, so that a run can only fail by what the TCP does:
//! descriptors in their order, one connection, time that does not run backwards.

use super::super::model::{
    Call, CallKind, CallOutcome, Position, Script, ScriptAction, ScriptEvent, When,
};
use super::Parsed;
use units::Duration;

/// What has become of the script's one socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Socket {
    None,
    Fresh(u32),
    Listening(u32),
    Connection { listener: Option<u32>, fd: u32 },
    Closed,
}

/// Checks `script`, whose text ends at `end`.
pub(super) fn check(script: &Script, end: Position) -> Parsed<()> {
    if script.events.is_empty() {
        return Err((end, "expected at least one event after the options".to_owned()));
    }
    let mut socket = Socket::None;
    let mut clock = Some(Duration::ZERO);
    for event in &script.events {
        clock = check_time(event, clock)?;
        if let ScriptAction::Call(call) = &event.action {
            socket = check_call(socket, call).map_err(|message| (event.position, message))?;
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
            Err((event.position, message))
        }
        (When::At(time), _) => Ok(Some(time)),
        (When::After(delay), Some(clock)) => Ok(Some(clock + delay)),
        _ => Ok(None),
    }
}

fn check_call(socket: Socket, call: &Call) -> Result<Socket, String> {
    let fd = call.fd;
    if call.kind == CallKind::Socket {
        return match socket {
            Socket::None => Ok(Socket::Fresh(fd)),
            _ => Err("a script has one socket; this is the second".to_owned()),
        };
    }
    match (socket, call.kind) {
        (Socket::Fresh(own), CallKind::Listen) if own == fd => Ok(Socket::Listening(fd)),
        (Socket::Fresh(own), CallKind::Connect | CallKind::ConnectWith(_)) if own == fd => {
            Ok(Socket::Connection { listener: None, fd })
        }
        (Socket::Listening(own), CallKind::Accept) if own == fd => accepted(fd, call.outcome),
        (Socket::Fresh(own), kind) if own == fd && before_opening(kind) => Ok(socket),
        (Socket::Listening(own), kind) if own == fd && any_time(kind) => Ok(socket),
        (Socket::Connection { listener: Some(own), .. }, kind) if own == fd && any_time(kind) => {
            Ok(socket)
        }
        (Socket::Connection { fd: own, .. }, CallKind::Close) if own == fd => Ok(Socket::Closed),
        (Socket::Connection { fd: own, .. }, kind) if own == fd && when_open(kind) => Ok(socket),
        _ => Err(out_of_place(socket, call)),
    }
}

/// A failed `accept` leaves the listener as it is.
fn accepted(listener: u32, outcome: CallOutcome) -> Result<Socket, String> {
    match outcome {
        CallOutcome::Value(fd) if fd != u64::from(listener) && fd <= u64::from(u16::MAX) => {
            Ok(Socket::Connection { listener: Some(listener), fd: fd as u32 })
        }
        CallOutcome::Value(_) => Err("accept returns a new descriptor".to_owned()),
        CallOutcome::Error(_) => Ok(Socket::Listening(listener)),
    }
}

fn any_time(kind: CallKind) -> bool {
    matches!(kind, CallKind::Nothing | CallKind::LingerZero(_))
}

fn before_opening(kind: CallKind) -> bool {
    any_time(kind) || matches!(kind, CallKind::MaxSegment(_) | CallKind::NoDelay(_))
}

fn when_open(kind: CallKind) -> bool {
    any_time(kind) || matches!(kind, CallKind::Read(_) | CallKind::Write(_) | CallKind::Shutdown(_))
}

fn out_of_place(socket: Socket, call: &Call) -> String {
    let state = match socket {
        Socket::None => "there is no socket yet: begin with \
                         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3"
            .to_owned(),
        Socket::Fresh(fd) => format!("{fd} is a socket that neither listens nor connects yet"),
        Socket::Listening(fd) => format!("{fd} listens and nothing is accepted yet"),
        Socket::Connection { fd, .. } => {
            format!("{fd} is the connection; sizes and TCP_NODELAY are set before it opens")
        }
        Socket::Closed => "the connection's descriptor is closed".to_owned(),
    };
    format!("{} is out of place: {state}", call.text)
}
