//! Report of a search: which reading makes most claims hold, which choice decides which claim, and
//! which claims hold under none.

use super::super::choices::OpenChoice;
use super::course::{ReadingSearch, TriedReading};
use serde::Serialize;

/// Findings of a search through a paper's readings.
#[derive(Clone, Debug, Serialize)]
pub struct ReadingsReport {
    /// The paper.
    pub paper: String,
    /// Seed of the search.
    pub seed: u64,
    /// Combinations tried after the levels alone.
    pub budget: usize,
    /// Readings that were tried.
    pub tried: usize,
    /// The claims of the paper.
    pub claims: Vec<String>,
    /// Readings, best first, by quick runs if these were asked for or searched with.
    pub readings: Vec<ReadingRow>,
    /// Each level alone.
    pub levels: Vec<LevelRow>,
    /// Results of each claim across all readings.
    pub across: Vec<ClaimAcross>,
    /// The best readings of the search with all repeats and points, best first; empty in a quick
    /// one.
    pub in_full: Vec<ReadingRow>,
}

/// A reading and the claims that hold under it.
#[derive(Clone, Debug, Serialize)]
pub struct ReadingRow {
    /// Its choices that are not at their default.
    pub reading: String,
    /// The claims that hold.
    pub holds: Vec<String>,
}

/// A level alone, against the default.
#[derive(Clone, Debug, Serialize)]
pub struct LevelRow {
    /// The choice.
    pub choice: String,
    /// The level.
    pub level: String,
    /// Claims that hold under it.
    pub holding: usize,
    /// Claims that hold under it and not by default.
    pub gains: Vec<String>,
    /// Claims that hold by default and not under it.
    pub loses: Vec<String>,
}

/// Results of a claim across readings.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimAcross {
    /// The claim.
    pub claim: String,
    /// Readings under which it holds.
    pub holding: usize,
    /// The reading among them with the fewest changes; none if the claim differs under every one.
    pub simplest: Option<String>,
    /// Claims that hold under the best reading and not under that one.
    pub breaks: Vec<String>,
}

impl ReadingsReport {
    /// Creates the findings of a search, and the full results of its best readings, if they were
    /// run.
    pub fn new(search: &ReadingSearch<'_>, full: Option<&ReadingSearch<'_>>) -> Self {
        let claims = search.tried.first().map_or(Vec::new(), claims_of);
        Self {
            paper: search.table.paper.clone(),
            seed: search.seed,
            budget: search.budget,
            tried: search.tried.len(),
            readings: reading_rows(search),
            levels: levels(search),
            across: claims.iter().map(|claim| across(search, claim)).collect(),
            claims,
            in_full: full.map_or(Vec::new(), reading_rows),
        }
    }
}

fn claims_of(tried: &TriedReading) -> Vec<String> {
    tried.results.iter().map(|result| result.claim.clone()).collect()
}

fn holding_claims(tried: &TriedReading) -> Vec<String> {
    let holds = tried.results.iter().filter(|result| result.holds);
    holds.map(|result| result.claim.clone()).collect()
}

/// Claims of the first list that are not in the second.
fn difference(these: &[String], those: &[String]) -> Vec<String> {
    these.iter().filter(|claim| !those.contains(claim)).cloned().collect()
}

fn reading_rows(search: &ReadingSearch<'_>) -> Vec<ReadingRow> {
    let row = |tried: &&TriedReading| ReadingRow {
        reading: search.table.named(&tried.reading),
        holds: holding_claims(tried),
    };
    search.best(usize::MAX).iter().map(row).collect()
}

/// Lists for each level which claims it gains and loses, compared with the default.
fn levels(search: &ReadingSearch<'_>) -> Vec<LevelRow> {
    let Some(default) = search.tried.first().map(holding_claims) else { return Vec::new() };
    let choices = search.table.choices.iter().enumerate();
    let levels = choices.flat_map(|(place, choice)| {
        (1..choice.levels.len()).map(move |level| (place, choice, level))
    });
    let row = |((place, choice, level), tried): ((usize, &OpenChoice, usize), &TriedReading)| {
        debug_assert_eq!(tried.reading.0[place], level);
        let holds = holding_claims(tried);
        LevelRow {
            choice: choice.name.clone(),
            level: choice.levels[level].name.clone(),
            holding: holds.len(),
            gains: difference(&holds, &default),
            loses: difference(&default, &holds),
        }
    };
    levels.zip(search.tried.iter().skip(1)).map(row).collect()
}

/// Describes a claim across all readings: how many make it hold, and the simplest of these.
fn across(search: &ReadingSearch<'_>, claim: &str) -> ClaimAcross {
    let holds = |tried: &&&TriedReading| {
        tried.results.iter().any(|result| result.claim == claim && result.holds)
    };
    let best = search.best(usize::MAX);
    let simplest = best.iter().filter(holds).min_by_key(|tried| tried.reading.changes());
    let top = best.first().map_or(Vec::new(), |tried| holding_claims(tried));
    ClaimAcross {
        claim: claim.to_owned(),
        holding: best.iter().filter(holds).count(),
        simplest: simplest.map(|tried| search.table.named(&tried.reading)),
        breaks: simplest.map_or(Vec::new(), |tried| difference(&top, &holding_claims(tried))),
    }
}
