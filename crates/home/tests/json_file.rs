//! JSON files under concurrent writes by several processes, on a full disk, and when the writer is killed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed precondition fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "loopgate-tools, which starts programs, depends on this crate"
)]

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::{Value, json};

const WRITER: &str = env!("CARGO_BIN_EXE_loopgate-json-writer");

fn write(path: &Path, document: &Value) {
    std::fs::write(path, serde_json::to_vec_pretty(document).unwrap()).unwrap();
}

fn stored(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn entries_of_several_processes_are_all_stored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list.json");
    write(&path, &json!({"version": 2}));
    let start = |entry: usize| {
        Command::new(WRITER).arg(&path).args([entry.to_string(), "25".to_owned()]).spawn().unwrap()
    };
    let writers: Vec<_> = (0..4).map(start).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let stored = stored(&path);
    let list = stored["list"].as_array().unwrap();
    for entry in 0..4 {
        assert_eq!(
            list.iter().filter(|stored| stored.as_str() == Some(&entry.to_string())).count(),
            25,
            "{stored}"
        );
    }
    assert_eq!(stored["version"], 2);
}

#[test]
fn full_disk_fails_the_change_and_leaves_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list.json");
    let before = json!({"list": ["old"], "unknown": "x".repeat(100)});
    write(&path, &before);
    // A file size limit simulates a full disk. With `SIGXFSZ` ignored the write fails with `EFBIG` ("File too
    // large").
    let writer = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", WRITER])
        .arg(&path)
        .args(["new", "1", "100"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&writer.stderr);
    assert_eq!(writer.status.code(), Some(1), "{text}");
    assert!(text.contains("large"), "{text}");
    assert_eq!(stored(&path), before);
    let names: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing but the file and its lock: {names:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The kernel kills the writer at the first byte over the limit. The next writer must succeed.
    #[test]
    fn kill_at_any_byte_leaves_the_old_or_the_new_document(
        entries in proptest::collection::vec("[a-z\"é]{0,8}", 0..6),
        limit in any::<proptest::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.json");
        let old = json!({"list": entries});
        let new = json!({"list": entries.into_iter().chain(["new".to_owned()]).collect::<Vec<_>>()});
        let size = serde_json::to_vec_pretty(&new).unwrap().len();
        let limit = limit.index(size + 2);
        write(&path, &old);
        let run = |limit: Option<usize>| {
            let limit = limit.map(|limit| limit.to_string());
            Command::new(WRITER).arg(&path).args(["new", "1"]).args(limit).status().unwrap()
        };
        let status = run(Some(limit));
        if limit < size {
            prop_assert_eq!(status.signal(), Some(rustix::process::Signal::XFSZ.as_raw()));
            prop_assert_eq!(stored(&path), old);
            prop_assert!(run(None).success());
        } else {
            prop_assert!(status.success());
        }
        prop_assert_eq!(stored(&path), new);
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
    }
}
