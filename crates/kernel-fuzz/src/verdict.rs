//! Comparison of the kernel with the script of the model's behaviour.

use crate::kernel::KernelBench;
use emulator::ThreadScheduling;
use script::{Mismatch, Script, play};
use serde::Serialize;
use units::Duration;

/// The delay that an input may have: a round trip that is longer by this changes no assertion.
const TOO_LATE: Duration = Duration::from_millis(1);
/// Plays of a script until all of its inputs are in time.
const TRIES: usize = 6;
/// Plays in which a script has to differ, each time in the same event.
const REPETITIONS: usize = 3;

/// An event at which the kernel does something else than the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Line of the script.
    pub line: u32,
    /// The part of the event that differs.
    pub message: String,
    /// The model's event, in the script's notation.
    pub model: String,
    /// The kernel's event, in the script's notation.
    pub kernel: String,
}

impl Difference {
    fn from_mismatch(mismatch: Mismatch) -> Self {
        let Mismatch { line, message, expected, actual, .. } = mismatch;
        Self { line, message, model: expected, kernel: actual }
    }

    /// The difference without numbers. Differences of one cause mostly share it.
    pub fn signature(&self) -> String {
        let words = |text: &str| {
            let kept = text.split(|c: char| !(c.is_ascii_alphabetic() || c == '_'));
            let kept: Vec<_> = kept.filter(|word| word.len() > 2).collect();
            kept.join(" ")
        };
        match self.message.contains("assertion") {
            true => words(&self.model),
            false => words(&self.message),
        }
    }
}

/// The result of a script that the kernel has played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FuzzVerdict {
    /// The kernel does what the model does.
    Agrees,
    /// It does something else, in every repetition.
    Differs(Difference),
    /// It was never played in time, or differed in another way each time; why.
    NotPlayed(String),
}

/// Plays one script in the kernel, in a namespace of its own.
///
/// # Errors
/// [`emulator::Privilege`] if the process may not, or if there are no TUN devices here.
pub fn play_in_kernel(script: &Script) -> std::io::Result<FuzzVerdict> {
    ThreadScheduling::on_its_own_thread(|| {
        Ok(play_and_compare(&mut KernelBench::enter_namespace()?, script))
    })
}

/// Plays a script in the kernel, once more if an input was late, and several times if it differs.
pub(crate) fn play_and_compare(bench: &mut KernelBench, script: &Script) -> FuzzVerdict {
    let mut first: Option<Difference> = None;
    for _ in 0..REPETITIONS {
        let difference = match play_in_time(bench, script) {
            Err(why) => return FuzzVerdict::NotPlayed(why),
            Ok(None) if first.is_none() => return FuzzVerdict::Agrees,
            Ok(None) => return FuzzVerdict::NotPlayed("it does not differ each time".to_owned()),
            Ok(Some(difference)) => difference,
        };
        match &first {
            Some(known) if known.line != difference.line => {
                return FuzzVerdict::NotPlayed("it differs elsewhere each time".to_owned());
            }
            _ => first = Some(difference),
        }
    }
    first.map_or(FuzzVerdict::Agrees, FuzzVerdict::Differs)
}

/// One play whose inputs were in time.
fn play_in_time(bench: &mut KernelBench, script: &Script) -> Result<Option<Difference>, String> {
    for _ in 0..TRIES {
        let (subject, trouble) = bench.subject();
        let result = play(script, None, subject);
        let trouble = trouble.borrow();
        if let Some(failed) = &trouble.failed {
            return Err(failed.clone());
        }
        if trouble.late > TOO_LATE {
            continue;
        }
        return Ok(match result {
            Err(mismatch) => Some(Difference::from_mismatch(mismatch)),
            Ok(report) => report.left_over.first().map(|sent| Difference {
                line: script.events.last().map_or(0, |event| event.position.line),
                message: "the host sends more".to_owned(),
                model: "nothing".to_owned(),
                kernel: sent.clone(),
            }),
        });
    }
    let most = TOO_LATE.as_millis();
    Err(format!("inputs were late by more than {most} ms in {TRIES} runs"))
}
