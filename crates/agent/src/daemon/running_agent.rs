//! The new agent's side of a takeover: the running agent, and its maps, links and state
//! ([`crate::interface::handover`]).

use crate::config::AgentConfig;
use crate::interface::handover::{
    DONE, HandoverOffer, HandoverState, NewAgent, PATIENCE, READY, receive_file, receive_last_line,
    receive_line, send_line,
};
use crate::interface::question::{AgentAnswer, Question};
use crate::memory::format::FORMAT;
use crate::programs::links::LinkRole;
use crate::programs::loader::{SharedMaps, programs_digest};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process;

/// See the module.
#[derive(Debug)]
pub(super) struct RunningAgent {
    stream: UnixStream,
    offer: HandoverOffer,
    maps: SharedMaps,
    links: Vec<(LinkRole, OwnedFd)>,
}

impl RunningAgent {
    /// Asks the agent at the socket for all it has; `None` if none answers there.
    ///
    /// # Errors
    /// If the new agent cannot take over. The running one goes on then.
    pub(super) fn find(config: &AgentConfig) -> Result<Option<Self>, String> {
        let Ok(stream) = UnixStream::connect(&config.socket) else { return Ok(None) };
        let at = config.socket.display();
        let found = Self::request_handover(stream)
            .map_err(|error| format!("taking over from the agent at {at}: {error}; it goes on"))?;
        let found = found.map_err(|why| {
            format!(
                "the agent at {at} cannot hand over: {why}. If it is of an older version, stop it first: the next one \
                 reads its state file"
            )
        })?;
        match found.offer.state_format {
            Some(format) if format > FORMAT && config.state.is_some() => Err(format!(
                "the agent at {at} is of version {} and keeps its memory in format {format}; version {} reads format \
                 {FORMAT} at most. Take over with another file (--state FILE): the memory comes along, what was \
                 compared starts from nothing",
                found.offer.version,
                env!("CARGO_PKG_VERSION")
            )),
            _ => Ok(Some(found)),
        }
    }

    /// Asks the running agent to hand over its maps and links. The inner error is its reason for a
    /// refusal.
    fn request_handover(stream: UnixStream) -> io::Result<Result<Self, String>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let new_agent = NewAgent {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: process::id(),
            programs: programs_digest(),
        };
        send_line(&stream, &Question::HandOver(new_agent))?;
        let offer = match receive_line(&stream)? {
            AgentAnswer::HandingOver(offer) => offer,
            AgentAnswer::Refused(why) => return Ok(Err(why)),
            _ => return Ok(Err("it answered something else".to_owned())),
        };
        let mut maps = SharedMaps::default();
        for name in &offer.maps {
            maps.add(name.clone(), receive_file(&stream)?);
        }
        let mut links = Vec::new();
        for role in &offer.links {
            links.push((role.clone(), receive_file(&stream)?));
        }
        // Maps of other programs cannot be used.
        if offer.programs != programs_digest() {
            maps = SharedMaps::default();
        }
        Ok(Ok(Self { stream, offer, maps, links }))
    }

    /// Returns the maps of the running agent, if it has the same programs.
    pub(super) const fn maps(&self) -> &SharedMaps {
        &self.maps
    }

    /// Returns the links of its programs.
    pub(super) fn take_links(&mut self) -> Vec<(LinkRole, OwnedFd)> {
        std::mem::take(&mut self.links)
    }

    /// Notifies the running agent that the programs are loaded, and returns its state. From now on
    /// it gets no reports of connections, and saves nothing.
    ///
    /// # Errors
    /// If it has gone, or is of a version that says something else.
    pub(super) fn handover_state(&self) -> Result<HandoverState, String> {
        let asked = send_line(&self.stream, &READY).and_then(|()| receive_last_line(&self.stream));
        asked.map_err(|error| format!("the agent that was to be followed fell silent: {error}"))
    }

    /// Waits until it has ended, since its programs are in no link any more. Returns its
    /// description for the new agent's log.
    pub(super) fn end(mut self) -> String {
        let told = send_line(&self.stream, &DONE);
        // Nothing is read: the call returns when the running agent ends.
        let _ = told.and_then(|()| self.stream.read(&mut [0]));
        let shared = if self.maps.is_empty() {
            "its memory is copied, and its connections go on as they are"
        } else {
            "its memory and its connections go on here"
        };
        format!("took over from the agent of version {}: {shared}", self.offer.version)
    }
}
