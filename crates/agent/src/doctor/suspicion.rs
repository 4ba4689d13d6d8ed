//! The faults that an examination shows, each with its remedy. Each is one rule, over facts that
//! the examination has collected.

use super::{ConfigState, Examination, Machine};
use crate::contract::StartReason;
use crate::interface::question::AgentStatus;
use crate::kernel::congestion::ControlChoice;
use crate::programs::load_options::{Mode, Wanted};

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// Observation.
    pub what: String,
    /// The remedy, or why it may be in order.
    pub remedy: &'static str,
}

/// Connections below which their kinds say nothing.
const MIN_CONNECTIONS: u64 = 20;
/// Bytes of a segment, about, for buffers that are to hold a window.
const SEGMENT: u64 = 1500;

/// Returns all that is suspicious, the worst first.
pub fn suspicions(of: &Examination) -> Vec<Suspicion> {
    let mut all = machine(&of.machine);
    match &of.check {
        Err(why) => all.insert(0, new(why.clone(), "correct the configuration")),
        Ok(check) => {
            // If an agent runs, the kernel supports it: another one cannot be loaded beside it.
            let refusal = check.refusal().filter(|_| of.status.is_err());
            let faults = check.faults.iter().map(String::as_str).chain(refusal);
            all.extend(
                faults.map(|fault| new(fault, "`headstart agent check` shows all that is needed")),
            );
        }
    }
    match &of.status {
        Ok(status) => all.extend(suspicions_of_agent(of.wanted, &of.machine, status)),
        Err(why) => all.extend(suspicions_without_agent(why, &of.machine)),
    }
    all
}

fn new(what: impl Into<String>, remedy: &'static str) -> Suspicion {
    Suspicion { what: what.into(), remedy }
}

/// Returns what is suspicious about the machine, whether or not an agent runs.
fn machine(machine: &Machine) -> Vec<Suspicion> {
    let mut all = Vec::new();
    if let ConfigState::Refused(why) = &machine.config {
        all.push(new(
            why.clone(),
            "a running agent keeps the old configuration, a new one does not start",
        ));
    }
    let program = machine.running.unwrap_or_default();
    if program.is_replaced {
        all.push(new(
            "the program of the running agent was replaced",
            "`headstart agent renew` runs the new one",
        ));
    }
    if program.has_older_config {
        all.push(new(
            "the configuration was changed after the agent was started",
            "unless it was reloaded since: `systemctl reload headstart-agent`",
        ));
    }
    if machine.setting("tcp_slow_start_after_idle") == Some("0") {
        all.push(new(
            "net.ipv4.tcp_slow_start_after_idle is 0",
            "the kernel keeps windows over idle times, so the agent starts nothing after idle",
        ));
    }
    if let Some(others) = machine.others.as_ref().filter(|others| !others.is_empty()) {
        all.push(new(
            format!("other programs at TCP's hooks of cgroups: {}", others.join(", ")),
            "they may set windows or congestion controls, too",
        ));
    }
    all
}

/// Returns what is suspicious if no agent answers.
fn suspicions_without_agent(why: &str, machine: &Machine) -> Vec<Suspicion> {
    let mut all = vec![new(why, "`systemctl status headstart-agent` and its journal say more")];
    let listed = machine.setting("tcp_available_congestion_control").unwrap_or_default();
    if listed.split(' ').any(|name| name.starts_with("hs_")) {
        all.push(new(
            format!("congestion controls are listed though no agent answers: {listed}"),
            "`headstart agent tidy` removes what a killed agent has left; or one answers at another --socket",
        ));
    }
    all
}

/// Returns what is suspicious about the running agent.
fn suspicions_of_agent(wanted: Wanted, machine: &Machine, status: &AgentStatus) -> Vec<Suspicion> {
    let mut all = Vec::new();
    for stopped in &status.stopped {
        let what = format!("warm starts are turned off ({}): {}", stopped.part, stopped.why);
        all.push(new(what, "find the cause, then `headstart agent arm`"));
    }
    if status.version != machine.version {
        let what = format!("the running agent is of version {}", status.version);
        all.push(new(what, "`headstart agent renew` runs the installed one"));
    }
    if status.mode == Mode::Window && wanted != Wanted::Window {
        all.push(new(
            "first windows alone (mode window)",
            "`headstart agent check` says why the kernel does not support more",
        ));
    }
    let default = machine.setting("tcp_congestion_control").unwrap_or("cubic");
    if status.control == ControlChoice::Auto && !["cubic", "bbr"].contains(&default) {
        let what = format!("the default congestion control is {default}");
        all.push(new(what, "connections with it are left alone, unless --control says otherwise"));
    }
    let largest =
        machine.setting("tcp_wmem").and_then(|text| text.split(' ').nth(2)?.parse::<u64>().ok());
    if largest.is_some_and(|bytes| bytes < u64::from(status.cap) * SEGMENT) {
        all.push(new(
            format!("net.ipv4.tcp_wmem is smaller than the cap of {} segments", status.cap),
            "send buffers bound first windows; raise its third number",
        ));
    }
    all.extend(suspicions_by_counters(status));
    all
}

/// Returns the suspicions by the agent's counters.
fn suspicions_by_counters(status: &AgentStatus) -> Vec<Suspicion> {
    let mut all = Vec::new();
    if status.dry_run {
        all.push(new("a dry run", "nothing starts warm, as was asked for"));
    } else if status.control_group_share == 0.0 {
        all.push(new(
            "there is no control group",
            "it cannot be measured whether warm starts help: --holdout 0.05",
        ));
    }
    if status.percent == 0.0 {
        all.push(new(
            "no connection may start warm (--percent 0)",
            "`headstart agent ramp 1` begins",
        ));
    }
    let closed = status.connections.closed();
    if closed == 0 {
        all.push(new(
            "no hooked connection has closed",
            "compare cgroups and ports with those of your service; long connections count when they close",
        ));
    }
    all.extend(common_reason(status, closed));
    if status.summaries_lost > 0 {
        let what = format!("{} connections closed uncounted", status.summaries_lost);
        all.push(new(what, "they close faster than the agent reads; comparisons miss them"));
    }
    if status.paths as u64 * 20 > u64::from(status.max_paths) * 19 {
        all.push(new(
            "the memory is full",
            "raise --max-paths; the least recently used paths are forgotten",
        ));
    }
    all
}

/// Returns the reason why most connections start cold, if they do.
fn common_reason(status: &AgentStatus, closed: u64) -> Option<Suspicion> {
    let starts = StartReason::ALL.into_iter().zip(status.connections.starts);
    let (reason, count) = starts.max_by_key(|(_, count)| *count)?;
    if closed < MIN_CONNECTIONS || count * 2 < closed {
        return None;
    }
    let remedy = match reason {
        StartReason::Unknown => {
            "clients rarely come back, or the agent is young, or --max-paths is small"
        }
        StartReason::Old => "clients come back later than --max-age allows",
        StartReason::RoundTrip => "prefixes are not one path each: give --prefix with longer ones",
        StartReason::Small => "transfers are too short to prove a larger window",
        StartReason::Handshake => {
            "handshakes lose segments, or applications send before the agent sees the connection"
        }
        StartReason::Pacing => "round trips vary, or applications set SO_MAX_PACING_RATE",
        StartReason::SharedState => "clients open many connections at once, which share one window",
        // These are intended, or reported above.
        StartReason::Warm
        | StartReason::Stopped
        | StartReason::Outside
        | StartReason::ControlGroup => {
            return None;
        }
    };
    Some(new(format!("{count} of {closed} connections started cold: {}", reason.name()), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::check::StartCheck;
    use crate::doctor::RunningProgram;
    use crate::interface::question::StoppedPart;
    use crate::programs::check::Finding;

    fn examined(machine: Machine, status: Result<AgentStatus, String>) -> Vec<String> {
        let check = Ok(StartCheck::default());
        let examination = Examination { machine, check, wanted: Wanted::Auto, status };
        suspicions(&examination).into_iter().map(|suspicion| suspicion.what).collect()
    }

    /// A fault of the configuration matters also to an agent that runs; a refusal of the kernel
    /// does not.
    #[test]
    fn faults_of_a_check_are_suspicious() {
        let refused = Finding { what: "programs", is_there: false, remark: "no".to_owned() };
        let check = || {
            Ok(StartCheck { findings: vec![refused.clone()], faults: vec!["no key".to_owned()] })
        };
        let seen = |status| {
            let machine = Machine::healthy();
            let seen = Examination { machine, check: check(), wanted: Wanted::Auto, status };
            suspicions(&seen).into_iter().map(|suspicion| suspicion.what).collect::<Vec<_>>()
        };
        assert_eq!(seen(Ok(healthy())), ["no key"]);
        assert_eq!(seen(Err("none answers".to_owned()))[..2], ["no key", "no"]);
    }

    fn healthy() -> AgentStatus {
        let mut status = AgentStatus { mode: Mode::Wrap, ..AgentStatus::empty() };
        status.version = env!("CARGO_PKG_VERSION").to_owned();
        (status.max_paths, status.connections.warm.closed) = (100, 40);
        status.connections.starts[StartReason::Warm as usize] = 40;
        status
    }

    #[test]
    fn nothing_is_suspicious_of_an_agent_that_works() {
        assert_eq!(examined(Machine::healthy(), Ok(healthy())), [""; 0]);
    }

    #[test]
    fn each_thing_that_is_wrong_is_named() {
        let machine = Machine::healthy();
        let one = |machine: Machine, change: fn(&mut AgentStatus)| {
            let mut status = healthy();
            change(&mut status);
            let found = examined(machine, Ok(status));
            assert_eq!(found.len(), 1, "{found:?}");
            found.into_iter().next().unwrap()
        };
        let all_alike = |machine: &Machine| machine.clone();
        assert!(
            one(all_alike(&machine), |status| status.mode = Mode::Window).contains("mode window")
        );
        assert!(one(all_alike(&machine), |status| status.dry_run = true).contains("dry run"));
        assert!(one(all_alike(&machine), |status| status.percent = 0.0).contains("--percent 0"));
        assert!(one(all_alike(&machine), |status| status.summaries_lost = 3).starts_with("3 conn"));
        assert!(one(all_alike(&machine), |status| status.paths = 96).contains("memory is full"));
        assert!(
            one(all_alike(&machine), |status| status.control_group_share = 0.0)
                .contains("no control")
        );
        assert!(
            one(all_alike(&machine), |status| status.version = "0".to_owned())
                .contains("version 0")
        );
        let old = one(all_alike(&machine), |status| {
            status.connections.starts = [0; StartReason::ALL.len()];
            status.connections.starts[StartReason::Old as usize] = 20;
        });
        assert_eq!(old, "20 of 40 connections started cold: old");
        let off = one(all_alike(&machine), |status| {
            status.stopped =
                vec![StoppedPart { part: "all".to_owned(), network: None, why: "harm".to_owned() }];
        });
        assert_eq!(off, "warm starts are turned off (all): harm");
        // 256 segments of 1500 bytes are 384,000.
        let small = all_alike(&machine).with_setting("tcp_wmem", "4096 16384 383999");
        assert!(one(small, |_| ()).contains("tcp_wmem"));
        let reno = all_alike(&machine).with_setting("tcp_congestion_control", "reno");
        assert!(one(reno, |_| ()).contains("is reno"));
        let kept = all_alike(&machine).with_setting("tcp_slow_start_after_idle", "0");
        assert!(one(kept, |_| ()).contains("tcp_slow_start_after_idle"));
        let others = Some(vec!["bpf_sockmap".to_owned()]);
        assert!(one(Machine { others, ..all_alike(&machine) }, |_| ()).ends_with("bpf_sockmap"));
        let running = Some(RunningProgram { is_replaced: true, has_older_config: false });
        assert!(one(Machine { running, ..all_alike(&machine) }, |_| ()).contains("replaced"));
        let config = ConfigState::Refused("agent.toml:1: cap".to_owned());
        assert!(one(Machine { config, ..machine }, |_| ()).starts_with("agent.toml:1"));
    }

    #[test]
    fn what_a_killed_agent_has_left_is_suspicious_only_without_one() {
        let left = Machine::healthy()
            .with_setting("tcp_available_congestion_control", "reno cubic hs_cubic");
        assert_eq!(examined(left.clone(), Ok(healthy())), [""; 0]);
        let found = examined(left, Err("no agent runs here".to_owned()));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].contains("hs_cubic"), "{found:?}");
    }
}
