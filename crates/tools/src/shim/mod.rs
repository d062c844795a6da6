//! A tiny process beside each loop: it starts the loop's program, keeps its output and its exit
//! code, and ends everything the program started.
//!
//! The runtime may die and come back at any moment; the shim is what it finds again, by a socket
//! that only the owner can open. A connection that is held gets its end of file when all is over.
//! The shim knows nothing of loops beyond the id that marks its descendants.

mod address;
mod descendants;
mod exit;
mod handle;
mod jsonl;
mod protocol;
mod reaper;
mod registry;
mod shims;
mod supervisor;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::ids::LoopId;
use serde::{Deserialize, Serialize};

pub use exit::Exit;
pub use handle::{ShimError, ShimHandle, attach, attach_young, has_begun, spawn};
pub use protocol::ShimState;
pub use reaper::{ReapReport, reap};
pub use registry::{ProcessRegistry, RegisteredProcess};
pub use shims::Shims;

/// What a shim is to do. Every path is absolute. Printing it does not show the environment.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// Executable.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its whole environment. Never written anywhere: the shim inherits it and passes it on.
    #[serde(skip)]
    pub env: BTreeMap<OsString, OsString>,
    /// What it reads; nothing when absent.
    pub stdin_file: Option<PathBuf>,
    /// Where its standard output is appended; made with mode 0600.
    pub stdout: PathBuf,
    /// Where its standard error is appended; made with mode 0600. May be the same file.
    pub stderr: PathBuf,
    /// Where those lines of its standard output that begin with `{` are appended as well.
    pub jsonl: Option<PathBuf>,
    /// Where the exit is written, atomically. An older file is removed before the start.
    pub exit_file: PathBuf,
    /// The socket on which the shim answers.
    pub socket: PathBuf,
    /// The loop; every descendant carries it in its environment.
    pub loop_id: LoopId,
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Spec");
        shown.field("loop_id", &self.loop_id).field("program", &self.program).field("args", &self.args);
        shown.field("cwd", &self.cwd).field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Spec {
    /// Every file and directory; the program may also be a bare name.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let always = [&self.cwd, &self.stdout, &self.stderr, &self.exit_file, &self.socket];
        always.into_iter().chain(&self.stdin_file).chain(&self.jsonl).map(PathBuf::as_path)
    }
}

/// Runs a shim until everything it started is gone. `spec` is a file, or `-` for standard input.
///
/// Makes a runtime of its own with a single thread, so it must not be called inside another.
#[must_use]
pub fn main(spec: &Path) -> ExitCode {
    supervisor::main(spec)
}
