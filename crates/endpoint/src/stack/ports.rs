//! Ports for outgoing connections (RFC 6056 §3.3.1: start at a random one, then the next that is
//! free).

/// First port of the range without assigned services (RFC 6335 §6).
const FIRST: u16 = 49_152;

/// Start of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    next: u16,
}

impl Ports {
    pub(super) const fn new(seed: u64) -> Self {
        Self { next: FIRST + (seed >> 17) as u16 % (u16::MAX - FIRST + 1) }
    }

    /// Returns the next port for which `free` is true; `None` if there is none.
    pub(super) fn take(&mut self, free: impl Fn(u16) -> bool) -> Option<u16> {
        for _ in FIRST..=u16::MAX {
            let port = self.next;
            self.next = port.checked_add(1).unwrap_or(FIRST);
            if free(port) {
                return Some(port);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_comes_once_in_a_round() {
        let mut ports = Ports::new(u64::MAX);
        let all = usize::from(u16::MAX - FIRST) + 1;
        let mut taken: Vec<_> = (0..all).map(|_| ports.take(|_| true).unwrap()).collect();
        taken.sort_unstable();
        assert!(taken.iter().copied().eq(FIRST..=u16::MAX));
        assert_eq!(ports.take(|port| port == 50_000), Some(50_000));
        assert_eq!(ports.take(|_| false), None);
    }
}
