//! The protocol on the shim's socket, one JSON object per line, and the report to its starter.

use std::path::PathBuf;

use loopgate_api::ids::LoopId;
use serde::{Deserialize, Serialize};

use super::exit::Exit;
use crate::process::ProcessStart;

/// Longest line of the protocol, in bytes. A state is well below 8 KiB.
pub(super) const LINE_CAP: u64 = 64 * 1024;

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ShimRequest {
    ShimState,
    /// Terminate all processes: SIGTERM, `grace_ms` milliseconds, SIGKILL.
    Kill {
        grace_ms: u64,
    },
    /// Reply when all processes have exited.
    Wait,
}

/// A reply of the shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ShimReply {
    ShimState(ShimState),
    /// The termination has started.
    Killing,
    /// All processes have exited.
    Ended(Exit),
    Error(String),
}

/// The state of a shim and its program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShimState {
    /// The loop that the shim belongs to.
    pub loop_id: LoopId,
    pub shim_pid: u32,
    /// Pid of the program, which leads a process group.
    pub pid: u32,
    /// Start time of the program; `None` when it exited before its start time was read.
    pub started: Option<ProcessStart>,
    /// Exit status of the program, whose descendants may still be running; absent while the program runs.
    pub exit: Option<Exit>,
    /// File for the exit status, as in the [`Spec`](super::Spec).
    pub exit_file: PathBuf,
}

/// The report of a shim to its starter, sent once over standard output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StartReport {
    Started(ShimState),
    /// The program did not start. `code` is an error name such as `ENOENT`.
    Failed {
        code: String,
        message: String,
    },
}

/// Serializes a message as one line.
pub(super) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
