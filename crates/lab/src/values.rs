//! Completion of the values of options, by the lists that the program reads.

use crate::sim;
use cmdline::captures::{CAPTURE_ENDINGS, sender_names};
use cmdline::complete::{Asked, Candidate, Completion, FilesOffered, schemes};
use kernel_fuzz::FuzzKind;
use reproduction::check::ns2::SUITES;
use reproduction::papers::claims;
use testbed::published::MEASUREMENTS;
use testbed::{agreement, pages, truth};

/// The values of an option or argument; `None` where clap knows them, or where any number or text
/// will do.
pub(crate) fn of(asked: &Asked<'_>) -> Option<Completion> {
    Some(match (asked.command, asked.argument) {
        ("traces", "sender") => sender_names(),
        ("papers", "access_log") => Completion::ending(&[".log", ".log.gz", ".json"]),
        ("papers", "capture") => Completion::ending(&CAPTURE_ENDINGS),
        ("traces" | "scripts", "folder") => Completion::files(FilesOffered::Folders),
        ("worlds", "load") => {
            Completion::of(agreement::load_names().map(|name| Candidate::whole(name, "")))
        }
        ("fuzz-kernel", "kind") => {
            Completion::named(FuzzKind::ALL.iter().map(|(name, _)| (*name, "")))
        }
        ("truth", "rows") => {
            Completion::of(truth::row_names().into_iter().map(|name| Candidate::whole(name, "")))
        }
        ("published", "rows") => {
            Completion::named(MEASUREMENTS.iter().map(|row| (row.name, row.source)))
        }
        ("pages", "pages") => {
            Completion::of(pages::cases().into_iter().map(|case| Candidate::whole(case.name, "")))
        }
        ("sim", "plan") | ("papers", "table") => Completion::ending(&[".toml"]),
        ("sim", "example") => Completion::named(sim::example_names().map(|name| (name, ""))),
        ("papers", "claims") => papers(),
        ("papers", "resume") => Completion::ending(&[".jsonl"]),
        ("script", "file") => Completion::ending(&[".pkt"]),
        ("ns2", "files") => Completion::ending(&[".csv"]),
        ("ns2", "suite") => {
            Completion::named(SUITES.iter().map(|suite| (suite.name(), suite.about())))
        }
        _ => return schemes::shared(asked),
    })
}

/// Claims, and families of them.
fn papers() -> Completion {
    let mut families: Vec<&str> = claims().map(|claim| claim.family()).collect();
    families.dedup();
    let families = families.into_iter().map(|family| Candidate::whole(family, "all of the family"));
    Completion::of(families.chain(claims().map(|claim| Candidate::whole(claim.id, claim.text))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lab;
    use clap::CommandFactory;
    use cmdline::complete::unlisted;

    /// Values that no program can list: numbers, times, names that the user makes up.
    const FREE: &[&str] = &[
        "arguments",
        "budget",
        "cells",
        "date",
        "jobs",
        "more",
        "plot",
        "repeat",
        "scripts",
        "seed",
        "seeds",
        "segments",
        "shard",
        "shrink",
        "sizes",
    ];

    #[test]
    fn every_option_has_its_values() {
        assert_eq!(unlisted(Lab::command(), &of), FREE);
    }
}
