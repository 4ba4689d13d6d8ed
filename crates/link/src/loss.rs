//! Independent random loss from a stream of its own.

use rand_core::Rng;
use rand_pcg::Pcg32;

/// Loses each packet with the same probability, independently of all others.
#[derive(Clone, Debug)]
pub struct Loss {
    /// A draw below this is a loss: the probability in units of 2^-32.
    threshold: u32,
    stream: Pcg32,
}

impl Loss {
    /// Loss with `probability` in `0..1`, rounded down to a multiple of 2^-32. `stream` is for this
    /// link alone, so that adding a link does not shift the losses of another.
    pub fn new(probability: f64, stream: Pcg32) -> Self {
        // Scaling by a power of two is exact; the cast saturates outside 0..1.
        Self { threshold: (probability * 4_294_967_296.0) as u32, stream }
    }

    /// Draws for the next packet: true if it is lost.
    #[inline]
    pub fn strikes(&mut self) -> bool {
        self.stream.next_u32() < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(probability: f64, seed: u64) -> Vec<bool> {
        let mut loss = Loss::new(probability, Pcg32::new(seed, 1));
        (0..100_000).map(|_| loss.strikes()).collect()
    }

    #[test]
    fn frequency_is_the_probability() {
        let count = losses(0.01, 7).iter().filter(|lost| **lost).count();
        // Mean 1000, standard deviation sqrt(100000 * 0.01 * 0.99) = 31.5; four of them.
        assert!((874..=1126).contains(&count), "{count}");
        assert!(losses(0.0, 7).iter().all(|lost| !lost));
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        assert_eq!(losses(0.1, 3), losses(0.1, 3));
        assert_ne!(losses(0.1, 3), losses(0.1, 4));
    }
}
