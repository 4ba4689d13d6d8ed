//! Tests that the tables can be run, and that a search depends on its seed and its results alone.

use super::*;
use crate::papers::choices::{FigureEdit, PlanEdit};
use crate::papers::{EditedPlan, PaperClaim, PaperTable, PreparedRuns, claims, tables};

/// Every level of every choice, alone, makes plans that can be read.
#[test]
fn every_level_makes_plans_that_can_be_run() {
    for table in tables().unwrap() {
        let own: Vec<&'static PaperClaim> = claims().filter(|claim| table.is_of(claim)).collect();
        let search = ReadingSearch::new(table, &own, KnownResults::default(), 1, 0);
        for reading in search.single_levels() {
            let mut plans: Vec<EditedPlan> = Vec::new();
            for experiment in own.iter().flat_map(|claim| claim.experiments()) {
                plans.extend(EditedPlan::new(table, &reading, experiment).unwrap());
            }
            // Plans that the level leaves unchanged make the runs of the default.
            plans.retain(|plan| plan.changed);
            let runs = PreparedRuns::under(&own, &plans, true).unwrap().len();
            assert_eq!(runs > 0, reading.changes() > 0, "{}", table.named(&reading));
        }
    }
}

/// Plans and values that results are read from exist, and so does every plan that an edit names.
#[test]
fn what_tables_name_is_there() {
    for table in tables().unwrap() {
        let own: Vec<&PaperClaim> = claims().filter(|claim| table.is_of(claim)).collect();
        let experiments: Vec<_> = own.iter().flat_map(|claim| claim.experiments()).collect();
        for (name, judged) in &table.judged {
            let experiment = experiments.iter().find(|e| e.name == name).expect(name);
            let plan = experiment::plan::Plan::outline(name, experiment.plan).unwrap();
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
        for claim in table.differs.keys().chain(&table.holds_in_full) {
            assert!(own.iter().any(|own| own.id == claim), "{claim}: no claim of the paper");
        }
        let both = table.holds_in_full.iter().find(|claim| table.differs.contains_key(*claim));
        assert_eq!(both, None, "it cannot hold in full and differ");
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
    let mut search = ReadingSearch::new(table, &all, known, 7, 2);
    let (mut tried, mut lines) = (Vec::new(), String::new());
    while let Some(reading) = search.next_reading() {
        for new in search.run(&reading, 1).unwrap() {
            lines += &(new.line().unwrap() + "\n");
        }
        tried.push(table.named(&reading));
    }
    (tried, lines)
}

/// There are six readings: the default, three levels alone, and the two combinations that remain of
/// two choices with two and three levels. A search that continues from another's results runs
/// nothing twice and tries the same.
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
    // The last line in the file is cut in half, as after an interruption.
    let cut = &lines[..lines.len() / 2];
    let (again, rest) = searched(&table, KnownResults::read(cut).unwrap());
    let kept = cut.rfind('\n').map_or(0, |end| end + 1);
    assert_eq!((again, lines[..kept].to_owned() + &rest), (tried, lines.clone()));
    let error = KnownResults::read("{\n").unwrap_err().to_string();
    assert!(error.starts_with("line 1:"), "{error}");
}

/// A search over one claim runs nothing for the paper's others, and finds for it the result of a
/// search over all.
#[test]
fn a_search_over_one_claim_runs_that_claim_alone() {
    let table = PaperTable::read("small", SMALL).unwrap();
    let (all, one): (Vec<&'static PaperClaim>, Vec<&'static PaperClaim>) =
        (claims().collect(), claims().filter(|claim| claim.id == "ET-6").collect());
    let found = |wanted: &[&'static PaperClaim]| {
        let mut search = ReadingSearch::new(&table, wanted, KnownResults::default(), 7, 0);
        let reading = search.next_reading().unwrap();
        search.run(&reading, 1).unwrap()
    };
    let [of_all, of_one] = [found(&all), found(&one)];
    // ET-6 is answered from the table's plans ET-6 and ET-6-one; the other claims have no plan in
    // it.
    assert_eq!(of_one.len(), 1);
    assert!(of_all.contains(&of_one[0]));
}

/// A result is not taken for another if it is read from other values: the plan is the same, but its
/// runs differ.
#[test]
fn a_change_of_what_is_judged_is_run_again() {
    let of = |judged: &str| {
        let text = SMALL.replace("ET-6 = {}", &format!("ET-6 = {judged}"));
        PaperTable::read("small", &text).unwrap()
    };
    let [all, named] = [of("{}"), of("{ scheme = ['etcp-fair'] }")];
    let own: Vec<&'static PaperClaim> = claims().filter(|claim| claim.id == "ET-6").collect();
    let new = |table: &PaperTable, known: KnownResults| {
        let mut search = ReadingSearch::new(table, &own, known, 7, 0);
        let reading = search.next_reading().unwrap();
        search.run(&reading, 1).unwrap()
    };
    let mut known = KnownResults::default();
    new(&all, KnownResults::default()).into_iter().for_each(|result| known.add(result));
    assert_eq!([new(&all, known.clone()).len(), new(&named, known).len()], [0, 1]);
}

/// Two choices that set the same key of a plan would leave of a combination the later one alone.
#[test]
fn no_choice_undoes_another() {
    for table in tables().unwrap() {
        let edits =
            |choice: usize| table.choices[choice].levels.iter().flat_map(|level| &level.edits);
        let pairs = (0..table.choices.len()).flat_map(|later| (0..later).map(move |c| (c, later)));
        for (earlier, later) in pairs {
            for set in edits(later).filter(|edit| edit.set.is_some()) {
                let undone = |edit: &&PlanEdit| {
                    let plan = |plan: &&String| edit.is_for(plan) && set.is_for(plan);
                    edit.key == set.key && table.judged.keys().any(|name| plan(&name))
                };
                let found = edits(earlier).find(undone);
                let names = [earlier, later].map(|choice| &table.choices[choice].name);
                assert!(found.is_none(), "{names:?}: {found:?}");
            }
        }
    }
}

/// Claims that hold under the chosen readings alone, as docs/validation/claims.md says.
const GAINED: [&str; 12] = [
    "FS-3", "FS-7", "SES-1", "SP-4", "SP-6", "SP-7", "BS-3", "ET-2", "ET-4", "PS-2", "PS-3", "PS-6",
];

/// A reading that leaves the plans of a claim unchanged has the claim's default result. So a claim
/// that holds under the chosen reading alone breaks there, and the table says so.
#[test]
fn a_claim_that_breaks_under_another_reading_is_named() {
    for table in tables().unwrap() {
        for (claim, standing) in &table.differs {
            let Some(named) = &standing.holds_under else { continue };
            let reading = table.reading_named(named).unwrap();
            assert_eq!(table.named(&reading), *named, "{claim}: in the order of the choices");
            let gained = claims().filter(|own| table.is_of(own) && GAINED.contains(&own.id));
            for own in gained {
                let plans = own.experiments().iter().map(|e| EditedPlan::new(table, &reading, e));
                let changed = plans.flatten().flatten().any(|plan| plan.changed);
                let breaks = standing.breaks.iter().any(|id| id == own.id);
                assert!(changed || breaks, "{claim} under {named} breaks {}", own.id);
            }
        }
    }
}

/// Number of repeats and seeds are no choice of the paper's: readings are compared by the same
/// runs. An edit of them had no effect.
#[test]
fn no_level_changes_how_often_a_plan_is_run() {
    for key in ["repeats", "seed"] {
        let choice = format!(
            "{SMALL}\n[[choice]]\nname = \"often\"\nquestion = \"?\"\nlevel = [{{ name = \"a\", why = \"?\" }}, \
             {{ name = \"b\", why = \"?\", edit = [{{ plans = [\"ET\"], key = \"{key}\", set = 40 }}] }}]\n"
        );
        let error = PaperTable::read("t.toml", &choice).unwrap_err().to_string();
        let message = format!("t.toml: choice \"often\": no level changes \"{key}\"");
        assert!(error.starts_with(&message) && error.ends_with("change it in the plan"), "{error}");
    }
}

/// A table that names an unknown choice or level is refused with the nearest known one.
#[test]
fn a_chosen_level_that_there_is_not_is_refused() {
    let error = PaperTable::read("t.toml", &format!("chosen = {{ windov = '20' }}\n{SMALL}"));
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("t.toml:") && error.contains("mean \"window\""), "{error}");
}
