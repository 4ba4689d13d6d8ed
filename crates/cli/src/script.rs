//! `headstart script`: plays a scenario script.

use crate::failure::Failure;
use crate::{input, stdout};
use std::path::PathBuf;
use tcp::Scheme;
use units::counted;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Script in a subset of packetdrill's grammar
    file: PathBuf,
    /// Scheme to play it against [default: the one the script names]
    #[arg(long, value_name = "NAME", value_parser = parse_scheme)]
    scheme: Option<Scheme>,
}

const EXAMPLES: &str = "\
Examples:
  headstart script scripts/handshake/passive.pkt
  headstart script scripts/handshake/passive.pkt --scheme linux+iw=4

The grammar is described in scripts/README.md. Exit code 1 names the first segment that differs.";

fn parse_scheme(text: &str) -> Result<Scheme, String> {
    Scheme::parse(text).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let name = args.file.display().to_string();
    let script = script::parse(&name, input::read(&args.file)?).map_err(Failure::input)?;
    let report = script::run(&script, args.scheme.as_ref()).map_err(Failure::failed)?;
    stdout::print(&format!(
        "{name}: {} as expected under {}, {} sent as the script says\n",
        counted(report.events, "event"),
        report.scheme,
        counted(report.sent, "segment")
    ))
}
