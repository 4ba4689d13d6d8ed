//! Secrets that strangers must not predict: drawn from the system, some of them again from time to
//! time.

use crate::config::EndpointConfig;
use std::io;
use tcp::FastOpen;
use units::Instant;

/// A secret key.
pub(crate) type Key = [u8; 16];

/// The secrets of a new host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secrets {
    /// Key from which initial sequence numbers and cookies derive (RFC 6528).
    pub(crate) key: Key,
    /// Seed for uses that need no key.
    pub(crate) seed: u64,
    /// Key of Fast Open cookies.
    pub(crate) fast_open: Key,
}

impl Secrets {
    /// Draws the secrets.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub(crate) fn generate() -> io::Result<Self> {
        let seed = getrandom::u64().map_err(random_error)?;
        Ok(Self { key: draw_key()?, seed, fast_open: draw_key()? })
    }
}

fn draw_key() -> io::Result<Key> {
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(random_error)?;
    Ok(key)
}

fn random_error(error: getrandom::Error) -> io::Error {
    io::Error::other(error.to_string())
}

/// The keys of Fast Open cookies, if the configuration has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CookieKeys {
    keys: FastOpen,
    since: Instant,
}

impl CookieKeys {
    pub(crate) const fn new(key: Key) -> Self {
        Self { keys: FastOpen::new(key), since: Instant::ZERO }
    }

    pub(crate) const fn current(&self) -> FastOpen {
        self.keys
    }

    /// Returns the keys to use from now on, if it is time for new ones. If the system provides no
    /// random number now, the next attempt is one lifetime later.
    pub(crate) fn renew_if_due(&mut self, now: Instant) -> Option<FastOpen> {
        if now.saturating_since(self.since) < EndpointConfig::FAST_OPEN_KEY_LIFE {
            return None;
        }
        self.since = now;
        let key = draw_key().ok()?;
        self.keys = FastOpen { previous_key: Some(self.keys.key), ..FastOpen::new(key) };
        Some(self.keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_for_two_lives_and_used_for_one() {
        let mut keys = CookieKeys::new([1; 16]);
        let at =
            |lives: u64| Instant::ZERO + EndpointConfig::FAST_OPEN_KEY_LIFE.saturating_mul(lives);
        assert_eq!(keys.renew_if_due(Instant::from_nanos(at(1).as_nanos() - 1)), None);
        let second = keys.renew_if_due(at(1)).unwrap();
        assert_eq!(second.previous_key, Some([1; 16]));
        assert_ne!(second.key, [1; 16]);
        assert_eq!(keys.renew_if_due(at(1)), None);
        assert_eq!(keys.renew_if_due(at(2)).unwrap().previous_key, Some(second.key));
        assert_eq!(keys.current().previous_key, Some(second.key));
    }
}
