//! The stream of a finished run gets a name of its own, and a sidecar that tells it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use loopgate_api::ids::safe_id;
use loopgate_api::names::{ASSISTANT_OUTPUT, ASSISTANT_OUTPUT_NAME};
use loopgate_home::untrusted;

use super::{journal, state_file};
use crate::clock::compact;

/// At the end of a run: names the stream after it.
///
/// # Errors
/// Any failure of the file system; the sidecar is then gone.
pub fn finished(workdir: &Path, run_id: &str) -> io::Result<()> {
    let live = workdir.join(ASSISTANT_OUTPUT);
    if untrusted::kind(&live).is_none() {
        return Ok(());
    }
    let name = file_name(Some(run_id));
    untrusted::rename(&live, OsStr::new(&name))?;
    let sidecar = workdir.join(ASSISTANT_OUTPUT_NAME);
    let told = untrusted::write(&sidecar, format!("{name}\n").as_bytes());
    if told.is_err() {
        let _ = untrusted::remove(&sidecar);
    }
    told
}

/// At the start of a run: empties the sidecar, and puts a stream away that a killed run left.
///
/// # Errors
/// Any failure of the file system.
pub fn started(project_root: &Path, workdir: &Path) -> io::Result<()> {
    let live = workdir.join(ASSISTANT_OUTPUT);
    untrusted::write(&workdir.join(ASSISTANT_OUTPUT_NAME), b"")?;
    if untrusted::kind(&live).is_none() {
        return Ok(());
    }
    let of_state = state_file::LoopState::load(project_root).ok().map(|state| state.run_id);
    let owner = of_state.filter(|id| !id.is_empty()).or_else(|| journal::last_run_id(workdir));
    if untrusted::rename(&live, OsStr::new(&file_name(owner.as_deref()))).is_err() {
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
    fn finished_stream_is_named_and_told() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(ASSISTANT_OUTPUT), "{}\n").unwrap();
        finished(dir.path(), "2026/x").unwrap();
        assert!(dir.path().join("assistant-output-2026_x.jsonl").exists());
        let told = std::fs::read_to_string(dir.path().join(ASSISTANT_OUTPUT_NAME)).unwrap();
        assert_eq!(told, "assistant-output-2026_x.jsonl\n");
    }

    #[test]
    fn leftover_stream_goes_to_its_run_or_to_nobody() {
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
