//! Edits of a plan under a reading.
//!
//! The edited plan has the cells of the plan in the same order, so a cell keeps the coordinates of
//! the unedited plan. Only the values run at them change. For a swept key, the edits apply to the
//! values that results are read from.

use super::super::claim::Experiment;
use super::super::error::PapersError;
use super::table::{PaperReading, PaperTable, PlanEdit};
use experiment::plan::Coordinate;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// A plan under a reading.
#[derive(Clone, Debug)]
pub struct EditedPlan {
    /// The experiment.
    pub(crate) experiment: &'static Experiment,
    /// The unedited plan with the schemes that results are read from: it defines where cells are.
    pub(crate) plain: String,
    /// The plan under the reading.
    pub(crate) text: String,
    /// True if the reading changes the plan, or the figures read off its runs.
    pub(crate) changed: bool,
    /// Variants of the figures of its runs that replace the plain ones
    /// ([`Readings::stand_in`](super::super::reading::Readings)).
    pub(crate) variants: Vec<String>,
    judged: BTreeMap<String, Vec<String>>,
}

impl EditedPlan {
    /// Returns the plan of an experiment under a reading; none if no result depends on the plan.
    ///
    /// # Errors
    /// If the plan has no such key, with its name.
    pub fn new(
        table: &PaperTable,
        reading: &PaperReading,
        experiment: &'static Experiment,
    ) -> Result<Option<Self>, PapersError> {
        let name = experiment.name;
        let Some(judged) = table.judged.get(name) else { return Ok(None) };
        let edits = table.edits_of_plan(reading, name);
        let variants = table.variants(reading, name);
        let [plain, text] = match edits.is_empty() {
            true => [(); 2].map(|()| experiment.plan.to_owned()),
            false => edited_plans(experiment.plan, judged, &edits).map_err(|why| {
                PapersError(format!("{name} under {}: {why}", table.named(reading)))
            })?,
        };
        Ok(Some(Self {
            experiment,
            plain,
            text,
            changed: !edits.is_empty() || !variants.is_empty(),
            variants,
            judged: judged.clone(),
        }))
    }

    /// Returns the plan under the reading, followed by the values that results are read from:
    /// together they identify the runs.
    pub(crate) fn text_with_judged(&self) -> String {
        format!("{}\n# judged: {:?}\n", self.text, self.judged)
    }

    /// Returns true if results are read from the cell at these coordinates.
    pub(crate) fn is_judged(&self, coordinates: &[Coordinate]) -> bool {
        let kept = |c: &Coordinate| self.judged.get(&c.key).is_none_or(|v| v.contains(&c.value));
        coordinates.iter().all(kept)
    }
}

type JudgedCells = BTreeMap<String, Vec<String>>;

/// Returns the plan with the schemes that results are read from, unedited and edited.
fn edited_plans(
    text: &str,
    judged: &JudgedCells,
    edits: &[&PlanEdit],
) -> Result<[String; 2], String> {
    let mut plan: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let schemes = judged_schemes(&mut plan, judged);
    let plain = toml::to_string(&plan).map_err(|error| error.to_string())?;
    // Values are distinguished by the unedited plan, not by the output of earlier edits.
    let rows = judged_rows(&plan, judged);
    for edit in edits {
        apply(&mut plan, &rows, &schemes, edit).map_err(|why| format!("{}: {why}", edit.key))?;
    }
    Ok([plain, toml::to_string(&plan).map_err(|error| error.to_string())?])
}

/// Keeps the schemes that results are read from, and returns their names.
fn judged_schemes(plan: &mut Table, judged: &JudgedCells) -> Vec<String> {
    let Some(schemes) = plan.get_mut("schemes").and_then(Value::as_array_mut) else {
        return Vec::new();
    };
    if let Some(wanted) = judged.get(experiment::plan::SCHEME) {
        schemes.retain(|scheme| wanted.contains(&value_text(scheme)));
    }
    schemes.iter().map(value_text).collect()
}

/// Returns, for each axis, the numbers of the rows that results are read from.
fn judged_rows(plan: &Table, judged: &JudgedCells) -> Vec<Vec<usize>> {
    let axes = plan.get("sweep").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let of_axis = |axis: &Value| {
        let keys = keys_of(axis);
        let values = axis.get("values").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_judged = |row: &Value| {
            let cell = |nth: usize| if keys.len() == 1 { Some(row) } else { row.get(nth) };
            keys.iter().enumerate().all(|(nth, key)| {
                let wanted = judged.get(key);
                wanted.is_none_or(|w| cell(nth).is_some_and(|value| w.contains(&value_text(value))))
            })
        };
        let rows = values.iter().enumerate().filter(|(_, row)| is_judged(row));
        rows.map(|(nth, _)| nth).collect()
    };
    axes.iter().map(of_axis).collect()
}

fn keys_of(axis: &Value) -> Vec<String> {
    let one = axis.get("key").and_then(Value::as_str).map(str::to_owned);
    let several = axis.get("keys").and_then(Value::as_array).into_iter().flatten();
    one.into_iter().chain(several.filter_map(Value::as_str).map(str::to_owned)).collect()
}

/// Returns a value as coordinates have it.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Applies an edit to the schemes, to the rows of a sweep that results are read from, or to the
/// plan's own value.
fn apply(
    plan: &mut Table,
    rows: &[Vec<usize>],
    schemes: &[String],
    edit: &PlanEdit,
) -> Result<(), String> {
    if edit.key == "schemes" {
        let edit_all = PlanEdit { only: None, ..edit.clone() };
        let listed = plan.get_mut("schemes").and_then(Value::as_array_mut);
        let listed = listed.ok_or("no list of schemes")?.iter_mut().zip(schemes);
        let wanted = listed.filter(|(_, name)| edit.only.as_ref().is_none_or(|only| only == *name));
        return wanted.map(|(scheme, _)| scheme).try_for_each(|s| apply_edit(s, &edit_all));
    }
    if edit.set.as_ref().is_some_and(Value::is_table) {
        remove_from_sweep(plan, &edit.key)?;
        return in_base(plan, edit);
    }
    let axes = plan.get_mut("sweep").and_then(Value::as_array_mut).map_or(&mut [][..], |a| a);
    let mut found = false;
    for (axis, rows) in axes.iter_mut().zip(rows) {
        let keys = keys_of(axis);
        let Some(place) = keys.iter().position(|key| *key == edit.key) else { continue };
        found = true;
        let values = axis.get_mut("values").and_then(Value::as_array_mut);
        for (_, row) in values.into_iter().flatten().enumerate().filter(|(n, _)| rows.contains(n)) {
            let value = if keys.len() == 1 { Some(row) } else { row.get_mut(place) };
            value.map_or(Ok(()), |value| apply_edit(value, edit))?;
        }
    }
    if found { Ok(()) } else { in_base(plan, edit) }
}

/// Removes a key from the axis that sweeps it beside others. Tables cannot be swept, and only the
/// rows that results are read from are run.
fn remove_from_sweep(plan: &mut Table, key: &str) -> Result<(), String> {
    let axes = plan.get_mut("sweep").and_then(Value::as_array_mut).map_or(&mut [][..], |a| a);
    for axis in axes {
        let keys = keys_of(axis);
        let Some(place) = keys.iter().position(|known| known == key) else { continue };
        if keys.len() == 1 {
            return Err("it is swept alone, so no table can be set".to_owned());
        }
        for list in ["keys", "values"].map(|name| axis.get(name).cloned()).into_iter().flatten() {
            let (name, rows) = match list.get(0).is_some_and(Value::is_str) {
                true => ("keys", without(list, place)),
                false => ("values", each_without(list, place)),
            };
            axis.as_table_mut().map(|axis| axis.insert(name.to_owned(), rows));
        }
    }
    Ok(())
}

fn without(list: Value, place: usize) -> Value {
    let Value::Array(mut items) = list else { return list };
    if place < items.len() {
        items.remove(place);
    }
    Value::Array(items)
}

fn each_without(rows: Value, place: usize) -> Value {
    let Value::Array(rows) = rows else { return rows };
    Value::Array(rows.into_iter().map(|row| without(row, place)).collect())
}

/// Applies an edit to the plan's own value, outside of sweeps. A missing value is added.
fn in_base(plan: &mut Table, edit: &PlanEdit) -> Result<(), String> {
    let (path, last) = edit.key.rsplit_once('.').unwrap_or(("", &edit.key));
    let mut table = plan;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let next = table.get_mut(part).and_then(Value::as_table_mut);
        table = next.ok_or_else(|| format!("no table {part:?} on the way"))?;
    }
    match (table.get_mut(last), &edit.set, &edit.add) {
        (Some(value), ..) => apply_edit(value, edit),
        (None, Some(set), _) => Ok(_ = table.insert(last.to_owned(), set.clone())),
        (None, None, Some(add)) => {
            let value = Value::String(add.trim_start_matches('+').to_owned());
            Ok(_ = table.insert(last.to_owned(), value))
        }
        (None, None, None) => Err("there is nothing to replace".to_owned()),
    }
}

/// Applies an edit to one value, unless the edit is only for another one.
fn apply_edit(value: &mut Value, edit: &PlanEdit) -> Result<(), String> {
    if edit.only.as_ref().is_some_and(|only| *only != value_text(value)) {
        return Ok(());
    }
    if let Some(set) = &edit.set {
        *value = set.clone();
        return Ok(());
    }
    let Value::String(text) = value else { return Err(format!("{value} is no text")) };
    if let Some(add) = &edit.add {
        text.push_str(add);
    }
    if let Some([from, to]) = &edit.replace {
        if !text.contains(from.as_str()) {
            return Err(format!("no {from:?} in {text:?}"));
        }
        *text = text.replace(from.as_str(), to);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
        schemes = ["newreno", "session"]
        parameters = "tick=500ms"
        [topology.bottleneck]
        queue = "21p"
        [[sweep]]
        key = "parameters"
        values = ["tick=500ms", "tick=100ms"]
        [[sweep]]
        keys = ["a", "b"]
        values = [[1, "x"], [2, "x"]]
    "#;

    fn made(edits: &str) -> Result<Table, String> {
        #[derive(serde::Deserialize)]
        struct Edits {
            edit: Vec<PlanEdit>,
        }
        let edits: Edits = toml::from_str(edits).unwrap();
        let judged: JudgedCells = toml::from_str("parameters = ['tick=500ms']\na = ['2']").unwrap();
        let [_, text] = edited_plans(PLAN, &judged, &edits.edit.iter().collect::<Vec<_>>())?;
        Ok(toml::from_str(&text).unwrap())
    }

    #[test]
    fn of_a_swept_key_only_the_values_that_verdicts_are_read_from_change() {
        let plan = made(
            "[[edit]]\nplans = ['X']\nkey = 'parameters'\nadd = '+ack=100ms'\n\
             [[edit]]\nplans = ['X']\nkey = 'parameters'\nreplace = ['500', '200']\n\
             [[edit]]\nplans = ['X']\nkey = 'b'\nset = 'y'",
        )
        .unwrap();
        let sweep = plan["sweep"].as_array().unwrap();
        assert_eq!(sweep[0]["values"].to_string(), r#"["tick=200ms+ack=100ms", "tick=100ms"]"#);
        assert_eq!(sweep[1]["values"].to_string(), r#"[[1, "x"], [2, "y"]]"#);
        // The key's base never runs where it is swept.
        assert_eq!(plan["parameters"].as_str(), Some("tick=500ms"));
    }

    #[test]
    fn keys_that_are_not_swept_and_schemes_change_where_they_stand() {
        let plan = made(
            "[[edit]]\nplans = ['X']\nkey = 'topology.bottleneck.queue'\nset = '20p'\n\
             [[edit]]\nplans = ['X']\nkey = 'topology.bottleneck.delay'\nset = '5ms'\n\
             [[edit]]\nplans = ['X']\nkey = 'schemes'\nonly = 'session'\nadd = '+later_growth=off'",
        )
        .unwrap();
        assert_eq!(plan["topology"]["bottleneck"]["queue"].as_str(), Some("20p"));
        assert_eq!(plan["topology"]["bottleneck"]["delay"].as_str(), Some("5ms"));
        assert_eq!(plan["schemes"].to_string(), r#"["newreno", "session+later_growth=off"]"#);
    }

    #[test]
    fn an_edit_that_meets_nothing_is_refused() {
        let error = made("[[edit]]\nplans = ['X']\nkey = 'topology.side.delay'\nset = '5ms'");
        assert_eq!(error.unwrap_err(), "topology.side.delay: no table \"side\" on the way");
        let error = made("[[edit]]\nplans = ['X']\nkey = 'parameters'\nreplace = ['ack', 'x']");
        assert!(error.unwrap_err().contains("no \"ack\" in"));
    }
}
