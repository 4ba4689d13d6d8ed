//! A server's side: making cookies, knowing them again, and how many may come in by one at a time.

use super::{FastOpen, FastOpenCookie};
use crate::guard::HostCounters;
use siphasher::sip::SipHasher24;
use std::collections::VecDeque;
use std::hash::Hasher;
use std::net::IpAddr;
use units::{Duration, Instant};

/// Time for which a connection that a reset ended before its handshake was complete still counts as
/// pending. Otherwise an attacker's resets would make room for more attacks (RFC 7413 §5.1; Linux).
const RESET_COUNTS: Duration = Duration::from_secs(60);

/// Decision about a SYN to a port with Fast Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SynVerdict {
    /// The data in the SYN is accepted.
    pub(crate) admitted: bool,
    /// The cookie in the SYN-ACK.
    pub(crate) grant: Option<FastOpenCookie>,
}

/// Decides which connections are accepted before their handshake ends.
pub(crate) struct FastOpenServer {
    config: FastOpen,
    /// Times at which connections that were reset while pending no longer count.
    resets: VecDeque<Instant>,
}

impl FastOpenServer {
    pub(crate) const fn new(config: FastOpen) -> Self {
        Self { config, resets: VecDeque::new() }
    }

    pub(crate) fn set(&mut self, config: FastOpen) {
        self.config = config;
    }

    /// Decides on a SYN from `remote` with the option `shown`, while `pending` connections are
    /// pending.
    pub(crate) fn validate_cookie(
        &mut self,
        now: Instant,
        remote: IpAddr,
        (shown, pending): (Option<FastOpenCookie>, usize),
        counters: &mut HostCounters,
    ) -> SynVerdict {
        while self.resets.front().is_some_and(|until| *until <= now) {
            self.resets.pop_front();
        }
        let local = self.config.local;
        if !self.config.demands_cookie {
            let admitted = pending + self.resets.len() < self.config.pending;
            counters.fast_open_passive += u64::from(admitted);
            return SynVerdict { admitted, grant: None };
        }
        let Some(shown) = shown else {
            return SynVerdict { admitted: false, grant: None };
        };
        let fresh = cookie(&self.config.key, remote, local).in_form_of(shown);
        let current = shown == fresh;
        let previous = self
            .config
            .previous_key
            .is_some_and(|key| cookie(&key, remote, local).in_form_of(shown) == shown);
        counters.fast_open_cookie_requests += u64::from(shown.is_request());
        counters.fast_open_alt_key += u64::from(previous);
        if !current && !previous {
            counters.fast_open_passive_fail += u64::from(!shown.is_request());
            return SynVerdict { admitted: false, grant: Some(fresh) };
        }
        let admitted = pending + self.resets.len() < self.config.pending;
        counters.fast_open_passive += u64::from(admitted);
        counters.fast_open_overflows += u64::from(!admitted);
        SynVerdict { admitted, grant: (!current).then_some(fresh) }
    }

    /// Records that a connection accepted by a cookie was reset before its handshake ended.
    pub(crate) fn note_reset(&mut self, now: Instant) {
        if self.resets.len() < self.config.pending {
            self.resets.push_back(now + RESET_COUNTS);
        }
    }
}

/// The cookie of a client: eight bytes of a keyed hash of its address and ours (RFC 7413 §4.1.2;
/// `__tcp_fastopen_cookie_gen_cipher`).
fn cookie(key: &[u8; 16], remote: IpAddr, local: Option<IpAddr>) -> FastOpenCookie {
    let mut hash = SipHasher24::new_with_key(key);
    for address in [Some(remote), local].into_iter().flatten() {
        match address.to_canonical() {
            IpAddr::V4(address) => hash.write(&address.octets()),
            IpAddr::V6(address) => hash.write(&address.octets()),
        }
    }
    FastOpenCookie::new(&hash.finish().to_le_bytes()).unwrap_or(FastOpenCookie::REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const NOW: Instant = Instant::ZERO;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    fn judge(doorman: &mut FastOpenServer, last: u8, shown: FastOpenCookie) -> SynVerdict {
        doorman.validate_cookie(NOW, address(last), (Some(shown), 0), &mut HostCounters::default())
    }

    #[test]
    fn a_cookie_opens_for_the_address_that_it_was_given_to_and_no_other() {
        let mut doorman = FastOpenServer::new(FastOpen::new([1; 16]));
        let asked = judge(&mut doorman, 1, FastOpenCookie::REQUEST);
        assert!(!asked.admitted);
        let cookie = asked.grant.unwrap();
        assert_eq!(judge(&mut doorman, 1, cookie), SynVerdict { admitted: true, grant: None });
        let stolen = judge(&mut doorman, 2, cookie);
        assert!(!stolen.admitted && stolen.grant.is_some_and(|other| other != cookie));
    }

    #[test]
    fn the_key_before_still_opens_and_its_cookie_is_replaced() {
        let mut doorman = FastOpenServer::new(FastOpen::new([1; 16]));
        let old = judge(&mut doorman, 1, FastOpenCookie::REQUEST).grant.unwrap();
        doorman.set(FastOpen { previous_key: Some([1; 16]), ..FastOpen::new([2; 16]) });
        let verdict = judge(&mut doorman, 1, old);
        assert!(verdict.admitted && verdict.grant.is_some_and(|new| new != old));
        doorman.set(FastOpen::new([2; 16]));
        assert!(!judge(&mut doorman, 1, old).admitted);
    }

    #[test]
    fn cookies_are_those_of_linux() {
        // A kernel's cookie for 10.248.0.2 at 192.168.0.2, by the key that the sysctl
        // `tcp_fastopen_key` writes as a0bf63f7-ed803d81-cd641d30-cebc4a90, each word with the
        // lowest byte first.
        let key = *b"\xf7\x63\xbf\xa0\x81\x3d\x80\xed\x30\x1d\x64\xcd\x90\x4a\xbc\xce";
        let (client, server) = ([10, 248, 0, 2].into(), [192, 168, 0, 2].into());
        let expected = FastOpenCookie::new(b"\x00\xab\xaa\xab\xe8\xe9\x54\xc2").unwrap();
        assert_eq!(cookie(&key, client, Some(server)), expected);
    }

    #[test]
    fn who_demands_no_cookie_takes_data_from_anybody() {
        let config = FastOpen { demands_cookie: false, ..FastOpen::new([1; 16]) };
        let mut doorman = FastOpenServer::new(config);
        let verdict =
            doorman.validate_cookie(NOW, address(1), (None, 0), &mut HostCounters::default());
        assert_eq!(verdict, SynVerdict { admitted: true, grant: None });
    }

    #[test]
    fn without_cookies_resets_count_for_as_long() {
        let config = FastOpen { demands_cookie: false, pending: 1, ..FastOpen::new([1; 16]) };
        let mut doorman = FastOpenServer::new(config);
        let at = |now, doorman: &mut FastOpenServer| {
            doorman
                .validate_cookie(now, address(1), (None, 0), &mut HostCounters::default())
                .admitted
        };
        doorman.note_reset(NOW);
        assert!(!at(NOW + Duration::from_secs(59), &mut doorman));
        assert!(at(NOW + RESET_COUNTS, &mut doorman));
    }

    #[test]
    fn resets_do_not_make_room_for_more() {
        let mut doorman = FastOpenServer::new(FastOpen { pending: 2, ..FastOpen::new([1; 16]) });
        let cookie = judge(&mut doorman, 1, FastOpenCookie::REQUEST).grant.unwrap();
        let at = |now, doorman: &mut FastOpenServer| {
            doorman
                .validate_cookie(now, address(1), (Some(cookie), 0), &mut HostCounters::default())
                .admitted
        };
        assert!(at(NOW, &mut doorman));
        doorman.note_reset(NOW);
        doorman.note_reset(NOW);
        assert!(!at(NOW + Duration::from_secs(59), &mut doorman));
        assert!(at(NOW + RESET_COUNTS, &mut doorman));
    }
}
