//! Weight of a response by its content, as an operator writes it: `html=12,css=6,image=3`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use workload::ObjectKind;

/// Names of contents, the first of a kind being the one that is shown.
const NAMES: [(&str, ObjectKind); 11] = [
    ("html", ObjectKind::Html),
    ("css", ObjectKind::Style),
    ("style", ObjectKind::Style),
    ("js", ObjectKind::Script),
    ("script", ObjectKind::Script),
    ("data", ObjectKind::Data),
    ("json", ObjectKind::Data),
    ("font", ObjectKind::Font),
    ("image", ObjectKind::Image),
    ("media", ObjectKind::Media),
    ("other", ObjectKind::Other),
];

/// The largest weight; more would only make turns longer.
const MAX_WEIGHT: u32 = 1000;

/// Weights by content; 1 where none is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights(BTreeMap<ObjectKind, u32>);

/// Weights that cannot be read: the entry, and the correct form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsError(String);

impl Weights {
    /// Ensemble-TCP's policy by content: HTML 12, code 6, images 3, anything else 1 (Eggert,
    /// Heidemann & Touch 2000 §4).
    pub fn ensemble_tcp() -> Self {
        let by_content = |kind| match kind {
            ObjectKind::Html => 12,
            ObjectKind::Style | ObjectKind::Script | ObjectKind::Data => 6,
            ObjectKind::Font | ObjectKind::Image | ObjectKind::Media => 3,
            ObjectKind::Redirect | ObjectKind::Other => 1,
        };
        Self(NAMES.iter().map(|(_, kind)| (*kind, by_content(*kind))).collect())
    }

    /// The weight of a response of this kind.
    pub fn of(&self, kind: ObjectKind) -> u32 {
        self.0.get(&kind).copied().unwrap_or(1)
    }

    /// Names and weights of all contents.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        let mut last = None;
        let first = move |(_, kind): &&(&str, ObjectKind)| last.replace(*kind) != Some(*kind);
        NAMES.iter().filter(first).map(|(name, kind)| (*name, self.of(*kind)))
    }
}

/// The name of a kind, as weights have it.
pub(crate) fn name(kind: ObjectKind) -> &'static str {
    NAMES.iter().find(|(_, named)| *named == kind).map_or("other", |(name, _)| name)
}

impl FromStr for Weights {
    type Err = WeightsError;

    /// Entries `CONTENT=WEIGHT`, apart by commas or white space; from `#` to the end of a line is a
    /// remark.
    fn from_str(text: &str) -> Result<Self, WeightsError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let entries = lines.flat_map(|line| line.split([',', ' ', '\t']));
        let mut weights = BTreeMap::new();
        for entry in entries.map(str::trim).filter(|entry| !entry.is_empty()) {
            let (kind, weight) = read_entry(entry)?;
            if weights.insert(kind, weight).is_some() {
                return Err(WeightsError(format!("{entry:?}: said twice")));
            }
        }
        match weights.is_empty() {
            true => Err(WeightsError("no weights; write html=12,css=6,js=6,image=3".to_owned())),
            false => Ok(Self(weights)),
        }
    }
}

fn read_entry(entry: &str) -> Result<(ObjectKind, u32), WeightsError> {
    let wrong = |why: String| WeightsError(format!("{entry:?}: {why}"));
    let (name, weight) = entry
        .split_once('=')
        .ok_or_else(|| wrong("write CONTENT=WEIGHT, like html=12".to_owned()))?;
    let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let (_, kind) = known.ok_or_else(|| {
        let names: Vec<_> = Weights::default().iter().map(|(name, _)| name).collect();
        wrong(format!("no content {name:?}; there are {}", names.join(", ")))
    })?;
    let weight = weight.parse().ok().filter(|weight| (1..=MAX_WEIGHT).contains(weight));
    let weight = weight
        .ok_or_else(|| wrong(format!("a weight is a whole number from 1 to {MAX_WEIGHT}")))?;
    Ok((*kind, weight))
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, weight)) in self.iter().enumerate() {
            write!(f, "{}{name}={weight}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WeightsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_weighs_one() {
        let weights: Weights = "html=12, CSS=6\n# scripts as style sheets\njs=6".parse().unwrap();
        let of = [
            ObjectKind::Html,
            ObjectKind::Style,
            ObjectKind::Script,
            ObjectKind::Image,
            ObjectKind::Other,
        ];
        assert_eq!(of.map(|kind| weights.of(kind)), [12, 6, 6, 1, 1]);
    }

    /// Ensemble-TCP §4: HTML 12, Java 6, images 3, FTP 1.
    #[test]
    fn the_default_is_the_papers() {
        let text = "html=12,css=6,js=6,data=6,font=3,image=3,media=3,other=1";
        assert_eq!(Weights::ensemble_tcp().to_string(), text);
        assert_eq!(text.parse::<Weights>().unwrap(), Weights::ensemble_tcp_without_redirect());
    }

    impl Weights {
        /// Weights that their text can express.
        fn ensemble_tcp_without_redirect() -> Self {
            let Self(mut weights) = Self::ensemble_tcp();
            weights.remove(&ObjectKind::Redirect);
            Self(weights)
        }
    }

    #[test]
    fn a_bad_entry_is_named_with_the_way_out() {
        for (text, entry, hint) in [
            ("html=12,htlm=3", "\"htlm=3\"", "html, css, js"),
            ("html=0", "\"html=0\"", "from 1 to 1000"),
            ("html=1001", "\"html=1001\"", "from 1 to 1000"),
            ("css=six", "\"css=six\"", "whole number"),
            ("html=12,css", "\"css\"", "CONTENT=WEIGHT"),
            ("css=1,style=2", "\"style=2\"", "twice"),
            (" , # nothing", "no weights", "html=12"),
        ] {
            let error = text.parse::<Weights>().unwrap_err().to_string();
            assert!(error.contains(entry) && error.contains(hint), "{text}: {error}");
        }
    }
}
