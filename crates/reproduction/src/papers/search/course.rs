//! The search for the reading under which most claims of a paper hold.
//!
//! The search tries the default and every level of each choice alone, then the table's candidates,
//! then combinations up to a budget. Three of four combinations are neighbours of the best reading
//! so far; every fourth is drawn from all. The next reading follows from the seed and from earlier
//! results alone. A search that continues from a file therefore ends like one that was never
//! interrupted.

use super::super::book::Book;
use super::super::choices::EditedPlan;
use super::super::choices::{PaperReading, PaperTable};
use super::super::claim::{Experiment, PaperClaim};
use super::super::error::PapersError;
use super::super::run::PreparedRuns;
use super::super::{ClaimAnswer, answer};
use super::known::{ClaimUnder, KnownResults};
use experiment::plan::Plan;
use netsim::derive_seed;
use std::cmp::Reverse;

/// Draws before a combination that was not tried yet is given up.
const MAX_DRAWS: u32 = 1000;

/// A reading and how the claims did under it.
#[derive(Clone, Debug)]
pub struct TriedReading {
    /// The reading.
    pub reading: PaperReading,
    /// The claims that were run, in their order.
    pub results: Vec<ClaimUnder>,
}

impl TriedReading {
    /// Returns the number of claims that hold.
    pub fn claims_that_hold(&self) -> usize {
        self.results.iter().filter(|result| result.holds).count()
    }

    /// Returns the rank of readings: first the claims that hold; then the lines that hold, weighted
    /// alike for each claim; then fewer changes.
    fn rank(&self) -> (usize, u64, Reverse<usize>) {
        let part = |result: &ClaimUnder| 1000 * result.held as u64 / result.lines.max(1) as u64;
        let parts = self.results.iter().map(part).sum();
        (self.claims_that_hold(), parts, Reverse(self.reading.changes()))
    }
}

/// A search over the readings of one paper.
#[derive(Debug)]
pub struct ReadingSearch<'t> {
    pub(super) table: &'t PaperTable,
    claims: Vec<&'static PaperClaim>,
    quick: bool,
    pub(super) seed: u64,
    /// Number of combinations to try after the levels alone.
    pub(super) budget: usize,
    known: KnownResults,
    pub(super) tried: Vec<TriedReading>,
}

impl<'t> ReadingSearch<'t> {
    /// Creates a search with a seed and a budget of combinations to try after the levels alone.
    /// Results in `known` are not run again. Runs are quick: they make a part of each experiment.
    /// Only the `wanted` claims of the paper are run. The result of a claim does not depend on the
    /// others, but the course of the search does.
    pub fn new(
        table: &'t PaperTable,
        wanted: &[&'static PaperClaim],
        known: KnownResults,
        seed: u64,
        budget: usize,
    ) -> Self {
        let claims = wanted.iter().copied().filter(|claim| table.is_of(claim)).collect();
        Self { table, claims, quick: true, seed, budget, known, tried: Vec::new() }
    }

    /// Returns the search with all repeats and points of the experiments, before any reading was
    /// tried.
    #[must_use]
    pub fn in_full(&self) -> Self {
        let known = self.known.clone();
        Self { claims: self.claims.clone(), known, tried: Vec::new(), quick: false, ..*self }
    }

    /// Returns the number of readings that the search makes at most.
    pub fn most(&self) -> usize {
        self.given_readings().len() + self.budget
    }

    /// Returns the readings that were tried.
    pub fn tried_readings(&self) -> &[TriedReading] {
        &self.tried
    }

    /// Returns the default and each level alone.
    pub(super) fn single_levels(&self) -> Vec<PaperReading> {
        let default = self.table.default_reading();
        let choices = self.table.choices.iter().enumerate();
        let levels = choices.flat_map(|(place, choice)| {
            let default = &default;
            (1..choice.levels.len()).map(move |level| default.with(place, level))
        });
        let levels: Vec<PaperReading> = levels.collect();
        std::iter::once(default).chain(levels).collect()
    }

    /// Returns the readings tried before any is drawn: levels alone, and candidates that are no
    /// single level.
    fn given_readings(&self) -> Vec<PaperReading> {
        let mut given = self.single_levels();
        // Checked when the table was read.
        for candidate in self.table.candidates().unwrap_or_default() {
            if !given.contains(&candidate) {
                given.push(candidate);
            }
        }
        given
    }

    /// Returns the reading to try next; none if the budget is spent or all readings were tried.
    pub fn next_reading(&self) -> Option<PaperReading> {
        let given = self.given_readings();
        match given.get(self.tried.len()) {
            Some(reading) => Some(reading.clone()),
            None if self.tried.len() >= self.most() => None,
            None => self.combination(self.tried.len() - given.len()),
        }
    }

    /// Returns combination `number` of levels: first the level of each choice that is best alone,
    /// then drawn ones.
    fn combination(&self, number: usize) -> Option<PaperReading> {
        let best = self.best(1).first()?.reading.clone();
        let fresh = |reading: &PaperReading| !self.tried.iter().any(|t| t.reading == *reading);
        if number == 0 {
            return Some(self.of_the_best_alone())
                .filter(fresh)
                .or_else(|| self.draw_reading(0, &best));
        }
        self.draw_reading(number, &best)
    }

    /// Returns a reading that was not tried: near `best`, or any.
    fn draw_reading(&self, number: usize, best: &PaperReading) -> Option<PaperReading> {
        let fresh = |reading: &PaperReading| !self.tried.iter().any(|t| t.reading == *reading);
        (0..MAX_DRAWS)
            .map(|draw| {
                let random = |what: &str, below: usize| {
                    let name = format!("combination/{number}/{draw}/{what}");
                    (derive_seed(self.seed, &name) % below.max(1) as u64) as usize
                };
                let level = |place: usize| {
                    random(&format!("level/{place}"), self.table.choices[place].levels.len())
                };
                let count = self.table.choices.len();
                match number % 4 {
                    3 => PaperReading((0..count).map(level).collect()),
                    _ => {
                        // Later draws go further, for the neighbourhood may be known already.
                        let steps = 1 + random("steps", 2 + draw as usize / 50);
                        let places = (0..steps).map(|step| random(&format!("place/{step}"), count));
                        places
                            .fold(best.clone(), |reading, place| reading.with(place, level(place)))
                    }
                }
            })
            .find(fresh)
    }

    /// Returns the reading that combines, for each choice, the level that is best alone.
    fn of_the_best_alone(&self) -> PaperReading {
        let mut reading = self.table.default_reading();
        let Some(default) = self.tried.first() else { return reading };
        for place in 0..reading.0.len() {
            let alone = self.tried[1..self.single_levels().len()].iter();
            let of_choice = alone.filter(|tried| tried.reading.0[place] > 0);
            let best = of_choice.filter(|tried| tried.rank() > default.rank());
            if let Some(best) = best.max_by_key(|tried| tried.rank()) {
                reading.0[place] = best.reading.0[place];
            }
        }
        reading
    }

    /// Returns the best readings so far, best first; of equals the one tried first.
    pub fn best(&self, most: usize) -> Vec<&TriedReading> {
        let mut all: Vec<&TriedReading> = self.tried.iter().collect();
        all.sort_by_key(|tried| Reverse(tried.rank()));
        all.truncate(most);
        all
    }

    /// Tries a reading on `threads` threads (0: one per core), and returns the results that were
    /// not known before.
    ///
    /// # Errors
    /// If a plan cannot be run under the reading.
    pub fn run(
        &mut self,
        reading: &PaperReading,
        threads: usize,
    ) -> Result<Vec<ClaimUnder>, PapersError> {
        let plans = self.plans(reading)?;
        let keys: Vec<String> =
            self.claims.iter().map(|c| self.key(c, &plans)).collect::<Result<_, _>>()?;
        let known = |(claim, key): &(&&'static PaperClaim, &String)| self.known.get(claim.id, key);
        let missing = self.claims.iter().zip(&keys).filter(|pair| known(pair).is_none());
        let (missing, missing_keys): (Vec<&'static PaperClaim>, Vec<&String>) =
            missing.map(|(claim, key)| (*claim, key)).unzip();
        let answers = self.run_and_answer(&missing, &plans, threads)?;
        let new: Vec<ClaimUnder> = answers
            .iter()
            .zip(missing_keys)
            .map(|(answer, key)| ClaimUnder::new(answer, key.clone()))
            .collect();
        new.iter().for_each(|result| self.known.add(result.clone()));
        let results = self.claims.iter().zip(&keys);
        let results = results.filter_map(|(claim, key)| self.known.get(claim.id, key).cloned());
        self.tried.push(TriedReading { reading: reading.clone(), results: results.collect() });
        Ok(new)
    }

    /// Returns the plans of all experiments under a reading, each once.
    fn plans(&self, reading: &PaperReading) -> Result<Vec<EditedPlan>, PapersError> {
        let mut plans: Vec<EditedPlan> = Vec::new();
        for experiment in self.claims.iter().flat_map(|claim| claim.experiments()) {
            let is_new = |plan: &EditedPlan| plan.experiment.name != experiment.name;
            if plans.iter().all(is_new) {
                plans.extend(EditedPlan::new(self.table, reading, experiment)?);
            }
        }
        Ok(plans)
    }

    /// Identifies the runs of a claim.
    fn key(&self, claim: &PaperClaim, plans: &[EditedPlan]) -> Result<String, PapersError> {
        let of =
            |experiment: &&&Experiment| plans.iter().find(|p| p.experiment.name == experiment.name);
        let own = claim.experiments().iter().filter_map(|experiment| of(&experiment));
        let hashes = own.map(|own| {
            let text = own.text_with_judged();
            let plan = Plan::outline(own.experiment.name, &text);
            let plan = plan.map_err(|error| PapersError(error.to_string()))?;
            let read = own.variants.iter().map(|variant| format!(".{variant}"));
            Ok(plan.hash()[..12].to_owned() + &read.collect::<String>())
        });
        let hashes: Vec<String> = hashes.collect::<Result<_, _>>()?;
        let extent = if self.quick { "quick" } else { "full" };
        Ok(format!("{} {extent} {}", env!("CARGO_PKG_VERSION"), hashes.join("+")))
    }

    /// Runs the experiments of some claims under a reading, and answers these claims.
    fn run_and_answer(
        &self,
        claims: &[&'static PaperClaim],
        plans: &[EditedPlan],
        threads: usize,
    ) -> Result<Vec<ClaimAnswer>, PapersError> {
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        let book: Book = PreparedRuns::under(claims, plans, self.quick)?.run(threads, &|| {})?;
        Ok(answer(claims, &book))
    }
}
