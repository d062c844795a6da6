//! The exit status of a program, and the file that persists it.

use std::io;
use std::path::Path;

use loopgate_api::time::now_iso;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

/// The exit status of a shim's program. Written when the program exits and again when all its descendants
/// have. Only the end of file on the shim's socket means that no descendant is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// Exit code; absent when a signal terminated the program.
    pub code: Option<i32>,
    /// Number of the signal that terminated the program.
    pub signal: Option<i32>,
    /// Time of the exit, ISO 8601.
    pub ended_at: String,
    /// Largest resident set size of any process of the run, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rss_kb: Option<u64>,
    /// Processor time in user mode of all processes of the run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ms: Option<u64>,
    /// Processor time in kernel mode of all processes of the run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_ms: Option<u64>,
}

impl Exit {
    /// Returns whether the program exited with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// Reads an exit file. Returns `None` when it is missing or invalid.
    #[must_use]
    pub fn read(file: &Path) -> Option<Self> {
        loopgate_home::untrusted::read_json(file)
    }

    pub(super) fn now(status: WaitStatus) -> Self {
        let mut exit = Self {
            code: status.exit_status(),
            signal: status.terminating_signal(),
            ended_at: now_iso(),
            max_rss_kb: None,
            user_ms: None,
            sys_ms: None,
        };
        exit.measure();
        exit
    }

    /// Records the resource usage of all children that were reaped so far.
    pub(super) fn measure(&mut self) {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return };
        // `ru_maxrss` is in bytes on macOS and in KiB on Linux.
        let unit = if cfg!(target_vendor = "apple") { 1024 } else { 1 };
        self.max_rss_kb = u64::try_from(usage.max_rss()).ok().map(|rss| rss / unit);
        self.user_ms = u64::try_from(usage.user_time().num_milliseconds()).ok();
        self.sys_ms = u64::try_from(usage.system_time().num_milliseconds()).ok();
    }

    /// Writes the file atomically. Fails with `NotFound` when its directory was removed, instead of creating
    /// it again.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        if file.parent().is_some_and(|directory| !directory.is_dir()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        loopgate_home::untrusted::write_private(file, &serde_json::to_vec(self)?)
    }
}
