//! Tasks that wait until little is left unsent, as Linux wakes them by `TCP_NOTSENT_LOWAT`. A
//! server that decides late what to send next thus keeps its own queue short: written data cannot
//! be overtaken any more.

use std::task::Waker;

/// Tasks that wait on one stream, each for fewer unsent bytes than a mark of its own.
#[derive(Debug, Default)]
pub(crate) struct LowWater {
    waiting: Vec<(u64, Waker)>,
}

impl LowWater {
    /// Makes a task wait for fewer than `low`. One that waits several times has one entry, with the
    /// highest of its marks: a task that is woken early checks and waits again.
    pub(crate) fn wait(&mut self, low: u64, waker: &Waker) {
        match self.waiting.iter_mut().find(|(_, other)| other.will_wake(waker)) {
            Some((mark, _)) => *mark = low.max(*mark),
            None => self.waiting.push((low, waker.clone())),
        }
    }

    /// Wakes the tasks whose mark is above `unsent` bytes.
    pub(crate) fn on_unsent(&mut self, unsent: u64, wake: &mut Vec<Waker>) {
        wake.extend(self.waiting.extract_if(.., |(low, _)| unsent < *low).map(|(_, waker)| waker));
    }

    /// Wakes all tasks: there is nothing left to wait for.
    pub(crate) fn wake_all(&mut self, wake: &mut Vec<Waker>) {
        wake.extend(self.waiting.drain(..).map(|(_, waker)| waker));
    }
}
