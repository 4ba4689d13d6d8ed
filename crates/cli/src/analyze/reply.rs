//! The answer to a request: JSON, words and tables.

use super::account::ReadingAccount;
use super::packets;
use super::reading::ReadCapture;
use super::summary::SummarySink;
use super::words::findings_text;
use cmdline::request::CommandReply;
use cmdline::{Failure, stdout};
use findings::TraceFindings;
use serde::Serialize;

/// `--json=findings`.
#[derive(Serialize)]
struct FindingsJson<'a> {
    #[serde(flatten)]
    found: &'a TraceFindings,
    reading: &'a ReadingAccount,
}

/// The JSON of findings.
pub(super) fn json_of(found: &TraceFindings, reading: &ReadingAccount) -> Result<String, Failure> {
    stdout::json(&FindingsJson { found, reading })
}

/// The answer to a request, as a reader of the command's output sees it.
pub(super) fn reply(
    found: &TraceFindings,
    summary: &SummarySink,
    account: &ReadingAccount,
    read: &ReadCapture,
) -> Result<CommandReply, Failure> {
    let (counts, beside) = (account.counts(summary), packets::unusual_packets(&read.counters));
    let words = findings_text(found) + &account.warnings();
    let words = words.lines().chain([&*counts]).chain(beside.lines());
    Ok(CommandReply {
        json: json_of(found, account)?,
        sentences: words.map(str::to_owned).collect(),
        tables: summary.tables(),
        failure: Ok(()),
    })
}
