//! Calls that wait: when they return, and what `poll` has found by then.

use super::super::model::{Call, CallKind, CallOutcome};
use super::application::Waiting;
use super::subject::Subject;
use super::{CheckResult, Failure, Run, seconds};
use units::Instant;

impl<S: Subject> Run<'_, S> {
    /// Lets the waiting call return if it can, and checks that it does so in time.
    pub(super) fn settle_call(&mut self) -> CheckResult {
        let Some(waiting) = self.application.waiting.take() else {
            return Ok(());
        };
        let tolerance = self.tolerance();
        let (now, outcome) = self.return_of(&waiting);
        match outcome {
            Some(outcome) if now + tolerance >= waiting.returns => {
                if waiting.returns + tolerance < now {
                    return Err(
                        waiting.wrong_return_time(&format!("it returns at {}", seconds(now)))
                    );
                }
                let line = waiting.line;
                self.finish(&waiting.call, outcome)
                    .and_then(|()| self.check_polled(&waiting.call, outcome))
                    .map_err(|failure| Failure { line: Some(line), ..failure })
            }
            Some(_) => Err(waiting.wrong_return_time(&format!("it returns at {}", seconds(now)))),
            None if waiting.returns + tolerance < now => {
                Err(waiting.wrong_return_time(&format!("it still waits at {}", seconds(now))))
            }
            None => {
                self.application.waiting = Some(waiting);
                Ok(())
            }
        }
    }

    /// Result of the call now, and its time. A `poll` that has found nothing by the end of its time
    /// returned then.
    fn return_of(&mut self, waiting: &Waiting) -> (Instant, Option<CallOutcome>) {
        let now = self.subject.now();
        let outcome = self.would_return(&waiting.call);
        match waiting.gives_up {
            Some(end) if end < now || (end == now && outcome.is_none()) => {
                (end, Some(CallOutcome::Value(0)))
            }
            _ => (now, outcome),
        }
    }

    /// `poll` must have found the script's events, and none if it returns 0.
    pub(super) fn check_polled(&mut self, call: &Call, outcome: CallOutcome) -> CheckResult {
        let CallKind::Poll(polled) = call.kind else { return Ok(()) };
        let Some(socket) = self.application.sockets.get(&call.fd) else { return Ok(()) };
        let found = match outcome {
            CallOutcome::Value(0) => 0,
            _ => socket.polled(polled, self.subject.progress(socket.connection)),
        };
        if found == polled.found {
            return Ok(());
        }
        let actual = format!("revents is {found:#x}, and not {:#x}", polled.found);
        Err(Failure::new("poll finds something else", call.text.clone(), actual))
    }

    /// Waits for the call that has not returned yet.
    pub(super) fn finish_call(&mut self) -> CheckResult {
        while let Some(waiting) = &self.application.waiting {
            let limit = waiting.returns + self.tolerance();
            let fired = self.step(limit)?;
            self.settle_call()?;
            if let (false, Some(waiting)) = (fired, &self.application.waiting) {
                return Err(waiting.wrong_return_time("it never returns"));
            }
        }
        Ok(())
    }
}
