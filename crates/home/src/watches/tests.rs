//! Every change is heard at once, and by its own watch.

use std::fs;

use super::*;

fn taken(watches: &Watches) -> Vec<(WatchId, Option<String>, What, bool)> {
    let mut events = Vec::new();
    let owned = |name: &OsStr| name.to_string_lossy().into_owned();
    let each = |event: Event<'_>| {
        events.push((event.watch, event.name.map(owned), event.what, event.directory));
    };
    watches.take(each).unwrap();
    events
}

#[test]
fn names_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let watches = Watches::new().unwrap();
    let watch = watches.begin(dir.path(), Hear::Names).unwrap().unwrap();
    assert_eq!(taken(&watches), []);
    let name = |name: &str| Some(name.to_owned());
    fs::write(dir.path().join("a"), "1").unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::rename(dir.path().join("a"), dir.path().join("b")).unwrap();
    fs::remove_file(dir.path().join("b")).unwrap();
    let expected = [
        (watch, name("a"), What::Came, false),
        (watch, name("d"), What::Came, true),
        (watch, name("a"), What::MovedAway, false),
        (watch, name("b"), What::Came, false),
        (watch, name("b"), What::Deleted, false),
    ];
    assert_eq!(taken(&watches), expected);
    watches.end(watch);
    assert_eq!(taken(&watches), [(watch, None, What::Ended, false)]);
    fs::write(dir.path().join("a"), "1").unwrap();
    assert_eq!(taken(&watches), []);
}

#[test]
fn writing_is_heard_where_it_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "1").unwrap();
    let watches = Watches::new().unwrap();
    let directory = watches.begin(dir.path(), Hear::Everything).unwrap().unwrap();
    let content = watches.begin(&file, Hear::Writing).unwrap().unwrap();
    fs::write(&file, "2").unwrap();
    let heard = taken(&watches);
    assert!(heard.contains(&(directory, Some("file".to_owned()), What::Changed, false)), "{heard:?}");
    assert!(heard.contains(&(content, None, What::Changed, false)), "{heard:?}");
}

#[test]
fn what_is_not_there_is_not_watched() {
    let dir = tempfile::tempdir().unwrap();
    let watches = Watches::new().unwrap();
    assert_eq!(watches.begin(&dir.path().join("absent"), Hear::Names).unwrap(), None);
    let inner = dir.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let watch = watches.begin(&inner, Hear::Everything).unwrap().unwrap();
    fs::remove_dir(&inner).unwrap();
    let heard = taken(&watches);
    assert_eq!(heard.last(), Some(&(watch, None, What::Ended, false)), "{heard:?}");
}
