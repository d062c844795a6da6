//! Cleanup after the user stopped a process: removes the state that continues the loop and the files that
//! report it as running.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use loopgate_api::names::{LOOP_STATE, PROCESS_PID, PROCESS_START, STATE_DIR, STATE_JSON, WORK_DIR};
use loopgate_api::time::now_iso;
use loopgate_home::{Directory, EntryKind};
use serde_json::Value;

use super::agents;
use super::files::TicketFiles;

const PHASE: &str = "Process stopped by user";

/// Error of reading the recorded pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PidError {
    /// The file does not contain a pid.
    Invalid,
    /// The file cannot be read.
    Unreadable,
}

impl TicketFiles {
    /// Returns the pid recorded in the work directory; `None` when there is none.
    ///
    /// # Errors
    /// Fails with [`PidError`] when the pid cannot be read.
    pub fn recorded_pid(&self) -> Result<Option<u32>, PidError> {
        let text = self.text(PROCESS_PID).map_err(|_| PidError::Unreadable)?;
        let read = |text: String| text.trim().parse::<u32>().map_err(|_| PidError::Invalid);
        text.map(read).transpose()
    }

    /// Removes the loop state, so that the loop does not start another iteration.
    pub fn forget_loop(&self) {
        let state_dir = self.worktree.open_directory().and_then(|dir| dir.directory(Path::new(STATE_DIR)));
        // Best-effort: a missing file is the normal case, and the process is stopped anyway.
        let _ = state_dir.and_then(|state_dir| state_dir.remove_file(OsStr::new(LOOP_STATE)));
    }

    /// Marks the work directory as stopped. Best-effort: what cannot be written, or is malformed, remains
    /// unchanged.
    pub fn mark_stopped(&self) {
        if let Err(error) = self.try_mark_stopped() {
            tracing::warn!(%error, "cannot mark a work directory as stopped");
        }
    }

    fn try_mark_stopped(&self) -> io::Result<()> {
        let work_dir = self.worktree.create_directory()?.create_directory(Path::new(WORK_DIR))?;
        for name in [PROCESS_PID, PROCESS_START] {
            // A missing file is fine; any other error also affects the state that is written below.
            let _ = work_dir.remove_file(OsStr::new(name));
        }
        remove_agent_records(&work_dir)?;
        let mut state = self.state().map_err(io::Error::other)?.unwrap_or_default();
        for (name, value) in [("status", "STOPPED"), ("phase", PHASE), ("timestamp", &now_iso())] {
            state.insert(name.to_owned(), Value::from(value));
        }
        work_dir.replace(OsStr::new(STATE_JSON), &serde_json::to_vec_pretty(&state)?)
    }
}

fn remove_agent_records(work_dir: &Directory) -> io::Result<()> {
    let agents = match work_dir.directory(Path::new(agents::DIRECTORY)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let files = agents.entries()?.into_iter().filter(|entry| entry.kind == EntryKind::File);
    files.map(|entry| entry.name).try_for_each(|name| agents.remove_file(&name))
}
