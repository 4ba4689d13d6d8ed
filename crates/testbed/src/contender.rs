//! Contenders of a race: schemes of the core. Each world runs the schemes that it supports. The
//! kernel supports the models of its own congestion controls and, with an agent, the schemes whose
//! decisions the agent makes there.

use race::{Race, named};
use tcp::Scheme;
use units::Duration;
use workload::LoaderConfig;

/// A sender that takes part in a race.
#[derive(Clone, Debug)]
pub struct Contender {
    scheme: Scheme,
    agent: Option<AgentScheme>,
}

/// The agent's part of a scheme in the kernel: the agent's command line, and the behaviour of its
/// server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentScheme {
    control: &'static str,
    options: Vec<String>,
    announces_size: bool,
    hooks_client: bool,
}

/// Schemes whose decisions the agent makes in the kernel, and the congestion control of each that
/// the agent sets (`--control`).
const CONTROLS: [(&str, &str); 3] =
    [("hs-cubic", "cubic"), ("hs-bbr", "bbr"), ("hs-session", "session")];

/// A parameter of these schemes, the agent's option of the same meaning, and how the agent has a
/// value of it.
type OptionOf = (&'static str, &'static str, fn(&str) -> Option<String>);

const OPTIONS: [OptionOf; 6] = [
    ("warm_cap", "--cap", in_seconds),
    ("warm_max_age", "--max-age", in_seconds),
    ("warm_half_life", "--half-life", in_seconds),
    ("warm_cold", "--cold", in_seconds),
    ("opening_timer", "--handshake-timer", handshake_timer),
    ("rto_min", "--rto-min", in_millis),
];

impl Contender {
    /// Creates a contender that sends by this scheme.
    pub fn new(scheme: Scheme) -> Self {
        let agent = AgentScheme::of(scheme.name());
        Self { scheme, agent }
    }

    /// Reads `name+parameter=value`.
    ///
    /// # Errors
    /// If the text is no scheme.
    pub fn parse(text: &str) -> Result<Self, String> {
        Scheme::parse(text).map(Self::new).map_err(|error| error.to_string())
    }

    /// Attaches the agent to the client, too, if there is an agent. It represents one agent on each
    /// host, since an agent uses nothing in a network namespace that it learnt in another.
    #[must_use]
    pub fn hooking_client(mut self) -> Self {
        if let Some(agent) = &mut self.agent {
            agent.hooks_client = true;
        }
        self
    }

    /// Parses a comma-separated list with the syntax of [`race::contestants`].
    ///
    /// # Errors
    /// Fails like [`Contender::parse`].
    pub fn list(list: &str) -> Result<Vec<Self>, String> {
        named(list).into_iter().map(Self::parse).collect()
    }

    /// The text it was read from.
    pub fn name(&self) -> &str {
        self.scheme.name()
    }

    /// The scheme by which it sends.
    pub const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The agent by which the kernel runs the scheme, if it needs one.
    pub const fn agent(&self) -> Option<&AgentScheme> {
        self.agent.as_ref()
    }

    /// Removes the agent for machines without one: the kernel then lacks the scheme.
    #[must_use]
    pub fn without_agent(self) -> Self {
        Self { agent: None, ..self }
    }

    /// Protocols and settings of the loader in all visits.
    pub(crate) fn loader(&self, race: &Race) -> LoaderConfig {
        race.loader_between(&self.scheme)
    }
}

impl AgentScheme {
    /// Parses a scheme's text; `None` if the agent has no scheme of this name, or no option for a
    /// parameter.
    fn of(text: &str) -> Option<Self> {
        let mut parts = text.split('+');
        let name = parts.next()?;
        let (_, control) = CONTROLS.into_iter().find(|(known, _)| *known == name)?;
        let mut scheme =
            Self { control, options: Vec::new(), announces_size: false, hooks_client: false };
        for part in parts {
            let (parameter, value) = part.split_once('=')?;
            if parameter == "size" {
                scheme.announces_size = value == "on";
                continue;
            }
            let (_, option, of) =
                OPTIONS.into_iter().find(|(known, ..)| is_called(known, parameter))?;
            scheme.options.push(option.to_owned());
            scheme.options.push(of(value)?);
        }
        Some(scheme)
    }

    /// Congestion control that the agent sets on connections (`--control`).
    pub const fn control(&self) -> &'static str {
        self.control
    }

    /// Further options of the agent, as words of a command line.
    pub(crate) fn options(&self) -> &[String] {
        &self.options
    }

    /// True if its server says before each answer how long it is.
    pub const fn announces_size(&self) -> bool {
        self.announces_size
    }

    /// Whether the agent also hooks the client's connections.
    pub(crate) const fn hooks_client(&self) -> bool {
        self.hooks_client
    }
}

/// Whether a parameter is called by its name, or by the name without the common prefix (`cold`).
fn is_called(known: &str, parameter: &str) -> bool {
    known == parameter || known.strip_prefix("warm_") == Some(parameter)
}

/// Converts durations to whole seconds, which the agent takes without a unit; other values stay
/// unchanged.
fn in_seconds(value: &str) -> Option<String> {
    let is_bare = value.parse::<u32>().is_ok();
    match value.parse::<Duration>() {
        Ok(time) if !is_bare => whole_units(time, SECOND),
        _ => Some(value.to_owned()),
    }
}

/// A duration in whole milliseconds.
fn in_millis(value: &str) -> Option<String> {
    whole_units(value.parse().ok()?, MILLISECOND)
}

/// The agent has timers for both ends of a handshake, or for none.
fn handshake_timer(value: &str) -> Option<String> {
    match value {
        "known" => Some("known".to_owned()),
        "initial" => Some("kernel".to_owned()),
        _ => None,
    }
}

/// `None` if it is no whole number of units.
fn whole_units(time: Duration, unit: u64) -> Option<String> {
    time.as_nanos().is_multiple_of(unit).then(|| (time.as_nanos() / unit).to_string())
}

/// Nanoseconds.
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLISECOND;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_scheme_of_the_agent_is_answered_with_the_nearest() {
        let refused = Contender::parse("hs-cubicc").expect_err("no such scheme");
        assert!(refused.contains("did you mean \"hs-cubic\""), "{refused}");
    }

    #[test]
    fn the_agent_is_told_what_it_has_an_option_for() {
        let of = |text: &str| Contender::parse(text).expect("a scheme").agent().cloned();
        let agent = of("hs-cubic+warm_cap=64+warm_max_age=30s+size=on").expect("the agent has it");
        assert_eq!(agent.control(), "cubic");
        assert_eq!(agent.options().join(" "), "--cap 64 --max-age 30");
        assert!(agent.announces_size());
        // The short forms give the agent the same options.
        assert_eq!(of("hs-cubic+cap=64+max_age=30s+size=on"), Some(agent));
        // The agent counts in seconds.
        assert_eq!(of("hs-cubic+warm_max_age=1500ms"), None);
        let timers = of("hs-cubic+opening_timer=known+rto_min=20ms").expect("the agent has both");
        assert_eq!(timers.options().join(" "), "--handshake-timer known --rto-min 20");
        // It times SYN-ACKs as it times SYNs, and no timeout by fractions of a millisecond.
        assert_eq!(of("hs-cubic+opening_timer=clients"), None);
        assert_eq!(of("hs-cubic+rto_min=20500us"), None);
        // The initial window is the route's, and no agent's.
        assert_eq!(of("hs-cubic+iw=32"), None);
        assert_eq!(of("linux"), None);
    }
}
