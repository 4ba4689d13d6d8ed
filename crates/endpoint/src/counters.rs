//! Counters of an endpoint's packets: taken, sent and dropped, with the reason.

use wire::Malformed;

macro_rules! counters {
    ($($(#[doc = $about:literal])+ $field:ident,)+) => {
        /// Counters of an endpoint, since its start. Its TCP has counters of its own refusals.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct EndpointCounters {
            $($(#[doc = $about])+ pub $field: u64,)+
            /// Packets that were refused, by [`Malformed::index`].
            pub malformed: [u64; Malformed::ALL.len()],
        }

        impl EndpointCounters {
            /// Returns names and values; refused packets are `malformed_` and the reason.
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
    /// Packets passed to the device; several segments in one count once.
    packets_sent,
    /// TCP segments received.
    segments_received,
    /// TCP segments sent.
    segments_sent,
    /// Packets for other addresses.
    not_ours,
    /// ICMP errors passed to connections.
    icmp_errors,
    /// ICMP errors about packets that the endpoint cannot have sent.
    icmp_foreign,
    /// Pings answered.
    echoes,
    /// Pings not answered, because too many answers were queued.
    echoes_dropped,
    /// Packets that the device refused.
    device_refused,
    /// Times that the device was full and the driver had to wait.
    device_full,
    /// Connections accepted.
    accepted,
    /// Connections opened.
    connected,
    /// Connections reset because too many waited for `accept`.
    backlog_full,
    /// Connections reset because the buffers of all streams, or of one peer's streams, were too
    /// large.
    buffers_full,
    /// Connections that ended without both sides closing.
    failed,
    /// Segments not sent because their bytes were gone.
    bytes_missing,
}
