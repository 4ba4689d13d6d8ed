//! Times for ages that outlive the agent. The programs' clock restarts with the machine, so a
//! moment is kept by both clocks, with the boot of the first.

use nix::time::{ClockId, clock_gettime};
use std::fs;
use std::time::Duration;

/// File with the kernel's identifier of the boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since the boot: `CLOCK_MONOTONIC`, that of `bpf_ktime_get_ns`.
    pub monotonic_ns: u64,
    /// Nanoseconds since 1970, as far as the machine knows.
    pub wall_ns: u64,
    /// Identifier of the boot; 0 if it is not known, which equals no other.
    pub boot: u128,
}

impl Moment {
    /// Returns the current time.
    pub fn now() -> Self {
        let text = fs::read_to_string(BOOT_ID).unwrap_or_default().replace('-', "");
        Self {
            monotonic_ns: monotonic_ns(),
            wall_ns: read(ClockId::CLOCK_REALTIME),
            boot: u128::from_str_radix(text.trim(), 16).unwrap_or(0),
        }
    }

    /// Returns the age, nanoseconds, of a sample learnt at `learnt_ns` (on the clock of `self`'s
    /// boot) and known at `self`. By the wall clock if the machine has been restarted since; `None`
    /// if that clock went back: no age is certain then.
    pub fn age_of(&self, learnt_ns: u64, now: &Self) -> Option<u64> {
        if self.boot == now.boot && self.boot != 0 {
            return Some(since(learnt_ns, now.monotonic_ns));
        }
        let elapsed = now.wall_ns.checked_sub(self.wall_ns)?;
        Some(since(learnt_ns, self.monotonic_ns).saturating_add(elapsed))
    }
}

/// Returns `CLOCK_MONOTONIC`, nanoseconds.
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// Returns the time from `then` to `now`, nanoseconds. A time before the boot is wrapped, below 0;
/// a time in the future counts as now.
pub fn since(then: u64, now: u64) -> u64 {
    now.wrapping_sub(then).cast_signed().max(0).cast_unsigned()
}

fn read(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVED: Moment = Moment { monotonic_ns: 1000, wall_ns: 50_000, boot: 7 };

    #[test]
    fn within_a_boot_the_wall_clock_means_nothing() {
        let now = Moment { monotonic_ns: 1400, wall_ns: 3, boot: 7 };
        assert_eq!(SAVED.age_of(900, &now), Some(500));
    }

    #[test]
    fn a_restart_of_the_machine_makes_nothing_younger() {
        // 100 old when saved, and 2000 by the wall clock since; 20 after the new boot.
        let now = Moment { monotonic_ns: 20, wall_ns: 52_000, boot: 8 };
        assert_eq!(SAVED.age_of(900, &now), Some(2100));
        // A time even before that boot.
        assert_eq!(SAVED.age_of(900_u64.wrapping_sub(5000), &now), Some(7100));
        assert_eq!(SAVED.age_of(900, &Moment { wall_ns: 49_999, ..now }), None);
        // A boot without a name is not the same as another one without.
        let nameless = Moment { boot: 0, ..SAVED };
        assert_eq!(nameless.age_of(900, &Moment { boot: 0, ..now }), Some(2100));
    }
}
