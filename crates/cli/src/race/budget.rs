//! `--budget`: times and a gain that a race has to keep, so that a build can fail if it does not.

use cmdline::Failure;
use race::{RaceComparison, RaceMetric, RaceResult, SchemeResult, VariantGain, World};
use report::seconds;
use std::str::FromStr;
use units::Duration;
use workload::{Page, PageMilestone};

/// Limits on a race's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RaceBudget {
    /// The latest times of milestones under the first scheme.
    times: Vec<(PageMilestone, Duration)>,
    /// The least gain of the best scheme, as a share of the time under `linux`.
    gain: Option<f64>,
    /// The largest loss of the first scheme, as a share of its time in the first variant.
    slower: Option<f64>,
}

/// The key of the least gain.
const GAIN: &str = "gain";
/// The key of the largest loss.
const SLOWER: &str = "slower";

impl FromStr for RaceBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut budget = Self::default();
        for part in text.split(',') {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("{part:?} is no KEY=VALUE, like load=2s or {GAIN}=10%"))?;
            let shares = [(GAIN, &mut budget.gain), (SLOWER, &mut budget.slower)];
            if let Some((_, own)) = shares.into_iter().find(|(one, _)| *one == key) {
                *own = Some(share(value)?);
                continue;
            }
            let milestone = PageMilestone::ALL.into_iter().find(|one| one.key() == key);
            let milestone = milestone.ok_or_else(|| {
                let keys = PageMilestone::ALL.map(PageMilestone::key).join(", ");
                format!("{key:?} is none of {keys}, {GAIN} and {SLOWER}")
            })?;
            let time: Duration =
                value.parse().map_err(|error: units::ParseUnitError| error.to_string())?;
            budget.times.push((milestone, time));
        }
        Ok(budget)
    }
}

/// A share like `10%`, of at most all.
fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let share = percent.map(|percent| percent / 100.0).filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("{text:?} is no share of 0% to 100%"))
}

impl RaceBudget {
    /// Refuses milestones that the page does not know.
    pub(super) fn check(&self, page: &Page) -> Result<(), Failure> {
        match self.times.iter().find(|(milestone, _)| !page.knows(*milestone)) {
            Some((milestone, _)) => Err(Failure::input(format!(
                "--budget {}: the recording of {} has no time of this event; last_byte has one",
                milestone.key(),
                page.name()
            ))),
            None => Ok(()),
        }
    }

    /// Refuses limits that only a comparison has results for.
    pub(super) fn check_alone(&self) -> Result<(), Failure> {
        match self.slower {
            Some(_) => Err(Failure::input(format!(
                "--budget {SLOWER} compares variants: name two pages, or an option with several values, like --http 1.1,2"
            ))),
            None => Ok(()),
        }
    }

    /// Fails with one line for each limit that the result exceeds, in any world and kind of visit.
    /// `first` is the name of the scheme that the times are of.
    pub(super) fn check_limits(&self, result: &RaceResult, first: &str) -> Result<(), Failure> {
        over_budget(&self.excesses(result, first))
    }

    /// Judges the last variant in the same way, and its loss against the first variant.
    pub(super) fn judge_last(
        &self,
        comparison: &RaceComparison,
        first: &str,
    ) -> Result<(), Failure> {
        let last = comparison.last();
        let mut lines = self.excesses(&last.result, first);
        if let Some(most) = self.slower {
            let rows = last.result.measured().filter(|row| row.name == first);
            lines.extend(rows.filter_map(|row| slower(last.gain(row), row, most)));
        }
        over_budget(&lines)
    }

    fn excesses(&self, result: &RaceResult, first: &str) -> Vec<String> {
        let rows: Vec<&SchemeResult> = result.measured().filter(|row| row.name == first).collect();
        let late = rows.iter().flat_map(|row| {
            self.times.iter().filter_map(|(milestone, limit)| over_limit(row, *milestone, *limit))
        });
        let is_asked = !self.times.is_empty() || self.slower.is_some();
        let unknown =
            (rows.is_empty() && is_asked).then(|| format!("no load under {first} was measured"));
        late.chain(unknown).chain(self.too_small(result)).collect()
    }

    fn too_small(&self, result: &RaceResult) -> Option<String> {
        let least = self.gain?;
        let raced = result.measured().filter(|row| row.name != race::PERFECT_START);
        let gains = raced.filter_map(|row| row.median(RaceMetric::GainOverLinux).zip(Some(row)));
        let best = gains.max_by(|(one, _), (other, _)| one.total_cmp(other));
        let shown = |gain: f64| format!("{:.1} %", gain * 100.0);
        match best {
            Some((gain, _)) if gain >= least => None,
            Some((gain, row)) => Some(format!(
                "the best gain is {} by {}, and has to be {}",
                shown(gain),
                scheme_and_world(row),
                shown(least)
            )),
            None => Some(format!("no gain is known, and it has to be {}", shown(least))),
        }
    }
}

fn over_budget(lines: &[String]) -> Result<(), Failure> {
    match lines.is_empty() {
        true => Ok(()),
        false => Err(Failure::OverBudget(lines.join("; "))),
    }
}

/// Names a loss that is over its limit, or that is not known.
fn slower(gain: Option<&VariantGain>, row: &SchemeResult, most: f64) -> Option<String> {
    let loss = gain.and_then(|gain| gain.gain).map(|gain| -gain.median);
    let shown = |share: f64| format!("{:.1} %", share * 100.0);
    match loss {
        Some(loss) if loss <= most => None,
        Some(loss) => Some(format!(
            "the last variant is slower by {} under {}, and may be by {}",
            shown(loss),
            scheme_and_world(row),
            shown(most)
        )),
        None => Some(format!(
            "it is not known how much slower the last variant is under {}",
            scheme_and_world(row)
        )),
    }
}

/// Names a time that is over its limit, or that did not come.
fn over_limit(row: &SchemeResult, milestone: PageMilestone, limit: Duration) -> Option<String> {
    let limit = limit.as_secs_f64();
    let time = row.time_to(milestone).map(|time| time.median);
    if time.is_some_and(|time| time <= limit) {
        return None;
    }
    let took = time.map_or("never comes".to_owned(), |time| format!("takes {}", seconds(time)));
    Some(format!(
        "{milestone} {took} under {}, and may take {}",
        scheme_and_world(row),
        seconds(limit)
    ))
}

fn scheme_and_world(row: &SchemeResult) -> String {
    match row.world {
        Some(world) if world != World::Sim => format!("{} on {}", row.name, world.name()),
        _ => row.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::RaceCommand;
    use super::*;
    use clap::Parser;
    use race::{RunOptions, Spread};

    #[test]
    fn budgets_are_read_or_refused_with_the_way_out() {
        let budget: RaceBudget = "load=2s,content_loaded=900ms,gain=12.5%".parse().unwrap();
        let times = [
            (PageMilestone::Load, Duration::from_secs(2)),
            (PageMilestone::ContentLoaded, Duration::from_millis(900)),
        ];
        assert_eq!(budget, RaceBudget { times: times.into(), gain: Some(0.125), slower: None });
        for (text, why) in [
            ("load", "is no KEY=VALUE, like load=2s"),
            ("page=2s", "is none of document, content_loaded, load, last_byte, gain and slower"),
            ("gain=10", "is no share of 0% to 100%"),
            ("gain=101%", "is no share of 0% to 100%"),
            ("load=2", "one of ns, us, ms, s"),
        ] {
            let message = text.parse::<RaceBudget>().unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        command: RaceCommand,
    }

    /// The result of `linux` for an object of 3 kB.
    fn result() -> RaceResult {
        let command = Command::parse_from(["race", "3kB", "--schemes", "linux", "--exact"]);
        let race = command.command.races().unwrap().remove(0).remove(0).race;
        let options = RunOptions { threads: 1, record: false, capture: false, on_run: &|| () };
        RaceResult::new(&race, &race.run(options))
    }

    #[test]
    fn every_row_of_the_first_scheme_has_to_keep_the_times() {
        let judge = |result: &RaceResult, first: &str| {
            let budget: RaceBudget = "last_byte=1s".parse().unwrap();
            budget.check_limits(result, first).map_err(|failure| failure.why().to_owned())
        };
        let mut result = result();
        assert_eq!(judge(&result, "linux"), Ok(()));
        let nothing = "no load under newreno was measured".to_owned();
        assert_eq!(judge(&result, "newreno"), Err(nothing));
        // Another world, in which the load took two seconds.
        let mut slow = result.schemes[0].clone();
        slow.world = Some(World::Kernel);
        slow.milestones.iter_mut().for_each(|one| one.time_s = Some(Spread::exactly(2.0)));
        result.schemes.push(slow);
        let late = "last byte takes 2.000 s under linux on kernel, and may take 1.000 s".to_owned();
        assert_eq!(judge(&result, "linux"), Err(late));
    }
}
