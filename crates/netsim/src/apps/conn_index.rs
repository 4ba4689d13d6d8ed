//! Maps connections at hosts to an application's channels.

use crate::HostId;
use tcp::ConnId;

/// Numbers by host and connection. Both are small indices, so a table suffices.
#[derive(Debug, Default)]
pub(super) struct ConnIndex(Vec<Vec<u32>>);

/// Stands for no number.
const NONE: u32 = u32::MAX;

impl ConnIndex {
    /// Sets the number of a connection.
    pub(super) fn insert(&mut self, host: HostId, conn: ConnId, number: usize) {
        let (host, conn) = (host.index(), conn.0 as usize);
        if host >= self.0.len() {
            self.0.resize_with(host + 1, Vec::new);
        }
        let numbers = &mut self.0[host];
        if conn >= numbers.len() {
            numbers.resize(conn + 1, NONE);
        }
        numbers[conn] = number as u32;
    }

    /// Returns the number of a connection, if it has one.
    pub(super) fn find(&self, host: HostId, conn: ConnId) -> Option<usize> {
        let number = *self.0.get(host.index())?.get(conn.0 as usize)?;
        (number != NONE).then_some(number as usize)
    }

    /// Removes a connection.
    pub(super) fn remove(&mut self, host: HostId, conn: ConnId) {
        let number = self.0.get_mut(host.index()).and_then(|at| at.get_mut(conn.0 as usize));
        if let Some(number) = number {
            *number = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_inserted_until_it_is_removed() {
        let mut index = ConnIndex::default();
        index.insert(HostId(3), ConnId(5), 7);
        index.insert(HostId(3), ConnId(1), 8);
        assert_eq!(index.find(HostId(3), ConnId(5)), Some(7));
        assert_eq!(index.find(HostId(3), ConnId(4)), None);
        assert_eq!(index.find(HostId(9), ConnId(5)), None);
        index.remove(HostId(3), ConnId(5));
        index.remove(HostId(9), ConnId(5));
        assert_eq!(index.find(HostId(3), ConnId(5)), None);
        assert_eq!(index.find(HostId(3), ConnId(1)), Some(8));
    }
}
