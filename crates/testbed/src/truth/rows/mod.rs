//! All rows, by the cause of the time.

mod application;
mod full_link;
mod http2;
mod losses;
mod receiver;
mod sender;
mod tls;
mod uploads;

use super::row::TruthRow;
use units::Duration;

/// All rows, in the order of tables.
pub(super) fn all() -> Vec<TruthRow> {
    let groups = [
        full_link::rows(),
        losses::rows(),
        sender::rows(),
        application::rows(),
        receiver::rows(),
        tls::rows(),
        http2::rows(),
        uploads::rows(),
    ];
    groups.into_iter().flatten().collect()
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_are_many_and_have_folders_of_their_own() {
        let rows = all();
        assert!(rows.len() >= 40, "{}", rows.len());
        let folders: BTreeSet<String> = rows.iter().map(TruthRow::folder).collect();
        assert_eq!(folders.len(), rows.len());
    }

    #[test]
    fn every_row_has_a_first_cause_a_connection_and_links_that_can_be() {
        for row in all() {
            assert!(!row.first.is_empty() && !row.connections.is_empty(), "{}", row.name);
            assert!(row.path.links().is_ok(), "{}", row.name);
        }
    }
}
