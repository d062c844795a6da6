//! The shim: a small process per loop that starts the loop's program, records its output and exit code, and
//! terminates all its descendants.
//!
//! A shim outlives the runtime. After a restart the runtime re-attaches through a socket that only the owner
//! can connect to; an open connection reaches its end of file when all descendants have exited. Of the
//! loop, the shim uses only the id, which marks its descendants.

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
pub use handle::{ShimError, ShimHandle, attach, attach_starting, has_started, spawn};
pub use protocol::ShimState;
pub use reaper::{ReapReport, marked_pids, reap, reap_marked};
pub use registry::{ProcessRegistry, RegisteredProcess};
pub use shims::Shims;

/// The instructions for a shim. Every path is absolute. `Debug` does not print the environment.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// Path of the executable, or a bare name that is searched on the `PATH` of `env`.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Working directory of the program.
    pub cwd: PathBuf,
    /// The complete environment of the program. Never written to disk or a pipe: the shim inherits it and
    /// passes it on.
    #[serde(skip)]
    pub env: BTreeMap<OsString, OsString>,
    /// File to use as standard input; `/dev/null` when absent.
    pub stdin_file: Option<PathBuf>,
    /// File to append standard output to; created with mode 0600.
    pub stdout: PathBuf,
    /// File to append standard error to; created with mode 0600. May be the same file as `stdout`.
    pub stderr: PathBuf,
    /// File to append those lines of standard output to that start with `{`, in addition to `stdout`.
    pub jsonl: Option<PathBuf>,
    /// File for the exit status, written atomically. An older file is removed before the program starts.
    pub exit_file: PathBuf,
    /// Path of the socket on which the shim serves requests.
    pub socket: PathBuf,
    /// The loop; its id is in the environment of every descendant.
    pub loop_id: LoopId,
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = f.debug_struct("Spec");
        output.field("loop_id", &self.loop_id).field("program", &self.program).field("args", &self.args);
        output.field("cwd", &self.cwd).field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Spec {
    /// Returns every file and directory; `program` may be a bare name.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let always = [&self.cwd, &self.stdout, &self.stderr, &self.exit_file, &self.socket];
        always.into_iter().chain(&self.stdin_file).chain(&self.jsonl).map(PathBuf::as_path)
    }
}

/// Runs a shim until the program and all its descendants have exited. `spec` is a file, or `-` for standard
/// input.
///
/// Creates a single-threaded tokio runtime, so it must not be called inside another one.
#[must_use]
pub fn main(spec: &Path) -> ExitCode {
    supervisor::main(spec)
}
