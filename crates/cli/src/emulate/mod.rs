//! `headstart emulate`: runs a command behind a link, in real time.

mod args;
mod files;
mod live;
mod summary;

pub(crate) use args::{EmulateArgs, appendix};

use crate::behind::{Command, as_failure};
use cmdline::Failure;
use emulator::{Addresses, Emulation, EmulationOptions, Interface, InterfaceConfig, Namespace};
use link::Duplex;
use std::io;
use summary::Ran;

/// Devices on the host and in the namespace, numbered by the kernel. The number is that of the
/// addresses, too, so that emulations at the same time do not meet, nor does one within another.
const DEVICE: &str = "headstart%d";

pub(crate) fn run(args: &EmulateArgs) -> Result<(), Failure> {
    let options = args.links.options()?;
    if !args.quiet {
        args.links.warn_recorded();
    }
    let links = options.links.clone();
    let (recording, recorders) = files::begin(args)?.unzip();
    let options = EmulationOptions { recorders, ..options };
    let line = Line::set_up(options).map_err(as_failure)?;
    let code = line.run(args)?;
    let overruns = line.overruns().map_err(Failure::failed)?;
    let report = line.emulation.stop();
    files::finish(recording)?;
    summary::print_summary(args, &Ran { links, report, overruns })?;
    match code {
        0 => Ok(()),
        code => Err(Failure::Command(code)),
    }
}

/// The link between the host and a new namespace.
struct Line {
    client: Interface,
    host: Interface,
    emulation: Emulation,
}

impl Line {
    fn set_up(options: EmulationOptions) -> io::Result<Self> {
        let (namespace, here) = (Namespace::new()?, Namespace::current()?);
        let host = Interface::open(&here, &InterfaceConfig::numbered(DEVICE))?;
        let [client, _] = Addresses::numbered(host.number());
        let config = InterfaceConfig::new(client).with_default_route().with_name(host.name());
        let client = Interface::open(&namespace, &config)?;
        let emulation = Emulation::start(client.port(), host.port(), options)?;
        Ok(Self { client, host, emulation })
    }

    /// Runs the command to its end; its exit code.
    fn run(&self, args: &EmulateArgs) -> Result<u8, Failure> {
        let command = Command {
            client: &self.client,
            peer: self.host.addresses(),
            words: &args.command,
            variables: Vec::new(),
        };
        command.run(|sandbox| live::show_during(args, &self.emulation, || sandbox.wait()))
    }

    /// Packets that neither link saw, down and up.
    fn overruns(&self) -> io::Result<Duplex<u64>> {
        Ok(Duplex { forward: self.host.overruns()?, reverse: self.client.overruns()? })
    }
}
