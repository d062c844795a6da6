//! JSON files that other programs write concurrently.

use serde::Deserialize;
use serde_json::json;

use super::*;

/// A document type that declares one member.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct List {
    list: Vec<String>,
}

fn fixture() -> (tempfile::TempDir, JsonFile<List>) {
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

/// Writes a text with an old modification time, as a program that was interrupted long ago.
fn write_stale(file: &JsonFile<List>, text: &str) {
    std::fs::write(file.path(), text).unwrap();
    let file = std::fs::File::options().write(true).open(file.path()).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// Writes the first half of the file now, and the second half once a reader has closed the file.
#[cfg(target_os = "linux")]
fn write_in_two_steps(path: &Path, text: &str) -> std::thread::JoinHandle<()> {
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    let (first, second) = text.split_at(text.len() / 2);
    std::fs::write(path, first).unwrap();
    let events = inotify::init(CreateFlags::CLOEXEC).unwrap();
    // `CLOSE_NOWRITE` is reported when the first read is complete, which avoids a sleep.
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
fn half_written_file_is_read_once_complete() {
    let text = r#"{"list":["theirs"],"settings":{"z":1}}"#;
    let (dir, file) = fixture();
    let writer = write_in_two_steps(&file.path(), text);
    assert_eq!(file.read().unwrap(), Some(List { list: vec!["theirs".into()] }));
    writer.join().unwrap();

    let writer = write_in_two_steps(&file.path(), text);
    push(&file.clone().moving_malformed_aside(), "ours").unwrap();
    writer.join().unwrap();
    assert_eq!(stored(&file), json!({"list": ["theirs", "ours"], "settings": {"z": 1}}));
    assert_eq!(names(&dir), ["list.json", "list.lock"]);
}

#[test]
fn malformed_file_is_reported_and_not_changed() {
    for malformed in ["{", "", "[]", r#"{"list":5}"#] {
        let (dir, file) = fixture();
        write_stale(&file, malformed);
        let is_malformed =
            |error| matches!(error, JsonFileError::Malformed { file, .. } if file == "list.json");
        assert!(is_malformed(file.read().unwrap_err()), "{malformed}");
        assert!(is_malformed(push(&file, "ours").unwrap_err()), "{malformed}");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), malformed);
        assert_eq!(names(&dir), ["list.json", "list.lock"]);
    }
}

#[test]
fn malformed_file_is_moved_aside_when_enabled() {
    for malformed in ["{", "", "[]", r#"{"list":5}"#] {
        let (dir, file) = fixture();
        let file = file.moving_malformed_aside();
        write_stale(&file, malformed);
        let document = file.update(|document| Ok::<_, JsonFileError>(document.take())).unwrap();
        assert_eq!(document, None);
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), malformed, "nothing was changed");
        push(&file, "ours").unwrap();
        let names = names(&dir);
        assert!(names.len() == 3 && names[1].starts_with("list.json.corrupt-"), "{names:?}");
        assert_eq!(std::fs::read_to_string(dir.path().join(&names[1])).unwrap(), malformed);
        assert_eq!(stored(&file), json!({"list": ["ours"]}));
    }
}

#[test]
fn unknown_members_keep_value_and_position() {
    let (_dir, file) = fixture();
    write_stale(&file, r#"{"version":2,"list":["theirs"],"tail":null}"#);
    push(&file, "ours").unwrap();
    assert_eq!(stored(&file).to_string(), r#"{"version":2,"list":["theirs","ours"],"tail":null}"#);
}

#[test]
fn failed_or_no_op_change_does_not_write() {
    let (_dir, file) = fixture();
    let text = r#"{ "list" : [ ] }"#;
    write_stale(&file, text);
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
    let (dir, file) = fixture();
    // Other programs may replace the file by a directory; moving it aside could hide data that is not ours.
    let file = file.moving_malformed_aside();
    std::fs::create_dir(file.path()).unwrap();
    let kind = |error| io::Error::from(error).kind();
    assert_eq!(kind(file.read().unwrap_err()), io::ErrorKind::IsADirectory);
    assert_eq!(kind(push(&file, "ours").unwrap_err()), io::ErrorKind::IsADirectory);
    assert_eq!(names(&dir), ["list.json", "list.lock"]);
}

#[test]
fn private_file_has_mode_0600_and_is_removed_once() {
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
