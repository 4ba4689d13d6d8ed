//! Texts behind the options of all commands, and `headstart man`, which writes man pages of them.

use crate::{
    Cli, analyze, capture, completions, emulate, pages, paths, predict, race, reporting, schemes,
    serve,
};
use clap::CommandFactory;
use cmdline::man::{self, ManAppendix};
use cmdline::{Appendix, Failure};

/// Text behind the list of commands.
pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart race", "Races a page of today over a cable line."),
            (
                "headstart race page.har --path 20mbit,80ms,100p --report page.html",
                "Races a page that you recorded, and writes a report with pictures.",
            ),
            (
                "sudo headstart emulate --path 20mbit,80ms,100p -- COMMAND",
                "Runs a command of yours behind a link, in real time.",
            ),
            (
                "sudo headstart serve DIR --scheme etcp",
                "Serves files over headstart's own TCP, to any client.",
            ),
            (
                "sudo headstart agent --dry-run",
                "Shows what the agent would do, and changes nothing.",
            ),
            (
                "headstart lab sim plan.toml",
                "Runs an experiment: any topology, queue and workload, varied.",
            ),
            ("headstart schemes", "Lists what can race, and its parameters."),
        ],
        exit: &[
            ("0", "done, and all checks hold"),
            ("1", "a run or a check failed"),
            ("2", "the input is wrong, or a privilege is missing"),
            ("130", "interrupted"),
        ],
        more: &["README.md", "docs/first-race.md"],
        ..Appendix::default()
    }
}

/// The man page's texts for a command, by its name behind `headstart`.
fn appendix_of(command: &str) -> ManAppendix {
    ManAppendix::OnOwnPage(match command {
        "" => appendix(),
        "agent" | "gateway" | "lab" => return ManAppendix::ByItsProgram,
        "analyze" => analyze::appendix(),
        "capture" => capture::appendix(),
        "completions" => completions::appendix(),
        "emulate" => emulate::appendix(),
        "pages" => pages::appendix(),
        "paths" => paths::appendix(),
        "predict" => predict::appendix(),
        "race" => race::appendix(),
        "report" => reporting::appendix(),
        "schemes" => schemes::appendix(),
        "serve" => serve::appendix(),
        _ => return ManAppendix::OnParentsPage,
    })
}

pub(crate) fn run(args: &man::ManArgs) -> Result<(), Failure> {
    args.write(Cli::command(), &appendix_of).map_err(Failure::failed)
}

#[cfg(test)]
mod tests;
