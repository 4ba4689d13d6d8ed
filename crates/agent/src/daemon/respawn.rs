//! Starts the program's file, as it is on disk now, to take over from this process. A service,
//! whose manager looks after one process, is upgraded like this while it runs. The old process
//! notifies the manager of the new one.

use crate::os::log::{Level, say};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command};

/// Option that makes an agent take over from a running one.
pub(super) const TAKE_OVER: &str = "--take-over";

/// The program and the one that is to follow, if it has been started.
#[derive(Debug)]
pub(super) struct Renewal {
    /// Path of the program's file when this process started: later that path may name a deleted
    /// file.
    program: Option<PathBuf>,
    arguments: Vec<OsString>,
    new_agent: Option<Child>,
}

impl Renewal {
    pub(super) fn new() -> Self {
        let given = env::args_os().skip(1).filter(|argument| argument != TAKE_OVER);
        let arguments = given.chain([OsString::from(TAKE_OVER)]).collect();
        Self { program: env::current_exe().ok(), arguments, new_agent: None }
    }

    /// Starts it, unless one is on its way.
    pub(super) fn spawn_new_agent(&mut self) {
        if self.new_agent.is_some() {
            return;
        }
        let started = self
            .program
            .as_ref()
            .ok_or_else(|| "the program's file is not known".to_owned())
            .and_then(|program| {
                let started = Command::new(program).args(&self.arguments).spawn();
                started.map_err(|error| format!("{}: {error}", program.display()))
            });
        match started {
            Ok(child) => self.new_agent = Some(child),
            Err(why) => say(Level::Error, &format!("no agent can follow, this one goes on: {why}")),
        }
    }

    /// Checks on the new agent. One that has ended has not taken over, and has logged why.
    pub(super) fn check_new_agent(&mut self) {
        let Some(child) = &mut self.new_agent else { return };
        if let Ok(Some(status)) = child.try_wait() {
            say(
                Level::Error,
                &format!("the agent that was to follow has ended ({status}); this one goes on"),
            );
            self.new_agent = None;
        }
    }
}
