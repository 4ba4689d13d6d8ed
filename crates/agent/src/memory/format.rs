//! The format of a state file. A file of an older format is converted to this one. A newer format
//! is refused, with a way out, since an agent must not overwrite what it does not understand. The
//! format is the number in the name of the table of paths, and also one of the facts.

use super::store::{FACTS, PATHS};
use crate::contract::LearntPath;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableError, TableHandle};

/// The format that this agent reads and writes.
pub(crate) const FORMAT: u32 = 2;
/// Key of the format among the facts.
const KEY: &str = "format";
/// Prefix of the names of tables of paths.
const PATHS_OF: &str = "paths-";
/// Paths of format 1, which had no rate.
const PATHS_1: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("paths-1");
/// Offset of the rate in a path of format 2.
const RATE_AT: usize = 32;

/// Converts the file to this format. Returns the number of paths that were of an older one.
///
/// # Errors
/// If it is of a newer format, or cannot be read or written.
pub(crate) fn bring_up(database: &Database) -> Result<usize, String> {
    let found = newest_format(database).map_err(|error| error.to_string())?;
    if let Some(newer) = found.filter(|found| *found > FORMAT) {
        return Err(format!(
            "it is of format {newer}, by a newer agent, and this one reads {FORMAT} at most. Start the newer one; or have that \
             `export` its memory, move the file away, and `import` the document here; or name another --state"
        ));
    }
    migrate(database).map_err(|error| error.to_string())
}

/// Returns the newest format of which there is anything.
fn newest_format(database: &Database) -> Result<Option<u32>, redb::Error> {
    let reading = database.begin_read()?;
    let tables = reading.list_tables()?;
    let of_tables =
        tables.filter_map(|table| table.name().strip_prefix(PATHS_OF)?.parse::<u32>().ok());
    let said = match reading.open_table(FACTS) {
        Ok(facts) => facts.get(KEY)?.and_then(|number| number.value().parse().ok()),
        Err(TableError::TableDoesNotExist(_)) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(of_tables.chain(said).max())
}

/// Converts all rows to the newest format, and returns their number. One transaction has all of
/// them or none.
fn migrate(database: &Database) -> Result<usize, redb::Error> {
    let writing = database.begin_write()?;
    let mut count = 0;
    {
        let mut new = writing.open_table(PATHS)?;
        let old = writing.open_table(PATHS_1)?;
        for row in old.iter()? {
            let (key, value) = row?;
            // Paths that an agent of this format has learnt since have priority.
            let is_known = new.get(key.value())?.is_some();
            if let Some(value) = from_first(value.value()).filter(|_| !is_known) {
                new.insert(key.value(), value.as_slice())?;
                count += 1;
            }
        }
    }
    writing.delete_table(PATHS_1)?;
    writing.open_table(FACTS)?.insert(KEY, FORMAT.to_string().as_str())?;
    writing.commit()?;
    Ok(count)
}

/// Converts a row of format 1, which lacks the rate: it was not measured then.
fn from_first(row: &[u8]) -> Option<Vec<u8>> {
    let (before, after) = (row.get(..RATE_AT)?, row.get(RATE_AT..)?);
    let is_whole = row.len() >= LearntPath::SIZE - 8;
    is_whole.then(|| [before, &[0; 8], after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn fresh(name: &str) -> (PathBuf, Database) {
        let name = format!("headstart-format-{}-{name}.redb", std::process::id());
        let file = std::env::temp_dir().join(name);
        let _ = fs::remove_file(&file);
        let database = Database::create(&file).unwrap();
        (file, database)
    }

    #[test]
    fn paths_of_the_first_format_are_kept_without_a_rate() {
        let (file, database) = fresh("first");
        let writing = database.begin_write().unwrap();
        // Four numbers of 8 bytes, eight of 4, and 33 bytes of when it was saved.
        let row: Vec<u8> = (1..=97).collect();
        writing.open_table(PATHS_1).unwrap().insert([7].as_slice(), row.as_slice()).unwrap();
        writing.commit().unwrap();
        assert_eq!(bring_up(&database), Ok(1));
        let reading = database.begin_read().unwrap();
        let is = reading.open_table(PATHS).unwrap().get([7].as_slice()).unwrap().unwrap();
        let expected = [(1..=32).collect::<Vec<u8>>(), vec![0; 8], (33..=97).collect()].concat();
        assert_eq!(is.value(), expected);
        let path = LearntPath::from_bytes(is.value()).unwrap();
        assert_eq!((path.rate, path.window), (0, u32::from_ne_bytes([33, 34, 35, 36])));
        assert!(reading.open_table(PATHS_1).is_err());
        // Once.
        assert_eq!(bring_up(&database), Ok(0));
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn a_newer_format_is_refused_with_a_way_out_and_stays_as_it_is() {
        for by_fact in [true, false] {
            let (file, database) = fresh(if by_fact { "fact" } else { "table" });
            let writing = database.begin_write().unwrap();
            let paths_9: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("paths-9");
            if by_fact {
                writing.open_table(FACTS).unwrap().insert(KEY, "9").unwrap();
            } else {
                writing.open_table(paths_9).unwrap();
            }
            writing.commit().unwrap();
            let why = bring_up(&database).unwrap_err();
            assert!(why.starts_with("it is of format 9") && why.contains("--state"), "{why}");
            assert_eq!(newest_format(&database).unwrap(), Some(9));
            assert!(database.begin_read().unwrap().open_table(PATHS).is_err());
            fs::remove_file(file).unwrap();
        }
    }
}
