//! Answers that still hold. Many visitors of a network come at once, and each of them asks: the
//! answer is computed once, until a report of the network, or its age, changes it.
//!
//! An answer holds for a thirty-second part of the half-life: its samples then weigh 2 % less, all
//! of them alike. For that time the reports of its neighbours, and of the site, do not change it
//! either. The table has a fixed number of slots, one for each hash: an entry replaces the one
//! before.

use super::estimate::SiteEstimate;
use super::kept::{TICK_SECONDS, Tick};
use super::prefix::Prefix;
use super::{SiteConfig, SiteMemory};
use std::net::IpAddr;
use units::{Duration, Instant};

/// Maximum number of slots. Chosen, not measured.
const MAX_SLOTS: usize = 1 << 16;
/// Part of the half-life for which an answer holds. Chosen, not measured.
const PART_OF_HALF_LIFE: u32 = 32;

/// Answers of a [`SiteMemory`], each under the address that was asked for.
#[derive(Debug)]
pub struct KeptAnswers {
    places: Box<[Option<KeptAnswer>]>,
    seed: u64,
    /// Steps of time for which an answer holds.
    holds: u32,
}

#[derive(Clone, Copy, Debug)]
struct KeptAnswer {
    asked: Prefix,
    revision: u32,
    at: Tick,
    estimate: SiteEstimate,
}

impl KeptAnswers {
    /// Creates slots for the answers of a memory of this configuration.
    pub fn new(config: &SiteConfig) -> Self {
        let places = config.max_networks.clamp(1, MAX_SLOTS).next_power_of_two();
        Self {
            places: vec![None; places].into(),
            seed: config.seed,
            holds: config.busy_ticks() / PART_OF_HALF_LIFE,
        }
    }

    /// Returns the answer of `memory` for `address`, if it was asked lately and has no report
    /// since. Its age is updated.
    pub fn get(&self, memory: &SiteMemory, now: Instant, address: IpAddr) -> Option<SiteEstimate> {
        let asked = Prefix::of_address(address).next()?;
        let kept = self.places[self.place(asked)].as_ref().filter(|kept| kept.asked == asked)?;
        let passed = Tick::at(now).0.checked_sub(kept.at.0)?;
        if passed > self.holds || kept.revision != memory.revisions.of(address) {
            return None;
        }
        let passed = Duration::from_secs_f64(f64::from(passed) * TICK_SECONDS);
        Some(SiteEstimate { age: kept.estimate.age + passed, ..kept.estimate })
    }

    /// Keeps the answer of `memory` for `address` at `now`, before the next report.
    pub fn put(
        &mut self,
        memory: &SiteMemory,
        now: Instant,
        address: IpAddr,
        estimate: SiteEstimate,
    ) {
        let Some(asked) = Prefix::of_address(address).next() else { return };
        let revision = memory.revisions.of(address);
        let kept = KeptAnswer { asked, revision, at: Tick::at(now), estimate };
        self.places[self.place(asked)] = Some(kept);
    }

    fn place(&self, asked: Prefix) -> usize {
        (asked.spread(self.seed) as usize) & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Reporter, SiteForget, SiteReport};
    use super::*;
    use crate::bound::ReportBound;
    use proptest::prelude::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn report(third: u8, length: u8, kilobytes: u64) -> SiteReport {
        SiteReport {
            network: format!("10.1.{third}.0/{length}").parse().unwrap(),
            reporter: Reporter(kilobytes as u32 % 5),
            window: kilobytes * 1000,
            rate: None,
            min_rtt: None,
            sent: 0,
            lost: 0,
            bound: if kilobytes.is_multiple_of(2) { ReportBound::Loss } else { ReportBound::Over },
        }
    }

    /// Half-lives of 300 s hold answers for 279 / 32 = 8 steps of 1.07 s.
    #[test]
    fn an_answer_holds_until_its_network_is_reported_or_it_is_old() {
        let config = SiteConfig::default();
        let (mut memory, mut kept) = (SiteMemory::new(config), KeptAnswers::new(&config));
        let address = "10.1.1.9".parse().unwrap();
        memory.report(at(100), &report(1, 24, 60));
        let first = memory.estimate(at(100), address, None).unwrap();
        assert_eq!(kept.get(&memory, at(100), address), None);
        kept.put(&memory, at(100), address, first);
        let later = kept.get(&memory, at(107), address).unwrap();
        assert_eq!(SiteEstimate { age: first.age, ..later }, first);
        // Seven seconds are seven steps, or six.
        assert!((6..=8).contains(&((later.age - first.age).as_millis() / 1000)), "{later:?}");
        assert_eq!(kept.get(&memory, at(110), address), None);
        assert_eq!(kept.get(&memory, at(98), address), None);
        memory.report(at(101), &report(1, 24, 60));
        assert_eq!(kept.get(&memory, at(101), address), None);
        kept.put(&memory, at(101), address, first);
        memory.forget(SiteForget::new(at(101), "10.0.0.0/8".parse().unwrap()));
        assert_eq!(kept.get(&memory, at(101), address), None);
    }

    proptest! {
        /// For a network whose samples answer alone, a kept answer equals the one that was computed
        /// when it was kept, whatever is reported in between.
        #[test]
        fn what_is_kept_is_what_was_answered(
            steps in prop::collection::vec((0..4_u8, 0..3_u8, 1..400_u64, any::<bool>()), 1..80),
        ) {
            let config = SiteConfig { max_networks: 8, ..SiteConfig::default() };
            let (mut memory, mut kept) = (SiteMemory::new(config), KeptAnswers::new(&config));
            let mut answered = [None; 4];
            for (third, longer, kilobytes, asks) in steps {
                let address: IpAddr = format!("10.1.{third}.0").parse().unwrap();
                if asks {
                    let found = kept.get(&memory, at(9), address);
                    if found.is_some() {
                        prop_assert_eq!(found, answered[usize::from(third)]);
                    }
                    if let Some(fresh) = memory.estimate(at(9), address, None) {
                        kept.put(&memory, at(9), address, fresh);
                        answered[usize::from(third)] = Some(fresh);
                    }
                } else {
                    memory.report(at(9), &report(third, 20 + 4 * longer, kilobytes));
                    let next = kept.get(&memory, at(9), address);
                    prop_assert_eq!(next, None, "a report of it was not noticed");
                }
            }
        }
    }
}
