//! Questions to a running agent and its answers: a line of JSON each way.

use super::handover::{HandoverOffer, NewAgent};
use crate::canary::comparison::{Compared, ComparedPart, FleetComparison};
use crate::canary::totals::ConnectionTotals;
use crate::kernel::congestion::ControlChoice;
use crate::memory::exchange::{ExchangeDocument, ExchangeEntry};
use crate::memory::paths::RememberedPath;
use crate::programs::detached::Detachments;
use crate::programs::load_options::Mode;
use crate::programs::telemetry::gauges::{MapFill, ProgramTime};
use crate::programs::telemetry::handshake_timers::TimedHandshakes;
use crate::programs::telemetry::option_counts::OptionCounts;
use ::canary::interval::ConfidenceInterval;
use gateway_client::ClientStatus;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Default socket of a running agent.
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
    /// Set the number of connections of a million that may start warm, beside the control group.
    Ramp(u32),
    /// All that is remembered, for a document.
    Export,
    /// Remember this, where nothing as young is known.
    Import(ExchangeDocument),
    /// Hand everything over to this agent, which takes over; `interface::handover` has the messages
    /// that follow.
    HandOver(NewAgent),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentAnswer {
    /// Answers [`Question::Status`].
    Status(Box<AgentStatus>),
    /// Answers [`Question::Paths`].
    Paths(Vec<RememberedPath>),
    /// Answers [`Question::Forget`]: number of forgotten paths.
    Forgotten(usize),
    /// Answers [`Question::Arm`]: whether windows had been stopped.
    Armed(bool),
    /// Answers [`Question::Ramp`]: the number before, of a million.
    Ramped(u32),
    /// Answers [`Question::Export`].
    Exported(Vec<ExchangeEntry>),
    /// Answers [`Question::Import`]: number of imported paths.
    Imported(usize),
    /// Answers [`Question::HandOver`]: the offer; the files follow.
    HandingOver(HandoverOffer),
    /// The question was not understood.
    Refused(String),
}

/// Status of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStatus {
    /// Version of the agent.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Cgroups whose connections it hooks.
    pub cgroups: Vec<PathBuf>,
    /// Cgroups that it leaves alone, though they lie below one of the others.
    pub except_cgroups: Vec<PathBuf>,
    /// Mode in which connections get their windows.
    pub mode: Mode,
    /// Congestion control that connections get.
    pub control: ControlChoice,
    /// Names of ours that can be had, by routes and sockets, too.
    pub congestion_controls: Vec<String>,
    /// Reason why all windows are stopped without the operator's wish: warm starts did harm.
    pub off: Option<String>,
    /// Connections are measured alone and keep their own settings: it is a dry run.
    pub dry_run: bool,
    /// Share of the connections that is assigned to the control group (option `--holdout`).
    pub control_group_share: f64,
    /// Share of the connections that may start warm, beside the control group (option `--percent`),
    /// percent.
    pub percent: f64,
    /// Counts up whenever something changes that connections are compared under.
    pub stage: u32,
    /// Connections that start cold because warm starts harmed others of their kind, each with a
    /// reason.
    pub stopped: Vec<StoppedPart>,
    /// Largest first window, segments.
    pub cap: u32,
    /// Paths remembered now.
    pub paths: usize,
    /// Paths remembered at most.
    pub max_paths: u32,
    /// Connections that have closed.
    pub connections: ConnectionTotals,
    /// All connections, and parts of them that can be recognised before they start: those chosen
    /// for a remembered window, compared with the control group.
    pub parts: Vec<ComparedPart>,
    /// Comparison of the same kind by all servers of the site; `None`: no gateway makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetComparison>,
    /// Ratio of the geometric means of completion time, warm by control group, over all sizes;
    /// `None` with too few connections.
    pub time_ratio: Option<ConfidenceInterval>,
    /// Warm connections beside the control group, by size.
    pub comparison: Vec<Compared>,
    /// Closed connections that are in no sum, because the buffer was full.
    pub summaries_lost: u64,
    /// State of the site's gateways; `None`: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<ClientStatus>,
    /// Counters of the TCP options that report connections' paths; `None`: none is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_option: Option<OptionCounts>,
    /// Programs that another process has detached.
    #[serde(default)]
    pub detachments: Detachments,
    /// Handshakes that began with a timer shorter than the kernel's; `None`: timers are the
    /// kernel's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_timers: Option<TimedHandshakes>,
    /// Time that the programs have run, if the kernel counts it
    /// (`sysctl kernel.bpf_stats_enabled=1`).
    pub programs: Vec<ProgramTime>,
    /// Fill of the maps that forget, or refuse, once they are full.
    pub maps: Vec<MapFill>,
}

/// Connections that start cold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedPart {
    /// Name of the part, as in [`ComparedPart::part`].
    pub part: String,
    /// The network, if the part is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<IpNet>,
    /// Reason, with figures.
    pub why: String,
}

#[cfg(test)]
impl AgentStatus {
    /// Returns the status of an agent that has just been started.
    pub(crate) fn empty() -> Self {
        let totals = ConnectionTotals::default();
        Self {
            version: "1".to_owned(),
            pid: 1,
            cgroups: vec!["/sys/fs/cgroup".into()],
            except_cgroups: vec![],
            mode: Mode::Window,
            control: ControlChoice::Auto,
            congestion_controls: vec![],
            off: None,
            dry_run: false,
            control_group_share: 0.05,
            percent: 100.0,
            stage: 0,
            stopped: vec![],
            cap: 256,
            paths: 0,
            max_paths: 1,
            connections: totals,
            parts: vec![],
            fleet: None,
            time_ratio: None,
            comparison: crate::canary::comparison::by_size(&totals, &[]),
            summaries_lost: 0,
            gateway: None,
            tcp_option: None,
            detachments: Detachments::default(),
            handshake_timers: None,
            programs: vec![],
            maps: vec![],
        }
    }
}
