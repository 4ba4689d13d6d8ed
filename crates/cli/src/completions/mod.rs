//! `headstart completions`: scripts for shells, and `headstart complete`, which the scripts call.
//!
//! The scripts for bash, zsh and fish ask this program for what may come next, so they know the
//! values of options as `values` has them. The scripts for other shells are clap's and know only
//! names.

mod values;

use crate::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use cmdline::complete::{self, ShellQuestion};
use cmdline::programs::{AGENT, GATEWAY, LAB};
use cmdline::{Appendix, EXIT, Failure, stdout};
use std::env;

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    shell: Shell,
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

/// Answers a shell. Behind the name of another program that program answers.
pub(crate) fn print_completions(question: &ShellQuestion) -> Result<(), Failure> {
    let other = question.subcommand();
    let other =
        [AGENT, GATEWAY, LAB].into_iter().find(|it| other.as_deref() == Some(it.subcommand));
    match other {
        Some(program) => {
            let same = env::args_os().skip(1).collect::<Vec<_>>();
            Err(Failure::input(program.hand_over(&same)))
        }
        None => stdout::print(&question.answer(Cli::command(), &values::of)),
    }
}

#[cfg(test)]
mod tests;
