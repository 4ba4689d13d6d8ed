//! A page for a report of a defect: what is installed, attached, measured and suspicious of an
//! agent on this machine. It names no destination, so that it can be shown to anybody; cgroups and
//! files are named as the configuration names them.
//!
//! [`examine`] looks, [`suspicions`] judges what was seen and looks at nothing itself.

mod machine;
mod suspicion;

pub use machine::{ConfigState, InstalledFile, Machine, RunningProgram};
pub use suspicion::{Suspicion, suspicions};

use crate::config::options::AgentOptions;
use crate::config::{self, AgentConfig};
use crate::daemon::check::{StartCheck, check};
use crate::interface::control_socket;
use crate::interface::question::{AgentAnswer, AgentStatus, Question};
use crate::programs::load_options::Wanted;
use std::path::Path;

/// All that was seen.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The machine, apart from any agent.
    pub machine: Machine,
    /// Result of `check` for an agent with these options.
    pub check: Result<StartCheck, String>,
    /// The mode that the options ask for.
    pub wanted: Wanted,
    /// Status of a running agent, or why none answers.
    pub status: Result<AgentStatus, String>,
}

/// Looks at the machine and asks a running agent. `config`: the file of the service, whether it is
/// there or not; `said` are options of the command line.
pub fn examine(config: &Path, said: AgentOptions) -> Examination {
    let (options, state) = match machine::read_config(config) {
        (Some(file), state) => (said.or(file), state),
        (None, state) => (said, state),
    };
    let socket = config::socket(&options);
    let status = match control_socket::ask(&socket, &Question::Status) {
        Ok(AgentAnswer::Status(status)) => Ok(*status),
        Ok(_) => Err("the agent answered something else: it is of another version".to_owned()),
        Err(why) => Err(why),
    };
    let file = AgentConfig::new(&options).ok().and_then(|config| config.state);
    let machine = Machine::inspect(config, state, file, status.as_ref().ok());
    let check = check(&options);
    Examination { machine, check, wanted: options.mode.unwrap_or_default(), status }
}
