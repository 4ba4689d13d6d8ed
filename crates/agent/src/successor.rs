//! The agent that is to follow, as the running one sees it ([`crate::handover`]).

use crate::handover::{
    DONE, Estate, HandoverOffer, LinkRole, PATIENCE, READY, Successor, receive_line, send_file,
    send_line,
};
use crate::kernel::SharedMaps;
use crate::question::AgentAnswer;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

/// An agent that wants to follow, and waits for an answer.
#[derive(Debug)]
pub(crate) struct Claim {
    stream: UnixStream,
    who: Successor,
}

/// All that is offered, by name and file.
pub(crate) struct Offered<'a> {
    pub(crate) maps: &'a SharedMaps,
    pub(crate) links: Vec<(LinkRole, BorrowedFd<'a>)>,
}

impl Claim {
    pub(crate) const fn new(stream: UnixStream, who: Successor) -> Self {
        Self { stream, who }
    }

    pub(crate) const fn who(&self) -> &Successor {
        &self.who
    }

    /// Says why there is nothing to follow.
    pub(crate) fn refuse(&self, why: &str) {
        // Whoever has gone needs no answer.
        let _ = send_line(&self.stream, &AgentAnswer::Refused(why.to_owned()));
    }

    /// Offers everything, and waits until the successor is ready.
    ///
    /// # Errors
    /// If it has given up.
    pub(crate) fn offer(
        &self,
        programs: String,
        state_format: Option<u32>,
        offered: &Offered<'_>,
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
        self.expect(READY)
    }

    /// Hands over the rest, and waits until the successor's programs are at work.
    ///
    /// # Errors
    /// If it has given up.
    pub(crate) fn settle(&self, estate: &Estate) -> io::Result<()> {
        send_line(&self.stream, estate)?;
        self.expect(DONE)
    }

    fn expect(&self, word: &str) -> io::Result<()> {
        let said: String = receive_line(&self.stream)?;
        let other = || io::Error::other(format!("it said {said:?} in place of {word:?}"));
        (said == word).then_some(()).ok_or_else(other)
    }
}
