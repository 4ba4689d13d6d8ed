//! Three gateways over one store, each a separate process, are killed and restarted one after the
//! other while agents report and ask. The test measures for how long an agent has no answer, and
//! how often each report counts.
//!
//! Each report has a network of its own, so the store shows for each one how often it counts.

mod agents;
mod processes;
mod stored;

use agents::{Agent, AgentLoad};
use processes::Trio;
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Longest time after the load until all reports are acknowledged.
const FLUSH: Duration = Duration::from_secs(60);

/// The load of the gateways, and their kills.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailoverLoad {
    /// Number of agents; each has a certificate and a thread of its own.
    pub(crate) agents: usize,
    /// Reports of all agents per second.
    pub(crate) reports_per_s: u32,
    /// Questions of all agents per second.
    pub(crate) questions_per_s: u32,
    /// Number of kills: each time of the gateway that has the most agents.
    pub(crate) kills: usize,
    /// Time between two kills. The killed gateway restarts after half of it.
    pub(crate) between: Duration,
    /// Returns the command that runs a gateway with this configuration until its standard input
    /// ends.
    pub(crate) gateway: fn(&Path) -> Command,
}

/// The effect of one kill.
#[derive(Clone, Debug)]
pub(crate) struct Kill {
    pub(crate) at: Instant,
    /// Time from the kill until each agent of the killed gateway was connected with another one;
    /// `None`: it was not.
    pub(crate) followed: Vec<Option<Duration>>,
    /// Longest time without an answer of each agent of the killed gateway.
    pub(crate) silent: Vec<Duration>,
    /// Longest time without an answer of the other agents: the effect of the machine.
    pub(crate) silent_beside: Vec<Duration>,
}

/// A report that was acknowledged and is not in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostReport {
    /// The nearest kill.
    pub(crate) kill: usize,
    /// Time at which the agent handed it to its client, seconds after that kill.
    pub(crate) after_s: f64,
}

/// The results of the whole run.
#[derive(Clone, Debug)]
pub(crate) struct FailoverOutcome {
    pub(crate) kills: Vec<Kill>,
    /// Number of reports sent. Each was acknowledged, unless it was dropped.
    pub(crate) sent: u64,
    /// Number of reports dropped because a client's queue was full.
    pub(crate) dropped: u64,
    /// Number of reports that gateways refused.
    pub(crate) refused: u64,
    /// Number of reports that the store has, each once.
    pub(crate) counted: u64,
    /// Number of reports that the store has more than once.
    pub(crate) twice: u64,
    pub(crate) lost: Vec<LostReport>,
}

impl FailoverLoad {
    /// Runs it; reports a skip and returns `None` if there is no Redis.
    pub(crate) fn run(&self) -> Option<FailoverOutcome> {
        let mut trio = Trio::start(self.gateway)?;
        let load = AgentLoad {
            reports_per_s: self.reports_per_s / self.agents as u32,
            questions_per_s: self.questions_per_s / self.agents as u32,
        };
        let agents: Vec<_> =
            (0..self.agents).map(|number| Agent::start(&trio, number, load)).collect();
        agents.iter().for_each(Agent::wait_for_answers);
        thread::sleep(self.between / 2);
        let kills: Vec<Kill> = (0..self.kills).map(|_| self.kill_one(&mut trio, &agents)).collect();
        let handed: Vec<_> = agents.into_iter().map(|agent| agent.end(FLUSH)).collect();
        let counted = stored::counted(trio.redis.port);
        let reports = handed.iter().flat_map(|handed| &handed.reports);
        let lost = reports
            .filter(|(number, _)| !counted.contains_key(number))
            .map(|(_, at)| LostReport::new(*at, &kills));
        Some(FailoverOutcome {
            sent: handed.iter().map(|handed| handed.reports.len() as u64).sum(),
            dropped: handed.iter().map(|handed| handed.dropped).sum(),
            refused: handed.iter().map(|handed| handed.refused).sum(),
            counted: counted.len() as u64,
            twice: counted.values().filter(|count| **count > 1).count() as u64,
            lost: lost.collect(),
            kills,
        })
    }

    fn kill_one(&self, trio: &mut Trio, agents: &[Agent]) -> Kill {
        let mut agents_of: HashMap<String, Vec<&Agent>> = HashMap::new();
        for agent in agents {
            agents_of.entry(agent.gateway()).or_default().push(agent);
        }
        let (address, followers) =
            agents_of.into_iter().max_by_key(|(_, agents)| agents.len()).unwrap_or_default();
        agents.iter().for_each(|agent| _ = agent.take_longest_silence());
        let at = trio.kill(&address);
        thread::sleep(self.between / 2);
        let followed = followers.iter().map(|agent| agent.connected_after(at)).collect();
        let is_follower =
            |agent: &Agent| followers.iter().any(|other| other.number == agent.number);
        let silence = |of_followers: bool| {
            let some = agents.iter().filter(|agent| is_follower(agent) == of_followers);
            some.map(Agent::take_longest_silence).collect::<Vec<_>>()
        };
        let (silent, silent_beside) = (silence(true), silence(false));
        trio.start_again(&address);
        thread::sleep(self.between / 2);
        Kill { at, followed, silent, silent_beside }
    }
}

impl LostReport {
    fn new(at: Instant, kills: &[Kill]) -> Self {
        let after = |kill: &Kill| match at.checked_duration_since(kill.at) {
            Some(after) => after.as_secs_f64(),
            None => -kill.at.duration_since(at).as_secs_f64(),
        };
        let all = kills.iter().map(after).enumerate();
        let nearest = all.min_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        let (kill, after_s) = nearest.unwrap_or((0, f64::NAN));
        Self { kill, after_s }
    }
}

impl FailoverOutcome {
    /// Returns the longest time without an answer of any agent of a killed gateway.
    pub(crate) fn longest_silence(&self) -> Duration {
        self.kills.iter().flat_map(|kill| &kill.silent).copied().max().unwrap_or_default()
    }
}

impl Display for FailoverOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ms = |time: &Duration| format!("{:.0}", time.as_secs_f64() * 1e3);
        writeln!(
            f,
            "kill, agents: connected after ms; without an answer for ms at most; other agents; lost, from s to s after the kill"
        )?;
        for (number, kill) in self.kills.iter().enumerate() {
            let followed =
                kill.followed.iter().map(|took| took.as_ref().map_or("never".to_owned(), ms));
            let longest = |times: &[Duration]| times.iter().max().map_or("-".to_owned(), ms);
            let lost: Vec<f64> = self
                .lost
                .iter()
                .filter(|lost| lost.kill == number)
                .map(|lost| lost.after_s)
                .collect();
            let (first, last) =
                lost.iter().fold((f64::NAN, f64::NAN), |(a, b), at| (a.min(*at), b.max(*at)));
            writeln!(
                f,
                "{}, {}: {}; {}; {}; {}, {first:.2} to {last:.2}",
                number + 1,
                kill.followed.len(),
                followed.collect::<Vec<_>>().join(" "),
                longest(&kill.silent),
                longest(&kill.silent_beside),
                lost.len(),
            )?;
        }
        writeln!(
            f,
            "reports: {} sent, {} without room, {} refused; in the store {} once, {} more than once, {} missing",
            self.sent,
            self.dropped,
            self.refused,
            self.counted - self.twice,
            self.twice,
            self.lost.len(),
        )
    }
}
