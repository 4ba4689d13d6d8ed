//! A recording as people write it: `FILE[:column=NAME][:unit=UNIT][:time=NAME][:time-unit=UNIT]`.

use super::times::TimeUnit;
use super::unit::Unit;

/// The notation of a recording, for errors.
pub(super) const FORM: &str = "trace=FILE:column=NAME:unit=Mbit/s:time=NAME:time-unit=ms";

/// A file, and the columns and units that the options name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TraceSource {
    pub(super) file: String,
    /// Name or number, from 1, of the column of rates.
    pub(super) column: Option<String>,
    pub(super) unit: Option<Unit>,
    /// Name or number of the column of times.
    pub(super) time: Option<String>,
    pub(super) time_unit: Option<TimeUnit>,
}

/// Names of the options.
const KEYS: [&str; 4] = ["column", "unit", "time", "time-unit"];

impl TraceSource {
    /// Parses a source. A name may have colons, unless one of the options follows.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let begin = |key: &str| text.find(&format!(":{key}="));
        let first = KEYS.iter().filter_map(|key| begin(key)).min().unwrap_or(text.len());
        let (file, options) = text.split_at(first);
        if file.is_empty() {
            return Err(format!("the name of a file is missing: write {FORM}"));
        }
        let mut source = Self { file: file.to_owned(), ..Self::default() };
        for option in options.split(':').skip(1) {
            source.set(option)?;
        }
        Ok(source)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let is_twice = match key {
            "column" => self.column.replace(value.to_owned()).is_some(),
            "time" => self.time.replace(value.to_owned()).is_some(),
            "unit" => {
                let unit = Unit::parse(value).ok_or_else(|| {
                    format!("{value:?} is no unit of a rate: write kbit/s, Mbit/s, kB/s or bytes/s")
                })?;
                self.unit.replace(unit).is_some()
            }
            "time-unit" => {
                let unit = TimeUnit::of_word(value).ok_or_else(|| {
                    format!("{value:?} is no unit of time: write s, ms, us or ns")
                })?;
                self.time_unit.replace(unit).is_some()
            }
            _ => return Err(format!("{option:?} is not known: write {FORM}")),
        };
        match is_twice {
            true => Err(format!("{key} is given twice: leave one out")),
            false => Ok(()),
        }
    }

    /// True if an option is given, which opportunities do not have.
    pub(super) fn has_columns(&self) -> bool {
        let named = self.column.is_some() || self.time.is_some();
        named || self.unit.is_some() || self.time_unit.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_the_file() {
        let source = TraceSource::parse("a:b.csv:unit=kB/s:column=DL:time=3:time-unit=ms").unwrap();
        assert_eq!((source.file.as_str(), source.column.as_deref()), ("a:b.csv", Some("DL")));
        assert_eq!((source.unit, source.time.as_deref()), (Unit::parse("kB/s"), Some("3")));
        assert_eq!(source.time_unit, Some(TimeUnit::Milliseconds));
        assert!(source.has_columns());
        let plain = TraceSource::parse("../up:down.trace").unwrap();
        assert_eq!(
            plain,
            TraceSource { file: "../up:down.trace".into(), ..TraceSource::default() }
        );
        assert!(!plain.has_columns());
    }

    #[test]
    fn errors_name_the_way_out() {
        for (text, hint) in [
            ("", "write trace=FILE:column="),
            (":unit=Mbps", "write trace=FILE:column="),
            ("a:unit=MBPS", "write kbit/s"),
            ("a:unit=", "write kbit/s"),
            ("a:time-unit=min", "write s, ms"),
            ("a:unit=Mbps:unit=kbps", "unit is given twice"),
            ("a:unit=Mbps:speed=1", "\"speed=1\" is not known"),
        ] {
            let error = TraceSource::parse(text).unwrap_err();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
    }
}
