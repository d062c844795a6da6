//! Arguments, environment and work directory files that every start of an assistant shares.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use loopgate_api::launch::Committer;
use loopgate_api::mcp::McpRecord;
use loopgate_api::names::{
    ASSISTANT_OUTPUT, ASSISTANT_OUTPUT_NAME, ASSISTANT_STDERR, BASE_TESTS_EXIT, COMMIT_EXIT, EXIT_FILE,
    HEAD_TESTS_EXIT, LOOP_ERROR, LOOP_LOG, PROCESS_PID, PROCESS_START,
};
use loopgate_home::untrusted::{self, write_private};
use loopgate_tools::git::committer_variables;
use loopgate_tools::shim::ShimState;

use crate::jobs::{FileIdentity, PerfMark};
use crate::transcript::{perf, stream_file};

/// Tools that the assistant may use without a permission prompt.
pub(crate) const TOOLS: &str = "Bash,Glob,Grep,Read,Write,Edit,Task,Skill,SlashCommand,TodoWrite";
/// Limit of turns per process; ends an assistant that keeps calling tools without progress.
const MAX_TURNS: &str = "200";

/// Returns the arguments for the output format, the allowed tools and the turn limit.
pub(crate) fn stream_args(mcp: &McpRecord) -> Vec<OsString> {
    let tools = mcp.added_to(TOOLS);
    let args =
        ["--output-format", "stream-json", "--verbose", "--allowedTools", &tools, "--max-turns", MAX_TURNS];
    args.map(OsString::from).into()
}

/// Prepends the directory of this executable to `PATH`, because prompts call it by name. The driver does this
/// itself.
pub(crate) fn prepend_exe_to_path(environment: &mut BTreeMap<OsString, OsString>, exe: &Path) {
    let path = environment.get(&OsString::from("PATH")).cloned().unwrap_or_default();
    let dirs = exe.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    if let Ok(path) = std::env::join_paths(dirs) {
        environment.insert("PATH".into(), path);
    }
}

/// Sets git's committer to the user who requested the loop.
pub(crate) fn add_committer(environment: &mut BTreeMap<OsString, OsString>, committer: Option<&Committer>) {
    for (name, value) in committer.map(committer_variables).into_iter().flatten() {
        environment.insert(name.into(), value.into());
    }
}

/// Positions in the stream and in the timing events at which the output of earlier runs ends.
#[derive(Debug)]
pub(crate) struct PreviousOutput {
    pub file: Option<FileIdentity>,
    pub bytes: u64,
    pub perf: PerfMark,
    /// Milliseconds since the epoch; files of this run have a modification time at or after it.
    pub until: u64,
}

/// Removes files of an earlier run, ensures that the log is writable, and records where the stream and the
/// timing events of this run begin. Performs blocking I/O.
pub(crate) fn reset_output_files(work_dir: &Path) -> io::Result<PreviousOutput> {
    let stale =
        [LOOP_ERROR, EXIT_FILE, COMMIT_EXIT, BASE_TESTS_EXIT, HEAD_TESTS_EXIT, PROCESS_PID, PROCESS_START];
    // A stale exit file would be taken for the exit of the new process.
    for name in stale {
        match untrusted::remove(&work_dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    untrusted::append(&work_dir.join(LOOP_LOG))?;
    write_private(&work_dir.join(ASSISTANT_STDERR), b"")?;
    // Emptied because it names the stream of the earlier run.
    write_private(&work_dir.join(ASSISTANT_OUTPUT_NAME), b"")?;
    // The file system's clock instead of this process's: it is compared with modification times.
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

/// Writes the pid files by which other programs find the process. Performs blocking I/O.
pub(crate) fn write_pid_files(work_dir: &Path, state: &ShimState) -> io::Result<()> {
    // The pid comes last: a reader that finds it also finds the start time, which detects a reused pid.
    if let Some(started) = state.started {
        write_private(&work_dir.join(PROCESS_START), started.to_string().as_bytes())?;
    }
    write_private(&work_dir.join(PROCESS_PID), state.pid.to_string().as_bytes())
}
