//! The table of a paper's open choices, as its file has it.

use super::super::claim::PaperClaim;
use super::super::error::PapersError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// The open choices of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperTable {
    /// The paper, as claims cite it.
    pub paper: String,
    /// Families of its claims.
    pub families: Vec<String>,
    /// For each plan, swept keys and the values that results are read from. No result depends on a
    /// plan that is not listed, and no reading changes it.
    pub(in crate::papers) judged: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// The open choices.
    #[serde(rename = "choice")]
    pub choices: Vec<OpenChoice>,
    /// Readings to try before the search draws any: the levels that are not at their default.
    #[serde(default, rename = "candidate")]
    candidates: Vec<BTreeMap<String, String>>,
    /// The level chosen of each choice that does not stay at its default.
    #[serde(default)]
    pub chosen: BTreeMap<String, String>,
    /// Reasons for the chosen reading.
    #[serde(default)]
    pub reasons: String,
    /// Number of readings that were tried before the choice.
    #[serde(default)]
    pub tried: u32,
    /// Claims that hold under the chosen reading with all repeats and points, and differ in quick
    /// runs, which have too few of them.
    #[serde(default)]
    pub(in crate::papers) holds_in_full: Vec<String>,
    /// Claims that differ under the chosen reading, with their results under others.
    #[serde(default)]
    pub differs: BTreeMap<String, ClaimStanding>,
}

/// An open choice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenChoice {
    /// Its name, a word.
    pub name: String,
    /// The question that the paper leaves open.
    pub question: String,
    /// Its levels; the first is the default.
    #[serde(rename = "level")]
    pub levels: Vec<ChoiceLevel>,
}

/// A level of a choice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceLevel {
    /// Its name.
    pub name: String,
    /// Reason why the text allows it, with its section.
    pub why: String,
    /// Changes of plans; empty for the default.
    #[serde(default, rename = "edit")]
    pub(in crate::papers) edits: Vec<PlanEdit>,
    /// Changes of the figures that claims are answered from; empty for the default.
    #[serde(default, rename = "figure")]
    pub(in crate::papers) figures: Vec<FigureEdit>,
}

/// Other figures of the same runs: a time to the last byte in place of that to the last
/// acknowledgement, say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::papers) struct FigureEdit {
    /// Plans by name, or families of plans.
    pub(in crate::papers) plans: Vec<String>,
    /// Suffix of the names of these figures, after the names of the figures that they replace:
    /// `received`.
    pub(in crate::papers) variant: String,
}

impl FigureEdit {
    /// Returns true if it changes the figures read off the runs of this plan.
    pub(in crate::papers) fn is_for(&self, plan: &str) -> bool {
        names(&self.plans, plan)
    }
}

/// Returns true if one of these names is a plan's, or its family's.
fn names(these: &[String], plan: &str) -> bool {
    let is_one = |name: &String| {
        let rest = plan.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    these.iter().any(is_one)
}

/// A change of a key in plans: exactly one of `set`, `add`, `replace`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::papers) struct PlanEdit {
    /// Plans by name, or families of plans.
    pub(in crate::papers) plans: Vec<String>,
    /// The key, dotted; `schemes` is the list of schemes.
    pub(in crate::papers) key: String,
    /// Change only this value of the key.
    pub(in crate::papers) only: Option<String>,
    /// The new value.
    pub(in crate::papers) set: Option<toml::Value>,
    /// Appended to a text.
    pub(in crate::papers) add: Option<String>,
    /// The first replaced by the second within a text.
    pub(in crate::papers) replace: Option<[String; 2]>,
}

impl PlanEdit {
    /// Returns true if it changes this plan.
    pub(in crate::papers) fn is_for(&self, plan: &str) -> bool {
        names(&self.plans, plan)
    }
}

/// Results of a claim that differs under the chosen reading, under the other readings that were
/// tried.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ClaimStanding {
    /// The reading under which it holds; none if it differs under every one.
    pub holds_under: Option<String>,
    /// Claims that hold under the chosen reading and would not under that one.
    #[serde(default)]
    pub breaks: Vec<String>,
    /// Under how many readings it was run, if under fewer than the paper's.
    pub run_under: Option<u32>,
    /// True if it holds there in quick runs, and not with all repeats and points.
    #[serde(default)]
    pub quick_alone: bool,
}

impl PaperTable {
    /// Reads a table.
    ///
    /// # Errors
    /// If it is no table, or names a level that there is not: with the file.
    pub fn read(file: &str, text: &str) -> Result<Self, PapersError> {
        let table: Self =
            toml::from_str(text).map_err(|error| PapersError(format!("{file}: {error}")))?;
        table.check().map_err(|why| PapersError(format!("{file}: {why}")))?;
        Ok(table)
    }

    /// Checks that each choice has a default without edits, and that each edit is sound.
    fn check(&self) -> Result<(), String> {
        for choice in &self.choices {
            let Some((default, others)) = choice.levels.split_first() else {
                return Err(format!("choice {:?} has no level", choice.name));
            };
            if !default.edits.is_empty() || !default.figures.is_empty() {
                return Err(format!(
                    "choice {:?}: the default, its first level, edits",
                    choice.name
                ));
            }
            let edits = others.iter().flat_map(|level| &level.edits);
            for edit in edits {
                if ["repeats", "seed"].contains(&edit.key.as_str()) {
                    return Err(format!(
                        "choice {:?}: no level changes {:?}, since readings are compared by the same runs; change it in the plan",
                        choice.name, edit.key
                    ));
                }
                let ways = [edit.set.is_some(), edit.add.is_some(), edit.replace.is_some()];
                if ways.iter().filter(|is| **is).count() != 1 {
                    let (choice, key) = (&choice.name, &edit.key);
                    return Err(format!(
                        "choice {choice:?}, key {key:?}: use one of set, add, replace"
                    ));
                }
            }
        }
        self.candidates()?;
        self.chosen().map(|_| ())
    }

    /// Returns true if a claim is of this paper and answered from experiments.
    pub fn is_of(&self, claim: &PaperClaim) -> bool {
        self.families.iter().any(|family| family == claim.family())
            && !claim.experiments().is_empty()
    }

    /// Returns the reading of the plans as they stand.
    pub fn default_reading(&self) -> PaperReading {
        PaperReading(vec![0; self.choices.len()])
    }

    /// Returns the reading that was chosen.
    ///
    /// # Errors
    /// If the table names a choice or level that there is not.
    pub fn chosen(&self) -> Result<PaperReading, String> {
        self.reading_of(&self.chosen)
    }

    /// Returns the readings to try before the search draws any.
    ///
    /// # Errors
    /// Fails like [`PaperTable::chosen`].
    pub fn candidates(&self) -> Result<Vec<PaperReading>, String> {
        self.candidates.iter().map(|levels| self.reading_of(levels)).collect()
    }

    /// Returns the reading of these words, as [`PaperTable::named`] writes them.
    ///
    /// # Errors
    /// Fails like [`PaperTable::chosen`].
    #[cfg(test)]
    pub(in crate::papers) fn reading_named(&self, words: &str) -> Result<PaperReading, String> {
        let levels = words.split(' ').filter_map(|word| word.split_once('='));
        self.reading_of(&levels.map(|(c, l)| (c.to_owned(), l.to_owned())).collect())
    }

    /// Returns the reading that these levels make up; other choices keep their default.
    fn reading_of(&self, levels: &BTreeMap<String, String>) -> Result<PaperReading, String> {
        let mut reading = self.default_reading();
        for (choice, level) in levels {
            let names = self.choices.iter().map(|c| c.name.as_str()).collect::<Vec<_>>();
            let Some(place) = names.iter().position(|name| name == choice) else {
                return Err(support::errors::unknown(
                    "choice",
                    choice,
                    &names,
                    "readings name choices",
                ));
            };
            let levels: Vec<_> =
                self.choices[place].levels.iter().map(|l| l.name.as_str()).collect();
            let Some(level) = levels.iter().position(|name| name == level) else {
                return Err(support::errors::unknown(
                    "level",
                    level,
                    &levels,
                    "readings name levels",
                ));
            };
            reading.0[place] = level;
        }
        Ok(reading)
    }

    /// Returns a reading in words: the choices that are not at their default; `default` if all are.
    pub fn named(&self, reading: &PaperReading) -> String {
        let changed = self.choices.iter().zip(&reading.0).filter(|(_, level)| **level > 0);
        let named: Vec<String> = changed
            .map(|(choice, level)| format!("{}={}", choice.name, choice.levels[*level].name))
            .collect();
        if named.is_empty() { "default".to_owned() } else { named.join(" ") }
    }

    /// Returns the edits of a plan under a reading, in the order of the choices.
    pub(super) fn edits_of_plan<'t>(
        &'t self,
        reading: &PaperReading,
        plan: &str,
    ) -> Vec<&'t PlanEdit> {
        let levels = self.choices.iter().zip(&reading.0).map(|(choice, n)| &choice.levels[*n]);
        let edits = levels.flat_map(|level| &level.edits);
        edits.filter(|edit| edit.is_for(plan)).collect()
    }

    /// Returns the variants of figures that replace the plain figures of a plan's runs under a
    /// reading.
    pub(super) fn variants(&self, reading: &PaperReading, plan: &str) -> Vec<String> {
        let levels = self.choices.iter().zip(&reading.0).map(|(choice, n)| &choice.levels[*n]);
        let figures = levels.flat_map(|level| &level.figures);
        figures.filter(|edit| edit.is_for(plan)).map(|edit| edit.variant.clone()).collect()
    }
}

/// One level of each choice of a paper, by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaperReading(pub(in crate::papers) Vec<usize>);

impl PaperReading {
    /// Returns the number of choices that are not at their default.
    pub fn changes(&self) -> usize {
        self.0.iter().filter(|level| **level > 0).count()
    }

    /// Returns the reading with another level of one choice.
    #[must_use]
    pub(in crate::papers) fn with(&self, choice: usize, level: usize) -> Self {
        let mut other = self.clone();
        other.0[choice] = level;
        other
    }
}

impl fmt::Display for PaperReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&levels.join("."))
    }
}
