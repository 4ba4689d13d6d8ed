//! The connection of each four-tuple, looked up for every segment received.

use super::ConnId;
use crate::tuple::FourTuple;
use ahash::AHashMap;

/// Connections by four-tuple.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// A map with a random key, because peers choose their addresses and ports: with a known hash
    /// they could put all their connections into one chain. Nothing depends on its order.
    ids: AHashMap<FourTuple, ConnId>,
    /// The connection found last. Segments come in trains, and many hosts have one busy connection:
    /// a comparison takes a third of the time of hashing.
    recent: Option<(FourTuple, ConnId)>,
}

impl Lookup {
    /// Returns the connection of a received segment.
    #[inline]
    pub(super) fn find(&mut self, tuple: &FourTuple) -> Option<ConnId> {
        match self.recent {
            Some((recent, id)) if recent == *tuple => Some(id),
            _ => self.find_in_table(tuple),
        }
    }

    fn find_in_table(&mut self, tuple: &FourTuple) -> Option<ConnId> {
        let id = self.find_connection(tuple)?;
        self.recent = Some((*tuple, id));
        Some(id)
    }

    pub(super) fn find_connection(&self, tuple: &FourTuple) -> Option<ConnId> {
        self.ids.get(tuple).copied()
    }

    /// Returns the connections to a local port, in no order.
    pub(super) fn at_port(&self, port: u16) -> impl Iterator<Item = ConnId> + '_ {
        self.ids.iter().filter(move |(tuple, _)| tuple.local_port == port).map(|(_, id)| *id)
    }

    pub(super) fn insert(&mut self, tuple: FourTuple, id: ConnId) {
        self.ids.insert(tuple, id);
        self.recent = None;
    }

    pub(super) fn remove(&mut self, tuple: &FourTuple) {
        self.ids.remove(tuple);
        self.recent = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    const fn tuple(remote_port: u16) -> FourTuple {
        let remote = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        FourTuple { local_port: 80, remote, remote_port }
    }

    /// The last result is used only as long as the connection exists, and with its latest number.
    #[test]
    fn what_was_found_last_is_forgotten_with_its_connection() {
        let mut lookup = Lookup::default();
        lookup.insert(tuple(1), ConnId(7));
        lookup.insert(tuple(2), ConnId(8));
        let found = |lookup: &mut Lookup, port| lookup.find(&tuple(port)).map(|id| id.0);
        assert_eq!(
            [1, 1, 2, 1, 3].map(|port| found(&mut lookup, port)),
            [Some(7), Some(7), Some(8), Some(7), None]
        );
        lookup.remove(&tuple(1));
        assert_eq!(found(&mut lookup, 1), None);
        lookup.insert(tuple(1), ConnId(9));
        assert_eq!(found(&mut lookup, 1), Some(9));
    }
}
