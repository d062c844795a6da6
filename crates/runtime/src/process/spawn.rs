//! What every start of an assistant has in common: its arguments, its environment, and the files beside its
//! process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use loopgate_api::launch::Committer;
use loopgate_api::mcp::McpRecord;
use loopgate_api::names::{
    ASSISTANT_OUTPUT, ASSISTANT_OUTPUT_NAME, ASSISTANT_STDERR, BASE_TESTS_EXIT, COMMIT_EXIT, COMMIT_OUTPUT,
    EXIT_FILE, HEAD_TESTS_EXIT, LOOP_ERROR, LOOP_LOG, PROCESS_PID, PROCESS_START,
};
use loopgate_home::untrusted::{self, write_private};
use loopgate_tools::git::committer_variables;
use loopgate_tools::shim::ShimState;

use crate::jobs::{FileIdentity, PerfMark};
use crate::transcript::{perf, stream_file};

/// Tools that the assistant may use without asking.
pub(crate) const TOOLS: &str = "Bash,Glob,Grep,Read,Write,Edit,Task,Skill,SlashCommand,TodoWrite";
const MAX_TURNS: &str = "200";

/// How the assistant prints and what it may do, whatever it is asked.
pub(crate) fn stream_args(mcp: &McpRecord) -> Vec<OsString> {
    let tools = mcp.added_to(TOOLS);
    let args =
        ["--output-format", "stream-json", "--verbose", "--allowedTools", &tools, "--max-turns", MAX_TURNS];
    args.map(OsString::from).into()
}

/// Puts this program on the path: prompts name it. The driver does so by itself.
pub(crate) fn own_program_first(environment: &mut BTreeMap<OsString, OsString>, exe: &Path) {
    let path = environment.get(&OsString::from("PATH")).cloned().unwrap_or_default();
    let dirs = exe.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    if let Ok(path) = std::env::join_paths(dirs) {
        environment.insert("PATH".into(), path);
    }
}

/// Gives commits the name of the one who ordered them.
pub(crate) fn add_committer(environment: &mut BTreeMap<OsString, OsString>, committer: Option<&Committer>) {
    for (name, value) in committer.map(committer_variables).into_iter().flatten() {
        environment.insert(name.into(), value.into());
    }
}

/// What of the stream and of the timing events belongs to earlier runs.
#[derive(Debug)]
pub(crate) struct PreviousOutput {
    pub file: Option<FileIdentity>,
    pub bytes: u64,
    pub perf: PerfMark,
    /// Files of this run are written from here on, milliseconds since the epoch.
    pub until: u64,
}

/// Clears what an earlier run left, makes sure that the log can be written, and notes where the
/// stream and the timing events of this run begin. Blocks on the disk.
pub(crate) fn clear_traces(work_dir: &Path) -> io::Result<PreviousOutput> {
    let stale = [
        LOOP_ERROR,
        EXIT_FILE,
        COMMIT_EXIT,
        BASE_TESTS_EXIT,
        HEAD_TESTS_EXIT,
        COMMIT_OUTPUT,
        PROCESS_PID,
        PROCESS_START,
    ];
    for name in stale {
        match untrusted::remove(&work_dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    untrusted::append(&work_dir.join(LOOP_LOG))?;
    write_private(&work_dir.join(ASSISTANT_STDERR), b"")?;
    // Empty: streams of earlier runs are none of this run's business.
    write_private(&work_dir.join(ASSISTANT_OUTPUT_NAME), b"")?;
    let until = untrusted::metadata(&work_dir.join(ASSISTANT_OUTPUT_NAME))?.modified()?;
    let until = until.duration_since(SystemTime::UNIX_EPOCH).map_err(io::Error::other)?;
    let stream = untrusted::metadata(&work_dir.join(ASSISTANT_OUTPUT)).ok();
    Ok(PreviousOutput {
        file: stream.as_ref().map(stream_file::identity),
        bytes: stream.map_or(0, |stream| stream.len()),
        perf: perf::mark_of(work_dir),
        until: u64::try_from(until.as_millis()).map_err(io::Error::other)?,
    })
}

/// Writes the files by which other programs find the process. Blocks on the disk.
pub(crate) fn write_pid_files(work_dir: &Path, state: &ShimState) -> io::Result<()> {
    if let Some(started) = state.started {
        write_private(&work_dir.join(PROCESS_START), started.to_string().as_bytes())?;
    }
    write_private(&work_dir.join(PROCESS_PID), state.pid.to_string().as_bytes())
}
