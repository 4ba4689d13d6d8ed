//! Parts of a plan's runs, for several machines.

use std::fmt;
use std::str::FromStr;

/// Part `number` of `count` of a plan's runs, from 1; written `2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub number: usize,
    /// Number of parts.
    pub count: usize,
}

impl Shard {
    /// All runs in one part.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Whether the run of this number is in the part. Runs are dealt out in turn, so that costly
    /// neighbours end up in different parts.
    pub const fn contains(self, run: usize) -> bool {
        run % self.count == self.number - 1
    }

    /// The runs of the part, out of `runs` in all.
    pub fn runs(self, runs: usize) -> impl Iterator<Item = usize> {
        (0..runs).filter(move |run| self.contains(*run))
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parsed = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parsed {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err("expected a part and the number of parts, from 1/4 to 4/4".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_exactly_one_part() {
        let parts: Vec<Shard> = (1..=3).map(|number| Shard { number, count: 3 }).collect();
        // Runs 0, 3 and 6 of 7 are the first part: dealt out in turn.
        assert_eq!(parts[0].runs(7).collect::<Vec<_>>(), [0, 3, 6]);
        for run in 0..7 {
            assert_eq!(parts.iter().filter(|part| part.contains(run)).count(), 1, "run {run}");
        }
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!("2/8".parse(), Ok(Shard { number: 2, count: 8 }));
        for wrong in ["0/4", "5/4", "1/0", "1", "a/b", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        assert_eq!(Shard { number: 2, count: 8 }.to_string(), "2/8");
    }
}
