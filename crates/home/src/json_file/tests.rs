//! Files that other programs write at the same time.

use serde::Deserialize;
use serde_json::json;

use super::*;

/// A document whose writer knows one member.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct List {
    list: Vec<String>,
}

fn place() -> (tempfile::TempDir, JsonFile<List>) {
    let dir = tempfile::tempdir().unwrap();
    let file = JsonFile::in_working_tree(dir.path().join("list.json"));
    (dir, file)
}

fn push(file: &JsonFile<List>, entry: &str) -> Result<(), JsonFileError> {
    file.update(|document| {
        document.get_or_insert_default().list.push(entry.to_owned());
        Ok(())
    })
}

fn stored(file: &JsonFile<List>) -> Value {
    serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()
}

fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Leaves a text as a program that was interrupted long ago.
fn leave(file: &JsonFile<List>, text: &str) {
    std::fs::write(file.path(), text).unwrap();
    let file = std::fs::File::options().write(true).open(file.path()).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// Writes the second half of the file after the first half was read.
#[cfg(target_os = "linux")]
fn write_in_two_halves(path: &Path, text: &str) -> std::thread::JoinHandle<()> {
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    let (first, second) = text.split_at(text.len() / 2);
    std::fs::write(path, first).unwrap();
    let events = inotify::init(CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&events, path, WatchFlags::CLOSE_NOWRITE).unwrap();
    let (path, second) = (path.to_owned(), second.to_owned());
    std::thread::spawn(move || {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 1024];
        Reader::new(&events, &mut buffer).next().unwrap();
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        io::Write::write_all(&mut file, second.as_bytes()).unwrap();
    })
}

#[cfg(target_os = "linux")]
#[test]
fn half_written_file_is_read_when_it_is_complete() {
    let text = r#"{"list":["theirs"],"settings":{"z":1}}"#;
    let (dir, file) = place();
    let writer = write_in_two_halves(&file.path(), text);
    assert_eq!(file.read().unwrap(), Some(List { list: vec!["theirs".into()] }));
    writer.join().unwrap();

    let writer = write_in_two_halves(&file.path(), text);
    push(&file.clone().moving_malformed_aside(), "ours").unwrap();
    writer.join().unwrap();
    assert_eq!(stored(&file), json!({"list": ["theirs", "ours"], "settings": {"z": 1}}));
    assert_eq!(names(&dir), ["list.json", "list.lock"]);
}

#[test]
fn malformed_file_is_reported_and_left_alone() {
    for malformed in ["{", "", "[]", r#"{"list":5}"#] {
        let (dir, file) = place();
        leave(&file, malformed);
        let is_malformed =
            |error| matches!(error, JsonFileError::Malformed { file, .. } if file == "list.json");
        assert!(is_malformed(file.read().unwrap_err()), "{malformed}");
        assert!(is_malformed(push(&file, "ours").unwrap_err()), "{malformed}");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), malformed);
        assert_eq!(names(&dir), ["list.json", "list.lock"]);
    }
}

#[test]
fn malformed_file_is_moved_aside_by_a_change_where_that_was_chosen() {
    for malformed in ["{", "", "[]", r#"{"list":5}"#] {
        let (dir, file) = place();
        let file = file.moving_malformed_aside();
        leave(&file, malformed);
        let found = file.update(|document| Ok::<_, JsonFileError>(document.take())).unwrap();
        assert_eq!(found, None);
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), malformed, "nothing was changed");
        push(&file, "ours").unwrap();
        let names = names(&dir);
        assert!(names.len() == 3 && names[1].starts_with("list.json.corrupt-"), "{names:?}");
        assert_eq!(std::fs::read_to_string(dir.path().join(&names[1])).unwrap(), malformed);
        assert_eq!(stored(&file), json!({"list": ["ours"]}));
    }
}

#[test]
fn unknown_members_survive_in_their_places() {
    let (_dir, file) = place();
    leave(&file, r#"{"version":2,"list":["theirs"],"tail":null}"#);
    push(&file, "ours").unwrap();
    assert_eq!(stored(&file).to_string(), r#"{"version":2,"list":["theirs","ours"],"tail":null}"#);
}

#[test]
fn change_that_fails_or_changes_nothing_writes_nothing() {
    let (_dir, file) = place();
    let text = r#"{ "list" : [ ] }"#;
    leave(&file, text);
    let failed = file.update(|document| {
        *document = Some(List { list: vec!["lost".into()] });
        Err::<(), _>(JsonFileError::from(io::Error::other("no")))
    });
    assert!(failed.is_err());
    let cleared = file.update(|document| {
        document.get_or_insert_default().list.clear();
        Ok::<_, JsonFileError>(())
    });
    cleared.unwrap();
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
}

#[test]
fn file_that_cannot_be_read_is_never_replaced() {
    let (dir, file) = place();
    let file = file.moving_malformed_aside();
    std::fs::create_dir(file.path()).unwrap();
    let kind = |error| io::Error::from(error).kind();
    assert_eq!(kind(file.read().unwrap_err()), io::ErrorKind::IsADirectory);
    assert_eq!(kind(push(&file, "ours").unwrap_err()), io::ErrorKind::IsADirectory);
    assert_eq!(names(&dir), ["list.json", "list.lock"]);
}

#[test]
fn private_file_is_for_its_owner_and_is_removed_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = JsonFile::<List>::private(dir.path().join("private/list.json"));
    assert_eq!(file.read().unwrap(), None);
    assert!(!file.remove().unwrap());
    push(&file, "ours").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(file.remove().unwrap() && !file.remove().unwrap());
}
