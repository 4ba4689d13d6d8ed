//! Contenders that can race on this machine: Linux with an agent only where there is one and the
//! kernel takes it. The others race all the same.

use crate::failure::note;
use crate::programs;
use race::World;
use std::io;
use testbed::{Agent, Contender, cannot_be_had};

/// Contenders, and the agent of those that need one.
pub struct RaceField {
    /// Contenders that can race.
    pub contenders: Vec<Contender>,
    /// The agent, if a contender needs one and it is there.
    pub agent: Option<Agent>,
}

impl RaceField {
    /// Returns the contenders that can race; prints the others, and why.
    ///
    /// # Errors
    /// If the machine lets none run in real time.
    pub fn in_worlds(contenders: &[Contender], worlds: &[World]) -> io::Result<Self> {
        let all = contenders.to_vec();
        let needs_agent = all.iter().any(|contender| contender.agent().is_some());
        if !needs_agent || !worlds.contains(&World::Kernel) {
            return Ok(Self { contenders: all, agent: None });
        }
        match installed_agent() {
            Ok(agent) => Self::try_agents(all, agent),
            Err(why) => {
                let without = all.iter().filter(|contender| contender.agent().is_some());
                let names: Vec<&str> = without.map(Contender::name).collect();
                note(&format!("kernel without {}: {why}", names.join(", ")));
                let contenders = all.into_iter().map(Contender::without_agent).collect();
                Ok(Self { contenders, agent: None })
            }
        }
    }

    /// Each agent is started once, so that what it lacks is known before anything is measured.
    fn try_agents(all: Vec<Contender>, agent: Agent) -> io::Result<Self> {
        let mut contenders = Vec::new();
        for contender in all {
            match contender.agent().map(|scheme| agent.try_once(scheme)) {
                None | Some(Ok(())) => contenders.push(contender),
                Some(Err(error)) if cannot_be_had(&error) => return Err(error),
                Some(Err(error)) => {
                    note(&format!("kernel without {}: {error}", contender.name()));
                    contenders.push(contender.without_agent());
                }
            }
        }
        Ok(Self { contenders, agent: Some(agent) })
    }
}

/// The agent's program, with the gateway's for sites.
///
/// # Errors
/// If the agent is missing: how to build it.
pub fn installed_agent() -> Result<Agent, String> {
    let agent = Agent::at(&programs::AGENT.find()?).map_err(|error| error.to_string())?;
    Ok(agent.with_gateway(programs::GATEWAY.find()))
}
