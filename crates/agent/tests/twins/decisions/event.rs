//! Events that are played to both twins, and their outcomes: words of `../kernel/driver.c`.

/// A record of 64-bit words, in the order in which the C has its fields.
pub(super) trait Words: Sized {
    const NAMES: &'static [&'static str];

    fn words(&self) -> Vec<u64>;

    /// Takes a word for each field.
    fn of(words: &mut impl Iterator<Item = u64>) -> Self;

    /// Bytes of a record.
    fn size() -> usize {
        Self::NAMES.len() * size_of::<u64>()
    }

    /// Names of the fields that differ.
    fn differing(&self, other: &Self) -> Vec<&'static str> {
        let (words, others) = (self.words(), other.words());
        let differs = |n: &usize| words[*n] != others[*n];
        (0..words.len()).filter(differs).map(|n| Self::NAMES[n]).collect()
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($field:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(super) struct $name {
            $(pub(super) $field: u64,)+
        }

        impl Words for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

            fn words(&self) -> Vec<u64> {
                vec![$(self.$field),+]
            }

            fn of(words: &mut impl Iterator<Item = u64>) -> Self {
                Self { $($field: words.next().expect("a word for each field")),+ }
            }
        }
    };
}

/// A kind of event (`enum kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A host with these settings, which remembers nothing.
    Reset,
    /// A SYN comes.
    Handshake,
    /// The handshake is done.
    Open,
    /// Data is about to leave with nothing outstanding.
    Start,
    /// Something may be sent.
    Sending,
    /// Segments arrive outside of recovery.
    Arrival,
    /// Segments arrive in recovery.
    Repair,
    /// Congestion is met.
    Loss,
    /// A retransmission after a timeout, when nothing is in flight. The kernel notifies of it as of
    /// a start. The simulator notifies of new data alone, so this event is the C's.
    Retransmission,
    /// Idling is about to take the window back.
    Idle,
    /// The connection is over, and all that it has sent is acknowledged.
    Close,
}

impl Kind {
    pub(super) const ALL: [Self; 11] = [
        Self::Reset,
        Self::Handshake,
        Self::Open,
        Self::Start,
        Self::Sending,
        Self::Arrival,
        Self::Repair,
        Self::Loss,
        Self::Retransmission,
        Self::Idle,
        Self::Close,
    ];
}

/// No threshold (`TCP_INFINITE_SSTHRESH`).
pub(super) const NO_THRESHOLD: u64 = 0x7fff_ffff;
/// In place of the time at which a path was learnt: nothing is remembered.
pub(super) const UNKNOWN: u64 = u64::MAX;

words! {
    /// The state of a connection when something happens. `struct event` describes the fields.
    Event {
        kind, connection, now_us, address, mss, is_paced, cwnd, ssthresh, acked, sent, written, outstanding, most_outstanding, delivered,
        round_trip_us, srtt_us, min_rtt_us, data_segments, retransmitted, departure_us, stock, announced, flags, cap, max_age_us, half_life_rtts,
        has_tx_start,
    }
}

words! {
    /// State after an event: the window in segments, pacing in bytes a second, the phase, the
    /// connection's history, and the memory of its line and of its network.
    Outcome {
        cwnd, ssthresh, is_paced, most, fixed, phase, first, has_fallen_back, has_measured, has_restarted, line_learnt_us, line_window, line_ssthresh, line_srtt_us, line_min_rtt_us, line_rate,
        line_reached, line_has_shown_no_width, network_learnt_us, network_window, network_ssthresh, network_srtt_us, network_min_rtt_us,
        network_rate, network_reached, network_has_shown_no_width,
    }
}

impl Event {
    pub(super) fn what(&self) -> Kind {
        Kind::ALL[self.kind as usize]
    }
}
