//! Commands behind a link: the options of the link, and the run of a command in the network at its
//! end.

mod links;
mod one_way;

pub(crate) use links::LinkArgs;

use cmdline::Failure;
use emulator::sandbox::{self, Sandbox, Signals, exit_code};
use emulator::{Addresses, Interface};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::process::ExitStatus;

/// A command in the network that an interface is in.
pub(crate) struct Command<'a> {
    pub(crate) client: &'a Interface,
    /// Host at the other end of the link.
    pub(crate) peer: Addresses,
    /// The command and its arguments.
    pub(crate) words: &'a [OsString],
    /// Its environment, beside addresses.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Command<'_> {
    /// Runs it, passing signals on, until `wait` has waited for its end; its exit code.
    pub(crate) fn run(
        &self,
        wait: impl FnOnce(Sandbox) -> io::Result<ExitStatus>,
    ) -> Result<u8, Failure> {
        let Some((program, arguments)) = self.words.split_first() else {
            return Err(Failure::input("no command"));
        };
        let mut command = sandbox::command(program);
        command.args(arguments).envs(self.environment());
        let signals = Signals::listen().map_err(Failure::failed)?;
        let sandbox = Sandbox::start(self.client.namespace(), command).map_err(as_failure)?;
        signals.forward(sandbox.signaller());
        wait(sandbox).map(exit_code).map_err(Failure::failed)
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let (own, peer) = (self.client.addresses(), self.peer);
        let mut variables = vec![
            ("HEADSTART_PEER", peer.v4.to_string()),
            ("HEADSTART_PEER6", peer.v6.to_string()),
            ("HEADSTART_ADDRESS", own.v4.to_string()),
            ("HEADSTART_ADDRESS6", own.v6.to_string()),
        ];
        variables.extend(self.variables.iter().cloned());
        variables
    }
}

/// A privilege or a device that is missing is the user's to bring; the rest is a failure.
pub(crate) fn as_failure(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::NotFound => Failure::input(error),
        _ => Failure::failed(format!("cannot set up the link: {error}")),
    }
}
