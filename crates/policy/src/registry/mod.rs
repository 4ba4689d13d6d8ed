//! Description of a policy: name, meaning, source, parameters, implied settings, and constructor.
//!
//! Each start-up, congestion controller and recovery has a [`Descriptor`] beside its code, and a
//! line in the list of its kind: [`crate::startup::STARTUPS`], [`crate::congestion::CONTROLLERS`],
//! [`crate::recovery::RECOVERIES`]. All listings, parsers and constructors of policies use these
//! lists, so that a new policy is known everywhere at once.

mod page;
mod parameter;
pub mod values;

use crate::config::{ConnectionConfig, MemoryKind};
pub use page::{PageStep, PolicyPage};
pub use parameter::{AnyParameter, Parameter, ParameterValues, Read};
use std::fmt;

/// Inputs for the construction of a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicySetup<'a> {
    /// Its parameters, as far as they were given.
    pub settings: &'a ParameterValues,
    /// Options of the connection.
    pub config: &'a ConnectionConfig,
    /// Retransmissions may be found lost by later ACKs, too.
    pub judges_again: bool,
}

impl PolicySetup<'_> {
    /// Returns the value of a parameter: the given one, or its default.
    pub fn get<T: Copy>(&self, parameter: &Parameter<T>) -> T {
        self.settings.get(parameter)
    }
}

/// Returns what `make` makes without any parameters.
pub(crate) fn by_default<T>(make: impl FnOnce(&PolicySetup<'_>) -> T) -> T {
    let (settings, config) = (ParameterValues::default(), ConnectionConfig::default());
    make(&PolicySetup { settings: &settings, config: &config, judges_again: false })
}

/// Makes a policy that needs no other of its kind.
pub type MakeAlone<P> = dyn Fn(&PolicySetup<'_>) -> Box<P> + Sync;

/// Constructor of a policy. `P` is the trait of its kind.
pub enum Make<P: ?Sized + 'static> {
    /// It needs no other.
    Alone(&'static MakeAlone<P>),
    /// It leaves what it does not do itself to another of its kind.
    Around(fn(&PolicySetup<'_>, Box<P>) -> Box<P>),
}

impl<P: ?Sized> Clone for Make<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ?Sized> Copy for Make<P> {}

/// Settings implied by the choice of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Implied {
    /// Sending is paced.
    pub pacing: bool,
    /// The policy itself decides on the effect of idling on the window (`idle=startup`).
    pub idle: bool,
    /// The memory for which the policy is made.
    pub memory: MemoryKind,
    /// Selective acknowledgements are offered.
    pub sack: bool,
    /// Later ACKs on the path are evidence of losses.
    pub later_acks: bool,
}

impl Implied {
    /// Nothing.
    pub const NOTHING: Self = Self {
        pacing: false,
        idle: false,
        memory: MemoryKind::None,
        sack: false,
        later_acks: false,
    };
    /// Pacing.
    pub const PACING: Self = Self { pacing: true, ..Self::NOTHING };
    /// An idle rule of the policy's own.
    pub const IDLE: Self = Self { idle: true, ..Self::NOTHING };
    /// Selective acknowledgements.
    pub const SACK: Self = Self { sack: true, ..Self::NOTHING };
}

/// A policy by its name, with its description and constructor.
pub struct Descriptor<P: ?Sized + 'static> {
    /// Name, as the parameter of its kind takes it.
    pub name: &'static str,
    /// Description in a sentence.
    pub about: &'static str,
    /// Its specification.
    pub source: &'static str,
    /// Parameters in addition to those of every connection.
    pub parameters: &'static [&'static dyn AnyParameter],
    /// Settings that it implies.
    pub implies: Implied,
    /// Its steps; every start-up has this page.
    pub page: Option<&'static PolicyPage>,
    /// Its constructor.
    pub make: Make<P>,
}

impl<P: ?Sized + 'static> Descriptor<P> {
    /// A policy without parameters that implies nothing.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        make: Make<P>,
    ) -> Self {
        Self { name, about, source, parameters: &[], implies: Implied::NOTHING, page: None, make }
    }

    /// Returns the descriptor with parameters.
    #[must_use]
    pub const fn with(self, parameters: &'static [&'static dyn AnyParameter]) -> Self {
        Self { parameters, ..self }
    }

    /// Returns the descriptor with a page.
    #[must_use]
    pub const fn explained(self, page: &'static PolicyPage) -> Self {
        Self { page: Some(page), ..self }
    }

    /// Returns the descriptor with implied settings.
    #[must_use]
    pub const fn implying(self, implies: Implied) -> Self {
        Self { implies, ..self }
    }

    /// True if it leaves a part to another policy of its kind.
    pub const fn is_wrapper(&self) -> bool {
        matches!(self.make, Make::Around(_))
    }
}

impl<P: ?Sized> fmt::Debug for Descriptor<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Names are unique within a kind.
impl<P: ?Sized> PartialEq for Descriptor<P> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<P: ?Sized> Eq for Descriptor<P> {}
