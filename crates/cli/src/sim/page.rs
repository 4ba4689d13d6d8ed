//! The report page of a sweep: what was run, the table, plots.

use super::show;
use crate::failure::Failure;
use crate::{pages, report_file};
use plan::Plan;
use report::{Block, Document, Links, Section, check_writable};
use results::{Manifest, PlotRequest, Plots, Summary, schemes};
use std::fs;
use std::path::{Path, PathBuf};
use units::counted;

/// A page that is going to be written.
pub(super) struct ReportPage {
    path: PathBuf,
    plots: Plots,
}

impl ReportPage {
    /// The page at `path`, after a check of what is to be plotted. `source` is the plan or the folder shown.
    pub(super) fn new(
        plan: &Plan<'_>,
        (path, source): (&Path, &Path),
        requests: &[PlotRequest],
    ) -> Result<Self, Failure> {
        let shown = path.display();
        let plots =
            Plots::of(plan, requests).map_err(|why| Failure::input(format!("--plot: {why}")))?;
        if matches!((fs::canonicalize(path), fs::canonicalize(source)), (Ok(a), Ok(b)) if a == b) {
            return Err(Failure::input(format!("--report {shown}: that is the plan itself")));
        }
        Ok(Self { path: path.to_owned(), plots })
    }

    /// Refuses a place that cannot be written.
    pub(super) fn check(&self) -> Result<(), Failure> {
        check_writable(&self.path).map_err(|error| {
            let shown = self.path.display();
            let why = error.cause();
            Failure::input(format!(
                "--report {shown}: {why}; name a file in a folder that exists and can be written"
            ))
        })
    }

    /// Writes the page; `done` is the number of runs that have a result.
    pub(super) fn write(
        &self,
        plan: &Plan<'_>,
        (summary, manifest): (&Summary, &Manifest),
        done: usize,
    ) -> Result<(), Failure> {
        let table = Section {
            heading: "Results".to_owned(),
            blocks: vec![Block::Table(show::table_of(plan, summary))],
        };
        let document = Document {
            title: match manifest.title.as_str() {
                "" => "Results of a plan".to_owned(),
                title => title.to_owned(),
            },
            facts: facts(manifest, done),
            sections: [table].into_iter().chain(self.plots.sections(plan, summary)).collect(),
            schemes: schemes(plan),
            links: Links { documents: pages::DOCUMENTS.to_owned(), ..Links::default() },
        };
        report_file::write(&self.path, &document.to_html())
    }
}

fn facts(manifest: &Manifest, done: usize) -> Vec<String> {
    let Manifest { cells, repeats, runs, seed, headstart, .. } = manifest;
    let mut facts = vec![
        format!(
            "{} × {} = {}, {done} of them done",
            counted(*cells, "cell"),
            counted(*repeats, "repeat"),
            counted(*runs, "run")
        ),
        format!("seed {seed}, headstart {headstart}"),
    ];
    if *repeats > 1 {
        facts.push(
            "Values are means over repeats; ± and bars are one standard error to each side"
                .to_owned(),
        );
    }
    facts.push(pages::explained_in(&["docs/sim.md", "docs/plans.md"]));
    facts
}
