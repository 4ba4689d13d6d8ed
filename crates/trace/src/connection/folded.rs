//! A connection that waits, in few bytes: its complete state, without the configuration that it shares with others.

use super::TracedConnection;
use crate::profile::SenderModels;
use capture::{Observed, TcpEnd};
use fold::Folding;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::Instant;

/// Bytes of the time of the last packet, which comes first: it is asked for without unfolding.
const LAST: usize = size_of::<u64>();

/// A folded connection.
pub(crate) struct FoldedConnection(Box<[u8]>);

impl FoldedConnection {
    /// When its last packet was.
    pub(crate) fn last(&self) -> Instant {
        let last = self.0.first_chunk::<LAST>();
        Instant::from_nanos(last.map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }

    /// The connection, as it was.
    pub(crate) fn unfold(&self, models: &SenderModels) -> Box<TracedConnection> {
        let nobody = Observed::default();
        let mut connection = Box::new(TracedConnection::new(0, &nobody, None));
        connection.fold(&mut Folding::read(&self.0[LAST..]), models);
        connection
    }
}

impl TracedConnection {
    /// The connection in few bytes; `None` if a policy of one of its senders cannot be folded. `room` is for what is
    /// written, and spares allocating it.
    pub(crate) fn folded(
        &mut self,
        models: &SenderModels,
        room: &mut Vec<u8>,
    ) -> Option<FoldedConnection> {
        room.clear();
        room.extend(self.last.as_nanos().to_le_bytes());
        let mut folding = Folding::write(room);
        self.fold(&mut folding, models);
        let is_refused = folding.is_refused();
        drop(folding);
        (!is_refused).then(|| FoldedConnection(room.as_slice().into()))
    }

    fn fold(&mut self, folding: &mut Folding<'_>, models: &SenderModels) {
        let Self {
            number,
            ends,
            second_serves,
            began,
            last,
            opened,
            halves,
            tallies,
            meter,
            place,
            copies,
            fins,
            fins_acked,
            reset,
            is_over,
        } = self;
        let [first, second] = ends;
        fold_end(first, folding);
        fold_end(second, folding);
        folding.each(number).each(second_serves).each(began).each(last).each(opened).each(tallies);
        folding.each(meter).each(place).each(copies).each(fins).each(fins_acked);
        folding.each(reset).each(is_over);
        for half in halves {
            half.fold(folding, models, ends);
        }
    }
}

fn fold_end(end: &mut TcpEnd, folding: &mut Folding<'_>) {
    let mut is_v6 = end.ip.is_ipv6();
    folding.each(&mut is_v6).each(&mut end.port);
    if is_v6 {
        let mut words = match end.ip {
            IpAddr::V6(ip) => [(ip.to_bits() >> 64) as u64, ip.to_bits() as u64],
            IpAddr::V4(_) => [0; 2],
        };
        words.iter_mut().for_each(|word| folding.word(word));
        end.ip = Ipv6Addr::from_bits(u128::from(words[0]) << 64 | u128::from(words[1])).into();
    } else {
        let mut word = match end.ip {
            IpAddr::V4(ip) => ip.to_bits(),
            IpAddr::V6(_) => 0,
        };
        folding.each(&mut word);
        end.ip = Ipv4Addr::from_bits(word).into();
    }
}
