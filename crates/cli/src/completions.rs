//! `headstart completions`: completion scripts.

use crate::failure::Failure;
use crate::{Cli, stdout};
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell to complete for
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  headstart completions bash > ~/.local/share/bash-completion/completions/headstart
  headstart completions fish > ~/.config/fish/completions/headstart.fish
  headstart completions zsh  > \"${fpath[1]}/_headstart\"";

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "headstart", &mut script);
    stdout::print(&String::from_utf8_lossy(&script))
}
