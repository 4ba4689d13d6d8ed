//! Pauses of a recording: a user went on minutes later, which is another visit and no part of the
//! page's load.

use super::error::{HarError, Problem};
use super::fetch::Fetch;
use units::Duration;

/// Longest pause within a page: no page waits so long for itself.
const PAUSE: Duration = Duration::from_secs(60);

/// Visits that a note or an error lists at most.
const MAX_LISTED: usize = 12;

/// The visits of a recording, in order of time. There is at least one, and each has a fetch.
pub(super) struct Visits {
    list: Vec<Vec<Fetch>>,
    /// The pauses between them.
    pauses: Vec<Duration>,
}

impl Visits {
    /// Divides fetches in order of starting. No fetch that started by `on_load` begins a visit.
    pub(super) fn of(fetches: Vec<Fetch>, on_load: Option<Duration>) -> Self {
        let (mut list, mut pauses): (Vec<Vec<Fetch>>, _) = (Vec::new(), Vec::new());
        let mut busy_until = Duration::ZERO;
        for fetch in fetches {
            let idle = fetch.started.saturating_sub(busy_until);
            let is_after_load = on_load.is_none_or(|at| fetch.started > at);
            busy_until = busy_until.max(fetch.finished);
            match list.last_mut() {
                Some(_) if idle > PAUSE && is_after_load => {
                    pauses.push(idle);
                    list.push(vec![fetch]);
                }
                Some(visit) => visit.push(fetch),
                None => list.push(vec![fetch]),
            }
        }
        Self { list, pauses }
    }

    /// The index of the visit that `choice` means, a number from 1; the first without a choice.
    pub(super) fn visit_index(&self, choice: Option<&str>, file: &str) -> Result<usize, HarError> {
        let Some(choice) = choice else { return Ok(0) };
        let index = choice.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        index.filter(|index| *index < self.list.len() && self.list.len() > 1).ok_or_else(|| {
            let pages = match self.list.len() {
                0 | 1 => vec!["it names no pages, so leave the choice out".to_owned()],
                _ => self.visit_lines(),
            };
            HarError::new(file, Problem::NoSuchPage { choice: choice.to_owned(), pages })
        })
    }

    /// The note on the pauses; none if there was no pause. `may_choose` if `--har-page` takes the
    /// number of a visit.
    pub(super) fn pauses_note(&self, chosen: usize, may_choose: bool) -> Option<String> {
        let longest = self.pauses.iter().max()?;
        let shortest = self.pauses.iter().min()?;
        let pauses = match (self.pauses.len(), pause_text(*shortest), pause_text(*longest)) {
            (1, shortest, _) => format!("a pause of {shortest}"),
            (n, shortest, longest) if shortest == longest => format!("{n} pauses of {shortest}"),
            (n, shortest, longest) => format!("{n} pauses of {shortest} to {longest}"),
        };
        let way_out = match may_choose {
            true => format!("; --har-page chooses another: {}", self.visit_lines().join("; ")),
            false => String::new(),
        };
        let (number, count) = (chosen + 1, self.list.len());
        Some(format!("{pauses} in the recording, so visit {number} of {count} is loaded{way_out}"))
    }

    /// The fetches of a visit, with times from its first request.
    pub(super) fn take(mut self, index: usize) -> Vec<Fetch> {
        let mut fetches = self.list.swap_remove(index);
        let origin = fetches.first().map_or(Duration::ZERO, |first| first.started);
        for fetch in &mut fetches {
            fetch.started = fetch.started.saturating_sub(origin);
            fetch.first_byte = fetch.first_byte.saturating_sub(origin);
            fetch.finished = fetch.finished.saturating_sub(origin);
        }
        fetches
    }

    fn visit_lines(&self) -> Vec<String> {
        let listed = (1..).zip(self.list.iter().take(MAX_LISTED));
        let mut lines: Vec<String> =
            listed.map(|(number, visit)| format!("{number} {}", visit[0].label)).collect();
        if self.list.len() > MAX_LISTED {
            lines.push(format!("… {} in all", self.list.len()));
        }
        lines
    }
}

/// A pause in words, to the nearest minute.
fn pause_text(time: Duration) -> String {
    let minutes = ((time.as_millis() + 30_000) / 60_000).max(1);
    units::counted(minutes, "minute")
}
