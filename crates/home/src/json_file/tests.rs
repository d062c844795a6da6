//! Files that other programs write at the same time.

use std::path::PathBuf;

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list.json");
    (dir, path)
}

fn push(path: &Path, entry: &str) -> io::Result<()> {
    change(path, "list", |entries, _| entries.push(entry.into()))
}

fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Leaves a text as a program that was interrupted long ago.
fn leave(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// Finishes the file once somebody has read the first half of it.
#[cfg(target_os = "linux")]
fn write_in_two_halves(path: &Path, text: &str) -> std::thread::JoinHandle<()> {
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    let (first, second) = text.split_at(text.len() / 2);
    std::fs::write(path, first).unwrap();
    let heard = inotify::init(CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&heard, path, WatchFlags::CLOSE_NOWRITE).unwrap();
    let (path, second) = (path.to_owned(), second.to_owned());
    std::thread::spawn(move || {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 1024];
        Reader::new(&heard, &mut buffer).next().unwrap();
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        io::Write::write_all(&mut file, second.as_bytes()).unwrap();
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_being_written_is_read_when_it_is_whole() {
    let text = r#"{"list":["theirs"],"settings":{"z":1}}"#;
    let (dir, path) = place();
    let writer = write_in_two_halves(&path, text);
    let Content::Document(document) = read(&path).unwrap() else { panic!("it is a document") };
    writer.join().unwrap();
    assert_eq!(Value::Object(document).to_string(), text);

    let writer = write_in_two_halves(&path, text);
    push(&path, "ours").unwrap();
    writer.join().unwrap();
    let stored: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(stored, serde_json::json!({"list": ["theirs", "ours"], "settings": {"z": 1}}));

    let writer = write_in_two_halves(&path, text);
    begin(&path, Map::new()).unwrap();
    writer.join().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert_eq!(names(&dir), ["list.json", "list.lock"]);
}

#[test]
fn a_change_moves_a_malformed_file_aside_and_one_of_nothing_leaves_it() {
    for malformed in ["{", "", "[]", r#"{"list":5}"#] {
        let (dir, path) = place();
        leave(&path, malformed);
        change(&path, "list", |entries, _| entries.clear()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), malformed);
        push(&path, "ours").unwrap();
        let names = names(&dir);
        assert!(names.len() == 3 && names[1].starts_with("list.json.corrupt-"), "{names:?}");
        assert_eq!(std::fs::read_to_string(dir.path().join(&names[1])).unwrap(), malformed);
        assert!(std::fs::read_to_string(&path).unwrap().contains("ours"));
    }
}

#[test]
fn what_is_not_known_survives_in_its_place() {
    let (_dir, path) = place();
    leave(&path, r#"{"version":2,"list":[{"unknown":true},5],"tail":null}"#);
    push(&path, "ours").unwrap();
    let stored: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(stored.to_string(), r#"{"version":2,"list":[{"unknown":true},5,"ours"],"tail":null}"#);
}

#[test]
fn a_file_that_cannot_be_read_is_never_replaced() {
    let (dir, path) = place();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    assert_eq!(push(&path, "ours").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    assert_eq!(begin(&path, Map::new()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    assert_eq!(names(&dir), ["list.json", "list.lock"]);
}

#[test]
fn changes_of_several_writers_are_all_kept() {
    let (_dir, path) = place();
    std::thread::scope(|scope| {
        for number in 0..10 {
            let path = &path;
            scope.spawn(move || push(path, &number.to_string()).unwrap());
        }
    });
    let Content::Document(document) = read(&path).unwrap() else { panic!("it is a document") };
    assert_eq!(document["list"].as_array().map(Vec::len), Some(10));
}
