//! The messages of two agents when one takes over from the other while connections run, with the
//! open files that go along.
//!
//! The new agent asks at the control socket ([`NewAgent`]). The running agent answers with a
//! [`HandoverOffer`], followed by the maps and links that it names, as open files. The new agent
//! loads its programs, with these maps if it has the same programs, and sends [`READY`]. The
//! running agent saves its memory, reads no more reports of connections, and sends the
//! `HandoverState`. The new agent puts its programs into the links and sends [`DONE`]. A new agent
//! that falls silent before that has not taken over: links are the running agent's until it ends.
//! The sides are modules `running_agent` and `new_agent`.

use crate::canary::ramp::Ramp;
use crate::canary::state::CanaryState;
use crate::canary::totals::ConnectionTotals;
use crate::memory::exchange::ExchangeEntry;
use crate::programs::links::LinkRole;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Time that each agent waits for the other: verifiers take a second on a slow machine. Connections
/// go on meanwhile.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// The new agent's programs are loaded.
pub(crate) const READY: &str = "ready";
/// Line of the new agent: its programs are in the links.
pub(crate) const DONE: &str = "done";
/// An offer is no longer than this, bytes.
const LONGEST_OFFER: usize = 1 << 20;

/// The agent that wants to take over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAgent {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Digest of its programs (`kernel::programs_digest`).
    pub programs: String,
}

/// The running agent's offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverOffer {
    /// Version of the agent that offers it.
    pub version: String,
    /// Digest of its programs.
    pub programs: String,
    /// Format of its state file; `None`: it has none.
    pub state_format: Option<u32>,
    /// Names of the maps whose files follow.
    pub maps: Vec<String>,
    /// The links whose files follow those.
    pub links: Vec<LinkRole>,
}

/// State that is handed over at the moment of the change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HandoverState {
    /// Findings of the canary, as a [`CanaryState`] of that version.
    pub(crate) canary: serde_json::Value,
    /// Reason why all windows are stopped, in any version's words.
    pub(crate) off: Option<String>,
    pub(crate) ramp: Ramp,
    /// Sums over connections, as [`ConnectionTotals`] of that version.
    pub(crate) totals: serde_json::Value,
    /// Salt of the draw of the control group.
    pub(crate) salt: u32,
    /// The memory, if the new agent does not share the map.
    pub(crate) paths: Vec<ExchangeEntry>,
}

impl HandoverState {
    /// Returns the findings of the canary. If another version's form cannot be read, the comparison
    /// starts from nothing, but windows that are off stay off.
    pub(crate) fn canary(&self) -> CanaryState {
        let read = serde_json::from_value::<CanaryState>(self.canary.clone());
        let is_readable = read.is_ok();
        let off = self.off.clone();
        match read.unwrap_or_default() {
            // The numbers of stages go on.
            state if is_readable && state.off() == off.as_deref() => state,
            state => state.into_resumed(off),
        }
    }

    pub(crate) fn totals(&self) -> ConnectionTotals {
        serde_json::from_value(self.totals.clone()).unwrap_or_default()
    }
}

/// Sends an open file.
///
/// # Errors
/// If the other side has gone.
pub(crate) fn send_file(stream: &UnixStream, file: BorrowedFd<'_>) -> io::Result<()> {
    let files = [file];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    beside.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(stream, &[IoSlice::new(b"f")], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives an open file.
///
/// # Errors
/// If the other side has gone, or sent something else.
pub(crate) fn receive_file(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let files = beside.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.flatten().next();
    file.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "no file came"))
}

/// Sends a line.
///
/// # Errors
/// If the other side has gone.
pub(crate) fn send_line(mut stream: &UnixStream, line: &impl Serialize) -> io::Result<()> {
    writeln!(stream, "{}", serde_json::to_string(line)?)
}

/// Receives a line behind which files follow: not a byte more is read than that.
///
/// # Errors
/// If the other side has gone, or it is another line.
pub(crate) fn receive_line<T: DeserializeOwned>(mut stream: &UnixStream) -> io::Result<T> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < LONGEST_OFFER {
        stream.read_exact(&mut byte)?;
        if byte == *b"\n" {
            break;
        }
        line.push(byte[0]);
    }
    Ok(serde_json::from_slice(&line)?)
}

/// Receives a line of any length, which is the last.
///
/// # Errors
/// Fails as [`receive_line`] does.
pub(crate) fn receive_last_line<T: DeserializeOwned>(stream: &UnixStream) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    #[test]
    fn files_come_as_they_went_between_lines() {
        let (one, other) = UnixStream::pair().unwrap();
        let path = std::env::temp_dir().join(format!("headstart-handover-{}", std::process::id()));
        std::fs::write(&path, "what it holds").unwrap();
        let file = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        send_line(&one, &["first"]).unwrap();
        send_file(&one, file.as_fd()).unwrap();
        assert_eq!(receive_line::<Vec<String>>(&other).unwrap(), ["first"]);
        // More than fit into one message (SCM_MAX_FD, 253).
        for _ in 0..300 {
            send_file(&one, file.as_fd()).unwrap();
            let mut came = File::from(receive_file(&other).unwrap());
            io::Seek::rewind(&mut came).unwrap();
            let mut text = String::new();
            came.read_to_string(&mut text).unwrap();
            assert_eq!(text, "what it holds");
        }
        receive_file(&other).unwrap();
        send_line(&one, &DONE).unwrap();
        drop(one);
        assert_eq!(receive_last_line::<String>(&other).unwrap(), DONE);
        assert!(receive_last_line::<String>(&other).is_err(), "the other side has gone");
    }

    #[test]
    fn what_another_version_found_stays_off() {
        let handover_state = HandoverState {
            canary: serde_json::json!({ "of": "another version" }),
            off: Some("harm".to_owned()),
            ..HandoverState::default()
        };
        assert_eq!(handover_state.canary().off(), Some("harm"));
        let same = HandoverState {
            canary: serde_json::to_value(CanaryState::default()).unwrap(),
            ..HandoverState::default()
        };
        assert_eq!(same.canary(), CanaryState::default());
    }
}
