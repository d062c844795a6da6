//! What is said over the shim's socket, one JSON object a line, and what it reports at its start.

use std::path::PathBuf;

use loopgate_api::ids::LoopId;
use serde::{Deserialize, Serialize};

use super::exit::Exit;
use crate::process::ProcessStart;

/// Bytes that one line may have.
pub(super) const LINE_CAP: u64 = 64 * 1024;

/// What a client may ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ShimRequest {
    /// How things are.
    ShimState,
    /// End everything: SIGTERM, so many milliseconds, SIGKILL.
    Kill { grace_ms: u64 },
    /// Answer when everything is over.
    Wait,
}

/// What the shim answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ShimReply {
    ShimState(ShimState),
    /// The end has begun.
    Killing,
    /// Everything is over.
    Ended(Exit),
    Error(String),
}

/// How a shim's program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShimState {
    /// The loop.
    pub loop_id: LoopId,
    /// Pid of the shim.
    pub shim_pid: u32,
    /// Pid of the program, which leads a group of its own.
    pub pid: u32,
    /// When the program started; `None` when it was gone before anybody could look.
    pub started: Option<ProcessStart>,
    /// How the program ended; others that it started may still be running then.
    pub exit: Option<Exit>,
    /// Where the exit is written.
    pub exit_file: PathBuf,
}

/// What a shim tells its starter, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StartReport {
    Started(ShimState),
    /// The program did not start: the operating system's name of the error, and a text.
    Failed {
        code: String,
        message: String,
    },
}

/// One message as a line.
pub(super) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
