//! Parameters of the agent's warm start, with the agent's defaults.

use crate::registry::values::{on_off, positive, whole};
use crate::registry::{Parameter, PolicySetup};
use memory::ReservationTerms;
use units::Duration;

/// Options of a warm start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmOptions {
    /// Conditions on memories.
    pub terms: ReservationTerms,
    /// Start of a connection whose path is not known (`--cold`).
    pub cold: ColdOpening,
    /// The application says before each transfer how large it is (`HEADSTART_SIZE`).
    pub uses_size: bool,
    /// Transfers whose size is known begin so that they end with an epoch.
    pub ends_epochs: bool,
    /// First flights to a network are interleaved, segment by segment, at the rate at which
    /// segments of all were delivered. After a short flight, as of TLS, a wide cold start sends its
    /// stock window at once.
    pub paces_together: bool,
    /// A cold start's window jumps to what the path holds at the rate at which its first flight was
    /// delivered.
    pub jumps_by_dispersion: bool,
    /// Most segments of a wide cold start while other connections to its network open.
    pub wide_among: u32,
    /// Segments of each connection that sends to the network for which a retransmission timer waits
    /// in addition to the round trip. Their time follows from the rate at which segments of all are
    /// delivered; 0: none.
    pub timer_gaps: u32,
    /// Data that came with the SYN is answered with a remembered first flight, before the handshake
    /// has shown a round trip.
    pub opens_early: bool,
}

/// Start of a connection whose path is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColdOpening {
    /// Stock slow start.
    Stock,
    /// It measures the path, and ends slow start by the result.
    Paced,
    /// The same, with more than a stock window at first. Behind a short flight that has shown the
    /// rate of the path these are up to 64 segments, at that rate. Otherwise ten leave at once, and
    /// up to 22 more at 10 Mbit/s.
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
    "warm: half of a remembered window is used after this number of round trips (--half-life of the agent)",
);

/// Start of cold connections.
pub static COLD: Parameter<ColdOpening> = Parameter::choice(
    "warm_cold",
    &[("wide", ColdOpening::Wide), ("paced", ColdOpening::Paced), ("stock", ColdOpening::Stock)],
    "wide",
    "warm: cold starts pace by what they measure and begin with more than a stock window, only pace, or stay stock (--cold of the agent)",
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
    "warm: transfers whose size is known begin so that they end with an epoch (`--sized epoch` of the agent)",
);

/// Whether first flights to a network share their pace.
pub static TOGETHER: Parameter<bool> = Parameter::text(
    "warm_together",
    ("on|off", on_off),
    "off",
    "warm: first flights to a network share the rate at which segments of all its connections were delivered",
);

/// Whether the second flight goes by the dispersion of the first.
pub static DISPERSION: Parameter<bool> = Parameter::text(
    "warm_dispersion",
    ("on|off", on_off),
    "off",
    "warm: with warm_together, the second flight of a cold start is what the path holds at the rate at which the first one was delivered",
);

/// Largest window of a cold start among others.
pub static WIDE_AMONG: Parameter<u32> = Parameter::segments(
    "warm_wide_among",
    "32",
    "warm: the largest first window of a wide cold start while other connections to its network open",
);

/// Segments of each sender for which a timer waits.
pub static TIMER_GAPS: Parameter<u32> = Parameter::text(
    "warm_rto_gaps",
    ("number", whole),
    "0",
    "warm: a retransmission timeout is at least a round trip and the time of this many segments of each connection that sends to the network",
);

/// Whether data in the SYN is answered with a first flight.
pub static EARLY: Parameter<bool> = Parameter::text(
    "warm_early",
    ("on|off", on_off),
    "off",
    "warm: data in the SYN is answered with a first flight as remembered, which the handshake's round trip judges once it is known",
);

impl WarmOptions {
    pub(super) fn of(setup: &PolicySetup<'_>) -> Self {
        let (cap, half_life_rtts) = (setup.get(&CAP), setup.get(&HALF_LIFE));
        Self {
            terms: ReservationTerms { max_age: setup.get(&MAX_AGE), half_life_rtts, cap },
            cold: setup.get(&COLD),
            uses_size: setup.get(&SIZE),
            ends_epochs: setup.get(&EPOCHS),
            paces_together: setup.get(&TOGETHER),
            jumps_by_dispersion: setup.get(&DISPERSION),
            wide_among: setup.get(&WIDE_AMONG),
            timer_gaps: setup.get(&TIMER_GAPS),
            opens_early: setup.get(&EARLY),
        }
    }
}
