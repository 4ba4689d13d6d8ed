//! Checks whether an agent could start with a configuration: its state file, its gateways, and the
//! kernel.

use crate::config::options::AgentOptions;
use crate::config::{self, AgentConfig};
use crate::memory::state_file::StateFile;
use crate::programs::check::{Finding, finding};
use crate::programs::mode;
use gateway_client::{GatewayState, check_gateways};

/// Findings of a check.
#[derive(Clone, Debug, Default)]
pub struct StartCheck {
    /// All findings, also on optional needs. The last one is whether the kernel accepts the
    /// programs.
    pub findings: Vec<Finding>,
    /// Faults of the configuration and of the files that it names: an agent would not start,
    /// or never reach its gateway.
    pub faults: Vec<String>,
}

impl StartCheck {
    /// Returns true if an agent can start, and nothing is wrong with its gateway.
    pub fn is_good(&self) -> bool {
        self.faults.is_empty() && self.refusal().is_none()
    }

    /// Returns why the kernel rejects the programs, if it does. It rejects all of them while
    /// another agent runs.
    pub fn refusal(&self) -> Option<&str> {
        let last = self.findings.last().filter(|last| !last.is_there);
        last.map(|last| last.remark.as_str())
    }

    fn add_required(&mut self, what: &'static str, found: Result<String, String>) {
        self.faults.extend(found.as_ref().err().cloned());
        self.findings.push(finding(what, found));
    }
}

/// Looks at everything that `options` name: reads the files, asks each gateway a question, loads
/// the programs and lets them go.
///
/// # Errors
/// Returns the errors of [`config::load`].
pub fn check(options: &AgentOptions) -> Result<StartCheck, String> {
    let load = config::load(options)?;
    let mut check = StartCheck::default();
    match AgentConfig::new(options) {
        Ok(config) => files_and_gateways(&mut check, &config),
        Err(why) => check.add_required("configuration", Err(why)),
    }
    check.findings.extend(mode::findings(&load));
    Ok(check)
}

/// Checks the state file and the gateways, if the configuration names any.
fn files_and_gateways(check: &mut StartCheck, config: &AgentConfig) {
    if let Some(file) = &config.state {
        check.add_required(
            "state file",
            StateFile::check(file).map(|()| file.display().to_string()),
        );
    }
    if let Some(site) = &config.site {
        match check_gateways(site) {
            Ok(states) => check.findings.push(finding("gateway", first_answering(&states))),
            Err(why) => check.add_required("gateway", Err(why)),
        }
    }
}

/// Returns the first gateway that answers. An agent starts also without.
fn first_answering(states: &[(String, GatewayState)]) -> Result<String, String> {
    let mut silent = Vec::new();
    for (gateway, state) in states {
        match state {
            GatewayState::Answers => return Ok(format!("{gateway} answers")),
            GatewayState::Silent(why) => silent.push(why.as_str()),
        }
    }
    Err(format!("not needed to start: {}; the agent tries again", silent.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A file of others as the state, and a key that is not there.
    #[test]
    fn faults_name_the_file() {
        let folder = std::env::temp_dir().join(format!("headstart-check-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("notes"), "notes").unwrap();
        let shown = folder.display();
        let text = format!(
            "cgroup = [\"{shown}\"]\nstate = \"{shown}/notes\"\ngateway = [\"127.0.0.1:1\"]\n\
             gateway-ca = \"{shown}/notes\"\ngateway-certificate = \"{shown}/notes\"\n\
             gateway-key = \"{shown}/no.key\""
        );
        let checked = |text: &str| check(&AgentOptions::parse(text, "f").unwrap()).unwrap();
        let StartCheck { faults, findings } = checked(&text);
        assert!(faults[0].contains("notes is not a state file of the agent"), "{faults:?}");
        assert!(faults[1].starts_with(&format!("cannot read {shown}/no.key: ")), "{faults:?}");
        let whats = [findings[0].what, findings[1].what];
        assert_eq!(whats, ["state file", "gateway"]);
        let lone = checked(&format!("cgroup = [\"{shown}\"]\ngateway = [\"127.0.0.1:1\"]"));
        assert!(lone.faults[0].contains("gateway-ca is missing") && !lone.is_good());
        fs::remove_dir_all(&folder).unwrap();
    }

    /// One gateway of two answers; then none does, which keeps no agent from starting.
    #[test]
    fn a_silent_gateway_is_a_finding_and_no_fault() {
        let silent = || ("a:1".to_owned(), GatewayState::Silent("it is away".to_owned()));
        let states = [silent(), ("b:1".to_owned(), GatewayState::Answers)];
        assert_eq!(first_answering(&states), Ok("b:1 answers".to_owned()));
        let why = first_answering(&[silent(), silent()]).unwrap_err();
        assert_eq!(why, "not needed to start: it is away; it is away; the agent tries again");
    }
}
