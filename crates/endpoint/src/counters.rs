//! What an endpoint has taken, sent and dropped, and why.

use wire::Malformed;

macro_rules! counters {
    ($($(#[doc = $about:literal])+ $field:ident,)+) => {
        /// Counters of an endpoint, since it began. What its TCP refused is counted there.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct EndpointCounters {
            $($(#[doc = $about])+ pub $field: u64,)+
            /// Packets that were not taken, by [`Malformed::index`].
            pub malformed: [u64; Malformed::ALL.len()],
        }

        impl EndpointCounters {
            /// Names and values; those of packets not taken are `malformed_` and the reason.
            pub fn iter(&self) -> impl Iterator<Item = (String, u64)> + '_ {
                let own = [$((stringify!($field), self.$field)),+];
                let malformed = Malformed::ALL.into_iter().zip(self.malformed);
                let malformed = malformed.map(|(why, n)| (format!("malformed_{why}"), n));
                own.into_iter().map(|(name, n)| (name.to_owned(), n)).chain(malformed)
            }
        }
    };
}

counters! {
    /// Packets read from the device; several segments in one count once.
    packets_received,
    /// Packets handed to the device; several segments in one count once.
    packets_sent,
    /// TCP segments received.
    segments_received,
    /// TCP segments sent.
    segments_sent,
    /// Packets for addresses that are not ours.
    not_ours,
    /// ICMP errors handed to connections.
    icmp_errors,
    /// ICMP errors about packets that we cannot have sent.
    icmp_foreign,
    /// Pings answered.
    echoes,
    /// Pings not answered, because too many waited for their answers.
    echoes_dropped,
    /// Packets that the device refused.
    device_refused,
    /// Times that the device had no room and had to be waited for.
    device_full,
    /// Connections accepted.
    accepted,
    /// Connections opened.
    connected,
    /// Connections reset because too many waited to be accepted.
    backlog_full,
    /// Connections reset because the buffers of all streams, or of those of one peer, took too much.
    buffers_full,
    /// Connections ended other than by both sides' closing.
    failed,
    /// Segments not sent because their bytes were not there any more.
    bytes_missing,
}
