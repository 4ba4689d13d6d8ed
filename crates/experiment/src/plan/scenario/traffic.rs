//! What members do, in numbers.

use crate::plan::document::{Amount, At, Bytes, Spread, TextOr, Times, Traffic, Written};
use crate::plan::error::Fault;
use units::{Duration, Rate};
use workload::Distribution;

/// A workload's traffic, checked.
#[derive(Clone, Debug)]
pub(crate) enum Activity {
    /// One connection; sizes in bytes, `None` without end.
    Bulk { size: Option<Distribution>, close: bool },
    /// Rounds of transfers; sizes in bytes, jitter in seconds.
    Rounds { size: Distribution, rounds: u32, jitter: Distribution, idle: Duration },
    /// Messages of so many bytes; gaps in seconds.
    Telnet { gaps: Distribution, bytes: u64, count: Option<u64> },
    /// Datagrams.
    Cbr { interval: Duration, wire_bytes: u32, count: Option<u64> },
    /// Bursts of datagrams; lengths in seconds.
    OnOff { rate: Rate, wire_bytes: u32, on: Distribution, off: Distribution },
}

impl Activity {
    /// Whether it has no end.
    pub(crate) const fn is_endless(&self) -> bool {
        match self {
            Self::Bulk { size, .. } => size.is_none(),
            Self::Rounds { .. } => false,
            Self::Telnet { count, .. } | Self::Cbr { count, .. } => count.is_none(),
            Self::OnOff { .. } => true,
        }
    }

    /// Checks what the plan says.
    pub(super) fn of(plan: &Traffic) -> Result<Self, Fault> {
        Ok(match plan {
            Traffic::Bulk(plan) => {
                let size = plan.size.as_ref().map(distribution).transpose()?;
                Self::Bulk { size, close: plan.close }
            }
            Traffic::Rounds(plan) => Self::Rounds {
                size: distribution(&plan.size)?,
                rounds: plan.rounds.0,
                jitter: or_fixed(plan.jitter.as_ref(), 0.0)?,
                idle: plan.idle.map_or(Duration::ZERO, |idle| idle.0),
            },
            Traffic::Telnet(plan) => Self::Telnet {
                gaps: match &plan.gaps {
                    Some(gaps) => distribution(gaps)?,
                    None => Distribution::telnet(),
                },
                bytes: plan.size.map_or(1, |size| size.0.0),
                count: plan.messages.map(|count| u64::from(count.0)),
            },
            Traffic::Cbr(plan) => {
                let wire_bytes = packet(plan.packet.as_ref())?;
                Self::Cbr {
                    interval: plan.rate.0.transmit_time(u64::from(wire_bytes)),
                    wire_bytes,
                    count: plan.packets.map(|count| u64::from(count.0)),
                }
            }
            Traffic::OnOff(plan) => Self::OnOff {
                rate: plan.rate.0,
                wire_bytes: packet(plan.packet.as_ref())?,
                on: distribution(&plan.on)?,
                off: distribution(&plan.off)?,
            },
        })
    }
}

/// A value that is the same each time or drawn.
fn distribution<T: Amount>(
    plan: &At<TextOr<T, Spread<Written<T>>>>,
) -> Result<Distribution, Fault> {
    let made = match &**plan {
        TextOr::Text(value) => Distribution::fixed(value.number()).map_err(|e| e.to_string()),
        TextOr::Kind(spread) => spread.distribution(),
    };
    made.map_err(|why| Fault::new(plan.span(), why))
}

fn or_fixed(plan: Option<&Times>, value: f64) -> Result<Distribution, Fault> {
    match plan {
        Some(plan) => distribution(plan),
        None => Distribution::fixed(value).map_err(|error| Fault::new(0..0, error)),
    }
}

/// Bytes of a datagram.
fn packet(plan: Option<&At<Written<Bytes>>>) -> Result<u32, Fault> {
    const DEFAULT: u32 = 1000;
    const MOST: u64 = 65_535;
    match plan {
        None => Ok(DEFAULT),
        Some(plan) if plan.0.0 <= MOST => Ok(plan.0.0 as u32),
        Some(plan) => {
            let why = format!("{} bytes are above {MOST}, an IP packet's most", plan.0.0);
            Err(Fault::new(plan.span(), why))
        }
    }
}
