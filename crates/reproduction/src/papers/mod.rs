//! The papers' claims, as checks: `headstart lab papers`.
//!
//! A [`PaperClaim`] is an entry in the file of its family (`fs`, `ses`, …) and a line in
//! [`CLAIMS`]: the claim, its conditions, and the method that answers it. Most are answered from
//! [`Experiment`]s: a plan under `plans/papers/` (embedded), and a reader that takes figures off
//! each run. Each run is made once for all claims that need it (`run`), and a [`Book`] collects the
//! readings. The claim's function turns them into [`Findings`]: labelled figures, each with the
//! paper's interval. **The result is computed** from them (`finding`); a test compares the results
//! of a quick run with a table.
//!
//! Read on in `finding` (intervals and results), `sample` (standard errors), then a family.

mod answer;
mod book;
mod cases;
mod choices;
mod claim;
mod curve;
mod error;
mod finding;
mod ns2;
mod reading;
mod run;
mod sample;
mod search;
mod site;
mod unit;

mod bs;
mod et;
mod fs;
mod ps;
mod ses;
mod sp;

pub use answer::{ClaimAnswer, ClaimByDefault, ClaimVerdict};
pub use book::{Book, ExperimentRecord, RecordCell};
pub use choices::{
    ChoiceLevel, ClaimStanding, EditedPlan, OpenChoice, PaperReading, PaperTable, tables,
};
pub use claim::{Experiment, How, PaperClaim, Quick};
pub use curve::{Band, Curve, CurvePoint, Plot, PlotAxis};
pub use error::PapersError;
pub use finding::{Bearing, ClaimInterval, FigureLine, Findings, Paper, furthest_out};
pub(crate) use fs::stall_of_bulk;
pub use reading::{Flow, PacketStep, Readings, RunRecords};
pub use run::PreparedRuns;
pub(crate) use run::readings_of;
pub use sample::{Measured, Samples};
pub use search::{
    ClaimAcross, ClaimUnder, KnownResults, LevelRow, ReadingRow, ReadingSearch, ReadingsReport,
    TriedReading,
};
pub use site::{LogFound, NamedNetworks, SiteEngines, SiteFound};
pub use unit::{PERCENT, PLAIN, PrintedUnit, SECONDS};

/// All claims, in the order printed.
pub const CLAIMS: &[&[PaperClaim]] =
    &[fs::CLAIMS, ses::CLAIMS, sp::CLAIMS, ps::CLAIMS, et::CLAIMS, bs::CLAIMS];

/// Returns all claims in one row.
pub fn claims() -> impl Iterator<Item = &'static PaperClaim> {
    CLAIMS.iter().copied().flatten()
}

/// Returns the claims of these names, in the order of all; a family's name stands for all of its
/// claims, and no names for all there are. Case does not matter.
///
/// # Errors
/// If a name is none, with the nearest that are.
pub fn select(names: &[String]) -> Result<Vec<&'static PaperClaim>, PapersError> {
    let matches = |claim: &PaperClaim, name: &str| {
        claim.id.eq_ignore_ascii_case(name) || claim.family().eq_ignore_ascii_case(name)
    };
    if let Some(name) = names.iter().find(|name| !claims().any(|claim| matches(claim, name))) {
        let known: Vec<&str> = claims().map(|claim| claim.id).collect();
        return Err(PapersError(support::errors::unknown(
            "claim",
            name,
            &known,
            "`headstart lab papers --list` lists them",
        )));
    }
    let wanted = |claim: &&PaperClaim| names.is_empty() || names.iter().any(|n| matches(claim, n));
    Ok(claims().filter(wanted).collect())
}

/// Answers claims from their measurements, under the chosen readings of their papers.
pub fn answer(claims: &[&'static PaperClaim], book: &Book) -> Vec<ClaimAnswer> {
    let find = |claim: &PaperClaim, book: &Book| match claim.how {
        How::Experiments(_, find) => find(book),
        How::Theory(find) => find(),
        How::Site(find) | How::Log(find) => find(book),
        How::Pending => Findings::default(),
    };
    let under = book.under_chosen();
    let one = |claim: &&'static PaperClaim| {
        let changed = claim.experiments().iter().any(|e| book.has_chosen(e.name));
        let former = changed.then(|| find(claim, book));
        ClaimAnswer::new(claim, find(claim, &under), former, book)
    };
    claims.iter().map(one).collect()
}
