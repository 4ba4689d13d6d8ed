//! The plan as a tree of keys and values that keep their position in the text.
//!
//! A sweep sets values in the tree before it is read, so an error of a swept value is reported at
//! the axis that gave it.

use super::document::At;
use super::error::{Fault, meant, of_toml};
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table, its values and where they stand.
pub(super) type Tree<'a> = Spanned<DeTable<'a>>;
/// A value and where it stands.
pub(super) type Value<'a> = Spanned<DeValue<'a>>;

/// Keys whose tables have a `kind`.
const TAGGED: [&str; 11] = [
    "topology",
    "traffic",
    "queue",
    "reordering",
    "size",
    "start",
    "jitter",
    "gaps",
    "think",
    "on",
    "off",
];
/// Keys whose tables hold things by names of the plan's own.
const NAMED: [&str; 3] = ["workload", "link", "group"];

/// Reads a text as TOML.
pub(super) fn parse(text: &str) -> Result<Tree<'_>, Fault> {
    DeTable::parse(text).map_err(of_toml)
}

/// Sets the value at a dotted path; the tables on the way must be there.
pub(super) fn set<'a>(
    tree: &mut Tree<'a>,
    path: &At<String>,
    value: Value<'a>,
) -> Result<(), Fault> {
    let mut table = tree.get_mut();
    let mut parts: Vec<&str> = path.split('.').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let known: Vec<String> = table.keys().map(|key| key.get_ref().to_string()).collect();
        let next = table.get_mut(part).map(Spanned::get_mut);
        let Some(DeValue::Table(next)) = next else {
            let why = format!(
                "no table {part:?} on the way to {:?}{}; there are {}",
                **path,
                meant(part, &known),
                known.join(", ")
            );
            return Err(Fault::new(path.span(), why));
        };
        table = next;
    }
    if matches!(table.get(last).map(Spanned::get_ref), Some(DeValue::Table(_))) {
        let why = format!("{:?} is a table; sweep one of its keys", **path);
        return Err(Fault::new(path.span(), why));
    }
    table.insert(Spanned::new(path.span(), Cow::Owned(last.to_owned())), value);
    Ok(())
}

/// Turns every table `{ kind = "x", … }` into `{ x = { … } }`. The reader distinguishes variants by
/// that form, and positions stay correct. Without `kind` the name is empty.
pub(super) fn tag_kinds(table: &mut DeTable<'_>) {
    for (key, value) in table.iter_mut() {
        let span = value.span();
        match value.get_mut() {
            DeValue::Table(inner) if NAMED.contains(&key.get_ref().as_ref()) => {
                inner.iter_mut().for_each(|(_, value)| tag_within(value));
            }
            inner => tag_value(key.get_ref(), span, inner),
        }
    }
}

fn tag_within(value: &mut Value<'_>) {
    if let DeValue::Table(inner) = value.get_mut() {
        tag_kinds(inner);
    }
}

fn tag_value(key: &str, span: Range<usize>, value: &mut DeValue<'_>) {
    match value {
        DeValue::Table(inner) => {
            tag_kinds(inner);
            if TAGGED.contains(&key) || inner.contains_key("kind") {
                tag(inner, span);
            }
        }
        DeValue::Array(items) => {
            for item in items.iter_mut() {
                let span = item.span();
                tag_value("", span, item.get_mut());
            }
        }
        _ => {}
    }
}

fn tag(table: &mut DeTable<'_>, span: Range<usize>) {
    let default = || Spanned::new(span.clone(), DeValue::String(Cow::Borrowed("")));
    let kind = table.remove("kind").unwrap_or_else(default);
    let DeValue::String(name) = kind.get_ref().clone() else {
        // It is not a name: the reader refuses it.
        table.insert(Spanned::new(kind.span(), Cow::Borrowed("kind")), kind);
        return;
    };
    let rest = std::mem::take(table);
    let rest = Spanned::new(span, DeValue::Table(rest));
    table.insert(Spanned::new(kind.span(), name), rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, sets: &[(&str, &str)]) -> Result<String, String> {
        let mut tree = parse(text).map_err(|fault| fault.why)?;
        for (path, value) in sets {
            let path = At::without_position((*path).to_owned());
            set(&mut tree, &path, DeValue::parse(value).unwrap()).map_err(|fault| fault.why)?;
        }
        tag_kinds(tree.get_mut());
        let reader = toml::de::Deserializer::from(tree);
        let table: toml::Table = serde::Deserialize::deserialize(reader).unwrap();
        Ok(table.to_string())
    }

    #[test]
    fn values_are_set_by_dotted_path_also_where_there_were_none() {
        let set = shown("[a.b]\nc = 1", &[("a.b.c", "2"), ("a.b.d", "3")]).unwrap();
        assert_eq!(set, "[a.b]\nc = 2\nd = 3\n");
        let error = shown("[area.b]\nc = 1", &[("aera.b.c", "2")]).unwrap_err();
        assert!(error.contains("did you mean \"area\"?"), "{error}");
        assert!(shown("[a.b]\nc = 1", &[("a.b", "2")]).is_err(), "tables are not replaced");
    }

    #[test]
    fn kinds_become_names() {
        let tagged = shown("q = { kind = 'red', min = 1 }", &[("q.kind", "'codel'")]).unwrap();
        assert_eq!(tagged, "[q.codel]\nmin = 1\n");
        let named = shown("workload = { queue = { size = '1B' } }", &[]).unwrap();
        assert_eq!(named, "[workload.queue]\nsize = \"1B\"\n");
        let untagged = shown("queue = { min = 1 }", &[]).unwrap();
        assert_eq!(untagged, "[queue.\"\"]\nmin = 1\n");
    }
}
