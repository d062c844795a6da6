//! Archives the stream file of a finished run under the run's id, and records that name in a sidecar file.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use loopgate_api::ids::safe_id;
use loopgate_api::names::{ASSISTANT_OUTPUT, ASSISTANT_OUTPUT_NAME};
use loopgate_home::untrusted;

use super::{journal, state_file};
use crate::clock::compact;

/// Renames the stream file after its run and writes the new name into the sidecar.
///
/// # Errors
/// Fails on any file system error. When the sidecar cannot be written, it is removed.
pub fn finished(workdir: &Path, run_id: &str) -> io::Result<()> {
    let live = workdir.join(ASSISTANT_OUTPUT);
    if untrusted::kind(&live).is_none() {
        return Ok(());
    }
    let name = file_name(Some(run_id));
    untrusted::rename(&live, OsStr::new(&name))?;
    let sidecar = workdir.join(ASSISTANT_OUTPUT_NAME);
    let result = untrusted::write(&sidecar, format!("{name}\n").as_bytes());
    if result.is_err() {
        // A truncated name is worse than none: readers cope with a missing sidecar.
        let _ = untrusted::remove(&sidecar);
    }
    result
}

/// Prepares for a new run: empties the sidecar, and archives a stream file that a killed run left behind.
///
/// # Errors
/// Fails on any file system error.
pub fn started(project_root: &Path, workdir: &Path) -> io::Result<()> {
    let live = workdir.join(ASSISTANT_OUTPUT);
    // Emptied first: readers then expect the live stream instead of the previous run's archive.
    untrusted::write(&workdir.join(ASSISTANT_OUTPUT_NAME), b"")?;
    if untrusted::kind(&live).is_none() {
        return Ok(());
    }
    // The leftover belongs to the run of the state file; without one, to the last run of `runs.log`.
    let state_run_id = state_file::LoopState::load(project_root).ok().map(|state| state.run_id);
    let run_id = state_run_id.filter(|id| !id.is_empty()).or_else(|| journal::last_run_id(workdir));
    // When the rename fails, truncate instead: the new run must not append to another run's records.
    if untrusted::rename(&live, OsStr::new(&file_name(run_id.as_deref()))).is_err() {
        untrusted::append(&live)?.set_len(0)?;
    }
    Ok(())
}

fn file_name(run_id: Option<&str>) -> String {
    let id = match run_id.filter(|id| !id.is_empty()) {
        Some(id) => safe_id(id),
        None => format!("orphan-{}", compact()),
    };
    format!("assistant-output-{id}.jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_stream_is_renamed_and_recorded_in_the_sidecar() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(ASSISTANT_OUTPUT), "{}\n").unwrap();
        finished(dir.path(), "2026/x").unwrap();
        assert!(dir.path().join("assistant-output-2026_x.jsonl").exists());
        let sidecar = std::fs::read_to_string(dir.path().join(ASSISTANT_OUTPUT_NAME)).unwrap();
        assert_eq!(sidecar, "assistant-output-2026_x.jsonl\n");
    }

    #[test]
    fn leftover_stream_is_archived_for_its_run_or_as_an_orphan() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(ASSISTANT_OUTPUT), "{}\n").unwrap();
        std::fs::write(dir.path().join("runs.log"), "old-run|t|g|1|error\n").unwrap();
        started(dir.path(), dir.path()).unwrap();
        assert!(dir.path().join("assistant-output-old-run.jsonl").exists());
        assert_eq!(std::fs::read_to_string(dir.path().join(ASSISTANT_OUTPUT_NAME)).unwrap(), "");
        std::fs::write(dir.path().join(ASSISTANT_OUTPUT), "{}\n").unwrap();
        std::fs::write(dir.path().join("runs.log"), "").unwrap();
        started(dir.path(), dir.path()).unwrap();
        let orphans = std::fs::read_dir(dir.path())
            .unwrap()
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().starts_with("assistant-output-orphan-"))
            .count();
        assert_eq!(orphans, 1);
    }
}
