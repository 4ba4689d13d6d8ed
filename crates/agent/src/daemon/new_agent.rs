//! The new agent, as the running agent sees it ([`crate::interface::handover`]).

use crate::interface::handover::{
    DONE, HandoverOffer, HandoverState, NewAgent, PATIENCE, READY, receive_line, send_file,
    send_line,
};
use crate::interface::question::AgentAnswer;
use crate::programs::links::LinkRole;
use crate::programs::loader::SharedMaps;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

/// An agent that wants to follow, and waits for an answer.
#[derive(Debug)]
pub(super) struct HandoverRequest {
    stream: UnixStream,
    who: NewAgent,
}

/// All that is offered, by name and file.
pub(super) struct OfferedState<'a> {
    pub(super) maps: &'a SharedMaps,
    pub(super) links: Vec<(LinkRole, BorrowedFd<'a>)>,
}

impl HandoverRequest {
    pub(super) const fn new(stream: UnixStream, who: NewAgent) -> Self {
        Self { stream, who }
    }

    pub(super) const fn new_agent(&self) -> &NewAgent {
        &self.who
    }

    /// Answers the new agent why there is nothing to follow.
    pub(super) fn refuse(&self, why: &str) {
        // A new agent that has gone needs no answer.
        let _ = send_line(&self.stream, &AgentAnswer::Refused(why.to_owned()));
    }

    /// Offers everything, and waits until the new agent is ready.
    ///
    /// # Errors
    /// If it has given up.
    pub(super) fn offer_state(
        &self,
        programs: String,
        state_format: Option<u32>,
        offered: &OfferedState<'_>,
    ) -> io::Result<()> {
        self.stream.set_read_timeout(Some(PATIENCE))?;
        self.stream.set_write_timeout(Some(PATIENCE))?;
        let offer = HandoverOffer {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            programs,
            state_format,
            maps: offered.maps.iter().map(|(name, _)| name.clone()).collect(),
            links: offered.links.iter().map(|(role, _)| role.clone()).collect(),
        };
        send_line(&self.stream, &AgentAnswer::HandingOver(offer))?;
        let maps = offered.maps.iter().map(|(_, file)| file);
        let links = offered.links.iter().map(|(_, file)| *file);
        maps.chain(links).try_for_each(|file| send_file(&self.stream, file))?;
        self.expect_answer(READY)
    }

    /// Hands over the rest, and waits until the new agent's programs are at work.
    ///
    /// # Errors
    /// If it has given up.
    pub(super) fn hand_over(&self, handover_state: &HandoverState) -> io::Result<()> {
        send_line(&self.stream, handover_state)?;
        self.expect_answer(DONE)
    }

    fn expect_answer(&self, word: &str) -> io::Result<()> {
        let answer: String = receive_line(&self.stream)?;
        let other = || io::Error::other(format!("the answer was {answer:?} instead of {word:?}"));
        (answer == word).then_some(()).ok_or_else(other)
    }
}
