//! How a program ended, and the file that says so.

use std::io;
use std::path::Path;

use loopgate_api::time::now_iso;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

/// How a program ended. Written before the shim's socket closes; the socket is what tells that
/// everything is over, since descendants of the program may outlive it for a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// Its exit code, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// When, ISO 8601.
    pub ended_at: String,
    /// Largest memory of one process, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rss_kb: Option<u64>,
    /// Time spent in the programs, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ms: Option<u64>,
    /// Time the system spent for them, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_ms: Option<u64>,
}

impl Exit {
    /// Whether the program ended by itself with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// Reads an exit file; `None` when there is none that can be read.
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

    /// Takes the resources of everything that was reaped so far.
    pub(super) fn measure(&mut self) {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return };
        let unit = if cfg!(target_vendor = "apple") { 1024 } else { 1 };
        self.max_rss_kb = u64::try_from(usage.max_rss()).ok().map(|rss| rss / unit);
        self.user_ms = u64::try_from(usage.user_time().num_milliseconds()).ok();
        self.sys_ms = u64::try_from(usage.system_time().num_milliseconds()).ok();
    }

    /// Writes the file in one step. A directory that somebody removed is not made again.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        if file.parent().is_some_and(|directory| !directory.is_dir()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        loopgate_home::untrusted::write_private(file, &serde_json::to_vec(self)?)
    }
}
