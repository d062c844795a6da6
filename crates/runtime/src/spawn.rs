//! Starting a loop's processes: program, arguments, environment, and the files beside them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::command::LoopCommand;
use loopgate_api::ids::LoopId;
use loopgate_api::launch::Committer;
use loopgate_api::names::{
    ASSISTANT_OUTPUT, ASSISTANT_OUTPUT_NAME, ASSISTANT_STDERR, EXIT_FILE, LOOP_ERROR, LOOP_LOG, PROCESS_PID,
    PROCESS_START, env,
};
use loopgate_home::files::write_private;
use loopgate_tools::git::committer_variables;
use loopgate_tools::process::append_private;
use loopgate_tools::shim::{self, ShimError, ShimHandle, Spec, State};
use secrecy::{ExposeSecret as _, SecretString};

use crate::job::{FileIdentity, Stage, StageProcess};
use crate::runtime::Runtime;
use crate::stream_file;

const PLAN_ITERATIONS: &str = "50";
const EXECUTE_ITERATIONS: &str = "150";

/// What a loop's process is given.
pub(crate) struct Launch<'a> {
    pub id: LoopId,
    pub command: LoopCommand,
    pub worktree: &'a Path,
    pub work_dir: &'a Path,
    pub assistant: &'a Path,
    pub plugin: &'a Path,
    pub plan_file: Option<&'a Path>,
    pub prd: Option<&'a Path>,
    pub committer: Option<&'a Committer>,
    pub failure_secret: &'a SecretString,
}

/// Program, arguments and environment of a loop's process.
pub(crate) struct Start {
    pub args: Vec<OsString>,
    pub environment: BTreeMap<OsString, OsString>,
}

/// Builds the start of a loop under the loop driver.
pub(crate) async fn driver(runtime: &Runtime, launch: &Launch<'_>) -> Start {
    let iterations =
        if launch.command == LoopCommand::Execute { EXECUTE_ITERATIONS } else { PLAN_ITERATIONS };
    let mut args: Vec<OsString> = vec![
        "loop".into(),
        "run".into(),
        launch.work_dir.into(),
        "--max-iterations".into(),
        iterations.into(),
    ];
    if let Some(prd) = launch.prd {
        args.extend(["--prd".into(), prd.into()]);
    }
    let mut environment = runtime.child_environment().await;
    let mut set = |name: &str, value: OsString| drop(environment.insert(name.into(), value));
    set(env::WORKDIR, launch.work_dir.into());
    set(env::PLAN_FILE, launch.plan_file.map_or_else(OsString::new, OsString::from));
    set(env::COMMAND, launch.command.as_str().into());
    set(env::HARNESS, "assistant".into());
    set(env::HARNESS_BIN, launch.assistant.into());
    set(env::ASSISTANT_BIN, launch.assistant.into());
    set(env::PLUGIN_DIR, launch.plugin.into());
    set(env::LOOP_ID, launch.id.to_string().into());
    set(env::FAILURE_SECRET, launch.failure_secret.expose_secret().into());
    add_committer(&mut environment, launch.committer);
    Start { args, environment }
}

/// Gives commits the name of the one who ordered them.
pub(crate) fn add_committer(environment: &mut BTreeMap<OsString, OsString>, committer: Option<&Committer>) {
    for (name, value) in committer.map(committer_variables).into_iter().flatten() {
        environment.insert(name.into(), value.into());
    }
}

/// Where the process of a stage is found again.
pub(crate) fn stage_process(runtime: &Runtime, id: LoopId, stage: Stage, work_dir: &Path) -> StageProcess {
    let (name, exit) = match stage {
        Stage::Main => ("main", EXIT_FILE),
        Stage::Commit => ("commit", "commit-exit.json"),
    };
    let socket = runtime.sockets.join(format!("{}-{name}.sock", id.0.simple()));
    StageProcess {
        stage,
        socket: socket.to_string_lossy().into_owned(),
        exit_file: work_dir.join(exit).to_string_lossy().into_owned(),
    }
}

/// Starts a loop's driver under its shim.
pub(crate) async fn start_driver(
    runtime: &Runtime,
    launch: &Launch<'_>,
    start: Start,
    process: &StageProcess,
) -> Result<(ShimHandle, State), ShimError> {
    let spec = Spec {
        program: runtime.loopgate_exe.clone(),
        args: start.args,
        cwd: launch.worktree.to_owned(),
        env: start.environment,
        stdin_file: None,
        stdout: launch.work_dir.join(LOOP_LOG),
        // Apart from the log: a failed loop tells the end of each.
        stderr: launch.work_dir.join(ASSISTANT_STDERR),
        jsonl: None,
        exit_file: PathBuf::from(&process.exit_file),
        socket: PathBuf::from(&process.socket),
        loop_id: launch.id,
    };
    shim::spawn(&runtime.loopgate_exe, &spec).await
}

/// What of a stream belongs to earlier runs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Earlier {
    pub file: Option<FileIdentity>,
    pub bytes: u64,
}

/// Clears what an earlier run left, makes sure that the log can be written, and notes where the
/// stream of this run begins. Blocks on the disk.
pub(crate) fn clear_traces(work_dir: &Path) -> io::Result<Earlier> {
    for name in [LOOP_ERROR, EXIT_FILE, "commit-exit.json", PROCESS_PID, PROCESS_START] {
        match std::fs::remove_file(work_dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    append_private(&work_dir.join(LOOP_LOG))?;
    write_private(&work_dir.join(ASSISTANT_STDERR), b"")?;
    // Empty: streams of earlier runs are none of this run's business.
    write_private(&work_dir.join(ASSISTANT_OUTPUT_NAME), b"")?;
    Ok(match std::fs::metadata(work_dir.join(ASSISTANT_OUTPUT)) {
        Ok(metadata) => Earlier { file: Some(stream_file::identity(&metadata)), bytes: metadata.len() },
        Err(_) => Earlier::default(),
    })
}

/// Writes the files by which other programs find the process. Blocks on the disk.
pub(crate) fn write_pid_files(work_dir: &Path, state: &State) -> io::Result<()> {
    if let Some(started) = state.started {
        write_private(&work_dir.join(PROCESS_START), started.to_string().as_bytes())?;
    }
    write_private(&work_dir.join(PROCESS_PID), state.pid.to_string().as_bytes())
}
