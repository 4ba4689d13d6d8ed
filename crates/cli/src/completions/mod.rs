//! `headstart completions`: scripts for shells, and `headstart complete`, which the scripts call.
//!
//! The scripts for bash, zsh and fish ask this program for what may come next, so they know the values of options as
//! `values` and `schemes` have them. Those for other shells are clap's and know names alone.

mod schemes;
mod values;

use crate::failure::Failure;
use crate::{Cli, agent, stdout};
use clap::CommandFactory;
use clap_complete::Shell;
use cmdline::complete;
use cmdline::{Appendix, EXIT};

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArgs {
    /// Shell that asks
    shell: complete::Shell,
    /// What it hands over
    #[arg(last = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart completions bash > ~/.local/share/bash-completion/completions/headstart",
                "For bash with the package bash-completion, from the next shell on.",
            ),
            (
                "headstart completions zsh > \"${fpath[1]}/_headstart\"",
                "For zsh, where `compinit` finds it.",
            ),
            (
                "headstart completions fish > ~/.config/fish/completions/headstart.fish",
                "For fish.",
            ),
        ],
        notes: "In bash, zsh and fish, Tab completes schemes and, behind `+`, their parameters and values; pages, \
            paths, claims, suites, topics and examples by name; and files. `make install` installs these scripts."
            .into(),
        exit: EXIT,
        ..Appendix::default()
    }
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let asking = match args.shell {
        Shell::Bash => complete::Shell::Bash,
        Shell::Zsh => complete::Shell::Zsh,
        Shell::Fish => complete::Shell::Fish,
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut Cli::command(), "headstart", &mut script);
            return stdout::print(&String::from_utf8_lossy(&script));
        }
    };
    stdout::print(complete::script(asking))
}

/// Answers a shell; behind `agent` that is for the agent's program to do.
pub(crate) fn answer(asked: &CompletionArgs) -> Result<(), Failure> {
    let words = complete::words(asked.shell, &asked.arguments);
    if words.len() > 1 && words[0] == "agent" {
        return agent::complete();
    }
    stdout::print(&complete::answer(asked.shell, Cli::command(), &asked.arguments, &values::of))
}

#[cfg(test)]
mod tests;
