//! The report of a connection's start, sent when it starts.

use super::field::{constant, get, of};
use super::key::PrefixKey;
use super::start_reason::StartReason;
use std::fmt::{self, Display, Formatter};

/// A start, of a connection or of its next transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartDecision {
    /// Its path.
    pub path: PrefixKey,
    /// Send opportunity.
    pub trigger: DecisionTrigger,
    /// Warm, or why cold; `None`: cold because an earlier start of the connection has failed.
    pub reason: Option<StartReason>,
    /// True if the connection is in the control group.
    pub in_control_group: bool,
    /// Only chance decided whether it starts warm.
    pub is_compared: bool,
    /// Segments that it starts with.
    pub window: u32,
    /// Segments that a cold start would have.
    pub cold: u32,
    /// Remembered window after ageing and the cap, segments; 0: none.
    pub remembered: u32,
    /// Age of what is remembered, nanoseconds; 0: nothing is.
    pub age_ns: u64,
    /// Pacing rate of its first flight, bytes a second; 0: the kernel's.
    pub rate: u64,
    /// Smoothed round trip, microseconds.
    pub rtt_us: u32,
    /// Stage of the canary in which it opened.
    pub stage: u32,
}

/// Reason why a connection starts now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionTrigger {
    /// The connection opens.
    Opening,
    /// After idle: the kernel had taken its window back.
    Idle,
    /// Its first flight was narrowed to the size of one transfer.
    Again,
    /// The connection sends for the first time long after it has opened.
    Late,
}

impl DecisionTrigger {
    const ALL: [(u32, Self); 4] = [
        (constant("TRIGGER_OPENING"), Self::Opening),
        (constant("TRIGGER_IDLE"), Self::Idle),
        (constant("TRIGGER_AGAIN"), Self::Again),
        (constant("TRIGGER_LATE"), Self::Late),
    ];

    fn of(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|(other, _)| *other == number).map(|(_, trigger)| trigger)
    }

    /// Returns the name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Idle => "idle",
            Self::Again => "again",
            Self::Late => "late",
        }
    }
}

impl StartDecision {
    /// Bytes of a decision.
    pub const SIZE: usize = of("decision", "").1;
    const FELL_BACK_BEFORE: u32 = constant("FELL_BACK_BEFORE");
    const CONTROL_GROUP: u32 = constant("SUMMARY_CONTROL_GROUP");
    const COMPARED: u32 = constant("SUMMARY_COMPARED");

    /// Decodes an entry of the ring buffer; `None` if the bytes are not a decision.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let path = PrefixKey::from_bytes(&get!(bytes, "decision", "path", PrefixKey::SIZE))?;
        let flags = u32::from_ne_bytes(get!(bytes, "decision", "flags", 4));
        let reason = match u32::from_ne_bytes(get!(bytes, "decision", "start", 4)) {
            Self::FELL_BACK_BEFORE => None,
            number => Some(StartReason::of(number)?),
        };
        Some(Self {
            path,
            trigger: DecisionTrigger::of(u32::from_ne_bytes(get!(
                bytes, "decision", "trigger", 4
            )))?,
            reason,
            in_control_group: flags & Self::CONTROL_GROUP != 0,
            is_compared: flags & Self::COMPARED != 0,
            window: u32::from_ne_bytes(get!(bytes, "decision", "window", 4)),
            cold: u32::from_ne_bytes(get!(bytes, "decision", "cold", 4)),
            remembered: u32::from_ne_bytes(get!(bytes, "decision", "remembered", 4)),
            age_ns: u64::from_ne_bytes(get!(bytes, "decision", "age_ns", 8)),
            rate: u64::from_ne_bytes(get!(bytes, "decision", "rate", 8)),
            rtt_us: u32::from_ne_bytes(get!(bytes, "decision", "rtt_us", 4)),
            stage: u32::from_ne_bytes(get!(bytes, "decision", "stage", 4)),
        })
    }
}

impl Display for StartDecision {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "start to {}: occasion={} start={} window={} stock={} remembered={} age_s={:.1} rate_mbps={:.1} rtt_ms={:.1} compared={} \
             control_group={} stage={}",
            self.path.prefix,
            self.trigger.name(),
            self.reason.map_or("fell-back", StartReason::name),
            self.window,
            self.cold,
            self.remembered,
            self.age_ns as f64 / 1e9,
            self.rate as f64 * 8.0 / 1e6,
            f64::from(self.rtt_us) / 1e3,
            self.is_compared,
            self.in_control_group,
            self.stage,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_prefix_the_reason_and_the_figures() {
        let mut bytes = [0; StartDecision::SIZE];
        let key = PrefixKey { namespace: 1, prefix: "192.0.2.0/24".parse().unwrap() };
        bytes[..PrefixKey::SIZE].copy_from_slice(&key.to_bytes());
        let decision = StartDecision {
            trigger: DecisionTrigger::Idle,
            window: 30,
            cold: 10,
            remembered: 30,
            age_ns: 2_500_000_000,
            // 2.5 million bytes are 20 million bits.
            rate: 2_500_000,
            rtt_us: 80_400,
            ..StartDecision::from_bytes(&bytes).unwrap()
        };
        assert_eq!(
            decision.to_string(),
            "start to 192.0.2.0/24: occasion=idle start=warm window=30 stock=10 remembered=30 age_s=2.5 rate_mbps=20.0 rtt_ms=80.4 \
             compared=false control_group=false stage=0"
        );
        let failed = StartDecision { reason: None, ..decision };
        assert!(failed.to_string().contains(" start=fell-back "));
        assert_eq!(StartDecision::from_bytes(&bytes[1..]), None);
    }
}
