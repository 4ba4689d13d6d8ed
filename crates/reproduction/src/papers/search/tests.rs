//! That the tables can be run: every level is one, of plans that there are.

use super::*;
use crate::papers::choices::PlanEdit;
use crate::papers::{EditedPlan, PaperClaim, PreparedRuns, claims, tables};

/// Every level of every choice, alone, makes plans that can be read.
#[test]
fn every_level_makes_plans_that_can_be_run() {
    for table in tables().unwrap() {
        let own: Vec<&PaperClaim> = claims().filter(|claim| table.is_of(claim)).collect();
        let search = ReadingSearch::new(table, KnownResults::default(), (1, 0, true));
        for reading in search.alone() {
            let mut plans: Vec<EditedPlan> = Vec::new();
            for experiment in own.iter().flat_map(|claim| claim.experiments()) {
                plans.extend(EditedPlan::new(table, &reading, experiment).unwrap());
            }
            let runs = PreparedRuns::under(&own, &plans, true).unwrap().len();
            assert!(runs > 0, "{}", table.named(&reading));
        }
    }
}

/// Plans and values that verdicts are read from exist, and so does every plan that an edit names.
#[test]
fn what_tables_name_is_there() {
    for table in tables().unwrap() {
        let own: Vec<&PaperClaim> = claims().filter(|claim| table.is_of(claim)).collect();
        let experiments: Vec<_> = own.iter().flat_map(|claim| claim.experiments()).collect();
        for (name, judged) in &table.judged {
            let experiment = experiments.iter().find(|e| e.name == name).expect(name);
            let plan = plan::Plan::outline(name, experiment.plan).unwrap();
            let places: Vec<_> = (0..plan.cell_count()).flat_map(|c| plan.coordinates(c)).collect();
            for (key, value) in judged.iter().flat_map(|(key, v)| v.iter().map(move |v| (key, v))) {
                let found = places.iter().any(|place| place.key == *key && place.value == *value);
                assert!(found, "{name}: no {key} = {value}");
            }
        }
        let levels = table.choices.iter().flat_map(|choice| &choice.levels);
        for edit in levels.flat_map(|level| &level.edits) {
            for named in &edit.plans {
                let one = PlanEdit { plans: vec![named.clone()], ..edit.clone() };
                assert!(table.judged.keys().any(|plan| one.is_for(plan)), "{named}: no such plan");
            }
        }
    }
}
