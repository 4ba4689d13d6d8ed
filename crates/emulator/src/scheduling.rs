//! Scheduling of threads: how soon a thread runs once it should.

use nix::sys::prctl::set_timerslack;
use std::fmt;
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// Above every normal thread, below the kernel's own real-time threads (50 and up).
const PRIORITY: u8 = 40;

/// Scheduling of an emulation's threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadScheduling {
    /// Ahead of all normal threads (`SCHED_FIFO`).
    RealTime,
    /// Like every other thread; the reason, and a remedy.
    Ordinary(String),
}

impl ThreadScheduling {
    /// Asks for the best that the calling thread may have. Timers are exact either way.
    pub fn best() -> Self {
        // Only a missing kernel feature could refuse it, and the scheduling delay is measured
        // anyway.
        let _ = set_timerslack(1);
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let value = PRIORITY.try_into().unwrap_or_else(|_| unreachable!("{PRIORITY} is below 100"));
        let value = ThreadPriority::Crossplatform(value);
        match set_thread_priority_and_policy(thread_native_id(), value, policy) {
            Ok(()) => Self::RealTime,
            Err(error) => Self::Ordinary(format!(
                "SCHED_FIFO was refused ({error:?}); it needs CAP_SYS_NICE or `ulimit -r {PRIORITY}`"
            )),
        }
    }

    /// Runs `job` on a thread of its own that has the best scheduling, and returns its result.
    /// Priority and namespaces are a thread's, and the calling thread keeps its own.
    ///
    /// # Panics
    /// If `job` does.
    pub fn on_its_own_thread<T: Send>(job: impl FnOnce() -> T + Send) -> T {
        let run = || {
            Self::best();
            job()
        };
        let ran = std::thread::scope(|scope| scope.spawn(run).join());
        ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Leaves real time for normal scheduling, with the best niceness: for a thread that starts a
    /// program with much to compute, which inherits both. A browser with real-time threads once
    /// filled all cores. The kernel's own threads, for which it waited itself, then did not run.
    pub fn leave_real_time() {
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        // Leaving needs no privilege. Where the niceness is refused, the thread has the default
        // one.
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Max, policy);
    }
}

impl fmt::Display for ThreadScheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RealTime => write!(f, "real-time"),
            Self::Ordinary(why) => write!(f, "ordinary: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thread_priority::thread_schedule_policy_param;

    #[test]
    fn a_job_runs_on_a_thread_of_its_own_and_leaves_the_callers_scheduling() {
        let own =
            || (std::thread::current().id(), thread_schedule_policy_param(thread_native_id()));
        let before = own();
        let during = ThreadScheduling::on_its_own_thread(own);
        assert_ne!(during.0, before.0);
        assert_eq!(own(), before);
    }

    #[test]
    #[should_panic(expected = "of the job")]
    fn a_panic_of_the_job_is_the_callers() {
        ThreadScheduling::on_its_own_thread(|| panic!("of the job"));
    }
}
