//! Location of the assistant's output: a fixed name during a run, a unique one afterwards.

use std::fs::Metadata;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use loopgate_api::assistant_record::AssistantRecord;
use loopgate_api::names::{ASSISTANT_OUTPUT, ASSISTANT_OUTPUT_NAME};
use loopgate_home::{EntryKind, untrusted};

use crate::jobs::FileIdentity;

const FINISHED_PREFIX: &str = "assistant-output-";
const FINISHED_SUFFIX: &str = ".jsonl";
/// Bytes that are read from the end of a stream to find its last records.
const TAIL: u64 = 256 * 1024;

/// Returns the stream of a work directory after its run. Performs blocking I/O.
#[must_use]
pub fn resolve(work_dir: &Path) -> Option<PathBuf> {
    let fixed = work_dir.join(ASSISTANT_OUTPUT);
    let present = || untrusted::is_file(&fixed).then(|| fixed.clone());
    match untrusted::read_text(&work_dir.join(ASSISTANT_OUTPUT_NAME)) {
        // A run is starting: the streams of earlier runs do not belong to it.
        Ok(name) if name.trim().is_empty() => return present(),
        Ok(name) => {
            // The name is read from the work directory, so it must not lead to another directory.
            let stream = work_dir.join(name.trim());
            if is_finished_name(name.trim()) && untrusted::is_file(&stream) {
                return Some(stream);
            }
        }
        Err(_) => {}
    }
    newest_finished(work_dir).or_else(present)
}

/// Returns the stream that a running loop writes, preferably the fixed name. Performs blocking I/O.
#[must_use]
pub fn resolve_live(work_dir: &Path) -> Option<PathBuf> {
    let fixed = work_dir.join(ASSISTANT_OUTPUT);
    if untrusted::is_file(&fixed) { Some(fixed) } else { resolve(work_dir) }
}

/// Returns the end of a stream; empty when it cannot be read. Performs blocking I/O.
#[must_use]
pub fn tail(stream: &Path) -> Vec<u8> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = untrusted::open(stream)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().unwrap_or_default()
}

/// Returns the complete records in a part of a stream, in order.
pub fn records(part: &[u8]) -> impl DoubleEndedIterator<Item = AssistantRecord> {
    part.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// Returns the identity of a file, independent of its name.
#[must_use]
pub fn identity(metadata: &Metadata) -> FileIdentity {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        FileIdentity { device: metadata.dev(), inode: metadata.ino() }
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        FileIdentity::default()
    }
}

fn is_finished_name(name: &str) -> bool {
    name.starts_with(FINISHED_PREFIX) && name.ends_with(FINISHED_SUFFIX) && !name.contains(['/', '\\'])
}

fn newest_finished(work_dir: &Path) -> Option<PathBuf> {
    let finished = untrusted::entries(work_dir)
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File && entry.name.to_str().is_some_and(is_finished_name));
    finished
        .map(|entry| work_dir.join(entry.name))
        .filter_map(|path| Some((untrusted::metadata(&path).ok()?.modified().ok()?, path)))
        .max()
        .map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidecar_decides_before_age() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
        assert_eq!(resolve(dir.path()), None);
        write("assistant-output.jsonl", "");
        assert_eq!(resolve(dir.path()), Some(at("assistant-output.jsonl")));
        write("assistant-output-1.jsonl", "");
        write("assistant-output-2.jsonl", "");
        assert_eq!(resolve(dir.path()), Some(at("assistant-output-2.jsonl")));
        write("assistant-output.name.txt", "assistant-output-1.jsonl\n");
        assert_eq!(resolve(dir.path()), Some(at("assistant-output-1.jsonl")));
        assert_eq!(resolve_live(dir.path()), Some(at("assistant-output.jsonl")));
        write("assistant-output.name.txt", "../secret.jsonl");
        assert_eq!(resolve(dir.path()), Some(at("assistant-output-2.jsonl")));
        write("assistant-output.name.txt", " \n");
        assert_eq!(resolve(dir.path()), Some(at("assistant-output.jsonl")));
        std::fs::remove_file(at("assistant-output.jsonl")).unwrap();
        assert_eq!(resolve(dir.path()), None, "a run is starting");
    }
}
