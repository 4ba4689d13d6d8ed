//! Open choices of the papers, and the readings that follow.
//!
//! A [`PaperTable`] is a file under `plans/readings/`: the open choices of a paper, their levels,
//! why the text allows each, and the reading that was chosen. A [`PaperReading`] picks one level of
//! each choice, for all claims of the paper alike. [`EditedPlan`] is an experiment's plan under a
//! reading.

mod edit;
mod table;

pub use edit::EditedPlan;
pub use table::{ChoiceLevel, ClaimStanding, OpenChoice, PaperReading, PaperTable};
#[cfg(test)]
pub(super) use table::{FigureEdit, PlanEdit};

use super::claim::PaperClaim;
use super::error::PapersError;
use std::sync::LazyLock;

static TABLES: LazyLock<Result<Vec<PaperTable>, PapersError>> = LazyLock::new(|| {
    macro_rules! file {
        ($name:literal) => {
            ($name, include_str!(concat!("../../../../../plans/readings/", $name)))
        };
    }
    let texts = [
        file!("fast-start.toml"),
        file!("spand.toml"),
        file!("paced-start.toml"),
        file!("ensemble-tcp.toml"),
        file!("busy-server.toml"),
    ];
    texts.into_iter().map(|(file, text)| PaperTable::read(file, text)).collect()
});

static CHOSEN: LazyLock<Result<Vec<EditedPlan>, PapersError>> = LazyLock::new(|| {
    let mut plans: Vec<EditedPlan> = Vec::new();
    for table in tables()? {
        let reading = table.chosen().map_err(PapersError)?;
        let own = super::claims().filter(|claim| table.is_of(claim));
        for experiment in own.flat_map(|claim| claim.experiments()) {
            if plans.iter().all(|plan| plan.experiment.name != experiment.name) {
                plans.extend(EditedPlan::new(table, &reading, experiment)?);
            }
        }
    }
    Ok(plans)
});

/// Returns the plans of all papers under the readings that were chosen.
///
/// # Errors
/// If a table or a plan is wrong.
pub(super) fn chosen_plans() -> Result<&'static [EditedPlan], PapersError> {
    CHOSEN.as_deref().map_err(Clone::clone)
}

/// Returns the tables of all papers.
///
/// # Errors
/// If one is wrong: with file and line.
pub fn tables() -> Result<&'static [PaperTable], PapersError> {
    TABLES.as_deref().map_err(Clone::clone)
}

/// Returns the table of a claim's paper, if the paper leaves anything open.
pub(super) fn table_of(claim: &PaperClaim) -> Option<&'static PaperTable> {
    tables().ok()?.iter().find(|table| table.is_of(claim))
}
