use super::*;
use redb::TableDefinition;
use std::os::unix::fs::{MetadataExt, symlink};

const OWN: TableDefinition<'_, &str, u64> = TableDefinition::new("paths-7");
const FORMAT: StateFormat = StateFormat { service: "agent", tables: &["paths-"], cache: 1 << 20 };

/// A folder that is empty when a test begins.
fn folder(name: &str) -> PathBuf {
    let folder = format!("headstart-state-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// Makes a file of redb with one row in the table `name`.
fn write(file: &Path, name: &str) {
    let database = Database::create(file).unwrap();
    let writing = database.begin_write().unwrap();
    let table = TableDefinition::<&str, u64>::new(name);
    writing.open_table(table).unwrap().insert("row", 5).unwrap();
    writing.commit().unwrap();
}

fn row(database: &Database) -> u64 {
    database.begin_read().unwrap().open_table(OWN).unwrap().get("row").unwrap().unwrap().value()
}

fn open(file: &Path) -> Result<OpenState, String> {
    FORMAT.open(file, Duration::ZERO)
}

/// Opens `file`, which is of others, and compares all that an operator could miss afterwards.
fn assert_is_left_alone(folder: &Path, file: &Path) {
    let seen = || {
        let mut entries: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        let data = fs::metadata(file).unwrap();
        (entries, fs::read(file).unwrap(), data.mode(), data.ino(), data.modified().unwrap())
    };
    let before = seen();
    let why = open(file).unwrap_err();
    let expected = format!("{} is not a state file of the agent", file.display());
    assert!(why.starts_with(&expected) && why.contains("name another file"), "{why}");
    assert_eq!(seen(), before);
}

/// Text, one byte, a database of another program (closed, or left open by `kill -9`), and each of
/// them by a symbolic link.
#[test]
fn a_file_of_others_is_refused_and_stays_as_it_is() {
    let folder = folder("others");
    let file = |name: &str| folder.join(name);
    fs::write(file("notes.txt"), "notes").unwrap();
    fs::write(file("byte"), [7]).unwrap();
    write(&file("theirs.redb"), "accounts");
    let live = Database::open(file("theirs.redb")).unwrap();
    let writing = live.begin_write().unwrap();
    writing.open_table(TableDefinition::<&str, u64>::new("more")).unwrap();
    writing.commit().unwrap();
    fs::copy(file("theirs.redb"), file("killed.redb")).unwrap();
    drop(live);
    for name in ["notes.txt", "byte", "theirs.redb", "killed.redb"] {
        fs::set_permissions(file(name), Permissions::from_mode(0o644)).unwrap();
        assert_is_left_alone(&folder, &file(name));
        let link = file(&format!("link-{name}"));
        symlink(file(name), &link).unwrap();
        assert_is_left_alone(&folder, &link);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Opening a FIFO would wait for its other end.
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = folder("special");
    let fifo = folder.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for file in [fifo.as_path(), Path::new("/dev/null"), &folder] {
        assert!(
            open(file).unwrap_err().contains("is not a state file of the agent"),
            "{}",
            file.display()
        );
        assert!(FORMAT.check(file).is_err());
    }
    fs::remove_dir_all(folder).unwrap();
}

/// A file that is missing or empty is made, for its owner alone. A process that was killed leaves a
/// file that opens.
#[test]
fn a_file_of_the_service_opens_again_also_after_its_process_was_killed() {
    let folder = folder("own");
    let [file, empty, killed] =
        ["a.redb", "empty.redb", "killed.redb"].map(|name| folder.join(name));
    fs::write(&empty, "").unwrap();
    drop(open(&empty).unwrap());
    // No table was made in it.
    drop(open(&empty).unwrap());
    write(&file, "paths-7");
    let live = open(&file).unwrap();
    assert_eq!(row(&live.database), 5);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert!(open(&file).unwrap_err().contains("another agent has"));
    FORMAT.check(&file).unwrap();
    fs::copy(&file, &killed).unwrap();
    let open = open(&killed).unwrap();
    assert_eq!((row(&open.database), open.put_aside), (5, None));
    fs::remove_dir_all(folder).unwrap();
}

/// Byte 9 of redb's header and the two slots behind it say where the tables are. The names of the
/// tables stay.
fn damage(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    bytes[MAGIC.len()..320].fill(0xff);
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_damaged_file_of_the_service_is_put_aside_and_nothing_else_is_lost_for_that() {
    let folder = folder("damaged");
    let [file, aside] = ["a.redb", "a.damaged"].map(|name| folder.join(name));
    for _ in 0..2 {
        let _ = fs::remove_file(&file);
        write(&file, "paths-7");
        damage(&file);
        // The second time, the damaged file of before is replaced.
        let open = open(&file).unwrap();
        let why = open.put_aside.unwrap();
        assert!(why.contains("is damaged") && why.contains("a.damaged"), "{why}");
        assert!(fs::read(&aside).unwrap().starts_with(&MAGIC));
    }
    fs::write(&aside, "an operator's").unwrap();
    fs::remove_file(&file).unwrap();
    write(&file, "paths-7");
    damage(&file);
    let why = open(&file).unwrap_err();
    assert!(why.contains("a.damaged") && why.contains("move one of them away"), "{why}");
    assert_eq!(fs::read(&aside).unwrap(), b"an operator's");
    fs::remove_dir_all(folder).unwrap();
}

/// The name lies across the end of a chunk.
#[test]
fn a_name_is_found_wherever_it_lies() {
    for at in [0, CHUNK - 3, CHUNK, 2 * CHUNK + 9] {
        let mut bytes = vec![0; at];
        bytes.extend(b"paths-1");
        assert!(FORMAT.names_own_table(&bytes[..]).unwrap(), "{at}");
        bytes.truncate(at + 5);
        assert!(!FORMAT.names_own_table(&bytes[..]).unwrap(), "{at}");
    }
}
