//! A running agent: programs attached, summaries heard, questions answered, until it is told to stop.

use crate::check;
use crate::config::Config;
use crate::control::Control;
use crate::kernel::{Attached, Loaded};
use crate::knobs::Knobs;
use crate::log::{Level, say};
use crate::paths;
use crate::question::{Answer, Question, Status};
use crate::schemes::Scheme;
use crate::totals::Totals;
use libbpf_rs::{ErrorKind, MapHandle};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the agent sleeps at most before it looks whether to stop.
const TICK: Duration = Duration::from_millis(250);

/// What others want of a running agent; they set it at any time.
#[derive(Debug, Default)]
pub struct Wishes {
    /// It shall end.
    pub stop: Arc<AtomicBool>,
    /// It shall read its configuration anew.
    pub reload: Arc<AtomicBool>,
}

/// What both threads know.
struct Shared {
    config: Mutex<Config>,
    paths: MapHandle,
    totals: Mutex<Totals>,
    summaries_lost: AtomicU64,
    schemes: Vec<Scheme>,
}

/// The programs as they are attached, and what can be changed of them.
struct Work {
    loaded: Loaded,
    attached: Attached,
    knobs: Knobs,
}

/// Attends to connections until it is wished to stop. `reread` tells what it is to do from now on.
///
/// # Errors
/// Why it cannot work here, or stopped working.
pub fn run(
    config: Config,
    wishes: &Wishes,
    reread: impl Fn() -> Result<Config, String>,
) -> Result<(), String> {
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
        config: Mutex::new(config.clone()),
    });
    let summaries = loaded.summaries({
        let shared = Arc::clone(&shared);
        move |summary| shared.totals().add(&summary)
    })?;
    let knobs = loaded.knobs().map_err(|error| format!("cannot keep hold of maps: {error}"))?;
    let attached = loaded.attach(&config.cgroups, &config.except_cgroups)?;
    let mut work = Work { loaded, attached, knobs };
    answer_questions(&control, Arc::clone(&shared))?;
    announce(&config);
    while !wishes.stop.load(Ordering::Relaxed) {
        match summaries.poll(TICK) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(format!("cannot hear of connections any more: {error}"));
            }
            _ => shared.summaries_lost.store(work.loaded.summaries_lost(), Ordering::Relaxed),
        }
        if wishes.reload.swap(false, Ordering::Relaxed) {
            reload(&shared, &mut work, &reread);
        }
    }
    Ok(())
}

fn announce(config: &Config) {
    let cgroups = config.cgroups.iter().map(|cgroup| cgroup.display().to_string());
    let cgroups = cgroups.collect::<Vec<_>>().join(", ");
    let socket = config.socket.display();
    say(Level::Notice, &format!("attending to new connections of {cgroups}; asked at {socket}"));
}

/// What is wrong with the new leaves the old in force.
fn reload(shared: &Shared, work: &mut Work, reread: impl Fn() -> Result<Config, String>) {
    match reread().and_then(|new| change(shared, work, new)) {
        Ok(()) => say(Level::Notice, "the configuration has been read anew"),
        Err(why) => say(Level::Error, &format!("the configuration stays as it was: {why}")),
    }
}

fn change(shared: &Shared, work: &mut Work, mut new: Config) -> Result<(), String> {
    let mut config = shared.config();
    for key in config.fixed_differences(&new) {
        say(Level::Warning, &format!("{key} is as it was until the agent is started anew"));
    }
    // Drawn anew, it would take other connections of the same peers.
    new.load.settings.salt = config.load.settings.salt;
    new.load.max_paths = config.load.max_paths;
    new.socket.clone_from(&config.socket);
    work.loaded.reattach(&mut work.attached, &new.cgroups, &new.except_cgroups)?;
    let turned = work.knobs.turn(&new.load);
    turned.map_err(|error| format!("the kernel refuses a part: {error}"))?;
    *config = new;
    Ok(())
}

/// On a thread of its own, which ends with the process.
fn answer_questions(control: &Control, shared: Arc<Shared>) -> Result<(), String> {
    let serve = control.server().map_err(|error| format!("cannot answer questions: {error}"))?;
    thread::spawn(move || serve.run(|question| shared.answer(question)));
    Ok(())
}

impl Shared {
    fn totals(&self) -> MutexGuard<'_, Totals> {
        // Sums are whole after every addition, whatever else panicked.
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn config(&self) -> MutexGuard<'_, Config> {
        // It is replaced as a whole.
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, question: Question) -> Answer {
        match question {
            Question::Status => Answer::Status(Box::new(self.status())),
            Question::Paths => {
                let settings = self.config().load.settings;
                Answer::Paths(paths::all(&self.paths, &settings))
            }
            Question::Forget(prefix) => Answer::Forgotten(paths::forget(&self.paths, prefix)),
        }
    }

    fn status(&self) -> Status {
        let config = self.config().clone();
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            cgroups: config.cgroups,
            except_cgroups: config.except_cgroups,
            control: config.load.settings.control,
            congestion_controls: self.schemes.iter().map(|s| s.name().to_owned()).collect(),
            cap: config.load.settings.cap,
            paths: paths::count(&self.paths),
            max_paths: config.load.max_paths,
            connections: *self.totals(),
            summaries_lost: self.summaries_lost.load(Ordering::Relaxed),
        }
    }
}
