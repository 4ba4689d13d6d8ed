//! The Unix socket at which a running agent is asked, both ends.

use super::handover::NewAgent;
use super::question::{AgentAnswer, Question};
use crate::os::unix_socket;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A question is no longer than this, bytes: [`MAX_ENTRIES`] to import take a quarter of it.
const LONGEST_QUESTION: u64 = 1 << 20;
/// Most entries that one question imports.
pub const MAX_ENTRIES: usize = 500;
/// Time that a question waits for its answer; it is longer, since a million paths are no small
/// answer.
const PATIENCE_TO_ASK: Duration = Duration::from_secs(60);
/// Time after which a silent asker is dropped, since others wait.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause after a connection could not be accepted, for want of file descriptors: an immediate retry
/// would take a whole processor.
const PAUSE: Duration = Duration::from_millis(100);

/// The end that answers. The socket is removed when this goes.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Control {
    /// Listens at `path`, for root alone. It replaces the socket of a dead agent.
    ///
    /// # Errors
    /// If another agent answers there, the socket cannot be made, or what is there is no socket.
    pub fn listen(path: &Path) -> Result<Self, String> {
        if UnixStream::connect(path).is_ok() {
            return Err(format!("another agent answers at {}", path.display()));
        }
        let listener = unix_socket::listen_privately(path)
            .map_err(|error| format!("cannot listen at {}: {error}", path.display()))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Listens at `path` instead of the agent that answers there. There is no instant without
    /// an agent that answers.
    ///
    /// # Errors
    /// If the socket cannot be made.
    pub fn replace(path: &Path) -> Result<Self, String> {
        let beside = path.with_extension("next");
        let listener = unix_socket::listen_privately(&beside).and_then(|listener| {
            fs::rename(&beside, path)?;
            Ok(listener)
        });
        let listener =
            listener.map_err(|error| format!("cannot listen at {}: {error}", path.display()))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Leaves the socket's file in place when this value is dropped, because another agent has it
    /// now.
    pub fn leave(&mut self) {
        self.path.clear();
    }

    /// Returns the server of the socket, for a thread of its own.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn server(&self) -> io::Result<ControlServer> {
        self.listener.try_clone().map(ControlServer)
    }
}

/// Answers questions.
#[derive(Debug)]
pub struct ControlServer(UnixListener);

impl ControlServer {
    /// Serves one asker after the other, for as long as the process lives. New agents are passed to
    /// `follow`, and answered there.
    pub fn run(
        &self,
        answer: impl Fn(Question) -> AgentAnswer,
        follow: impl Fn(UnixStream, NewAgent),
    ) {
        for stream in self.0.incoming() {
            let Ok(stream) = stream else {
                thread::sleep(PAUSE);
                continue;
            };
            // An asker that has gone, or is silent, gets no answer; the next one does.
            if let Ok(Some(new_agent)) = serve_one(&stream, &answer) {
                follow(stream, new_agent);
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads one question and answers it. Returns the new agent if the question is to hand over: then
/// nothing is answered yet.
fn serve_one(
    mut stream: &UnixStream,
    answer: impl Fn(Question) -> AgentAnswer,
) -> io::Result<Option<NewAgent>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST_QUESTION)).read_line(&mut line)?;
    let answer = match serde_json::from_str(&line) {
        Ok(Question::HandOver(new_agent)) => return Ok(Some(new_agent)),
        Ok(question) => answer(question),
        Err(error) => AgentAnswer::Refused(error.to_string()),
    };
    writeln!(stream, "{}", serde_json::to_string(&answer)?)?;
    Ok(None)
}

/// Asks the agent at `path`.
///
/// # Errors
/// If none answers there.
pub fn ask(path: &Path, question: &Question) -> Result<AgentAnswer, String> {
    let asked = try_ask(path, question);
    asked.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            format!("no agent runs here: nothing answers at {}", path.display())
        }
        io::ErrorKind::PermissionDenied => {
            format!("only root may ask the agent at {}", path.display())
        }
        _ => format!("asking the agent at {}: {error}", path.display()),
    })
}

/// Asks the agent at the socket `path`, and waits for its answer.
fn try_ask(path: &Path, question: &Question) -> io::Result<AgentAnswer> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE_TO_ASK))?;
    writeln!(stream, "{}", serde_json::to_string(question)?)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
