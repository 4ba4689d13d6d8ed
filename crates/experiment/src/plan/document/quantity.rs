//! Quantities written as text, `"20mbit"`, numbers within bounds, and values that are either text
//! or a table of a kind.

use link::DelaySteps;
use link::path::{MAX_RATE, QueueSize};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use tcp::{LinuxVersion, Scheme};
use toml::Spanned;
use units::{Duration, Rate, parse_bytes};

/// A value that knows where it stands.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct At<T>(Spanned<T>);

impl<T> At<T> {
    /// A value of no plan.
    #[cfg(test)]
    pub(crate) fn without_position(value: T) -> Self {
        Self(Spanned::new(0..0, value))
    }

    /// Its position in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

impl<T: Eq + Ord> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq + Ord> Eq for At<T> {}

impl<T: Eq + Ord> PartialOrd for At<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Eq + Ord> Ord for At<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Value that a plan writes as text.
pub(crate) trait Text: Sized {
    /// Name in the schema.
    const NAME: &'static str;
    /// Syntax of the quantity, for the schema and for errors.
    const FORM: &'static str;
    /// Regular expression of the accepted text.
    const PATTERN: &'static str;

    /// Parses the text.
    fn read(text: &str) -> Result<Self, String>;
}

/// A value that the plan has as text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Written<T>(pub(crate) T);

struct TextVisitor<T>(PhantomData<T>);

impl<T: Text> Visitor<'_> for TextVisitor<T> {
    type Value = Written<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::FORM)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        T::read(text).map(Written).map_err(E::custom)
    }
}

impl<'de, T: Text> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(TextVisitor(PhantomData))
    }
}

impl<T: Text> JsonSchema for Written<T> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed(T::NAME)
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": T::PATTERN, "description": T::FORM })
    }
}

impl Text for Rate {
    const NAME: &'static str = "rate";
    const FORM: &'static str = "a rate like \"20mbit\": a number and bit, kbit, mbit or gbit";
    const PATTERN: &'static str = "^ *[0-9]+([.][0-9]{0,9})? *([kKmMgG]?([bB][iI][tT][sS]?( */ *[sS](ec)?)?|b( */ *s(ec)?|ps)|B( */ *s(ec)?|ps))) *$";

    fn read(text: &str) -> Result<Self, String> {
        let rate: Self = text.parse().map_err(|error: units::ParseUnitError| error.to_string())?;
        match rate {
            rate if rate.as_bps() == 0 => Err("a rate of 0 never delivers: use one above".into()),
            rate if rate > MAX_RATE => Err(format!("{rate} is above {MAX_RATE}, the highest")),
            rate => Ok(rate),
        }
    }
}

/// Longest time in a plan: above it, sums of instants could overflow.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

impl Text for Duration {
    const NAME: &'static str = "time";
    const FORM: &'static str = "a time like \"80ms\": a number and ns, us, ms or s";
    const PATTERN: &'static str =
        "^ *[0-9]+([.][0-9]{0,9})? *([nNuUmM\u{b5}\u{3bc}]?[sS]|[mM]?[sS][eE][cC]) *$";

    fn read(text: &str) -> Result<Self, String> {
        let time: Self = text.parse().map_err(|error: units::ParseUnitError| error.to_string())?;
        match time > LONGEST {
            true => Err(format!("{time} is above {LONGEST}, the longest")),
            false => Ok(time),
        }
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

/// Most bytes of one transfer: far from overflow wherever bytes are added up.
const MAX_BYTES: u64 = workload::Distribution::MAX;

impl Text for Bytes {
    const NAME: &'static str = "bytes";
    const FORM: &'static str = "a size like \"30kB\": a number and B, kB, KiB, MB, MiB, GB or GiB";
    const PATTERN: &'static str =
        "^ *[0-9]+([.][0-9]{0,9})? *([kKmMgG]?[iI]?B|[bB][yY][tT][eE][sS]?) *$";

    fn read(text: &str) -> Result<Self, String> {
        match parse_bytes(text).map_err(|error| error.to_string())? {
            0 => Err("0 bytes are nothing to send: use at least 1B".into()),
            bytes if bytes > MAX_BYTES => Err(format!("{bytes} bytes are above {MAX_BYTES}")),
            bytes => Ok(Self(bytes)),
        }
    }
}

/// A number of things, which may be drawn: then it need not be whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ItemCount(pub(crate) f64);

impl Text for ItemCount {
    const NAME: &'static str = "things";
    const FORM: &'static str = "a number as text, like \"4\" or \"1.5\", from 1 to 1000000";
    const PATTERN: &'static str = "^[0-9]+([.][0-9]{1,9})?$";

    fn read(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number| (1.0..=1e6).contains(number));
        let wrong = || format!("cannot read {text:?}: expected {}", Self::FORM);
        number.map(Self).ok_or_else(wrong)
    }
}

impl Amount for ItemCount {
    fn number(self) -> f64 {
        self.0
    }
}

impl Text for DelaySteps {
    const NAME: &'static str = "delay_steps";
    const FORM: &'static str =
        "delays from times on, like \"2s:80ms/5s:40ms\": ascending times, each with a delay";
    const PATTERN: &'static str = "^[0-9]+([.][0-9]{1,9})?(s|ms|us|ns):[0-9]+([.][0-9]{1,9})?(s|ms|us|ns)(/[0-9]+([.][0-9]{1,9})?(s|ms|us|ns):[0-9]+([.][0-9]{1,9})?(s|ms|us|ns))*$";

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

impl Text for QueueSize {
    const NAME: &'static str = "queue_limit";
    const FORM: &'static str = "packets (\"100p\"), bytes (\"64kB\"), a time of sending (\"50ms\") or \"inf\", the packet in service included";
    const PATTERN: &'static str =
        "^(inf|[0-9]+p|[0-9]+([.][0-9]{1,9})?(B|kB|KiB|MB|MiB|s|ms|us|ns))$";

    fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("cannot read {text:?} as a queue: expected {}", Self::FORM);
        match text.parse().map_err(|_| wrong())? {
            Self::Packets(0) | Self::Bytes(0) | Self::Time(Duration::ZERO) => {
                Err("a queue of 0 has no room for the packet in service: use at least 1p".into())
            }
            Self::MilliBdp(_) => Err(wrong()),
            size => Ok(size),
        }
    }
}

/// Quantity that is drawn from a distribution.
pub(crate) trait Amount: Text + Copy {
    /// The value in seconds or bytes.
    fn number(self) -> f64;
}

impl Amount for Duration {
    fn number(self) -> f64 {
        self.as_secs_f64()
    }
}

impl Amount for Bytes {
    fn number(self) -> f64 {
        self.0 as f64
    }
}

impl Text for LinuxVersion {
    const NAME: &'static str = "linux_version";
    const FORM: &'static str = "a version of Linux: \"6.12\", \"6.18\" or \"7.0\"";
    const PATTERN: &'static str = "^(6[.]12|6[.]18|7[.]0)$";

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

impl Text for Scheme {
    const NAME: &'static str = "scheme";
    const FORM: &'static str =
        "a scheme like \"newreno\" or \"linux+iw=32\"; `headstart schemes` lists them";
    const PATTERN: &'static str = "^[^ ]+$";

    fn read(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }
}

/// A number from 0 to below 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Probability(pub(crate) f64);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(reader)?;
        match (0.0..1.0).contains(&value) {
            true => Ok(Self(value)),
            false => Err(D::Error::custom(format!(
                "{value} is not a probability: use 0 or more, below 1"
            ))),
        }
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("probability")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number", "minimum": 0, "exclusiveMaximum": 1,
            "description": "a number from 0 to below 1"
        })
    }
}

/// A whole number from 1 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UpTo<const MAX: u32>(pub(crate) u32);

/// Hosts or links of a kind.
pub(crate) type HostOrLinkCount = UpTo<100_000>;
/// Things that follow one another.
pub(crate) type Count = UpTo<1_000_000_000>;

impl<'de, const MAX: u32> Deserialize<'de> for UpTo<MAX> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let value = i64::deserialize(reader)?;
        match u32::try_from(value) {
            Ok(n) if (1..=MAX).contains(&n) => Ok(Self(n)),
            _ => Err(D::Error::custom(format!("{value} is out of range: use 1 to {MAX}"))),
        }
    }
}

impl<const MAX: u32> JsonSchema for UpTo<MAX> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("up_to_{MAX}"))
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": MAX })
    }
}

/// A threshold of a queue: a share of its limit, packets (`"5p"`) or bytes (`"5kB"`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Threshold {
    /// Share of the limit.
    Share(f64),
    /// Packets.
    Packets(f64),
    /// Bytes.
    Bytes(f64),
}

const THRESHOLD: &str = "a share of the limit (0.15), packets (\"5p\") or bytes (\"5kB\")";

struct ThresholdVisitor;

impl Visitor<'_> for ThresholdVisitor {
    type Value = Threshold;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(THRESHOLD)
    }

    fn visit_f64<E: Error>(self, share: f64) -> Result<Threshold, E> {
        match (0.0..=1.0).contains(&share) {
            true => Ok(Threshold::Share(share)),
            false => Err(E::custom(format!("{share} is no share: expected {THRESHOLD}"))),
        }
    }

    fn visit_i64<E: Error>(self, share: i64) -> Result<Threshold, E> {
        self.visit_f64(share as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Threshold, E> {
        match QueueSize::read(text).map_err(E::custom)? {
            QueueSize::Packets(n) => Ok(Threshold::Packets(f64::from(n))),
            QueueSize::Bytes(n) => Ok(Threshold::Bytes(n as f64)),
            _ => Err(E::custom(format!("expected {THRESHOLD}"))),
        }
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(ThresholdVisitor)
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("threshold")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = generator.subschema_for::<Written<QueueSize>>();
        let share = json_schema!({ "type": "number", "minimum": 0, "maximum": 1 });
        json_schema!({ "description": THRESHOLD, "anyOf": [share, text] })
    }
}

/// `"30kB"`, or a table with a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TextOr<T, K> {
    /// The short form.
    Text(T),
    /// A table with a `kind`.
    Kind(K),
}

struct TextOrVisitor<T, K>(PhantomData<(T, K)>);

impl<'de, T: Text, K: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T, K> {
    type Value = TextOr<T, K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or a table with a kind", T::FORM)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        T::read(text).map(TextOr::Text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        K::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Kind)
    }
}

impl<'de, T: Text, K: Deserialize<'de>> Deserialize<'de> for TextOr<T, K> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(TextOrVisitor(PhantomData))
    }
}

impl<T: Text, K: JsonSchema> JsonSchema for TextOr<T, K> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("{}_or_{}", T::NAME, K::schema_name()))
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = generator.subschema_for::<Written<T>>();
        let kind = generator.subschema_for::<K>();
        json_schema!({ "anyOf": [text, kind] })
    }
}
