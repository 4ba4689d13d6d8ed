//! Many random scripts at a time, and what became of them.

use crate::case::FuzzKind;
use crate::compose::compose;
use crate::kernel::KernelBench;
use crate::recording::record;
use crate::shrink::{DifferingCase, drop_needless_steps};
use crate::verdict::{Difference, FuzzVerdict, play_and_compare};
use emulator::ThreadScheduling;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The scripts that a campaign plays.
#[derive(Clone, Debug)]
pub struct CampaignPlan {
    /// The kinds of scripts.
    pub kinds: Vec<FuzzKind>,
    /// Scripts of each kind.
    pub scripts: u64,
    /// The first script's seed; each further one has the next.
    pub seed: u64,
    /// Scripts that are played at a time, each in a namespace of its own.
    pub jobs: usize,
    /// Differences of one kind and signature that are shrunk; the others are kept as they are.
    pub shrink: u64,
}

/// The counts of one kind's scripts, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// All of them.
    pub scripts: u64,
    /// Scripts under which the kernel does what the model does.
    pub agree: u64,
    /// Scripts under which it does something else.
    pub differ: u64,
    /// Scripts that could not be played in time, or that differ at some times alone.
    pub not_played: u64,
}

/// A difference and its script.
#[derive(Clone, Debug, Serialize)]
pub struct FoundDifference {
    /// The kind of the script.
    pub kind: FuzzKind,
    /// The seed that makes the script.
    pub seed: u64,
    /// The event that differs.
    pub difference: Difference,
    /// The difference without numbers.
    pub signature: String,
    /// The script, shrunk if few differences of its signature were found before.
    pub script: String,
    /// The script was shrunk.
    pub shrunk: bool,
}

/// The result of a campaign.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CampaignReport {
    /// The counts, by kind.
    pub kinds: BTreeMap<FuzzKind, KindCount>,
    /// All differences, in the order of kinds and seeds.
    pub differences: Vec<FoundDifference>,
    /// Reasons why scripts could not be played, with their counts.
    pub reasons: BTreeMap<String, u64>,
}

impl CampaignPlan {
    /// Plays all scripts, and calls `on_script` after each. Threads ask for real-time scheduling.
    ///
    /// # Errors
    /// [`emulator::Privilege`] if the process may not, or if there are no TUN devices here.
    pub fn run(&self, on_script: &(dyn Fn() + Sync)) -> io::Result<CampaignReport> {
        let report = Mutex::new(CampaignReport::default());
        let next = AtomicU64::new(0);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1))
                .map(|_| scope.spawn(|| self.run_worker(&next, &report, on_script)))
                .collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
        report.differences.sort_by_key(|found| (found.kind, found.seed));
        Ok(report)
    }

    /// Plays scripts until all are taken.
    fn run_worker(
        &self,
        next: &AtomicU64,
        report: &Mutex<CampaignReport>,
        on_script: &(dyn Fn() + Sync),
    ) -> io::Result<()> {
        let mut bench = KernelBench::enter_namespace()?;
        ThreadScheduling::best();
        let total = self.scripts * self.kinds.len() as u64;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= total {
                return Ok(());
            }
            // Kinds take turns, so an interrupted campaign has scripts of all kinds.
            let kind = self.kinds[(number % self.kinds.len() as u64) as usize];
            let seed = self.seed + number / self.kinds.len() as u64;
            self.play_one(&mut bench, kind, seed, report);
            on_script();
        }
    }

    fn play_one(
        &self,
        bench: &mut KernelBench,
        kind: FuzzKind,
        seed: u64,
        report: &Mutex<CampaignReport>,
    ) {
        let lock = || report.lock().unwrap_or_else(PoisonError::into_inner);
        let played = recorded(kind, seed).map(|found| (play_and_compare(bench, &found.1), found));
        let (verdict, found) = match played {
            Ok((verdict, found)) => (verdict, Some(found)),
            Err(why) => (FuzzVerdict::NotPlayed(why), None),
        };
        let mut report = lock();
        let count = report.kinds.entry(kind).or_default();
        count.scripts += 1;
        match (verdict, found) {
            (FuzzVerdict::Agrees, _) => count.agree += 1,
            (FuzzVerdict::Differs(difference), Some((mut differing, _))) => {
                count.differ += 1;
                let signature = difference.signature();
                let before = report
                    .differences
                    .iter()
                    .filter(|one| (one.kind, &one.signature) == (kind, &signature))
                    .count();
                let shrunk = (before as u64) < self.shrink;
                differing.difference = difference;
                let place = report.differences.len();
                report.differences.push(found_difference(kind, seed, &differing));
                drop(report);
                if shrunk {
                    let smallest = drop_needless_steps(bench, differing);
                    let mut found = found_difference(kind, seed, &smallest);
                    found.shrunk = true;
                    lock().differences[place] = found;
                }
            }
            (FuzzVerdict::NotPlayed(why), _) => {
                count.not_played += 1;
                *report.reasons.entry(why).or_default() += 1;
            }
            (FuzzVerdict::Differs(_), None) => {}
        }
    }
}

fn found_difference(kind: FuzzKind, seed: u64, differing: &DifferingCase) -> FoundDifference {
    FoundDifference {
        kind,
        seed,
        signature: differing.difference.signature(),
        difference: differing.difference.clone(),
        script: differing.text.clone(),
        shrunk: false,
    }
}

/// The script of a seed, which holds in the model.
fn recorded(kind: FuzzKind, seed: u64) -> Result<(DifferingCase, script::Script), String> {
    let case = compose(kind, seed).map_err(|why| format!("{why:?}"))?;
    let text = record(&case).map_err(|why| format!("{why:?}"))?;
    let name = format!("{}-{seed}.pkt", kind.name());
    let script = script::parse(&name, text.clone()).map_err(|error| error.to_string())?;
    script::run(&script, None).map_err(|mismatch| format!("not in the model: {mismatch}"))?;
    let nothing =
        Difference { line: 0, message: String::new(), model: String::new(), kernel: String::new() };
    Ok((DifferingCase { case, text, difference: nothing }, script))
}
