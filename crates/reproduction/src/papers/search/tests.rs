//! That the tables can be run, and that a search depends on its seed and its results alone.

use super::*;
use crate::papers::choices::{FigureEdit, PlanEdit};
use crate::papers::{EditedPlan, PaperClaim, PaperTable, PreparedRuns, claims, tables};

/// Every level of every choice, alone, makes plans that can be read.
#[test]
fn every_level_makes_plans_that_can_be_run() {
    for table in tables().unwrap() {
        let own: Vec<&'static PaperClaim> = claims().filter(|claim| table.is_of(claim)).collect();
        let search = ReadingSearch::new((table, &own), KnownResults::default(), (1, 0, true));
        for reading in search.alone() {
            let mut plans: Vec<EditedPlan> = Vec::new();
            for experiment in own.iter().flat_map(|claim| claim.experiments()) {
                plans.extend(EditedPlan::new(table, &reading, experiment).unwrap());
            }
            // Those that the level leaves as they are make the runs of the default.
            plans.retain(|plan| plan.changed);
            let runs = PreparedRuns::under(&own, &plans, true).unwrap().len();
            assert_eq!(runs > 0, reading.changes() > 0, "{}", table.named(&reading));
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
        let levels = || table.choices.iter().flat_map(|choice| &choice.levels);
        for edit in levels().flat_map(|level| &level.figures) {
            for named in &edit.plans {
                let one = FigureEdit { plans: vec![named.clone()], ..edit.clone() };
                assert!(table.judged.keys().any(|plan| one.is_for(plan)), "{named}: no such plan");
            }
        }
        for edit in levels().flat_map(|level| &level.edits) {
            for named in &edit.plans {
                let one = PlanEdit { plans: vec![named.clone()], ..edit.clone() };
                assert!(table.judged.keys().any(|plan| one.is_for(plan)), "{named}: no such plan");
            }
        }
        for claim in table.differs.keys() {
            assert!(own.iter().any(|own| own.id == claim), "{claim}: no claim of the paper");
        }
    }
}

/// Two members of one session of ET-6, so cheap that a test can search.
const SMALL: &str = r#"
paper = "Eggert, Heidemann & Touch 2000"
families = ["ET"]
[judged]
ET-6 = {}
ET-6-one = {}
[[choice]]
name = "window"
question = "?"
level = [
    { name = "20", why = "" },
    { name = "1000", why = "", edit = [{ plans = ["ET-6"], key = "parameters", replace = ["=20", "=1000"] }] },
]
[[choice]]
name = "header"
question = "?"
level = [
    { name = "40", why = "" },
    { name = "0", why = "", edit = [{ plans = ["ET-6"], key = "packets.data_overhead", set = 0 }] },
    { name = "20", why = "", edit = [{ plans = ["ET-6"], key = "packets.data_overhead", set = 20 }] },
]
"#;

/// The readings tried, in their order, and all that was found, as lines.
fn searched(table: &PaperTable, known: KnownResults) -> (Vec<String>, String) {
    let all: Vec<&'static PaperClaim> = claims().collect();
    let mut search = ReadingSearch::new((table, &all), known, (7, 2, true));
    let (mut tried, mut lines) = (Vec::new(), String::new());
    while let Some(reading) = search.next_reading() {
        for new in search.run(&reading, 1).unwrap() {
            lines += &(new.line().unwrap() + "\n");
        }
        tried.push(table.named(&reading));
    }
    (tried, lines)
}

/// The default, three levels alone, and the two combinations that two choices of two and three levels have beyond
/// these: six readings. A search that continues from what another left runs nothing twice and tries the same.
#[test]
fn a_search_is_the_same_again_also_from_a_file_that_was_cut_off() {
    let table = PaperTable::read("small", SMALL).unwrap();
    let (tried, lines) = searched(&table, KnownResults::default());
    assert_eq!(tried[..4], ["default", "window=1000", "header=0", "header=20"]);
    let mut combined = tried[4..].to_vec();
    combined.sort();
    assert_eq!(combined, ["window=1000 header=0", "window=1000 header=20"]);
    let (again, none) = searched(&table, KnownResults::read(&lines).unwrap());
    assert_eq!((again, none.as_str()), (tried.clone(), ""));
    // Half of the last line that is there was not written before the interruption.
    let cut = &lines[..lines.len() / 2];
    let (again, rest) = searched(&table, KnownResults::read(cut).unwrap());
    let kept = cut.rfind('\n').map_or(0, |end| end + 1);
    assert_eq!((again, lines[..kept].to_owned() + &rest), (tried, lines.clone()));
    let error = KnownResults::read("{\n").unwrap_err().to_string();
    assert!(error.starts_with("line 1:"), "{error}");
}

/// A search over one claim runs nothing for the paper's others, and finds for it what a search over all finds.
#[test]
fn a_search_over_one_claim_runs_that_claim_alone() {
    let table = PaperTable::read("small", SMALL).unwrap();
    let (all, one): (Vec<&'static PaperClaim>, Vec<&'static PaperClaim>) =
        (claims().collect(), claims().filter(|claim| claim.id == "ET-6").collect());
    let found = |wanted: &[&'static PaperClaim]| {
        let mut search =
            ReadingSearch::new((&table, wanted), KnownResults::default(), (7, 0, true));
        let reading = search.next_reading().unwrap();
        search.run(&reading, 1).unwrap()
    };
    let [of_all, of_one] = [found(&all), found(&one)];
    // Of the table's plans, ET-6 alone is answered from ET-6 and ET-6-one; the others have no plan in it.
    assert_eq!(of_one.len(), 1);
    assert!(of_all.contains(&of_one[0]));
}

/// A table that names what there is not is refused with the nearest that is.
#[test]
fn a_chosen_level_that_there_is_not_is_refused() {
    let error = PaperTable::read("t.toml", &format!("chosen = {{ windov = '20' }}\n{SMALL}"));
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("t.toml:") && error.contains("mean \"window\""), "{error}");
}
