//! Measurements that are repeated because the machine handed packets over too late.

use std::io;
use units::Duration;

/// A visit of whose packets more than one in a hundred was handed over later than this is repeated.
pub const TOO_LATE: Duration = Duration::from_millis(1);

/// Times that a measurement is repeated at most; the last one then counts.
const REPEATS: u32 = 2;

/// A measurement of [`until_punctual`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Punctual<T> {
    /// The last measurement. It is late if all were.
    pub measured: T,
    /// Measurements before it, which were late.
    pub redone: u32,
}

/// Measures until the scheduling delay `scheduling_delay` of a measurement is at most [`TOO_LATE`],
/// three times at most.
///
/// # Errors
/// The first error of `measure`.
pub fn until_punctual<T>(
    mut measure: impl FnMut() -> io::Result<T>,
    scheduling_delay: impl Fn(&T) -> Duration,
) -> io::Result<Punctual<T>> {
    let mut redone = 0;
    loop {
        let measured = measure()?;
        if scheduling_delay(&measured) <= TOO_LATE || redone == REPEATS {
            return Ok(Punctual { measured, redone });
        }
        redone += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures with these delays, one after another, in microseconds.
    fn measured(delays_us: &[u64]) -> Punctual<Duration> {
        let mut delays = delays_us.iter().map(|us| Duration::from_micros(*us));
        let measure = || delays.next().ok_or_else(|| io::Error::other("one too many"));
        until_punctual(measure, |delay| *delay).expect("a measurement")
    }

    #[test]
    fn the_first_punctual_measurement_counts() {
        let one_ms = Duration::from_millis(1);
        assert_eq!(measured(&[1000]), Punctual { measured: one_ms, redone: 0 });
        assert_eq!(measured(&[1001, 1000]), Punctual { measured: one_ms, redone: 1 });
    }

    #[test]
    fn the_third_counts_though_it_is_late() {
        let last = Duration::from_micros(4000);
        assert_eq!(measured(&[2000, 3000, 4000]), Punctual { measured: last, redone: 2 });
    }

    #[test]
    fn a_failure_is_not_repeated() {
        let mut calls = 0;
        let measure = || {
            calls += 1;
            Err::<Duration, _>(io::Error::other("no device"))
        };
        assert!(until_punctual(measure, |delay| *delay).is_err());
        assert_eq!(calls, 1);
    }
}
