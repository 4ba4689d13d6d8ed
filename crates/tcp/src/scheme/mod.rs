//! Schemes: named combinations of start-up, congestion control, recovery and options.
//!
//! `newreno+tick=500ms` is the scheme `newreno` with one parameter changed. The names are in
//! `catalogue`, the parameters in `parameters`; nothing else in headstart matches on either.

mod catalogue;
mod parameters;
mod profiles;

use crate::config::{AckPolicy, Config, IdleRestart, MemoryKind};
use crate::congestion::{
    Bbr, CongestionControl, Cubic, Halve, LinuxReno, Proxy, Reno, Vegas, VegasOptions,
};
use crate::path::Path;
use crate::recovery::LossRecovery;
use crate::recovery::dupacks::LimitedTransmit;
use crate::recovery::integrated::Integrated;
use crate::recovery::newreno::{NewReno, NewRenoOptions};
use crate::recovery::rack::RackTlp;
use crate::recovery::sack::Sack;
use crate::recovery::sack_pipe::SackPipe;
use crate::recovery::vegas::{VegasRecovery, VegasRecoveryOptions};
use crate::recovery::{Overtaken, reno, tahoe};
use crate::sharing::Sharing;
use crate::startup::careful_resume::CarefulResumeOptions;
use crate::startup::fast_start::FastStartOptions;
use crate::startup::hoe::Pair;
use crate::startup::hystart::HyStart;
use crate::startup::paced_start::PacedStartOptions;
use crate::startup::rbp::RbpOptions;
use crate::startup::spand::SpandOptions;
use crate::startup::{
    BbrStart, CarefulResume, FastStart, Hoe, JumpStart, LinuxSlowStart, PacedStart, Rbp, SlowStart,
    Spand, StartUp, VegasStart, Wrapping,
};
pub use catalogue::{NamedScheme, catalogue};
pub use parameters::{Parameter, parameters};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A resolved scheme; cheap to clone.
#[derive(Clone, Debug)]
pub struct Scheme {
    name: Arc<str>,
    recipe: Arc<Recipe>,
}

/// How a page's transfers use connections under a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfers {
    /// As the page's HTTP version says.
    AsHttp,
    /// One after another on one persistent connection (`phttp`).
    Sequential,
}

/// The start-up policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartUpKind {
    SlowStart,
    LinuxSlowStart,
    HyStart,
    /// Fills a model of the path.
    Bbr,
    Vegas,
    Hoe,
    /// Paced after idle, else slow start.
    Rbp,
    /// Paced after idle, else Vegas's slow start.
    RbpVegas,
    Spand,
    PacedStart,
    /// Jumps to what is remembered; else [`Recipe::inner`].
    CarefulResume,
    /// Paces all there is over a round trip; else [`Recipe::inner`].
    JumpStart,
    /// Sends the last window at once after idle; else [`Recipe::inner`].
    FastStart,
}

impl StartUpKind {
    /// It leaves to another start-up what it does not do itself.
    const fn is_wrapper(self) -> bool {
        matches!(self, Self::CarefulResume | Self::JumpStart | Self::FastStart)
    }

    /// Whose memory it is made for.
    const fn memory(self) -> MemoryKind {
        match self {
            Self::Spand => MemoryKind::Gateway,
            Self::FastStart | Self::CarefulResume => MemoryKind::Temporal,
            _ => MemoryKind::None,
        }
    }

    /// It decides itself what idling does to the window.
    const fn owns_idle(self) -> bool {
        matches!(self, Self::Rbp | Self::RbpVegas | Self::Spand | Self::FastStart)
    }
}

/// The congestion controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CongestionKind {
    Reno,
    LinuxReno,
    Cubic,
    Vegas,
    /// By the start-up's model of the path.
    Bbr,
    Proxy,
}

/// The loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryKind {
    Tahoe,
    Reno,
    NewReno,
    Sack,
    SackPipe,
    Rack,
    /// By what later ACKs on the path say: [`Recipe::later_acks`].
    Integrated,
    Vegas,
}

/// Everything a scheme decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) config: Config,
    pub(crate) startup: StartUpKind,
    /// The start-up inside one that leaves something to another.
    pub(crate) inner: StartUpKind,
    pub(crate) congestion: CongestionKind,
    pub(crate) recovery: RecoveryKind,
    pub(crate) halve: Halve,
    pub(crate) whole_segments: bool,
    pub(crate) newreno: NewRenoOptions,
    pub(crate) limited_transmit: LimitedTransmit,
    /// What ACKs of one member of a path say of another's segments; `None`: nothing.
    pub(crate) later_acks: Option<Overtaken>,
    pub(crate) vegas: VegasOptions,
    pub(crate) vegas_recovery: VegasRecoveryOptions,
    pub(crate) pair: Pair,
    pub(crate) rbp: RbpOptions,
    pub(crate) fast_start: FastStartOptions,
    pub(crate) spand: SpandOptions,
    /// [`SpandOptions::per_ack`]; `None`: as the scheme's own receiver acknowledges.
    pub(crate) spand_per_ack: Option<u32>,
    pub(crate) paced_start: PacedStartOptions,
    pub(crate) careful_resume: CarefulResumeOptions,
    pub(crate) transfers: Transfers,
    pub(crate) sharing: Option<Sharing>,
    /// [`Sharing::turn`]; `None`: as the scheme's own receiver acknowledges.
    pub(crate) turn: Option<u32>,
    /// Clients behind the other host, where the controller counts them; `None`: as it is told.
    pub(crate) clients: Option<u32>,
}

impl Recipe {
    /// Lets connections share a path, or not. Recovery by SACK hears of losses from the others' ACKs then
    /// (unless `later_acks=off`): a member with few segments under way would else learn of them, and
    /// the window fall, so many round trips later that all together take more than one TCP's part.
    fn set_sharing(&mut self, sharing: Option<Sharing>) {
        self.sharing = sharing;
        // Members take turns segment by segment: there is nothing to take as one.
        self.config.offload &= sharing.is_none();
        if sharing.is_some() && self.recovery == RecoveryKind::Sack && self.later_acks.is_none() {
            self.later_acks = Some(Overtaken::ALL_LOST);
        }
    }

    /// Sets the idle rule of a scheme, unless its start-up decides that itself.
    fn set_idle_unless_owned(&mut self, idle: IdleRestart) {
        self.config.idle = if self.startup.owns_idle() { IdleRestart::StartUp } else { idle };
    }

    /// Takes another recovery, with the SACK that it lives by.
    fn set_recovery(&mut self, kind: RecoveryKind) {
        use RecoveryKind::{Integrated, Rack, Sack, SackPipe};
        self.recovery = kind;
        self.config.sack |= matches!(kind, Sack | SackPipe | Rack | Integrated);
        if kind == Integrated && self.later_acks.is_none() {
            self.later_acks = Some(Overtaken::OLDEST_LOST);
        }
    }

    /// Takes another start-up. One that leaves something to another leaves it to the one before.
    fn set_startup(&mut self, kind: StartUpKind) {
        if !self.startup.is_wrapper() {
            self.inner = self.startup;
        }
        self.startup = kind;
        if kind.owns_idle() {
            self.config.idle = IdleRestart::StartUp;
        }
        // Its window holds far more than the path: it is for the pacer to keep queues short.
        self.config.pacing |= kind == StartUpKind::Bbr;
        if kind.memory() != MemoryKind::None {
            self.config.memory = kind.memory();
        }
    }
}

/// The options of all connections of a scheme, of which each keeps a pointer.
#[derive(Clone, Debug)]
pub(crate) struct SharedConfig(Arc<Recipe>);

impl Deref for SharedConfig {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.0.config
    }
}

/// Why a scheme's text cannot be understood; its message lists what can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeError(String);

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemeError {}

impl Scheme {
    /// Reads `name[+parameter=value…]`.
    ///
    /// # Errors
    /// On an unknown name, parameter or value; the message lists the known ones.
    pub fn parse(text: &str) -> Result<Self, SchemeError> {
        let mut parts = text.split('+');
        let name = parts.next().unwrap_or_default();
        let mut recipe = catalogue::recipe(name).ok_or_else(|| unknown_scheme(text, name))?;
        let mut seen = Vec::new();
        for part in parts {
            let parameter = part.split('=').next().unwrap_or_default();
            if seen.contains(&parameter) {
                return Err(SchemeError(format!("scheme {text:?}: {parameter} is given twice")));
            }
            seen.push(parameter);
            parameters::apply(&mut recipe, part)
                .map_err(|why| SchemeError(format!("scheme {text:?}: {why}")))?;
        }
        Ok(Self { name: Arc::from(text), recipe: Arc::new(recipe) })
    }

    /// The text it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Options of its connections.
    pub fn config(&self) -> &Config {
        &self.recipe.config
    }

    /// The same, for a connection to keep.
    pub(crate) fn shared_config(&self) -> SharedConfig {
        SharedConfig(Arc::clone(&self.recipe))
    }

    /// How its connections to the same host share a path; `None`: each has its own.
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

    /// How a page's transfers use connections.
    pub fn transfers(&self) -> Transfers {
        self.recipe.transfers
    }

    /// The same scheme with every window change recorded.
    #[must_use]
    pub fn recorded(&self) -> Self {
        let mut recipe = *self.recipe;
        recipe.config.record_window = true;
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }

    /// The same scheme as an application uses it that asks for no delay (`TCP_NODELAY`).
    #[must_use]
    pub fn without_nagle(&self) -> Self {
        let mut recipe = *self.recipe;
        recipe.config.nagle = false;
        Self { name: self.name.clone(), recipe: Arc::new(recipe) }
    }

    /// A fresh path.
    pub(crate) fn path(&self) -> Path {
        let startup = self.startup(self.recipe.startup);
        let path = Path::new(&self.recipe.config, startup, self.congestion());
        match self.recipe.later_acks {
            Some(rule) => path.with_send_log(rule),
            None => path,
        }
    }

    fn startup(&self, kind: StartUpKind) -> Box<dyn StartUp> {
        let Recipe { vegas, pair, rbp, paced_start, careful_resume, inner, fast_start, .. } =
            *self.recipe;
        let vegas = VegasStart::new(vegas);
        match kind {
            StartUpKind::SlowStart => Box::new(SlowStart),
            StartUpKind::LinuxSlowStart => Box::new(LinuxSlowStart),
            StartUpKind::HyStart => Box::<HyStart>::default(),
            StartUpKind::Bbr => Box::<BbrStart>::default(),
            StartUpKind::Vegas => Box::new(vegas),
            StartUpKind::Hoe => Box::new(Hoe::new(pair)),
            StartUpKind::Rbp => Box::new(Wrapping::new(Rbp::new(rbp), Box::new(SlowStart))),
            StartUpKind::RbpVegas => Box::new(Wrapping::new(Rbp::new(rbp), Box::new(vegas))),
            StartUpKind::Spand => Box::new(Spand::new(self.spand())),
            StartUpKind::PacedStart => Box::new(PacedStart::new(paced_start)),
            StartUpKind::CarefulResume => {
                Box::new(Wrapping::new(CarefulResume::new(careful_resume), self.startup(inner)))
            }
            StartUpKind::JumpStart => {
                Box::new(Wrapping::new(JumpStart::new(), self.startup(inner)))
            }
            StartUpKind::FastStart => {
                Box::new(Wrapping::new(FastStart::new(fast_start), self.startup(inner)))
            }
        }
    }

    fn spand(&self) -> SpandOptions {
        let Recipe { spand, spand_per_ack, config, .. } = *self.recipe;
        let by_receiver = if config.receive.ack == AckPolicy::Immediate { 1 } else { 2 };
        SpandOptions { per_ack: spand_per_ack.unwrap_or(by_receiver), ..spand }
    }

    fn congestion(&self) -> Box<dyn CongestionControl> {
        let Recipe { halve, whole_segments, vegas, .. } = *self.recipe;
        match self.recipe.congestion {
            CongestionKind::Reno => Box::new(Reno { halve, whole_segments }),
            CongestionKind::LinuxReno => Box::<LinuxReno>::default(),
            CongestionKind::Proxy => {
                Box::new(Proxy::new(halve, whole_segments, self.recipe.clients))
            }
            CongestionKind::Cubic => Box::<Cubic>::default(),
            CongestionKind::Bbr => Box::<Bbr>::default(),
            CongestionKind::Vegas => Box::new(Vegas::new(vegas)),
        }
    }

    /// A fresh recovery for one connection.
    pub(crate) fn recovery(&self) -> Box<dyn LossRecovery> {
        let limited = self.recipe.limited_transmit;
        match self.recipe.recovery {
            RecoveryKind::Tahoe => Box::new(tahoe::Tahoe::new(limited)),
            RecoveryKind::Reno => Box::new(reno::Reno::new(limited)),
            RecoveryKind::NewReno => {
                let options = NewRenoOptions { limited_transmit: limited, ..self.recipe.newreno };
                Box::new(NewReno::new(options))
            }
            RecoveryKind::Sack => Box::new(Sack::new(limited)),
            RecoveryKind::SackPipe => Box::new(SackPipe::new(limited)),
            RecoveryKind::Vegas => {
                Box::new(VegasRecovery::new(limited, self.recipe.vegas_recovery))
            }
            RecoveryKind::Integrated => {
                let again = self.recipe.later_acks.is_some_and(Overtaken::judges_again);
                Box::new(Integrated::new(again))
            }
            RecoveryKind::Rack => Box::new(RackTlp::new(self.recipe.config.rto.min)),
        }
    }
}

/// What lists all schemes and parameters.
const LISTED_BY: &str = "`headstart schemes` lists them";

fn unknown_scheme(text: &str, name: &str) -> SchemeError {
    let known: Vec<_> = catalogue().iter().map(|s| s.name).collect();
    let unknown = faults::unknown("scheme", name, &known, LISTED_BY);
    SchemeError(format!("scheme {text:?}: {unknown}"))
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
            assert_eq!(own, scheme.recipe.startup.owns_idle(), "{}", named.name);
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let error = Scheme::parse("renoo").unwrap_err().to_string();
        assert!(error.contains("did you mean \"reno\""), "{error}");
        // Not the list of all, which nobody reads in an error.
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

    #[test]
    fn parameters_change_what_they_name() {
        let scheme = Scheme::parse("newreno-nssr+tick=500ms+iw=2").unwrap();
        assert_eq!(scheme.config().rto.tick, units::Duration::from_millis(500));
        assert_eq!(scheme.config().initial_window, 2);
        assert_eq!(scheme.config().idle, crate::config::IdleRestart::Keep);
        for (scale, per_mille) in [("0.75", 750), ("1", 1000), ("1.0", 1000), ("0.001", 1)] {
            let scheme = Scheme::parse(&format!("rbp+rbp_scale={scale}")).unwrap();
            assert_eq!(scheme.recipe.rbp.scale, per_mille, "{scale}");
        }
    }
}
