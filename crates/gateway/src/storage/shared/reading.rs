//! Reads records and changes that other gateways have written to the store.

use super::forgetting::take_forget;
use super::{NOTHING, Place, SharedStore, key, take_records};
use crate::site::GatewaySite;
use crate::site::tenant::Tenant;
use redis::streams::{StreamId, StreamRangeReply, StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands, RedisResult};

/// Number of entries per read.
const ENTRIES_PER_READ: usize = 256;
/// Approximate number of records per read.
const RECORDS_PER_READ: usize = 1000;

impl SharedStore {
    /// Reads everything that other gateways, and this one before a restart, have written.
    pub(super) async fn read_all(&self, site: &GatewaySite, tenant: &Tenant) -> RedisResult<()> {
        let mut connection = self.connection.clone();
        let origins: Vec<u32> = connection.smembers(key(tenant, "origins")).await?;
        for origin in origins {
            let records = self.read_records(site, tenant, origin).await?;
            if records == 0 && origin != self.origin {
                self.unlist_origin(tenant, origin).await?;
            }
        }
        Ok(())
    }

    /// Reads everything that the gateway `origin` has written. Returns the number of records.
    pub(super) async fn read_records(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        origin: u32,
    ) -> RedisResult<usize> {
        let (mut cursor, mut records) = (0, 0);
        loop {
            let (next, rows) = self.scan(tenant, origin, cursor, RECORDS_PER_READ).await?;
            for (_, bytes) in &rows {
                take_records(site, tenant, bytes).await;
            }
            records += rows.len();
            cursor = next;
            if cursor == 0 {
                return Ok(records);
            }
        }
    }

    /// Reads about `count` records of the gateway `origin`, by the name of their network. Also
    /// returns the cursor of the next ones.
    pub(super) async fn scan(
        &self,
        tenant: &Tenant,
        origin: u32,
        cursor: u64,
        count: usize,
    ) -> RedisResult<(u64, Vec<(String, Vec<u8>)>)> {
        let mut command = redis::cmd("HSCAN");
        command.arg(self.records_key(tenant, origin)).arg(cursor).arg("COUNT").arg(count);
        command.query_async(&mut self.connection.clone()).await
    }

    /// Reads the entries written since the last time.
    pub(super) async fn read_changes(
        &self,
        site: &GatewaySite,
        tenant: &Tenant,
        place: &mut Place,
    ) -> RedisResult<()> {
        let (mut connection, changes) = (self.connection.clone(), key(tenant, "changes"));
        loop {
            let Some(last) = &place.read else { return Ok(()) };
            let oldest: StreamRangeReply = connection.xrange_count(&changes, "-", "+", 1).await?;
            if oldest.ids.first().is_some_and(|oldest| is_later(&oldest.id, last))
                && last != NOTHING
            {
                // Entries in between may have been dropped: the next round reads all records again.
                place.read = None;
                return Ok(());
            }
            let options = StreamReadOptions::default().count(ENTRIES_PER_READ);
            let read: Option<StreamReadReply> =
                connection.xread_options(&[&changes], &[last], &options).await?;
            let entries: Vec<StreamId> =
                read.into_iter().flat_map(|read| read.keys).flat_map(|stream| stream.ids).collect();
            let Some(newest) = entries.last() else { return Ok(()) };
            place.read = Some(newest.id.clone());
            for entry in &entries {
                if self.take_change(site, tenant, entry).await {
                    place.sweep.hurry();
                }
            }
            if entries.len() < ENTRIES_PER_READ {
                return Ok(());
            }
        }
    }

    /// Reads an entry of another gateway. Returns true if a network is forgotten by it.
    async fn take_change(&self, site: &GatewaySite, tenant: &Tenant, entry: &StreamId) -> bool {
        if entry.get::<u32>("origin") == Some(self.origin) {
            return false;
        }
        if let Some(bytes) = entry.get::<Vec<u8>>("records") {
            take_records(site, tenant, &bytes).await;
        }
        take_forget(site, tenant, entry).await
    }
}

/// Returns true if the entry `id` of a stream, `MILLISECONDS-NUMBER`, is later than `other`.
fn is_later(id: &str, other: &str) -> bool {
    let place = |id: &str| -> Option<(u64, u64)> {
        let (milliseconds, number) = id.split_once('-')?;
        Some((milliseconds.parse().ok()?, number.parse().ok()?))
    };
    place(id) > place(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_the_order_of_their_numbers() {
        assert!(is_later("10-0", "9-5") && is_later("9-10", "9-9") && is_later("1-1", NOTHING));
        assert!(!is_later("9-9", "9-9") && !is_later("9-9", "10-0"));
    }
}
