use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::thread;

const SAVED: Moment = Moment { monotonic_ns: 1000, wall_ns: 50_000, boot: 7 };

fn row(is_own: bool) -> Vec<u8> {
    let mut path = LearntPath::from_bytes(&[1; LearntPath::SIZE]).unwrap();
    path.learnt_ns = 900;
    let row = Row { path, saved: SAVED, is_own };
    assert_eq!(Row::from_bytes(&row.to_bytes()), Some(row));
    row.to_bytes()
}

#[test]
fn after_a_boot_only_the_own_namespace_is_known_by_its_new_number() {
    let key = PrefixKey { namespace: 33, prefix: "192.0.2.0/24".parse().unwrap() };
    let now = Moment { monotonic_ns: 20, wall_ns: 52_000, boot: 8 };
    let (new, path) = restore_row(&key.to_bytes(), &row(true), &now, 44).unwrap();
    assert_eq!(new, PrefixKey { namespace: 44, ..key });
    // 2100 old: 2080 before this boot.
    assert_eq!(path.learnt_ns, 0_u64.wrapping_sub(2080));
    assert_eq!(restore_row(&key.to_bytes(), &row(false), &now, 44), None);
    let same = Moment { boot: 7, ..now };
    assert_eq!(restore_row(&key.to_bytes(), &row(false), &same, 44).unwrap().0, key);
}

#[test]
fn what_all_namespaces_share_outlives_a_boot() {
    let key = PrefixKey { namespace: SHARED, prefix: "192.0.2.0/24".parse().unwrap() };
    let now = Moment { monotonic_ns: 20, wall_ns: 52_000, boot: 8 };
    assert_eq!(restore_row(&key.to_bytes(), &row(false), &now, 44).unwrap().0, key);
}

/// A file of its own, and the store in it.
fn store(name: &str) -> (std::path::PathBuf, Store) {
    let file = format!("headstart-store-{name}-{}.redb", std::process::id());
    let file = std::env::temp_dir().join(file);
    let store = Store::open(&file, Duration::ZERO).unwrap().0;
    (file, store)
}

/// Saved at 1000 when 100 old; 2100 by 3000.
#[test]
fn what_is_older_than_anybody_goes_by_is_on_disk_no_more() {
    let (file, store) = store("old");
    let writing = store.0.begin_write().unwrap();
    writing.open_table(PATHS).unwrap().insert(&b"key"[..], row(true).as_slice()).unwrap();
    writing.commit().unwrap();
    let kept = || store.0.begin_read().unwrap().open_table(PATHS).unwrap().len().unwrap();
    let now = Moment { monotonic_ns: 3000, ..SAVED };
    store.drop_old(&now, 2100).unwrap();
    assert_eq!(kept(), 1);
    store.drop_old(&now, 2099).unwrap();
    assert_eq!(kept(), 0);
    fs::remove_file(&file).unwrap();
}

#[test]
fn nobody_else_may_read_it_not_even_what_was_made_by_hand() {
    let mode = |file: &FilePath| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    let (file, store) = store("mode");
    assert_eq!(mode(&file), 0o600);
    drop(store);
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    drop(Store::open(&file, Duration::ZERO).unwrap());
    assert_eq!(mode(&file), 0o600);
    fs::remove_file(&file).unwrap();
}

#[test]
fn an_agent_that_ends_is_waited_for() {
    let (file, store) = store("ends");
    let ends = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        drop(store);
    });
    assert!(Store::open(&file, Duration::ZERO).is_err());
    Store::open(&file, Duration::from_secs(30)).unwrap();
    ends.join().unwrap();
    fs::remove_file(&file).unwrap();
}

/// A file of the gateway, or of any other program, is none of the agent's.
#[test]
fn what_is_no_memory_of_an_agent_is_refused() {
    let file = std::env::temp_dir().join(format!("headstart-store-{}.redb", std::process::id()));
    fs::write(&file, "no database, but more than a few bytes of something else").unwrap();
    let why = Store::open(&file, Duration::ZERO).unwrap_err();
    assert!(why.contains("is not a state file of the agent"), "{why}");
    fs::remove_file(&file).unwrap();
    let database = Database::create(&file).unwrap();
    let writing = database.begin_write().unwrap();
    writing.open_table(TableDefinition::<&str, u32>::new("forgets-1")).unwrap();
    writing.commit().unwrap();
    drop(database);
    assert!(
        Store::open(&file, Duration::ZERO)
            .unwrap_err()
            .contains("is not a state file of the agent")
    );
    fs::remove_file(&file).unwrap();
}

#[test]
fn facts_outlive_the_agent() {
    let (file, store) = store("facts");
    crate::memory::format::bring_up(store.database()).unwrap();
    assert_eq!(store.read_fact(AgentFact::Off), None);
    store.set_fact(AgentFact::Off, Some("harm")).unwrap();
    drop(store);
    let again = Store::open(&file, Duration::ZERO).unwrap().0;
    assert_eq!(again.read_fact(AgentFact::Off), Some("harm".to_owned()));
    fs::remove_file(&file).unwrap();
}
