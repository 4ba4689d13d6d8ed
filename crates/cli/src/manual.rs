//! What stands behind the options of all commands, and `headstart man`, which writes it all as man pages.

use crate::failure::Failure;
use crate::{
    Cli, analyze, capture, check, completions, emulate, gateway, merge, pages, papers, paths,
    predict, race, reporting, schemes, scoreboard, script, serve, sim, theory,
};
use clap::CommandFactory;
use cmdline::Appendix;
use cmdline::man::{self, Told};

/// What stands behind the list of commands.
pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart race", "Races a page of today over a cable line."),
            (
                "headstart race page.har --path 20mbit,80ms,100p --report page.html",
                "Races a page that you recorded, and writes a report with pictures.",
            ),
            (
                "headstart sim plan.toml",
                "Runs an experiment: any topology, queue and workload, varied.",
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

/// What is told of a command, by its name behind `headstart`.
fn told(command: &str) -> Told {
    Told::OnOwnPage(match command {
        "" => appendix(),
        "agent" => return Told::ByItsProgram,
        "analyze" => analyze::appendix(),
        "capture" => capture::appendix(),
        "check" => check::appendix(),
        "check ns2" => check::ns2_appendix(),
        "check scripts" => check::scripts_appendix(),
        "check traces" => check::traces_appendix(),
        "check worlds" => check::worlds_appendix(),
        "check agent" => check::agent_appendix(),
        "check harm" => check::harm_appendix(),
        "completions" => completions::appendix(),
        "emulate" => emulate::appendix(),
        "gateway" => gateway::appendix(),
        "gateway ask" => gateway::ask_appendix(),
        "gateway forget" => gateway::forget_appendix(),
        "gateway init" => gateway::init_appendix(),
        "gateway certificate" => gateway::certificate_appendix(),
        "gateway replay" => gateway::replay_appendix(),
        "gateway load" => gateway::load_appendix(),
        "gateway revoke" => gateway::revoke_appendix(),
        "gateway status" => gateway::status_appendix(),
        "merge" => merge::appendix(),
        "pages" => pages::appendix(),
        "papers" => papers::appendix(),
        "paths" => paths::appendix(),
        "predict" => predict::appendix(),
        "race" => race::appendix(),
        "report" => reporting::appendix(),
        "schemes" => schemes::appendix(),
        "scoreboard" => scoreboard::appendix(),
        "script" => script::appendix(),
        "serve" => serve::appendix(),
        "sim" => sim::appendix(),
        "theory" => theory::appendix(),
        _ => return Told::OnParentsPage,
    })
}

pub(crate) fn run(args: &man::ManArgs) -> Result<(), Failure> {
    args.write(Cli::command(), &told).map_err(Failure::failed)
}

#[cfg(test)]
mod tests;
