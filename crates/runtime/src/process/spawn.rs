//! Starting a loop's processes: program, arguments, environment, and the files beside them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loopgate_api::command::{CommandSpec, LoopCommand, Runner};
use loopgate_api::ids::LoopId;
use loopgate_api::launch::Committer;
use loopgate_api::mcp::McpRecord;
use loopgate_api::names::{
    ASSISTANT_OUTPUT, ASSISTANT_OUTPUT_NAME, ASSISTANT_STDERR, COMMIT_OUTPUT, EXIT_FILE, LOOP_ERROR,
    LOOP_LOG, PROCESS_PID, PROCESS_START, env,
};
use loopgate_home::untrusted::{self, write_private};
use loopgate_tools::git::committer_variables;
use loopgate_tools::shim::{self, ShimError, ShimHandle, Spec, State};
use secrecy::{ExposeSecret as _, SecretString};

use crate::jobs::{FileIdentity, PerfMark, ProcessKind, ProcessRecord};
use crate::launch::staging::Staged;
use crate::process::environment::TrustGuard;
use crate::runtime::Runtime;
use crate::transcript::perf;
use crate::transcript::stream_file;
use crate::workspace::Workspace;
use crate::workspace::peers;

/// Tools that the assistant may use without asking.
pub(crate) const TOOLS: &str = "Bash,Glob,Grep,Read,Write,Edit,Task,Skill,SlashCommand,TodoWrite";
const MAX_TURNS: &str = "200";
/// Most characters of a session's id.
const SESSION_ID_CHARS: usize = 64;

/// What a loop's process is given.
pub(crate) struct ProcessRequest<'a> {
    pub id: LoopId,
    pub command: LoopCommand,
    pub workspace: &'a Workspace,
    pub assistant: &'a Path,
    /// The command's plugin, when it is there.
    pub plugin: Option<&'a Path>,
    pub staged: &'a Staged,
    pub committer: Option<&'a Committer>,
    pub failure_secret: &'a SecretString,
    /// The file that is run, or read by the assistant; the driver needs none.
    pub script: Option<&'a Path>,
    /// What the assistant may use of the expected MCP server.
    pub mcp: &'a McpRecord,
    /// The assistant's session that is gone on with.
    pub session: Option<&'a str>,
    /// What keeps the programs of its checkouts from running.
    pub guard: &'a TrustGuard,
}

/// Program, arguments, input and environment of a loop's process.
pub(crate) struct ProcessCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub stdin_file: Option<PathBuf>,
    /// Where the assistant's stream goes, when nobody else writes it.
    pub jsonl: Option<PathBuf>,
    pub environment: BTreeMap<OsString, OsString>,
}

/// Builds the start of a loop.
pub(crate) async fn start(runtime: &Runtime, launch: &ProcessRequest<'_>) -> ProcessCommand {
    let environment = environment(runtime, launch).await;
    let stream = || Some(launch.workspace.work_dir.join(ASSISTANT_OUTPUT));
    match launch.command.spec().runner {
        Runner::Driver(iterations) => ProcessCommand {
            program: runtime.loopgate_exe.clone(),
            args: driver_args(launch, iterations),
            stdin_file: None,
            jsonl: None,
            environment,
        },
        Runner::Prompt => ProcessCommand {
            program: launch.assistant.to_owned(),
            args: assistant_args(launch),
            stdin_file: launch.script.map(Path::to_owned),
            jsonl: stream(),
            environment,
        },
        Runner::EachRepository => ProcessCommand {
            program: "bash".into(),
            args: launch.script.into_iter().map(OsString::from).collect(),
            stdin_file: None,
            jsonl: stream(),
            environment,
        },
    }
}

fn driver_args(launch: &ProcessRequest<'_>, iterations: u32) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["loop".into(), "run".into(), launch.workspace.work_dir.clone().into()];
    args.extend(["--max-iterations".into(), iterations.to_string().into()]);
    if let Some(prd) = &launch.staged.prd {
        args.extend(["--prd".into(), prd.into()]);
    }
    if let Some(tools) = launch.mcp.tools() {
        args.extend(["--allow-tools".into(), tools.into()]);
    }
    args.extend(add_dirs(launch.workspace));
    args
}

fn assistant_args(launch: &ProcessRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = launch.guard.args.iter().map(OsString::from).collect();
    args.push("-p".into());
    args.extend(stream_args(launch.mcp));
    if let Some(session) = launch.session.filter(|id| is_session_id(id)) {
        args.extend(["--resume".into(), session.into()]);
    }
    args.extend(add_dirs(launch.workspace));
    if let Some(plugin) = launch.plugin {
        args.extend(["--plugin-dir".into(), plugin.into()]);
    }
    args
}

/// How the assistant prints and what it may do, whatever it is asked.
pub(crate) fn stream_args(mcp: &McpRecord) -> Vec<OsString> {
    let tools = mcp.added_to(TOOLS);
    let args =
        ["--output-format", "stream-json", "--verbose", "--allowedTools", &tools, "--max-turns", MAX_TURNS];
    args.map(OsString::from).into()
}

fn add_dirs(workspace: &Workspace) -> impl Iterator<Item = OsString> {
    let dirs = workspace.peers.iter().map(|place| place.prepared.dir.as_path());
    dirs.flat_map(|dir| [OsString::from("--add-dir"), dir.into()])
}

/// Whether a text can be an id, and never an option.
fn is_session_id(text: &str) -> bool {
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    plain && !text.starts_with('-') && (1..=SESSION_ID_CHARS).contains(&text.len())
}

async fn environment(runtime: &Runtime, launch: &ProcessRequest<'_>) -> BTreeMap<OsString, OsString> {
    let mut environment = runtime.child_environment().await;
    launch.guard.add_to(&mut environment);
    let CommandSpec { runner, .. } = launch.command.spec();
    let mut set = |name: &str, value: OsString| drop(environment.insert(name.into(), value));
    set(env::WORKDIR, launch.workspace.work_dir.clone().into());
    set(env::PLAN_FILE, launch.staged.plan_file.as_ref().map_or_else(OsString::new, OsString::from));
    set(env::COMMAND, launch.command.as_str().into());
    set(env::HARNESS, "assistant".into());
    set(env::HARNESS_BIN, launch.assistant.into());
    set(env::ASSISTANT_BIN, launch.assistant.into());
    set(env::LOOP_ID, launch.id.to_string().into());
    if matches!(runner, Runner::Driver(_)) {
        set(env::FAILURE_SECRET, launch.failure_secret.expose_secret().into());
        if let Some(plugin) = launch.plugin {
            set(env::PLUGIN_DIR, plugin.into());
        }
    }
    let places = &launch.workspace.peers;
    if !places.is_empty() {
        let dirs: Vec<String> =
            places.iter().map(|place| place.prepared.dir.as_path().to_string_lossy().into_owned()).collect();
        let names = peers::short_names(places);
        let map: Vec<String> = names.iter().zip(&dirs).map(|(name, dir)| format!("{name}={dir}")).collect();
        set(env::ADD_DIRS, dirs.join("|").into());
        set(env::ADD_DIR_NAMES, names.join("|").into());
        set(env::REPO_MAP, map.join("|").into());
    }
    add_committer(&mut environment, launch.committer);
    if !matches!(runner, Runner::Driver(_)) {
        own_program_first(&mut environment, &runtime.loopgate_exe);
    }
    environment
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

/// Where the process of a stage is found again.
pub(crate) fn process_record(
    runtime: &Runtime,
    id: LoopId,
    kind: ProcessKind,
    work_dir: &Path,
) -> ProcessRecord {
    let (name, exit) = match kind {
        ProcessKind::Main => ("main", EXIT_FILE),
        ProcessKind::Commit => ("commit", "commit-exit.json"),
    };
    let socket = runtime.sockets.join(format!("{}-{name}.sock", id.0.simple()));
    ProcessRecord {
        kind,
        socket: socket.to_string_lossy().into_owned(),
        exit_file: work_dir.join(exit).to_string_lossy().into_owned(),
    }
}

/// Starts a loop's process under its shim.
pub(crate) async fn run(
    runtime: &Runtime,
    launch: &ProcessRequest<'_>,
    start: ProcessCommand,
    process: &ProcessRecord,
) -> Result<(ShimHandle, State), ShimError> {
    let work_dir = &launch.workspace.work_dir;
    let spec = Spec {
        program: start.program,
        args: start.args,
        cwd: launch.workspace.dir.clone(),
        env: start.environment,
        stdin_file: start.stdin_file,
        stdout: work_dir.join(LOOP_LOG),
        // Apart from the log: a failed loop tells the end of each.
        stderr: work_dir.join(ASSISTANT_STDERR),
        jsonl: start.jsonl,
        exit_file: PathBuf::from(&process.exit_file),
        socket: PathBuf::from(&process.socket),
        loop_id: launch.id,
    };
    shim::spawn(&runtime.loopgate_exe, &spec).await
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
    for name in [LOOP_ERROR, EXIT_FILE, "commit-exit.json", COMMIT_OUTPUT, PROCESS_PID, PROCESS_START] {
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
pub(crate) fn write_pid_files(work_dir: &Path, state: &State) -> io::Result<()> {
    if let Some(started) = state.started {
        write_private(&work_dir.join(PROCESS_START), started.to_string().as_bytes())?;
    }
    write_private(&work_dir.join(PROCESS_PID), state.pid.to_string().as_bytes())
}
