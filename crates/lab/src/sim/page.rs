//! The report page of a sweep: what was run, the table, plots.

use super::show;
use cmdline::{Failure, installed, report_file};
use experiment::plan::Plan;
use experiment::results::{Manifest, PlotRequest, Plots, Summary, schemes};
use report::{Block, Document, Links, Section};
use std::path::{Path, PathBuf};
use units::counted;

/// A page that is going to be written.
pub(super) struct ReportPage {
    path: PathBuf,
    /// The plan or the folder that is shown.
    source: PathBuf,
    plots: Plots,
}

impl ReportPage {
    /// The page at `path`, after a check of what is to be plotted. `source` is the plan or the
    /// folder shown.
    pub(super) fn new(
        plan: &Plan<'_>,
        path: &Path,
        source: &Path,
        requests: &[PlotRequest],
    ) -> Result<Self, Failure> {
        let plots =
            Plots::of(plan, requests).map_err(|why| Failure::input(format!("--plot: {why}")))?;
        Ok(Self { path: path.to_owned(), source: source.to_owned(), plots })
    }

    /// Refuses a path that cannot be written, and the plan itself.
    pub(super) fn check(&self) -> Result<(), Failure> {
        report_file::check(&self.path, [self.source.as_path()])
    }

    /// True if the page's folder is not there: the folder of the results may become it.
    pub(super) fn has_no_folder(&self) -> bool {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.is_some_and(|folder| !folder.exists())
    }

    /// Writes the page; `done` is the number of runs that have a result.
    pub(super) fn write(
        &self,
        plan: &Plan<'_>,
        summary: &Summary,
        manifest: &Manifest,
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
            facts: run_facts(manifest, done),
            sections: [table].into_iter().chain(self.plots.sections(plan, summary)).collect(),
            schemes: schemes(plan),
            links: Links { documents: installed::documents(), ..Links::default() },
        };
        report_file::write(&self.path, &document.to_html())
    }
}

fn run_facts(manifest: &Manifest, done: usize) -> Vec<String> {
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
    facts.push(installed::explained_in(&["docs/sim.md", "docs/plans.md"]));
    facts
}
