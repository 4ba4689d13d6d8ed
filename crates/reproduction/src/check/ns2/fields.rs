//! Named values of a case, in order: those that identify it, and those shown beside a comparison.

use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;

/// One value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Field {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
    /// A count of ns-2's and ours.
    Counts([u64; 2]),
    /// A number of ns-2's and ours.
    Numbers([f64; 2]),
    /// Not defined; `null` in JSON.
    Undefined,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{}", if *flag { "yes" } else { "no" }),
            Self::Count(n) => write!(f, "{n}"),
            Self::Number(n) => write!(f, "{}", ShortNumber(*n)),
            Self::Text(text) => f.write_str(text),
            Self::Counts([theirs, ours]) => write!(f, "{theirs} / {ours}"),
            Self::Numbers([theirs, ours]) => {
                write!(f, "{} / {}", ShortNumber(*theirs), ShortNumber(*ours))
            }
            Self::Undefined => f.write_str("–"),
        }
    }
}

/// Number with at most four decimals, without trailing zeros.
struct ShortNumber(f64);

impl fmt::Display for ShortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:.4}", self.0);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

macro_rules! field_from {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Field {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

field_from!(bool => Flag, u64 => Count, u32 => Count, f64 => Number, &str => Text,
    String => Text, [u64; 2] => Counts, [f64; 2] => Numbers);

impl<T: Into<Self>> From<Option<T>> for Field {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Undefined, Into::into)
    }
}

/// Values by name, in the order in which they are shown; a map in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(Vec<(&'static str, Field)>);

impl Fields {
    /// Appends a field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Field>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Returns names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Field)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// Returns the value of that name.
    pub fn value(&self, name: &str) -> Option<&Field> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_without_idle_digits() {
        let shown = |field: Field| field.to_string();
        assert_eq!(shown(12.5.into()), "12.5");
        assert_eq!(shown(20.0.into()), "20");
        assert_eq!(shown([0.123_46, 0.0].into()), "0.1235 / 0");
        assert_eq!(shown([3u64, 4].into()), "3 / 4");
        assert_eq!(shown(None::<f64>.into()), "–");
    }

    #[test]
    fn the_order_of_names_is_kept() {
        let fields = Fields::default().with("b", 1u64).with("a", "x");
        assert_eq!(fields.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(fields.value("a"), Some(&Field::Text("x".into())));
    }
}
