//! Parameters of the agent's warm start, with the agent's defaults.

use crate::registry::values::{on_off, positive};
use crate::registry::{Parameter, PolicySetup};
use memory::LendingTerms;
use units::Duration;

/// How a warm start begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmOptions {
    /// Which memories are believed, and how far.
    pub terms: LendingTerms,
    /// How a connection starts of whose path nothing is known (`--cold`).
    pub cold: ColdOpening,
    /// The application says before each transfer how large it is (`HEADSTART_SIZE`).
    pub hears_size: bool,
    /// Transfers whose size is known begin so that they end with an epoch.
    pub ends_epochs: bool,
    /// First flights to a network leave one segment after the other, at the rate at which all have arrived. Behind a short flight, as of
    /// TLS, a wide cold start sends its stock window at once.
    pub paces_together: bool,
}

/// How a connection starts of whose path nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColdOpening {
    /// Stock slow start.
    Stock,
    /// It measures the path, and ends slow start by the result.
    Paced,
    /// The same, with up to 32 segments at first: ten at once, the others at 5 Mbit/s.
    Wide,
}

pub(super) static CAP: Parameter<u32> =
    Parameter::segments("warm_cap", "256", "warm: the largest first window (--cap of the agent)");

pub(super) static MAX_AGE: Parameter<Duration> = Parameter::text(
    "warm_max_age",
    ("duration", crate::registry::values::duration),
    "600s",
    "warm: older memories are not believed (--max-age of the agent)",
);

pub(super) static HALF_LIFE: Parameter<u32> = Parameter::text(
    "warm_half_life",
    ("round trips", positive),
    "3000",
    "warm: half of a remembered window is believed after so many round trips (--half-life of the agent)",
);

pub(super) static COLD: Parameter<ColdOpening> = Parameter::choice(
    "warm_cold",
    &[("paced", ColdOpening::Paced), ("wide", ColdOpening::Wide), ("stock", ColdOpening::Stock)],
    "paced",
    "warm: cold starts pace by what they measure, also begin with more than a stock window, or stay stock (--cold of the agent)",
);

/// Whether the server says sizes.
pub static SIZE: Parameter<bool> = Parameter::text(
    "size",
    ("on|off", on_off),
    "off",
    "warm: the server says before each answer how long it is (HEADSTART_SIZE); of the kernel's servers the built-in one can",
);

pub(super) static EPOCHS: Parameter<bool> = Parameter::text(
    "warm_epochs",
    ("on|off", on_off),
    "off",
    "warm: transfers whose size is known begin so that they end with an epoch (--end-epochs of the agent)",
);

/// Whether first flights to a network share their pace.
pub static TOGETHER: Parameter<bool> = Parameter::text(
    "warm_together",
    ("on|off", on_off),
    "off",
    "warm: first flights to a network share the rate at which segments of all its connections have arrived",
);

impl WarmOptions {
    pub(super) fn of(setup: &PolicySetup<'_>) -> Self {
        let (cap, half_life_rtts) = (setup.get(&CAP), setup.get(&HALF_LIFE));
        Self {
            terms: LendingTerms { max_age: setup.get(&MAX_AGE), half_life_rtts, cap },
            cold: setup.get(&COLD),
            hears_size: setup.get(&SIZE),
            ends_epochs: setup.get(&EPOCHS),
            paces_together: setup.get(&TOGETHER),
        }
    }
}
