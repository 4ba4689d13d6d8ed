//! What a running agent is asked and answers: a line of JSON each way.

use crate::compare::{Compared, ConfidenceInterval};
use crate::exchange::{ExchangeDocument, ExchangeEntry};
use crate::load::Mode;
use crate::paths::RememberedPath;
use crate::schemes::ControlChoice;
use crate::totals::ConnectionTotals;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where a running agent is asked, unless said otherwise.
pub const SOCKET: &str = "/run/headstart-agent.sock";

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// How is it going?
    Status,
    /// What is remembered?
    Paths,
    /// Forget what lies within a prefix, or everything.
    Forget(Option<IpNet>),
    /// Use windows again, after they were found to do harm.
    Arm,
    /// All that is remembered, for a document.
    Export,
    /// Remember this, where nothing as young is known.
    Import(ExchangeDocument),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentAnswer {
    /// To [`Question::Status`].
    Status(Box<AgentStatus>),
    /// To [`Question::Paths`].
    Paths(Vec<RememberedPath>),
    /// To [`Question::Forget`]: how many paths were forgotten.
    Forgotten(usize),
    /// To [`Question::Arm`]: whether they had been left alone.
    Armed(bool),
    /// To [`Question::Export`].
    Exported(Vec<ExchangeEntry>),
    /// To [`Question::Import`]: how many were taken.
    Imported(usize),
    /// The question was not understood.
    Refused(String),
}

/// How it is going.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStatus {
    /// Of the agent.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Whose connections it attends to.
    pub cgroups: Vec<PathBuf>,
    /// Whose it does not, though they lie below one of the others.
    pub except_cgroups: Vec<PathBuf>,
    /// How they get their windows.
    pub mode: Mode,
    /// What they are given.
    pub control: ControlChoice,
    /// Names of ours that can be had, by routes and sockets, too.
    pub congestion_controls: Vec<String>,
    /// Why all windows are left alone though that was not asked for: warm starts did harm.
    pub off: Option<String>,
    /// Connections are measured alone and keep all that is theirs, as was asked for.
    pub dry_run: bool,
    /// Share of the connections that is assigned to the control group (option `--holdout`).
    pub control_group_share: f64,
    /// Largest first window, segments.
    pub cap: u32,
    /// Paths remembered now.
    pub paths: usize,
    /// At most.
    pub max_paths: u32,
    /// Connections that have closed.
    pub connections: ConnectionTotals,
    /// Warm by control group, of the geometric means of completion time, over all sizes; `None` with too few.
    pub time_ratio: Option<ConfidenceInterval>,
    /// Warm connections beside the control group, by size.
    pub comparison: Vec<Compared>,
    /// Closed connections that are in no sum, because the buffer was full.
    pub summaries_lost: u64,
}
