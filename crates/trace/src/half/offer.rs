//! Options that the SYN of a direction offered, and terms that both SYNs agreed on.

use crate::rebuilt::Terms;
use capture::Observed;
use policy::config::EcnMode;
use segment::Flags;
use units::Instant;

/// Payload of a segment if no packet shows it, bytes (Ethernet, with timestamps).
const USUAL_MSS: u64 = 1448;

/// Options that a SYN offered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offer {
    pub(crate) at: Instant,
    /// Time at which the SYN was last sent before it was answered.
    pub(crate) last_at: Instant,
    /// True if it acknowledges the peer's SYN.
    pub(crate) answers: bool,
    pub(crate) mss: Option<u16>,
    pub(crate) scale: Option<u8>,
    pub(crate) sack: bool,
    /// Its timestamp.
    pub(crate) stamp: Option<u32>,
    /// Its ACE field (RFC 9768 §3.1).
    pub(crate) ace: u8,
    /// Number of retransmissions of the SYN.
    pub(crate) repeats: u8,
}

impl Offer {
    /// Returns the offer of a SYN that is seen for the first time.
    pub(super) fn of(segment: &Observed) -> Self {
        let options = &segment.options;
        Self {
            at: segment.at,
            last_at: segment.at,
            answers: segment.has(Flags::ACK),
            mss: options.mss(),
            scale: options.window_scale(),
            sack: options.sack_permitted(),
            stamp: options.timestamps().map(|timestamps| timestamps.value),
            ace: segment.flags.ace(),
            repeats: 0,
        }
    }

    /// Takes another SYN of the direction; returns true if it is a retransmission, and not the
    /// first one that acknowledges the peer's.
    pub(super) fn repeat(&mut self, segment: &Observed) -> bool {
        let answers = segment.has(Flags::ACK);
        let is_repeat = answers == self.answers;
        self.repeats = self.repeats.saturating_add(u8::from(is_repeat));
        (self.answers, self.last_at) = (answers, segment.at);
        is_repeat
    }
}

/// Returns the shift of the windows that a side offers, given that the peer's SYN, if seen, offered
/// to scale or not (RFC 7323 §2.2). `None` if neither shows it.
pub(super) fn window_shift(own: Option<&Offer>, peer: Option<&Offer>) -> Option<u8> {
    match (own, peer) {
        (_, Some(peer)) if peer.scale.is_none() => Some(0),
        (Some(own), _) => Some(own.scale.unwrap_or(0).min(14)),
        (None, _) => None,
    }
}

/// Returns the variant of ECN on which two SYNs agreed, and whether it is a guess, which an AE flag
/// shows to be Accurate ECN. The guess is the classic variant: a counter of zero would be three
/// marks to Accurate ECN, and is none to it.
fn agreed_ecn(own: Option<&Offer>, peer: Option<&Offer>) -> (EcnMode, bool) {
    let of = |answers| [own, peer].into_iter().flatten().find(|offer| offer.answers == answers);
    // An unseen client may have asked for the most.
    let requested = of(false).map_or(EcnMode::Accurate, |syn| EcnMode::requested(syn.ace));
    match of(true) {
        Some(answer) => (requested.answered(answer.ace), false),
        None => (requested.min(EcnMode::Classic), requested == EcnMode::Accurate),
    }
}

/// Returns the terms that two SYNs agreed on for the sender of `own`; `payload`: of its first
/// segment.
pub(super) fn agreed_terms(own: Option<&Offer>, peer: Option<&Offer>, payload: u32) -> Terms {
    let both = |of: fn(&Offer) -> bool| match (own, peer) {
        (Some(own), Some(peer)) => of(own) && of(peer),
        (Some(one), None) | (None, Some(one)) => of(one),
        (None, None) => true,
    };
    let timestamps = both(|offer| offer.stamp.is_some());
    let offered = [own, peer].into_iter().flatten().filter_map(|offer| offer.mss);
    let mss = match offered.min() {
        Some(mss) => u64::from(mss) - if timestamps { 12 } else { 0 }.min(u64::from(mss) / 2),
        None => u64::from(payload).clamp(536, USUAL_MSS),
    };
    let sack_is_guess = own.is_none() && peer.is_none();
    let window_is_guess = window_shift(peer, own).is_none();
    let sack = both(|offer| offer.sack);
    let (ecn, ecn_is_guess) = agreed_ecn(own, peer);
    Terms { mss: mss.max(64), sack, sack_is_guess, window_is_guess, timestamps, ecn, ecn_is_guess }
}
