//! The counts of a run, and their line of the table.

use gateway_proto::v1::{Answer, Source, answer};
use nix::sys::resource::{UsageWho, getrusage};
use prost::Message;
use std::fs;

/// Bytes of a message besides its fields: gRPC's prefix, and a frame's head (RFC 9113 §4.1).
const FRAMING: usize = 5 + 9;

/// Messages of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageTally {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// Processor time of the gateway's engine, seconds.
    pub(crate) processor_s: f64,
}

impl MessageTally {
    pub(crate) fn add(&mut self, message: &impl Message) {
        self.messages += 1;
        self.bytes += (message.encoded_len() + FRAMING) as u64;
    }
}

/// The counts of the time after the memory is full.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) batches: MessageTally,
    pub(crate) acks: MessageTally,
    pub(crate) reports: u64,
    pub(crate) questions: MessageTally,
    pub(crate) answers: MessageTally,
    pub(crate) comparisons: MessageTally,
    pub(crate) findings: MessageTally,
    pub(crate) changes: MessageTally,
    /// Answers by source; the first have none.
    pub(crate) sources: [u64; 6],
}

/// The memory at the end of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) limit: usize,
    pub(crate) networks: usize,
    pub(crate) entries: usize,
    pub(crate) bytes: u64,
}

/// Prints the head of the table.
pub(crate) fn head() {
    println!(
        "{:>12}{:>11}{:>11}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>9}",
        "max-networks",
        "networks",
        "entries",
        "MiB",
        "reports/s",
        "ask/s",
        "msg/s",
        "in kB/s",
        "out kB/s",
        "us/report",
        "us/ask",
        "us/cmp",
        "own %",
        "near %",
        "none %",
        "engine %"
    );
}

impl Tally {
    pub(crate) fn note_answer(&mut self, answer: &Answer) {
        self.answers.add(answer);
        let source = match &answer.result {
            Some(answer::Result::Estimate(estimate)) => estimate.source(),
            _ => Source::Unspecified,
        };
        self.sources[source as usize] += 1;
    }

    /// Prints the run's line.
    pub(crate) fn line(&self, seconds: f64, kept: Kept) {
        let Kept { limit, networks, entries, bytes } = kept;
        let a_second = |count: u64| count as f64 / seconds;
        let inward = [self.batches, self.questions, self.comparisons];
        let outward = [self.acks, self.answers, self.findings];
        let bytes_of = |kinds: [MessageTally; 3]| kinds.iter().map(|kind| kind.bytes).sum();
        let messages: u64 = inward.iter().chain(&outward).map(|kind| kind.messages).sum();
        let us_each = |kind: MessageTally, count: u64| kind.processor_s * 1e6 / count.max(1) as f64;
        let percent = |count: u64| count as f64 * 100.0 / self.answers.messages.max(1) as f64;
        let own = self.sources[Source::Network as usize];
        let none = self.sources[Source::Unspecified as usize];
        let used: f64 = inward.iter().chain([&self.changes]).map(|kind| kind.processor_s).sum();
        println!(
            "{limit:>12}{networks:>11}{entries:>11}{:>8}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>9.2}{:>8.2}{:>8.0}{:>8.1}{:>8.1}{:>8.1}{:>9.1}",
            bytes >> 20,
            a_second(self.reports),
            a_second(self.questions.messages),
            a_second(messages),
            a_second(bytes_of(inward)) / 1e3,
            a_second(bytes_of(outward)) / 1e3,
            us_each(self.batches, self.reports),
            us_each(self.questions, self.questions.messages),
            us_each(self.comparisons, self.comparisons.messages),
            percent(own),
            percent(self.answers.messages - own - none),
            percent(none),
            used * 100.0 / seconds,
        );
    }
}

/// Returns the processor time of this thread so far, seconds.
pub(crate) fn processor_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the kernel counts the thread's time");
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// Returns the resident memory of this process, bytes.
pub(crate) fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) << 10
}
