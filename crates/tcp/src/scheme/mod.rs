//! Schemes: named combinations of start-up, congestion control, recovery and options.
//!
//! `newreno+tick=500ms` is the scheme `newreno` with one parameter changed. The names are in
//! `catalogue`, the parameters of every connection in `parameters`; policies describe themselves
//! ([`crate::registry`]). Nothing else in headstart matches on a name.

mod aliases;
mod catalogue;
mod linux_version;
mod page;
mod pages;
mod parameters;
mod profiles;
mod quic;
mod recipes;

use crate::config::{AckPolicy, ConnectionConfig, IdleRestart, MemoryKind};
use crate::congestion::ControllerDescriptor;
use crate::path::Path;
use crate::recovery::sack::SACK;
use crate::recovery::{LossRecovery, Overtaken, RecoveryDescriptor};
use crate::registry::{AnyParameter, Descriptor, Make, ParameterValues, PolicySetup};
use crate::sharing::Sharing;
use crate::startup::warm::{self, MEMBER, WARM};
use crate::startup::{StartUp, StartUpDescriptor};
pub use aliases::scheme_meant;
pub use catalogue::{NamedScheme, catalogue};
pub use linux_version::LinuxVersion;
pub use page::{
    GivenParameter, OptionInForce, OwnParameter, PagePart, PageSource, SchemePage, WrittenStep,
};
use parameters::{AS_OTHERS, MEMORIES};
pub use parameters::{SchemeParameter, parameters};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A resolved scheme; cheap to clone.
#[derive(Clone, Debug)]
pub struct Scheme {
    name: Arc<str>,
    recipe: Arc<Recipe>,
}

/// Use of connections by a page's transfers under a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfers {
    /// The use follows the page's HTTP version.
    AsHttp,
    /// One after another on one persistent connection (`phttp`).
    Sequential,
}

/// Everything a scheme decides.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    config: ConnectionConfig,
    startup: &'static StartUpDescriptor,
    /// The start-up inside one that leaves something to another.
    inner: &'static StartUpDescriptor,
    congestion: &'static ControllerDescriptor,
    recovery: &'static RecoveryDescriptor,
    /// Parameters of these policies.
    settings: ParameterValues,
    /// Rule for evidence in ACKs of one member of a path about another's segments; `None`: no
    /// evidence.
    later_acks: Option<Overtaken>,
    transfers: Transfers,
    sharing: Option<Sharing>,
    /// [`Sharing::turn`]; `None`: as the scheme's own receiver acknowledges.
    turn: Option<u32>,
}

impl Recipe {
    /// Lets connections share a path, or not. Recovery by SACK then uses the others' ACKs as
    /// evidence of losses (unless `later_acks=off`). Otherwise a member with few segments under way
    /// would learn of losses, and reduce the window, many round trips later, and all together would
    /// take more than one TCP's part.
    fn set_sharing(&mut self, sharing: Option<Sharing>) {
        self.sharing = sharing;
        // Members take turns segment by segment: there is nothing to take as one.
        self.config.offload &= sharing.is_none();
        if sharing.is_some() && *self.recovery == SACK && self.later_acks.is_none() {
            self.later_acks = Some(Overtaken::ALL_LOST);
        }
    }

    /// Takes another recovery, with the SACK that it lives by.
    fn set_recovery(&mut self, recovery: &'static RecoveryDescriptor) {
        self.recovery = recovery;
        self.config.sack |= recovery.implies.sack;
        if recovery.implies.later_acks && self.later_acks.is_none() {
            self.later_acks = Some(Overtaken::OLDEST_LOST);
        }
    }

    /// Takes another congestion controller.
    fn set_congestion(&mut self, controller: &'static ControllerDescriptor) {
        self.congestion = controller;
        self.config.pacing |= controller.implies.pacing;
    }

    /// Takes another start-up. One that leaves something to another leaves it to the one before.
    fn set_startup(&mut self, startup: &'static StartUpDescriptor) {
        if !self.startup.is_wrapper() {
            self.inner = self.startup;
        }
        self.startup = startup;
        let implied = startup.implies;
        if implied.idle {
            self.config.idle = IdleRestart::StartUp;
        }
        self.config.pacing |= implied.pacing;
        if implied.memory != MemoryKind::None {
            self.config.memory = implied.memory;
        }
    }

    /// The parameters that its policies have of their own.
    fn own_parameters(&self) -> Vec<&'static dyn AnyParameter> {
        let Self { startup, congestion, recovery, .. } = self;
        [startup.parameters, congestion.parameters, recovery.parameters].concat()
    }

    /// Refuses another memory for a start-up that begins with the host's window pool, because the
    /// start-up does not use it.
    fn check_memory(&self) -> Result<(), String> {
        let Self { startup, config, .. } = self;
        let is_compatible = [MemoryKind::None, MemoryKind::WindowPool].contains(&config.memory);
        if startup.implies.memory != MemoryKind::WindowPool || is_compatible {
            return Ok(());
        }
        let name = MEMORIES.iter().find(|(_, kind)| *kind == config.memory).map_or("", |m| m.0);
        Err(format!(
            "memory={name}: the start-up {} begins with its host's window pool (`memory=lent`), and gets \
             nothing from another memory; leave memory out, or use memory=none for cold starts",
            startup.name
        ))
    }

    /// Gives a parameter of a policy a value that is known to be one.
    fn set(&mut self, parameter: &dyn AnyParameter, value: &str) {
        self.settings.set(parameter, value).expect("catalogue and profiles are tested");
    }

    /// Returns the values from which policies are made.
    fn setup(&self) -> PolicySetup<'_> {
        let judges_again = self.later_acks.is_some_and(Overtaken::judges_again);
        PolicySetup { settings: &self.settings, config: &self.config, judges_again }
    }

    fn make_startup(&self, startup: &StartUpDescriptor) -> Box<dyn StartUp> {
        match startup.make {
            Make::Alone(make) => make(&self.setup()),
            Make::Around(make) => make(&self.setup(), self.make_startup(self.inner)),
        }
    }
}

/// The options of all connections of a scheme, of which each keeps a pointer.
#[derive(Clone, Debug)]
pub(crate) struct SharedConfig(Arc<Recipe>);

impl Deref for SharedConfig {
    type Target = ConnectionConfig;

    fn deref(&self) -> &ConnectionConfig {
        &self.0.config
    }
}

/// The reason for which a scheme's text is invalid; its message lists valid ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeError(String);

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemeError {}

impl Scheme {
    /// Reads `name[+parameter=value…]`. The parameters of the text override those that a start-up
    /// implies, before or after it.
    ///
    /// # Errors
    /// On an unknown name, parameter or value; the message lists the known ones.
    pub fn parse(text: &str) -> Result<Self, SchemeError> {
        let mut parts = text.split('+');
        let name = parts.next().unwrap_or_default();
        let mut recipe = catalogue::recipe(name).ok_or_else(|| unknown_scheme(text, name))?;
        let mut seen = Vec::new();
        for part in in_order(parts.collect()) {
            let parameter = parameters::apply(&mut recipe, part)
                .map_err(|why| SchemeError(format!("scheme {text:?}: {why}")))?;
            if seen.contains(&parameter) {
                return Err(SchemeError(format!("scheme {text:?}: {parameter} is given twice")));
            }
            seen.push(parameter);
        }
        recipe.check_memory().map_err(|why| SchemeError(format!("scheme {text:?}: {why}")))?;
        Ok(Self { name: Arc::from(text), recipe: Arc::new(recipe) })
    }

    /// The text it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Options of its connections.
    pub fn config(&self) -> &ConnectionConfig {
        &self.recipe.config
    }

    /// The same, for a connection to keep.
    pub(crate) fn shared_config(&self) -> SharedConfig {
        SharedConfig(Arc::clone(&self.recipe))
    }

    /// Returns how its connections to the same host share a path; `None`: each has its own.
    pub fn sharing(&self) -> Option<Sharing> {
        let Recipe { sharing, turn, ref config, .. } = *self.recipe;
        let acked_together = match config.receive.ack {
            AckPolicy::Immediate => 1,
            AckPolicy::Delayed { .. } | AckPolicy::Adaptive => 2,
        };
        let turn = turn.unwrap_or(acked_together);
        sharing.map(|s| Sharing { turn, acked_together, ..s })
    }

    /// Its name, for a connection to keep.
    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Returns the use of connections by a page's transfers.
    pub fn transfers(&self) -> Transfers {
        self.recipe.transfers
    }

    /// True if the start-up uses the length of answers that servers announce
    /// ([`crate::Host::announce`]), so that servers announce it.
    pub fn uses_sizes(&self) -> bool {
        [&WARM, &MEMBER].contains(&self.recipe.startup) && self.recipe.setup().get(&warm::SIZE)
    }

    /// The same scheme with every window change recorded.
    #[must_use]
    pub fn recorded(&self) -> Self {
        let mut recipe = Recipe::clone(&self.recipe);
        recipe.config.record_window = true;
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }

    /// The same scheme with another start-up, which may be in no list. One that wraps another wraps
    /// the one that the scheme's own wraps.
    #[must_use]
    pub fn with_start_up(&self, startup: &'static StartUpDescriptor) -> Self {
        let mut recipe = Recipe::clone(&self.recipe);
        recipe.set_startup(startup);
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }

    /// The same scheme as an application uses it that asks for no delay (`TCP_NODELAY`).
    #[must_use]
    pub fn without_nagle(&self) -> Self {
        let mut recipe = Recipe::clone(&self.recipe);
        recipe.config.nagle = false;
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }

    /// Returns the scheme with the receive window of another: its first and largest offer, and
    /// whether it grows with use. A window in the scheme's own text (`rwnd=`, `rcvbuf=`,
    /// `rcvbuf_max=`) stays, and so does that of a version in it (`linux=`).
    #[must_use]
    pub fn with_window_of(&self, receiver: &Self) -> Self {
        if self.sets_window() {
            return self.clone();
        }
        let mut recipe = Recipe::clone(&self.recipe);
        let window = &receiver.recipe.config.receive;
        let own = &mut recipe.config.receive;
        own.initial_window = window.initial_window;
        own.max_window = window.max_window;
        own.autotune = window.autotune;
        let version = self.given_value("linux").and_then(|name| name.parse::<LinuxVersion>().ok());
        if let Some(version) = version {
            version.apply(&mut recipe, false);
        }
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }

    /// Returns the scheme as a version of Linux has it. A version in the scheme's own text
    /// (`linux=`), and a receive window, stay.
    #[must_use]
    pub fn with_linux(&self, version: LinuxVersion) -> Self {
        if self.sets_parameter("linux") {
            return self.clone();
        }
        let mut recipe = Recipe::clone(&self.recipe);
        version.apply(&mut recipe, self.sets_window());
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }

    /// Returns the value that the scheme's text gives the parameter.
    fn given_value(&self, parameter: &str) -> Option<&str> {
        let mut parts = self.name.split('+');
        parts.find_map(|part| part.strip_prefix(parameter)?.strip_prefix('='))
    }

    /// True if the scheme's text sets the parameter.
    fn sets_parameter(&self, parameter: &str) -> bool {
        self.given_value(parameter).is_some()
    }

    /// True if the scheme's text sets a receive window.
    fn sets_window(&self) -> bool {
        ["rwnd", "rcvbuf", "rcvbuf_max"].into_iter().any(|parameter| self.sets_parameter(parameter))
    }

    /// Creates a path.
    pub fn path(&self) -> Path {
        let recipe = &self.recipe;
        let startup = recipe.make_startup(recipe.startup);
        let path =
            Path::new(&recipe.config, startup, build_unwrapped(recipe.congestion, &recipe.setup()));
        match self.recipe.later_acks {
            Some(rule) => path.with_send_log(rule),
            None => path,
        }
    }

    /// Returns the description of its recovery.
    pub fn recovery_descriptor(&self) -> &'static RecoveryDescriptor {
        self.recipe.recovery
    }

    /// A fresh recovery for one connection.
    pub fn recovery(&self) -> Box<dyn LossRecovery> {
        build_unwrapped(self.recipe.recovery, &self.recipe.setup())
    }
}

/// Makes a policy of a kind that has no wrappers.
fn build_unwrapped<P: ?Sized>(policy: &Descriptor<P>, setup: &PolicySetup<'_>) -> Box<P> {
    match policy.make {
        Make::Alone(make) => make(setup),
        Make::Around(_) => {
            unreachable!("only start-ups wrap others, as policy/tests/policy/registry.rs shows")
        }
    }
}

/// Hint for lists of all schemes and parameters.
const LISTED_BY: &str = "`headstart schemes` lists them";

fn unknown_scheme(text: &str, name: &str) -> SchemeError {
    let known: Vec<_> = catalogue().iter().map(|s| s.name).collect();
    let unknown = support::errors::unknown("scheme", name, &known, LISTED_BY);
    SchemeError(format!("scheme {text:?}: {unknown}"))
}

/// Returns parameters in the order in which they apply. Parameters that imply others come first,
/// except after a profile in front of them, because implied values are weaker than given ones. A
/// start-up is weaker: `share=etcp` implies one. A version of Linux is the weakest.
fn in_order(mut parts: Vec<&str>) -> Vec<&str> {
    put_first(&mut parts, |part| part.starts_with("startup="));
    let implying =
        |part: &str| AS_OTHERS.iter().any(|(name, _)| part.strip_prefix("share=") == Some(*name));
    put_first(&mut parts, implying);
    put_first(&mut parts, |part| part.starts_with("linux="));
    parts
}

/// Moves the part to the front, or behind the last profile before it.
fn put_first(parts: &mut [&str], is_it: impl Fn(&str) -> bool) {
    if let Some(at) = parts.iter().position(|part| is_it(part)) {
        let profile = parts[..at].iter().rposition(|part| part.starts_with("profile="));
        parts[profile.map_or(0, |place| place + 1)..=at].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_of_the_catalogue_parses_under_its_own_name() {
        for named in catalogue() {
            assert_eq!(
                Scheme::parse(named.name).map(|s| s.name().to_owned()),
                Ok(named.name.into())
            );
        }
    }

    #[test]
    fn no_scheme_overwrites_the_idle_rule_of_its_start_up() {
        for named in catalogue() {
            let scheme = Scheme::parse(named.name).unwrap();
            let own = scheme.config().idle == IdleRestart::StartUp;
            assert_eq!(own, scheme.recipe.startup.implies.idle, "{}", named.name);
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let error = Scheme::parse("renoo").unwrap_err().to_string();
        assert!(error.contains("did you mean \"reno\""), "{error}");
        // The message has no list of all schemes, which would be too long to read in an error.
        assert!(error.ends_with(LISTED_BY) && !error.contains("linux"), "{error}");
        let error = Scheme::parse("reno+tikc=1ms").unwrap_err().to_string();
        assert!(error.contains("did you mean \"tick\"") && error.ends_with(LISTED_BY), "{error}");
        let error = Scheme::parse("reno+tick=soon").unwrap_err().to_string();
        assert!(error.contains("like 80ms"), "{error}");
        let error = Scheme::parse("reno+iw=0").unwrap_err().to_string();
        assert!(error.contains("iw"), "{error}");
        for scale in ["0", "1.5", "0.1234", "-1", "half", ""] {
            let error = Scheme::parse(&format!("rbp+rbp_scale={scale}")).unwrap_err().to_string();
            assert!(error.contains("up to 1"), "{error}");
        }
    }

    /// A row of a race keeps a window in its own text; the others have that of the race's client.
    #[test]
    fn a_window_that_a_scheme_names_is_not_replaced() {
        let client = Scheme::parse("linux+rwnd=1MB").unwrap();
        for own in ["linux+rwnd=50kB", "linux+rcvbuf=50kB", "linux+rcvbuf_max=64kB"] {
            let scheme = Scheme::parse(own).unwrap();
            let raced = scheme.with_window_of(&client);
            assert_eq!(raced.config().receive, scheme.config().receive, "{own}");
        }
        let raced = Scheme::parse("linux").unwrap().with_window_of(&client);
        assert_eq!(raced.config().receive.initial_window, 1_000_000);
        // The largest window of the scheme's own version, which the baseline does not have.
        let linux = Scheme::parse("linux").unwrap();
        let raced = Scheme::parse("linux+linux=6.12").unwrap().with_window_of(&linux);
        assert_eq!(raced.config().receive.max_window, 6 << 20);
    }

    /// Careful Resume implies `memory=temporal`, and fast start `idle=startup`, unless another
    /// value is given, before or after it.
    #[test]
    fn what_is_given_holds_whatever_a_start_up_implies() {
        let config = |text: &str| *Scheme::parse(text).unwrap().config();
        for text in
            ["linux+memory=site+startup=careful-resume", "linux+startup=careful-resume+memory=site"]
        {
            assert_eq!(config(text).memory, crate::config::MemoryKind::Site, "{text}");
        }
        for (text, idle) in [
            ("newreno+idle=keep+startup=fs", IdleRestart::Keep),
            ("newreno+startup=fs+idle=keep", IdleRestart::Keep),
            ("newreno+profile=ns2+startup=fs", IdleRestart::StartUp),
        ] {
            assert_eq!(config(text).idle, idle, "{text}");
        }
        assert!(Scheme::parse("linux+opening_spread").is_err());
    }

    /// Names that users try first for schemes with another name here: the two differ in their text
    /// alone.
    #[test]
    fn other_names_make_the_same_scheme() {
        let recipe = |text: &str| format!("{:?}", Scheme::parse(text).unwrap().recipe);
        for (tried, name) in [
            ("linux+share=session", "linux-session"),
            ("linux+share=etcp", "linux-etcp"),
            ("linux+memory=none+share=etcp", "linux-etcp+memory=none"),
            ("linux+startup=fs+share=session", "linux-session-fs"),
            ("headstart+cold=stock", "headstart+warm_cold=stock"),
            ("headstart+together=off", "headstart+warm_together=off"),
            ("hs-cubic+cap=64+max_age=30s", "hs-cubic+warm_cap=64+warm_max_age=30s"),
            ("suss+max=2", "suss+suss_max=2"),
        ] {
            assert_eq!(recipe(tried), recipe(name), "{tried}");
        }
        // A start-up that is given counts more than the one that sharing implies.
        let startup = |text: &str| Scheme::parse(text).unwrap().recipe.startup.name;
        assert_eq!(startup("linux+share=etcp+startup=suss"), "suss");
        // There is no short form for the policies of other schemes, nor for two parameters at once.
        assert!(Scheme::parse("linux+cold=stock").is_err());
        let twice = Scheme::parse("headstart+cold=stock+warm_cold=wide").unwrap_err().to_string();
        assert!(twice.contains("warm_cold is given twice"), "{twice}");
    }

    /// A warm start uses its host's window pool. With any other memory its start would silently be
    /// cold.
    #[test]
    fn a_memory_that_the_start_up_does_not_hear_is_refused() {
        for kind in ["temporal", "gateway", "site"] {
            for scheme in ["headstart", "hs-cubic", "hs-bbr", "hs-session", "linux+startup=warm"] {
                let error = Scheme::parse(&format!("{scheme}+memory={kind}")).unwrap_err();
                let error = error.to_string();
                assert!(error.contains(kind) && error.contains("memory=none"), "{error}");
            }
        }
        for accepted in ["headstart+memory=none", "headstart+memory=lent", "linux+memory=site"] {
            assert!(Scheme::parse(accepted).is_ok(), "{accepted}");
        }
        assert!(Scheme::parse("headstart+startup=spand+memory=site").is_ok());
    }

    #[test]
    fn parameters_change_what_they_name() {
        let scheme = Scheme::parse("newreno-nssr+tick=500ms+iw=2").unwrap();
        assert_eq!(scheme.config().rto.tick, units::Duration::from_millis(500));
        assert_eq!(scheme.config().initial_window, 2);
        assert_eq!(scheme.config().idle, crate::config::IdleRestart::Keep);
        for scale in ["0.75", "1", "1.0", "0.001"] {
            assert!(Scheme::parse(&format!("rbp+rbp_scale={scale}")).is_ok(), "{scale}");
        }
    }
}
