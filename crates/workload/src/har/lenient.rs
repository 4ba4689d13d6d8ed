//! Optional values of any JSON type: the wrong one counts as missing.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use units::Duration;

/// A number, or text that is one; `None` for anything else, and for what is negative or not
/// finite, which is how exporters write "does not apply".
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Number(pub(super) Option<f64>);

impl Number {
    fn new(value: f64) -> Self {
        Self(Some(value).filter(|v| v.is_finite() && *v >= 0.0))
    }

    /// Converts to bytes, rounded to the nearest.
    pub(super) fn bytes(self) -> Option<u64> {
        self.0.map(|v| v.round() as u64)
    }

    /// Converts milliseconds, rounded to the nearest nanosecond; not more than `most`.
    pub(super) fn millis(self, most: Duration) -> Option<Duration> {
        self.0.map(|v| Duration::from_nanos((v * 1e6).round() as u64).min(most))
    }
}

/// Text; empty for anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(pub(super) String);

/// True, or something that says so: any text but the empty, any number but 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flag(pub(super) bool);

/// A value of one of JSON's types, as far as it is needed.
enum Scalar {
    Nothing,
    Bool(bool),
    Number(f64),
    Text(String),
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(v as f64))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(v as f64))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(v))
    }
    fn visit_str<E>(self, v: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(v.to_owned()))
    }
    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Nothing)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(ScalarVisitor)? {
            Scalar::Number(v) => Self::new(v),
            Scalar::Text(text) => text.trim().parse().map(Self::new).unwrap_or_default(),
            Scalar::Nothing | Scalar::Bool(_) => Self::default(),
        })
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(ScalarVisitor)? {
            Scalar::Text(text) => Self(text),
            _ => Self::default(),
        })
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match deserializer.deserialize_any(ScalarVisitor)? {
            Scalar::Bool(v) => v,
            Scalar::Number(v) => v != 0.0,
            Scalar::Text(text) => !text.is_empty(),
            Scalar::Nothing => false,
        }))
    }
}

/// `null` as the empty value.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
