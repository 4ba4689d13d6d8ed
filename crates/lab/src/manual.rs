//! Appendices of all commands, for `--help` and man pages.

use crate::{check, merge, papers, scoreboard, script, sim, theory};
use cmdline::Appendix;
use cmdline::man::ManAppendix;

/// The appendix of the program.
pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart lab sim plan.toml",
                "Runs an experiment: any topology, queue and workload, varied.",
            ),
            ("headstart lab papers --list", "Lists the papers' claims that can be checked."),
            ("headstart lab check ns2 --quick", "Checks the simulator against ns-2."),
        ],
        exit: &[
            ("0", "done, and all checks hold"),
            ("1", "a run or a check failed"),
            ("2", "the input is wrong, or a privilege is missing"),
            ("130", "interrupted"),
        ],
        see_also: &["headstart"],
        more: &["docs/sim.md", "docs/papers.md", "docs/validation.md"],
        ..Appendix::default()
    }
}

/// The appendix of a command, by its name behind `headstart lab`.
pub(crate) fn appendix_of(command: &str) -> ManAppendix {
    ManAppendix::OnOwnPage(match command {
        "" => appendix(),
        "check" => check::appendix(),
        "check fuzz-kernel" => check::fuzz_kernel_appendix(),
        "check ns2" => check::ns2_appendix(),
        "check pages" => check::pages_appendix(),
        "check published" => check::published_appendix(),
        "check quic" => check::quic_appendix(),
        "check scripts" => check::scripts_appendix(),
        "check traces" => check::traces_appendix(),
        "check truth" => check::truth_appendix(),
        "check worlds" => check::worlds_appendix(),
        "check agent" => check::agent_appendix(),
        "check harm" => check::harm_appendix(),
        "merge" => merge::appendix(),
        "papers" => papers::appendix(),
        "scoreboard" => scoreboard::appendix(),
        "script" => script::appendix(),
        "sim" => sim::appendix(),
        "theory" => theory::appendix(),
        _ => return ManAppendix::OnParentsPage,
    })
}

#[cfg(test)]
mod tests;
