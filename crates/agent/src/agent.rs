//! A running agent: programs attached, summaries heard, questions answered, until it is told to stop.

use crate::check;
use crate::contract::Settings;
use crate::control::Control;
use crate::kernel::{Load, Loaded};
use crate::paths;
use crate::question::{Answer, Question, Status};
use crate::schemes::Scheme;
use crate::totals::Totals;
use libbpf_rs::{ErrorKind, MapHandle};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the agent sleeps at most before it looks whether to stop.
const TICK: Duration = Duration::from_millis(250);

/// What an agent is to do.
#[derive(Clone, Debug)]
pub struct Config {
    /// How the programs are to be.
    pub load: Load,
    /// Whose connections are attended to.
    pub cgroup: PathBuf,
    /// Where it is asked.
    pub socket: PathBuf,
}

/// What both threads know.
struct Shared {
    config: Config,
    paths: MapHandle,
    totals: Mutex<Totals>,
    summaries_lost: AtomicU64,
    schemes: Vec<Scheme>,
}

/// Attends to connections until `stop` is set. `ready` is called once that has begun.
///
/// # Errors
/// Why it cannot work here, or stopped working.
pub fn run(config: Config, stop: &AtomicBool, ready: impl FnOnce()) -> Result<(), String> {
    if let Some(why) = check::refusal(config.load.settings.control) {
        return Err(why);
    }
    let control = Control::listen(&config.socket)?;
    let mut loaded = Loaded::load(&config.load)?;
    let shared = Arc::new(Shared {
        paths: loaded.paths()?,
        totals: Mutex::default(),
        summaries_lost: AtomicU64::new(0),
        schemes: loaded.schemes().to_vec(),
        config,
    });
    let summaries = loaded.summaries({
        let shared = Arc::clone(&shared);
        move |summary| shared.totals().add(&summary)
    })?;
    let _attached = loaded.attach(&shared.config.cgroup)?;
    answer_questions(&control, Arc::clone(&shared))?;
    ready();
    while !stop.load(Ordering::Relaxed) {
        match summaries.poll(TICK) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(format!("cannot hear of connections any more: {error}"));
            }
            _ => shared.summaries_lost.store(loaded.summaries_lost(), Ordering::Relaxed),
        }
    }
    Ok(())
}

/// On a thread of its own, which ends with the process.
fn answer_questions(control: &Control, shared: Arc<Shared>) -> Result<(), String> {
    let serve = control.server().map_err(|error| format!("cannot answer questions: {error}"))?;
    thread::spawn(move || serve.run(|question| shared.answer(question)));
    Ok(())
}

impl Shared {
    fn totals(&self) -> std::sync::MutexGuard<'_, Totals> {
        // Sums are whole after every addition, whatever else panicked.
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settings(&self) -> &Settings {
        &self.config.load.settings
    }

    fn answer(&self, question: Question) -> Answer {
        match question {
            Question::Status => Answer::Status(self.status()),
            Question::Paths => Answer::Paths(paths::all(&self.paths, self.settings())),
            Question::Forget(prefix) => Answer::Forgotten(paths::forget(&self.paths, prefix)),
        }
    }

    fn status(&self) -> Status {
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            cgroup: self.config.cgroup.clone(),
            control: self.settings().control,
            congestion_controls: self.schemes.iter().map(|s| s.name().to_owned()).collect(),
            cap: self.settings().cap,
            paths: paths::count(&self.paths),
            max_paths: self.config.load.max_paths,
            connections: *self.totals(),
            summaries_lost: self.summaries_lost.load(Ordering::Relaxed),
        }
    }
}
