//! Program, arguments and environment of a loop's process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use loopgate_api::command::{CommandSpec, Inputs, LoopCommand, Runner};
use loopgate_api::ids::LoopId;
use loopgate_api::launch::Committer;
use loopgate_api::mcp::McpRecord;
use loopgate_api::names::{ASSISTANT_OUTPUT, ASSISTANT_STDERR, LOOP_LOG, env};
use loopgate_api::usd::Usd;
use loopgate_tools::shim::{ShimError, ShimHandle, ShimState, Spec};
use secrecy::{ExposeSecret as _, SecretString};

use crate::commands::review::ReviewLaunch;
use crate::jobs::ProcessRecord;
use crate::launch::driver_restart::DriverLaunch;
use crate::launch::staging::StagedInputs;
use crate::process::spawn;
use crate::workspace::{Workspace, peers};
use loopgate_tools::environment::{ProcessEnvironment, TrustGuard};
use loopgate_tools::shim::Shims;

// Upper bound for a session id of the assistant, which is a UUID today.
const SESSION_ID_CHARS: usize = 64;

/// Values that determine the process of a loop.
pub(crate) struct ProcessRequest<'a> {
    pub id: LoopId,
    pub command: LoopCommand,
    pub workspace: &'a Workspace,
    pub assistant: &'a Path,
    /// Whether the work is done and approved, so that the loop only delivers it.
    pub only_delivers: bool,
    /// Whether the loop uses learnings.
    pub self_learning: bool,
    /// Directory of the command's plugin, if it was found.
    pub plugin: Option<&'a Path>,
    pub staged: &'a StagedInputs,
    /// The user's clone, whose history judges read.
    pub judged: Option<&'a Path>,
    pub committer: Option<&'a Committer>,
    pub failure_secret: &'a SecretString,
    /// Script to run, or prompt for the assistant. `None` for the loop driver and the judges.
    pub script: Option<&'a Path>,
    /// The review to run, for a command that reviews.
    pub review: Option<&'a ReviewLaunch>,
    /// Availability of the expected MCP server; determines the allowed tools.
    pub mcp: &'a McpRecord,
    /// Assistant session to resume.
    pub session: Option<&'a str>,
    /// Options and variables that keep git from running programs of untrusted repositories.
    pub guard: &'a TrustGuard,
    /// Loopgate's data directory, which all loops share.
    pub data_dir: &'a Path,
    /// Whether the driver waits until the assistant's usage limits reset.
    pub wait_for_limits: bool,
    /// Model and reasoning effort of the loop driver's iterations.
    pub model: &'a str,
    pub effort: &'a str,
    /// Spending limit of the loop.
    pub max_spend: Option<Usd>,
}

/// Program, arguments, standard input and environment of a loop's process.
pub(crate) struct ProcessCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub stdin_file: Option<PathBuf>,
    /// File for the assistant's stream. `None` when the driver writes it.
    pub jsonl: Option<PathBuf>,
    pub environment: BTreeMap<OsString, OsString>,
    /// Arguments and environment for restarting the driver.
    pub restart: Option<DriverLaunch>,
}

/// Builds the command line of a loop.
pub(crate) async fn build(
    shims: &Shims,
    environments: &ProcessEnvironment,
    launch: &ProcessRequest<'_>,
) -> ProcessCommand {
    let variables = variables(launch);
    let mut environment = environments.inherited().await;
    launch.guard.add_to(&mut environment);
    environment.extend(variables.clone());
    // Prompts and scripts call `loopgate`, which must resolve to the running version. The driver adds it by
    // itself.
    if !matches!(launch.command.spec().runner, Runner::Driver(_)) {
        spawn::prepend_exe_to_path(&mut environment, &shims.exe);
    }
    if launch.only_delivers {
        return ProcessCommand {
            program: shims.exe.clone(),
            args: vec!["loop".into(), "deliver".into()],
            stdin_file: None,
            jsonl: None,
            environment,
            restart: None,
        };
    }
    if let Some(review) = launch.review {
        return ProcessCommand {
            program: shims.exe.clone(),
            args: review.args(&launch.workspace.dir, launch.max_spend, launch.wait_for_limits),
            stdin_file: None,
            jsonl: Some(launch.workspace.work_dir.join(ASSISTANT_OUTPUT)),
            environment,
            restart: None,
        };
    }
    let stream = || Some(launch.workspace.work_dir.join(ASSISTANT_OUTPUT));
    match launch.command.spec().runner {
        Runner::Driver(iterations) => ProcessCommand {
            program: shims.exe.clone(),
            args: driver_args(launch, iterations),
            stdin_file: None,
            jsonl: None,
            environment,
            restart: Some(DriverLaunch {
                cwd: launch.workspace.dir.clone(),
                args: resume_args(launch),
                variables: variables.into_iter().collect(),
            }),
        },
        Runner::Prompt => ProcessCommand {
            program: shims.exe.clone(),
            args: ["loop", "assistant", "--"]
                .into_iter()
                .map(OsString::from)
                .chain(assistant_args(launch))
                .collect(),
            stdin_file: launch.script.map(Path::to_owned),
            jsonl: stream(),
            environment,
            restart: None,
        },
        Runner::Judges => ProcessCommand {
            program: shims.exe.clone(),
            args: judges_args(launch),
            stdin_file: None,
            jsonl: stream(),
            environment,
            restart: None,
        },
        Runner::EachRepository => ProcessCommand {
            program: "bash".into(),
            args: launch.script.into_iter().map(OsString::from).collect(),
            stdin_file: None,
            jsonl: stream(),
            environment,
            restart: None,
        },
    }
}

fn driver_args(launch: &ProcessRequest<'_>, iterations: u32) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["loop".into(), "run".into(), launch.workspace.work_dir.clone().into()];
    args.extend(["--max-iterations".into(), iterations.to_string().into()]);
    if let Some(prd) = &launch.staged.prd {
        args.extend(["--prd".into(), prd.into()]);
    }
    if launch.self_learning {
        args.push("--self-learning".into());
    }
    args.extend(allowed_tools(launch));
    args.extend(add_dirs(launch.workspace));
    args
}

/// Returns the arguments for resuming the loop in the current directory. The driver reads everything else
/// from its state file.
fn resume_args(launch: &ProcessRequest<'_>) -> Vec<OsString> {
    ["loop".into(), "run".into()].into_iter().chain(allowed_tools(launch)).collect()
}

fn allowed_tools(launch: &ProcessRequest<'_>) -> impl Iterator<Item = OsString> {
    launch.mcp.tools().into_iter().flat_map(|tools| [OsString::from("--allow-tools"), tools.into()])
}

fn assistant_args(launch: &ProcessRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = launch.guard.args.iter().map(OsString::from).collect();
    args.push("-p".into());
    args.extend(spawn::stream_args(launch.mcp));
    if let Some(session) = launch.session.filter(|id| is_session_id(id)) {
        args.extend(["--resume".into(), session.into()]);
    }
    args.extend(spending_limit(launch));
    args.extend(add_dirs(launch.workspace));
    if let Some(plugin) = launch.plugin {
        args.extend(["--plugin-dir".into(), plugin.into()]);
    }
    args
}

fn judges_args(launch: &ProcessRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["judges", "run", "--in-loop"].map(OsString::from).to_vec();
    if let Inputs::JudgeSubject(subject) = launch.command.spec().inputs {
        args.extend(["--category", subject.name()].map(OsString::from));
    }
    args.extend(["--workdir".into(), launch.workspace.work_dir.clone().into()]);
    args.extend(launch.judged.into_iter().flat_map(|clone| ["--project".into(), clone.into()]));
    args.extend(spending_limit(launch));
    args
}

/// Returns the option with the spending limit of the loop, if it has one.
fn spending_limit(launch: &ProcessRequest<'_>) -> impl Iterator<Item = OsString> + use<> {
    let limit = launch.max_spend.filter(|limit| !limit.is_zero());
    limit.into_iter().flat_map(|limit| ["--max-budget-usd".into(), limit.to_string().into()])
}

fn add_dirs(workspace: &Workspace) -> impl Iterator<Item = OsString> {
    let dirs = workspace.peers.iter().map(|place| place.prepared.dir.as_path());
    dirs.flat_map(|dir| [OsString::from("--add-dir"), dir.into()])
}

/// Returns whether a text is a session id. The id comes from a request and must not be parsed as an option.
fn is_session_id(text: &str) -> bool {
    let is_alphanumeric = text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    is_alphanumeric && !text.starts_with('-') && (1..=SESSION_ID_CHARS).contains(&text.len())
}

/// Returns the variables of a loop's process that are set in addition to the inherited ones.
fn variables(launch: &ProcessRequest<'_>) -> BTreeMap<OsString, OsString> {
    let mut environment = BTreeMap::new();
    let CommandSpec { runner, .. } = launch.command.spec();
    let mut set = |name: &str, value: OsString| drop(environment.insert(name.into(), value));
    set(env::WORKDIR, launch.workspace.work_dir.clone().into());
    set(env::PLAN_FILE, launch.staged.plan_file.as_ref().map_or_else(OsString::new, OsString::from));
    set(env::COMMAND, launch.command.as_str().into());
    set(env::HARNESS, "assistant".into());
    set(env::HARNESS_BIN, launch.assistant.into());
    set(env::ASSISTANT_BIN, launch.assistant.into());
    set(env::LOOP_ID, launch.id.to_string().into());
    set(env::HOME, launch.data_dir.into());
    set(env::WAIT_FOR_LIMITS, launch.wait_for_limits.to_string().into());
    // The secret signs the driver's failure marker, so other runners must not receive it.
    if matches!(runner, Runner::Driver(_)) {
        set(env::LOOP_MODEL, launch.model.into());
        set(env::LOOP_EFFORT, launch.effort.into());
        set(env::MAX_SPEND_USD, launch.max_spend.unwrap_or_default().to_string().into());
        set(env::FAILURE_SECRET, launch.failure_secret.expose_secret().into());
        if let Some(plugin) = launch.plugin {
            set(env::PLUGIN_DIR, plugin.into());
        }
    }
    let peer_workspaces = &launch.workspace.peers;
    if !peer_workspaces.is_empty() {
        let dirs: Vec<String> = peer_workspaces
            .iter()
            .map(|place| place.prepared.dir.as_path().to_string_lossy().into_owned())
            .collect();
        let names = peers::short_names(peer_workspaces);
        let map: Vec<String> = names.iter().zip(&dirs).map(|(name, dir)| format!("{name}={dir}")).collect();
        set(env::ADD_DIRS, dirs.join("|").into());
        set(env::ADD_DIR_NAMES, names.join("|").into());
        set(env::REPO_MAP, map.join("|").into());
    }
    spawn::add_committer(&mut environment, launch.committer);
    environment
}

/// Starts the process of a loop under a shim.
pub(crate) async fn run(
    shims: &Shims,
    launch: &ProcessRequest<'_>,
    start: ProcessCommand,
    process: &ProcessRecord,
) -> Result<(ShimHandle, ShimState), ShimError> {
    let work_dir = &launch.workspace.work_dir;
    let spec = Spec {
        program: start.program,
        args: start.args,
        cwd: launch.workspace.dir.clone(),
        env: start.environment,
        stdin_file: start.stdin_file,
        stdout: work_dir.join(LOOP_LOG),
        // A separate file, because a failure reports the tails of both.
        stderr: work_dir.join(ASSISTANT_STDERR),
        jsonl: start.jsonl,
        exit_file: PathBuf::from(&process.exit_file),
        socket: PathBuf::from(&process.socket),
        loop_id: launch.id,
    };
    shims.spawn(&spec).await
}
