//! Who waits until little is left unsent, as Linux wakes by `TCP_NOTSENT_LOWAT`. A server that decides
//! late what to send next keeps its own queue short by it: what is written cannot be overtaken any more.

use std::task::Waker;

/// Those who wait on one stream, each for fewer unsent bytes than a mark of its own.
#[derive(Debug, Default)]
pub(crate) struct LowWater {
    waiting: Vec<(u64, Waker)>,
}

impl LowWater {
    /// A task waits for fewer than `low`. One that waits several times has one place, with the highest
    /// of its marks: whoever is woken early looks and waits again.
    pub(crate) fn wait(&mut self, low: u64, waker: &Waker) {
        match self.waiting.iter_mut().find(|(_, other)| other.will_wake(waker)) {
            Some((mark, _)) => *mark = low.max(*mark),
            None => self.waiting.push((low, waker.clone())),
        }
    }

    /// So many bytes are unsent now.
    pub(crate) fn on_unsent(&mut self, unsent: u64, wake: &mut Vec<Waker>) {
        wake.extend(self.waiting.extract_if(.., |(low, _)| unsent < *low).map(|(_, waker)| waker));
    }

    /// There is nothing left to wait for.
    pub(crate) fn wake_all(&mut self, wake: &mut Vec<Waker>) {
        wake.extend(self.waiting.drain(..).map(|(_, waker)| waker));
    }
}
