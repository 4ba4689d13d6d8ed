//! `headstart emulate`: runs a command behind a link, in real time.

mod args;
mod files;
mod live;
mod one_way;
mod summary;

pub(crate) use args::Args;

use crate::failure::Failure;
use emulator::sandbox::{self, Sandbox, Signals, exit_code};
use emulator::{Addresses, Emulation, Interface, InterfaceConfig, Namespace, Options};
use netsim::Duplex;
use std::io::{self, ErrorKind};
use summary::Ran;

/// Devices on the host and in the namespace, numbered by the kernel. The number is that of the
/// addresses, too, so that emulations at the same time do not meet, nor does one within another.
const DEVICE: &str = "headstart%d";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let [forward, reverse] = args.links()?;
    let options =
        Options { seed: args.seed, spin: args.spin, ..Options::new(Duplex { forward, reverse }) };
    let links = options.links.clone();
    let (recording, recorders) = files::begin(args)?.unzip();
    let options = Options { recorders, ..options };
    let line = Line::lay(options).map_err(explain)?;
    let code = line.run(args)?;
    let overruns = line.overruns().map_err(Failure::failed)?;
    let report = line.emulation.stop();
    files::finish(recording)?;
    summary::show(args, &Ran { links, report, overruns })?;
    match code {
        0 => Ok(()),
        code => Err(Failure::Command(code)),
    }
}

/// A privilege or a device that is missing is the user's to bring; the rest is a failure.
fn explain(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::NotFound => Failure::input(error),
        _ => Failure::failed(format!("cannot set up the link: {error}")),
    }
}

/// The link between the host and a new namespace.
struct Line {
    client: Interface,
    host: Interface,
    emulation: Emulation,
}

impl Line {
    fn lay(options: Options) -> io::Result<Self> {
        let (namespace, here) = (Namespace::new()?, Namespace::current()?);
        let host = Interface::open(&here, &InterfaceConfig::numbered(DEVICE))?;
        let [client, _] = Addresses::numbered(host.number());
        let config = InterfaceConfig::new(client).with_default_route().with_name(host.name());
        let client = Interface::open(&namespace, &config)?;
        let emulation = Emulation::start(client.port(), host.port(), options)?;
        Ok(Self { client, host, emulation })
    }

    /// Runs the command to its end; its exit code.
    fn run(&self, args: &Args) -> Result<u8, Failure> {
        let Some((program, arguments)) = args.command.split_first() else {
            return Err(Failure::input("no command"));
        };
        let mut command = sandbox::command(program);
        command.args(arguments).envs(self.environment());
        let signals = Signals::listen().map_err(Failure::failed)?;
        let sandbox = Sandbox::start(self.client.namespace(), command).map_err(explain)?;
        signals.forward(sandbox.signaller());
        let status = live::show_during(args, &self.emulation, || sandbox.wait());
        status.map(exit_code).map_err(Failure::failed)
    }

    /// Packets that neither link saw, down and up.
    fn overruns(&self) -> io::Result<Duplex<u64>> {
        Ok(Duplex { forward: self.host.overruns()?, reverse: self.client.overruns()? })
    }

    fn environment(&self) -> [(&'static str, String); 4] {
        let (own, peer) = (self.client.addresses(), self.host.addresses());
        [
            ("HEADSTART_PEER", peer.v4.to_string()),
            ("HEADSTART_PEER6", peer.v6.to_string()),
            ("HEADSTART_ADDRESS", own.v4.to_string()),
            ("HEADSTART_ADDRESS6", own.v6.to_string()),
        ]
    }
}
