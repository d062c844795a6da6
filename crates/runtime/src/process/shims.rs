//! Shims: where they are started from, and where their sockets and records lie.

use std::path::{Path, PathBuf};

use loopgate_api::ids::LoopId;
use loopgate_api::names::EXIT_FILE;
use loopgate_tools::shim::{self, ShimError, ShimHandle, ShimState, Spec};
use uuid::Uuid;

use crate::jobs::{ProcessKind, ProcessRecord};

/// Starts shims.
#[derive(Debug, Clone)]
pub(crate) struct Shims {
    /// This program: what shims and loop drivers are started from.
    pub exe: PathBuf,
    /// Private directory of the sockets.
    dir: PathBuf,
}

impl Shims {
    pub const fn new(exe: PathBuf, dir: PathBuf) -> Self {
        Self { exe, dir }
    }

    /// Starts a program under a shim of its own.
    pub async fn spawn(&self, spec: &Spec) -> Result<(ShimHandle, ShimState), ShimError> {
        shim::spawn(&self.exe, spec).await
    }

    /// The socket of a run.
    pub fn socket(&self, run: Uuid, name: &str) -> PathBuf {
        self.dir.join(format!("{}-{name}.sock", run.simple()))
    }

    /// A directory for records of runs.
    pub fn records(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where a process of a loop is found again.
    pub fn record(&self, id: LoopId, kind: ProcessKind, work_dir: &Path) -> ProcessRecord {
        let (name, exit) = match kind {
            ProcessKind::Main => ("main", EXIT_FILE),
            ProcessKind::Commit => ("commit", "commit-exit.json"),
        };
        ProcessRecord {
            kind,
            socket: self.socket(id.0, name).to_string_lossy().into_owned(),
            exit_file: work_dir.join(exit).to_string_lossy().into_owned(),
        }
    }
}
