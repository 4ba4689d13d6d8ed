//! Programs that another process has detached, like a cgroup manager at its restart
//! (`bpf_link_ops.detach`). The kernel does not notify the owner of a link, so the agent looks.

use super::links::Attached;
use super::load_options::DetachResponse;
use super::loader::Loaded;
use crate::os::clock::{monotonic_ns, since};
use crate::os::log::{Level, say};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Time between two looks, nanoseconds.
const LOOK_INTERVAL_NS: u64 = 1_000_000_000;
/// Maximum number of times within [`ATTEMPTS_WITHIN_NS`] that the agent tries to attach its
/// programs again. If they are detached more often, another process wants them away, and
/// connections change all the time.
const MAX_ATTEMPTS: usize = 6;
const ATTEMPTS_WITHIN_NS: u64 = 600_000_000_000;

/// Detached programs, for status and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detachments {
    /// Programs that are detached now, and where they were attached.
    pub missing: Vec<String>,
    /// Programs that were found detached since the agent started.
    pub count: u64,
}

/// Notices detached programs, and responds as configured.
#[derive(Debug, Default)]
pub(crate) struct DetachWatch {
    found: Detachments,
    last_look_ns: Option<u64>,
    /// Times of the last attempts to attach them again, whether they succeeded or not.
    attempts_ns: VecDeque<u64>,
    /// The reason why the programs could not be attached again; logged once.
    why: Option<String>,
}

/// Cgroups whose connections the agent handles, and those within that it does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandledCgroups<'a> {
    pub(crate) cgroups: &'a [PathBuf],
    pub(crate) except: &'a [PathBuf],
}

impl DetachWatch {
    /// Looks once a second. Returns what was found, if that has changed.
    pub(crate) fn check_attachments(
        &mut self,
        loaded: &mut Loaded,
        attached: &mut Attached,
        handled: HandledCgroups<'_>,
        response: DetachResponse,
    ) -> Option<Detachments> {
        let now = monotonic_ns();
        if self.last_look_ns.is_some_and(|last| since(last, now) < LOOK_INTERVAL_NS) {
            return None;
        }
        self.last_look_ns = Some(now);
        let before = self.found.clone();
        self.update_detached(attached.detached_programs());
        if !self.found.missing.is_empty() && self.may_attach(response, now) {
            self.attach(loaded, attached, handled);
        }
        (self.found != before).then(|| self.found.clone())
    }

    /// Notes which programs are detached now.
    fn update_detached(&mut self, missing: Vec<String>) {
        let new: Vec<_> =
            missing.iter().filter(|one| !self.found.missing.contains(one)).cloned().collect();
        self.found.count += new.len() as u64;
        if !new.is_empty() {
            say(
                Level::Error,
                &format!(
                    "another process has detached programs of the agent ({}): new connections are stock there",
                    new.join(", ")
                ),
            );
        }
        self.found.missing = missing;
    }

    /// Returns true if the programs are to be attached again at `now`, and notes that.
    fn may_attach(&mut self, response: DetachResponse, now: u64) -> bool {
        while self.attempts_ns.front().is_some_and(|then| since(*then, now) > ATTEMPTS_WITHIN_NS) {
            self.attempts_ns.pop_front();
        }
        let may = response == DetachResponse::Attach && self.attempts_ns.len() < MAX_ATTEMPTS;
        if may {
            self.attempts_ns.push_back(now);
        }
        may
    }

    fn attach(
        &mut self,
        loaded: &mut Loaded,
        attached: &mut Attached,
        HandledCgroups { cgroups, except }: HandledCgroups<'_>,
    ) {
        let detached = attached.take_detached();
        match loaded.attach_missing(attached, cgroups, except) {
            Ok(()) => {
                self.found.missing = attached.detached_programs();
                self.why = None;
                say(Level::Notice, "the programs are attached again (on-detach = \"attach\")");
            }
            Err(why) => {
                // They stay known as detached, and the next look tries again, up to the limit.
                attached.put_back(detached);
                if self.why.as_ref() != Some(&why) {
                    say(Level::Error, &format!("the programs cannot be attached again: {why}"));
                    self.why = Some(why);
                }
            }
        }
        if let Some(what) = self.limit_remark() {
            say(Level::Warning, &what);
        }
    }

    /// Returns the remark on the last attempt that the limit permits for now; `None` before it.
    fn limit_remark(&self) -> Option<String> {
        let is_last = self.attempts_ns.len() == MAX_ATTEMPTS;
        is_last.then(|| match &self.why {
            None => "the agent has attached the programs six times within ten minutes, and will leave them detached for a while; \
                     find out which process detaches them"
                .to_owned(),
            Some(why) => format!(
                "the agent has tried six times within ten minutes to attach the programs, and leaves them detached for a while; \
                 remove the cause, or restart the agent: {why}"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_attached_again_six_times_in_ten_minutes() {
        let mut watch = DetachWatch::default();
        let second = |s: u64| s * 1_000_000_000;
        assert!(!watch.may_attach(DetachResponse::Report, second(1)));
        let may = |watch: &mut DetachWatch, s| watch.may_attach(DetachResponse::Attach, second(s));
        assert!((1..=6).all(|s| may(&mut watch, s)));
        assert!(!may(&mut watch, 7) && !may(&mut watch, 601));
        // The first one was more than 600 s ago.
        assert!(may(&mut watch, 602) && !may(&mut watch, 602));
    }

    /// After the fifth attempt there is one more, and after the sixth there is none for a while.
    #[test]
    fn the_last_attempt_is_reported_as_it_ended() {
        let mut watch = DetachWatch::default();
        (1..=5).for_each(|s| assert!(watch.may_attach(DetachResponse::Attach, s)));
        assert_eq!(watch.limit_remark(), None);
        assert!(watch.may_attach(DetachResponse::Attach, 6));
        let attached = watch.limit_remark().unwrap();
        assert!(
            attached.starts_with("the agent has attached the programs six times"),
            "{attached}"
        );
        watch.why = Some("no such cgroup".to_owned());
        let failed = watch.limit_remark().unwrap();
        assert!(failed.starts_with("the agent has tried six times"), "{failed}");
        assert!(failed.ends_with(": no such cgroup"), "{failed}");
    }

    #[test]
    fn a_program_that_stays_detached_counts_once() {
        let mut watch = DetachWatch::default();
        let one = || vec!["attend at /a".to_owned()];
        watch.update_detached(one());
        watch.update_detached(one());
        assert_eq!(watch.found, Detachments { missing: one(), count: 1 });
        watch.update_detached(Vec::new());
        watch.update_detached(one());
        assert_eq!(watch.found.count, 2);
    }
}
