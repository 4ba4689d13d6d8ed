//! Questions that are asked but not answered.

use crate::message::SiteQuestion;
use ipnet::IpNet;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of open questions.
const MAX_OPEN_QUESTIONS: usize = 4096;

/// Questions in the order in which they were asked.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    next: u64,
    open: VecDeque<Asked<T>>,
}

#[derive(Debug)]
struct Asked<T> {
    id: u64,
    at: Instant,
    /// The question; `None` if it is answered.
    question: Option<SiteQuestion<T>>,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self { next: 0, open: VecDeque::new() }
    }
}

impl<T> Pending<T> {
    /// Adds a question and returns its number; returns the question if too many are open.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        question: SiteQuestion<T>,
    ) -> Result<u64, SiteQuestion<T>> {
        if self.open.len() == MAX_OPEN_QUESTIONS {
            return Err(question);
        }
        self.next += 1;
        self.open.push_back(Asked { id: self.next, at: now, question: Some(question) });
        Ok(self.next)
    }

    /// Removes and returns the answered question; `None` if it was given up or answered before.
    pub(crate) fn answer(&mut self, id: u64) -> Option<SiteQuestion<T>> {
        let at = self.open.binary_search_by_key(&id, |asked| asked.id).ok()?;
        let question = self.open[at].question.take();
        while self.open.front().is_some_and(|asked| asked.question.is_none()) {
            self.open.pop_front();
        }
        question
    }

    /// Returns the open questions, the oldest first: number, network and size.
    pub(crate) fn open(&self) -> Vec<(u64, IpNet, u64)> {
        let open = |asked: &Asked<T>| {
            let question = asked.question.as_ref()?;
            Some((asked.id, question.network, question.size))
        };
        self.open.iter().filter_map(open).collect()
    }

    /// Gives up questions that have waited for longer than `patience`; returns their number.
    pub(crate) fn give_up(&mut self, now: Instant, patience: Duration) -> u64 {
        let mut given_up = 0;
        while self.open.front().is_some_and(|asked| now - asked.at > patience) {
            given_up +=
                u64::from(self.open.pop_front().is_some_and(|asked| asked.question.is_some()));
        }
        given_up
    }

    /// Returns the waiting time of the oldest question.
    pub(crate) fn oldest(&self, now: Instant) -> Duration {
        self.open.front().map_or(Duration::ZERO, |asked| now - asked.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(of: u32) -> SiteQuestion<u32> {
        SiteQuestion { network: "192.0.2.0/24".parse().unwrap(), size: 0, of }
    }

    #[test]
    fn answers_find_their_questions_once_and_in_any_order() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        let ids: Vec<_> =
            (0..3).map(|n| pending.ask(now, question(n)).map_err(|_| ()).unwrap()).collect();
        assert_eq!(pending.answer(ids[1]).map(|question| question.of), Some(1));
        assert_eq!(pending.answer(ids[1]).map(|question| question.of), None);
        assert_eq!(pending.answer(ids[0]).map(|question| question.of), Some(0));
        let later = now + Duration::from_secs(2);
        assert_eq!(pending.oldest(later), Duration::from_secs(2));
        assert_eq!(pending.give_up(later, Duration::from_secs(1)), 1);
        assert_eq!(pending.answer(ids[2]).map(|question| question.of), None);
        assert_eq!(pending.oldest(later), Duration::ZERO);
    }

    #[test]
    fn so_many_are_open_and_no_more() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        let taken = (0..5000).filter(|n| pending.ask(now, question(*n)).is_ok()).count();
        assert_eq!(taken, MAX_OPEN_QUESTIONS);
    }
}
