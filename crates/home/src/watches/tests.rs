//! Events are queued before the system call that causes them returns, so these tests do not wait.

use std::fs;

use super::*;

fn drain(watches: &Watches) -> Vec<(WatchId, Option<String>, EventKind, bool)> {
    let mut events = Vec::new();
    let owned = |name: &OsStr| name.to_string_lossy().into_owned();
    let each = |event: WatchEvent<'_>| {
        events.push((event.watch, event.name.map(owned), event.kind, event.is_directory));
    };
    watches.drain(each).unwrap();
    events
}

#[test]
fn created_renamed_and_deleted_entries_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let watches = Watches::new().unwrap();
    let watch = watches.add(dir.path(), WatchMask::Entries).unwrap().unwrap();
    assert_eq!(drain(&watches), []);
    let name = |name: &str| Some(name.to_owned());
    fs::write(dir.path().join("a"), "1").unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::rename(dir.path().join("a"), dir.path().join("b")).unwrap();
    fs::remove_file(dir.path().join("b")).unwrap();
    let expected = [
        (watch, name("a"), EventKind::Created, false),
        (watch, name("d"), EventKind::Created, true),
        (watch, name("a"), EventKind::MovedAway, false),
        (watch, name("b"), EventKind::Created, false),
        (watch, name("b"), EventKind::Deleted, false),
    ];
    assert_eq!(drain(&watches), expected);
    watches.remove(watch);
    assert_eq!(drain(&watches), [(watch, None, EventKind::WatchRemoved, false)]);
    fs::write(dir.path().join("a"), "1").unwrap();
    assert_eq!(drain(&watches), []);
}

#[test]
fn writes_are_reported_for_directories_and_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "1").unwrap();
    let watches = Watches::new().unwrap();
    let directory = watches.add(dir.path(), WatchMask::Everything).unwrap().unwrap();
    let content = watches.add(&file, WatchMask::Writes).unwrap().unwrap();
    fs::write(&file, "2").unwrap();
    let events = drain(&watches);
    assert!(events.contains(&(directory, Some("file".to_owned()), EventKind::Modified, false)), "{events:?}");
    assert!(events.contains(&(content, None, EventKind::Modified, false)), "{events:?}");
}

#[test]
fn missing_path_is_not_watched_and_a_removed_one_ends_its_watch() {
    let dir = tempfile::tempdir().unwrap();
    let watches = Watches::new().unwrap();
    assert_eq!(watches.add(&dir.path().join("absent"), WatchMask::Entries).unwrap(), None);
    let inner = dir.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let watch = watches.add(&inner, WatchMask::Everything).unwrap().unwrap();
    fs::remove_dir(&inner).unwrap();
    let events = drain(&watches);
    assert_eq!(events.last(), Some(&(watch, None, EventKind::WatchRemoved, false)), "{events:?}");
}
