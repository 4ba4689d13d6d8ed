//! Who races: a scheme of the core, which worlds run as far as they have it, or one that only the kernel has,
//! with an agent. The core knows nothing of the latter: they are not its models, and it has none of them.

use race::{Race, named};
use tcp::Scheme;
use workload::LoaderConfig;

/// Who sends.
#[derive(Clone, Debug)]
pub enum Contender {
    /// As this scheme says.
    Core(Scheme),
    /// The kernel, with an agent.
    Agent(AgentScheme),
}

/// Linux with an agent: `hs-cubic`, with parameters behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentScheme {
    text: String,
    named: &'static NamedAgentScheme,
    says_size: bool,
}

/// A scheme that the kernel has with an agent, as it is listed.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedAgentScheme {
    /// Name.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Where it is specified.
    pub source: &'static str,
    /// What its agent is to give connections (`--control`).
    control: &'static str,
}

/// All of them.
pub const AGENT_SCHEMES: [NamedAgentScheme; 3] = [
    NamedAgentScheme {
        name: "hs-cubic",
        about: "the Linux kernel's CUBIC with an agent: begins with what is remembered of the path",
        source: "docs/agent/README.md",
        control: "cubic",
    },
    NamedAgentScheme {
        name: "hs-bbr",
        about: "the Linux kernel's BBR with an agent: begins with what is remembered of the path",
        source: "docs/agent/README.md",
        control: "bbr",
    },
    NamedAgentScheme {
        name: "hs-session",
        about: "the Linux kernel with an agent: one window, as of one CUBIC, for all connections to a host",
        source: "docs/agent/README.md",
        control: "session",
    },
];

/// A parameter of the schemes with an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentParameter {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// What may follow the name of such a scheme.
pub const AGENT_PARAMETER: AgentParameter = AgentParameter {
    name: "size",
    values: "on|off",
    about: "of hs-… alone: the server says before each answer how long it is (HEADSTART_SIZE); the built-in server can",
};

impl Contender {
    /// Reads `name+parameter=value`.
    ///
    /// # Errors
    /// On what is neither a scheme of the core nor one of [`AGENT_SCHEMES`].
    pub fn parse(text: &str) -> Result<Self, String> {
        let base = text.split('+').next().unwrap_or_default();
        match AGENT_SCHEMES.iter().find(|named| named.name == base) {
            Some(named) => AgentScheme::parse(text, named).map(Self::Agent),
            None if base.starts_with("hs-") => Err(format!(
                "no scheme {base:?}; with an agent there are {}",
                AGENT_SCHEMES.map(|named| named.name).join(", ")
            )),
            None => Scheme::parse(text).map(Self::Core).map_err(|error| error.to_string()),
        }
    }

    /// Those of a comma-separated list, as [`race::contestants`] has it.
    ///
    /// # Errors
    /// As [`Contender::parse`].
    pub fn list(list: &str) -> Result<Vec<Self>, String> {
        named(list).into_iter().map(Self::parse).collect()
    }

    /// The text it was read from.
    pub fn name(&self) -> &str {
        match self {
            Self::Core(scheme) => scheme.name(),
            Self::Agent(scheme) => &scheme.text,
        }
    }

    /// The core's scheme, if it is one.
    pub const fn core(&self) -> Option<&Scheme> {
        match self {
            Self::Core(scheme) => Some(scheme),
            Self::Agent(_) => None,
        }
    }

    /// That with an agent, if it is one.
    pub const fn agent(&self) -> Option<&AgentScheme> {
        match self {
            Self::Core(_) => None,
            Self::Agent(scheme) => Some(scheme),
        }
    }

    /// How hosts are spoken to in all visits.
    pub(crate) fn loader(&self, race: &Race) -> LoaderConfig {
        match self {
            Self::Core(scheme) => race.loader_between(scheme),
            Self::Agent(_) => race.loader_of_visits(),
        }
    }
}

impl AgentScheme {
    fn parse(text: &str, named: &'static NamedAgentScheme) -> Result<Self, String> {
        let mut says_size = false;
        for parameter in text.split('+').skip(1) {
            says_size = match parameter {
                "size=on" => true,
                "size=off" => false,
                _ => {
                    let AgentParameter { name, values, .. } = AGENT_PARAMETER;
                    return Err(format!(
                        "{text}: {} takes {name}={values} and nothing else",
                        named.name
                    ));
                }
            };
        }
        Ok(Self { text: text.to_owned(), named, says_size })
    }

    /// What its agent is to give connections (`--control`).
    pub const fn control(&self) -> &'static str {
        self.named.control
    }

    /// True if its server says before each answer how long it is.
    pub const fn says_size(&self) -> bool {
        self.says_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_scheme_of_the_agent_is_answered_with_those_there_are() {
        let refused = Contender::parse("hs-cubicc").expect_err("no such scheme");
        for there in ["hs-cubicc", "hs-cubic", "hs-bbr", "hs-session"] {
            assert!(refused.contains(there), "{refused}");
        }
        // Of any other name the core tells what there is.
        let refused = Contender::parse("cubicc").expect_err("no such scheme");
        assert!(!refused.contains("hs-"), "{refused}");
    }
}
