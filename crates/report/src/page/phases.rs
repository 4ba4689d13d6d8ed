//! The time of an object in phases, from the byte that reveals it to its last byte.

use crate::figure::Colour;
use crate::{ObjectSpan, Role};
use units::Instant;

/// A phase of an object's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) kind: PhaseKind,
    pub(super) from: Instant,
    /// `None` if it never ended.
    pub(super) to: Option<Instant>,
}

/// A part of a row's height, in hundredths from its top.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) top: i64,
    pub(super) bottom: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhaseKind {
    Browser,
    Blocked,
    Lookup,
    Connect,
    Secure,
    Wait,
    Receive,
}

impl PhaseKind {
    pub(super) const ALL: [Self; 7] = [
        Self::Browser,
        Self::Blocked,
        Self::Lookup,
        Self::Connect,
        Self::Secure,
        Self::Wait,
        Self::Receive,
    ];

    pub(super) const fn colour(self) -> Colour {
        Colour::Role(match self {
            Self::Browser => Role::Client,
            Self::Blocked => Role::Blocked,
            Self::Lookup => Role::Lookup,
            Self::Connect => Role::Connect,
            Self::Secure => Role::Secure,
            Self::Wait => Role::Wait,
            Self::Receive => Role::Receive,
        })
    }

    /// Name in legends and on hover.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Browser => "browser's own time",
            Self::Blocked => "waiting for a connection",
            Self::Lookup => "name lookup",
            Self::Connect => "TCP handshake",
            Self::Secure => "TLS handshake",
            Self::Wait => "request to first byte",
            Self::Receive => "receiving",
        }
    }

    /// Its part of a row's height: the form distinguishes phases whose colours are alike.
    pub(super) const fn row_extent(self) -> Extent {
        let (top, bottom) = match self {
            Self::Browser => (29, 53),
            Self::Blocked => (36, 46),
            Self::Lookup | Self::Connect | Self::Secure => (23, 59),
            Self::Wait => (15, 67),
            Self::Receive => (6, 76),
        };
        Extent { top, bottom }
    }
}

/// The phases that took time, in order. A handshake begins for an object when the object is
/// discovered, if the connection was opening already. An instant that is out of order is moved to
/// the end of the phase before it.
pub(super) fn phases(object: &ObjectSpan) -> Vec<Phase> {
    let mut cuts = vec![(PhaseKind::Browser, Some(object.discovered))];
    if let Some(opening) = object.opening {
        let within = |at: Instant| object.requested.map_or(at, |requested| at.min(requested));
        let until = |at: Option<Instant>| at.or(object.requested).map(within);
        let lookup = opening.lookup.unwrap_or(opening.opened);
        cuts.push((PhaseKind::Blocked, Some(within(lookup))));
        cuts.push((PhaseKind::Lookup, Some(within(opening.opened))));
        cuts.push((PhaseKind::Connect, until(opening.connected)));
        cuts.push((PhaseKind::Secure, until(opening.ready)));
    }
    cuts.push((PhaseKind::Blocked, object.requested));
    cuts.push((PhaseKind::Wait, object.first_byte));
    cuts.push((PhaseKind::Receive, object.done));
    let mut phases = Vec::new();
    let mut from = object.revealed.unwrap_or(object.discovered).min(object.discovered);
    for (kind, to) in cuts {
        let to = to.map(|to| to.max(from));
        if to != Some(from) {
            phases.push(Phase { kind, from, to });
        }
        let Some(to) = to else { break };
        from = to;
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpeningView;

    fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn shown(object: &ObjectSpan) -> Vec<(PhaseKind, u64, Option<u64>)> {
        let ms = |at: Instant| at.as_nanos() / 1_000_000;
        phases(object).iter().map(|p| (p.kind, ms(p.from), p.to.map(ms))).collect()
    }

    fn object() -> ObjectSpan {
        ObjectSpan {
            discovered: ms(10),
            requested: Some(ms(80)),
            first_byte: Some(ms(120)),
            done: Some(ms(150)),
            ..ObjectSpan::default()
        }
    }

    #[test]
    fn a_connection_of_its_own_takes_a_lookup_and_two_handshakes() {
        let opening = OpeningView {
            lookup: Some(ms(12)),
            opened: ms(15),
            connected: Some(ms(45)),
            ready: Some(ms(75)),
        };
        let expected = [
            (PhaseKind::Blocked, 10, Some(12)),
            (PhaseKind::Lookup, 12, Some(15)),
            (PhaseKind::Connect, 15, Some(45)),
            (PhaseKind::Secure, 45, Some(75)),
            (PhaseKind::Blocked, 75, Some(80)),
            (PhaseKind::Wait, 80, Some(120)),
            (PhaseKind::Receive, 120, Some(150)),
        ];
        assert_eq!(shown(&ObjectSpan { opening: Some(opening), ..object() }), expected);
    }

    /// A connection that was there before is only waited for; one that opened meanwhile is, for the
    /// rest of it. Data in the SYN goes before the handshake is over.
    #[test]
    fn only_what_was_waited_for_counts() {
        let opened = |opened, connected, ready| ObjectSpan {
            opening: Some(OpeningView {
                lookup: None,
                opened: ms(opened),
                connected: Some(ms(connected)),
                ready: Some(ms(ready)),
            }),
            ..object()
        };
        let rest = [(PhaseKind::Wait, 80, Some(120)), (PhaseKind::Receive, 120, Some(150))];
        let with = |first: &[(PhaseKind, u64, Option<u64>)]| [first, &rest].concat();
        assert_eq!(shown(&object()), with(&[(PhaseKind::Blocked, 10, Some(80))]));
        assert_eq!(shown(&opened(0, 5, 8)), with(&[(PhaseKind::Blocked, 10, Some(80))]));
        let halfway = [(PhaseKind::Connect, 10, Some(30)), (PhaseKind::Secure, 30, Some(80))];
        assert_eq!(shown(&opened(0, 30, 80)), with(&halfway));
        let early = with(&[(PhaseKind::Blocked, 10, Some(60)), (PhaseKind::Connect, 60, Some(80))]);
        assert_eq!(shown(&opened(60, 90, 90)), early);
    }

    /// The object is revealed at 4 ms and discovered at 10 ms: 6 ms are the browser's. A byte that
    /// reveals an object after its discovery takes no time of the browser.
    #[test]
    fn the_browser_works_from_the_byte_that_reveals_an_object() {
        let revealed = |at| ObjectSpan { revealed: Some(ms(at)), ..object() };
        let first = |object| shown(&object)[0];
        assert_eq!(first(revealed(4)), (PhaseKind::Browser, 4, Some(10)));
        assert_eq!(shown(&revealed(4))[1], (PhaseKind::Blocked, 10, Some(80)));
        assert_eq!(first(revealed(30)), (PhaseKind::Blocked, 10, Some(80)));
    }

    #[test]
    fn what_never_ends_is_the_last() {
        let opening = OpeningView { opened: ms(10), ..OpeningView::default() };
        let never =
            ObjectSpan { opening: Some(opening), discovered: ms(10), ..ObjectSpan::default() };
        assert_eq!(shown(&never), [(PhaseKind::Connect, 10, None)]);
        let unanswered = ObjectSpan { first_byte: None, ..object() };
        assert_eq!(shown(&unanswered)[1..], [(PhaseKind::Wait, 80, None)]);
        assert_eq!(shown(&ObjectSpan::default()), [(PhaseKind::Blocked, 0, None)]);
    }
}
