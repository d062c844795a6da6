//! Configuration of a driver run: paths, programs, limits, and the environment of its child processes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::names::env::LOOP_ID;
use loopgate_api::usd::Usd;
use loopgate_home::{Overrides, Settings, SettingsStore};
use loopgate_tools::environment::{EXCLUDED_SETTING, INTERACTIVE_MODES, prepare_for_assistant};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::plugins::Plugins;
use crate::variables as var;

/// Tools that an unattended iteration may use without permission.
const TOOLS: &str = "Agent,Bash,Edit,Read,SendMessage,Skill,WebFetch,WebSearch,Write,\
    mcp__playwright__browser_navigate,mcp__playwright__browser_snapshot,mcp__playwright__browser_take_screenshot,\
    mcp__playwright__browser_click,mcp__playwright__browser_type,mcp__playwright__browser_evaluate";
/// Default time limit of an iteration.
const DEFAULT_ITERATION_LIMIT: Duration = Duration::from_hours(4);
/// Default pause before the next iteration.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);
/// Variable that keeps the assistant from running agents and commands in the background.
const NO_BACKGROUND_TASKS: (&str, &str) = ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1");
/// Variables by which hooks recognize their loop and find their program.
const GUARD_VARIABLES: [&str; 8] = [
    var::PROGRAM,
    var::RUN_ID,
    var::WORKDIR,
    var::ITERATION,
    var::HOOK_RECORD,
    var::MESSAGES,
    var::LEARNINGS_REPO,
    LOOP_ID,
];
/// Permission mode of the user's sessions, for example `plan`, would prevent the work.
const PERMISSION_MODE: &str = "acceptEdits";

/// Configuration that is constant during a run.
#[derive(Debug)]
pub struct RunContext {
    /// Working directory of the assistant.
    pub project_root: PathBuf,
    /// Executable of the assistant.
    pub assistant: OsString,
    /// Directories of the plugins that the assistant loads for this run.
    pub plugin_dirs: Vec<PathBuf>,
    /// The unpacked plugins, if the loop uses them.
    pub unpacked_plugins: Option<Plugins>,
    /// Setting sources passed to the assistant; `None` keeps its default. The instructions of the project
    /// apply in any case.
    pub setting_sources: Option<String>,
    /// Key that signs the failure marker. Never passed to a child process.
    pub secret: Option<SecretString>,
    /// Tools that an iteration may use without permission, comma-separated.
    pub tools: String,
    /// Model of the iterations.
    pub model: String,
    /// Reasoning effort of the iterations.
    pub effort: String,
    /// Time limit of an iteration.
    pub iteration_limit: Duration,
    /// Pause between two iterations; grows after failures.
    pub pause: Duration,
    /// Whether the loop waits for rate limits of the account instead of failing.
    pub wait_for_limits: bool,
    /// Whether the settings of the user allow learnings.
    pub learnings_enabled: bool,
    /// Spending limit of a new loop whose options set none.
    pub max_spend: Option<Usd>,
    /// Whether the timing events use the newer format.
    pub perf_v2: bool,
    /// Upper bound of review cycles after the loop.
    pub review_cycles: u32,
    /// Environment of every child process.
    pub env: BTreeMap<OsString, OsString>,
}

impl RunContext {
    /// Reads the configuration from the environment and the settings. `more_tools` are added to the tools of
    /// every iteration.
    ///
    /// # Errors
    /// Fails when the current directory does not exist, the plugins cannot be unpacked, or the spending limit is not a
    /// valid amount.
    pub fn from_environment(more_tools: Option<&str>) -> std::io::Result<Self> {
        let plugin_dirs = plugin_dirs()?;
        let settings = settings();
        Ok(Self {
            project_root: std::env::current_dir()?,
            assistant: assistant(),
            plugin_dirs,
            unpacked_plugins: unpacked_plugins()?,
            setting_sources: var::text(var::SETTING_SOURCES),
            secret: var::text(var::FAILURE_SECRET).map(SecretString::from),
            tools: [Some(TOOLS), more_tools].into_iter().flatten().collect::<Vec<_>>().join(","),
            model: setting(var::LOOP_MODEL, settings.as_ref(), |settings| &settings.loop_model),
            effort: setting(var::LOOP_EFFORT, settings.as_ref(), |settings| &settings.loop_effort),
            iteration_limit: milliseconds(var::ITERATION_TIMEOUT_MS).unwrap_or(DEFAULT_ITERATION_LIMIT),
            pause: pause(),
            learnings_enabled: settings.as_ref().is_none_or(|settings| settings.learnings_enabled),
            wait_for_limits: waits_for_limits(settings.as_ref()),
            max_spend: max_spend(settings.as_ref())?,
            perf_v2: var::text(var::PERF_V2).as_deref() == Some("1"),
            review_cycles: var::text(var::REVIEW_CYCLES).and_then(|n| n.parse().ok()).unwrap_or(2),
            env: environment(),
        })
    }

    /// Sets a variable in the environment of all later child processes.
    pub fn export(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.env.insert(name.into(), value.as_ref().to_owned());
    }

    /// Removes a variable from the environment of all later child processes.
    pub fn remove(&mut self, name: &str) {
        self.env.remove(OsStr::new(name));
    }

    /// Builds the arguments of an iteration, which may resume a session. `dirs` are accessible directories
    /// outside the project; `budget` limits the spending of the run.
    #[must_use]
    pub fn iteration_args(
        &self,
        dirs: &[PathBuf],
        budget: Option<Usd>,
        session: Option<&str>,
        prompt: &str,
    ) -> Vec<OsString> {
        let mut args = tool_args(&self.tools);
        args.extend(["--model", &self.model, "--effort", &self.effort].map(OsString::from));
        args.extend(run_args(budget, session));
        self.finish_args(args, dirs, prompt)
    }

    /// Returns the settings that take precedence over those of the user and of the project. The guards of a loop are hooks
    /// of its plugin, its prompt comes from a shell block of its command, and settings can also set variables.
    fn settings(&self) -> String {
        let guards = GUARD_VARIABLES.into_iter();
        let guards = guards.filter_map(|name| Some((name, self.env.get(OsStr::new(name))?.to_str()?)));
        let modes = INTERACTIVE_MODES.into_iter().map(|name| (name, "0"));
        let env: BTreeMap<&str, &str> = guards.chain(modes).chain([NO_BACKGROUND_TASKS]).collect();
        let mut settings = json!({"disableAllHooks": false, "disableSkillShellExecution": false, "env": env});
        // The variable is part of the environment that the driver inherited.
        let excluded = self.env.get(OsStr::new(var::EXCLUDED_INSTRUCTIONS)).and_then(|text| text.to_str());
        if let Some(excluded) = excluded.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            settings[EXCLUDED_SETTING] = excluded;
        }
        settings.to_string()
    }

    fn finish_args(&self, mut args: Vec<OsString>, dirs: &[PathBuf], prompt: &str) -> Vec<OsString> {
        args.extend(
            ["--permission-mode", PERMISSION_MODE, "--settings", &self.settings()].map(OsString::from),
        );
        args.extend(["--output-format", "stream-json", "--verbose"].map(OsString::from));
        if let Some(sources) = &self.setting_sources {
            // Without the project among its setting sources the assistant ignores the CLAUDE.md of its
            // working directory. The runtime sets a variable that makes it read that file in directories
            // passed with `--add-dir`.
            args.extend(["--setting-sources".into(), sources.into(), "--add-dir".into(), ".".into()]);
        }
        for (flag, dirs) in [("--plugin-dir", self.plugin_dirs.as_slice()), ("--add-dir", dirs)] {
            for dir in dirs {
                args.push(flag.into());
                args.push(dir.into());
            }
        }
        args.push("-p".into());
        args.push(prompt.into());
        args
    }
}

/// Builds the arguments that make exactly these tools available and allowed. An assistant that only has them allowed
/// also offers tools that leave the worktree or wait, such as those for worktrees, schedules and workflows.
fn tool_args(tools: &str) -> Vec<OsString> {
    // MCP tools are not built in; a rule such as `Bash(git *)` names its tool before the parenthesis.
    let built_in = tools.split(',').map(|tool| tool.split('(').next().unwrap_or(tool).trim());
    let built_in: Vec<&str> = built_in.filter(|tool| !tool.starts_with("mcp__")).collect();
    // With `=`, because the options otherwise consume all following arguments.
    vec![format!("--tools={}", built_in.join(",")).into(), format!("--allowed-tools={tools}").into()]
}

/// Builds the arguments for session and budget.
fn run_args(budget: Option<Usd>, session: Option<&str>) -> impl Iterator<Item = OsString> {
    let session = session.into_iter().flat_map(|id| ["--resume".into(), id.into()]);
    let budget = budget.into_iter().flat_map(|usd| ["--max-budget-usd".into(), usd.to_string().into()]);
    session.chain(budget)
}

/// Returns the plugin passed in the environment, or our embedded copy. The assistant ignores an installed plugin of the same
/// name, which may be of another version than this program.
pub fn plugin_dirs() -> std::io::Result<Vec<PathBuf>> {
    let given = match unpacked_plugins()? {
        Some(plugins) => plugins.root().join("code"),
        None => var::text(var::PLUGIN_DIR).map(PathBuf::from).unwrap_or_default(),
    };
    Ok(vec![given])
}

/// Returns our unpacked plugins, with their files restored, if the loop uses them. The runtime determines their directory
/// at its start and passes it to each loop; any other directory in the environment is used as it is.
pub(super) fn unpacked_plugins() -> std::io::Result<Option<Plugins>> {
    let given = var::text(var::PLUGIN_DIR).map(PathBuf::from);
    unpacked_plugins_of(given.as_deref())
}

/// Returns our unpacked plugins, with their files restored, if a plugin directory is one of them or none is given.
pub(super) fn unpacked_plugins_of(given: Option<&Path>) -> std::io::Result<Option<Plugins>> {
    let data_dir = loopgate_home::default_data_dir().map_err(std::io::Error::other);
    match given {
        Some(given) if !data_dir.as_ref().is_ok_and(|data_dir| Plugins::is_unpacked(data_dir, given)) => {
            Ok(None)
        }
        _ => Plugins::unpack(&data_dir?).map(Some),
    }
}

/// Reads the settings file. An unreadable file counts as missing, so that it cannot prevent a loop.
pub(crate) fn settings() -> Option<Settings> {
    let dir = loopgate_home::default_data_dir().ok()?;
    let store = SettingsStore::open(&dir.join("settings.toml"), Overrides::default()).ok()?;
    Some(store.get().as_ref().clone())
}

/// Returns the executable of the assistant.
pub fn assistant() -> OsString {
    std::env::var_os(var::ASSISTANT_BIN).filter(|path| !path.is_empty()).unwrap_or_else(|| "claude".into())
}

/// Returns the pause before the next iteration.
pub(crate) fn pause() -> Duration {
    milliseconds(var::ITERATION_PAUSE_MS).unwrap_or(DEFAULT_PAUSE)
}

/// Returns whether loops wait for rate limits. The environment takes precedence over the settings.
pub(crate) fn waits_for_limits(settings: Option<&Settings>) -> bool {
    match var::text(var::WAIT_FOR_LIMITS) {
        Some(text) => text != "false",
        None => settings.is_none_or(|settings| settings.wait_for_limits),
    }
}

/// Returns the default spending limit. The environment takes precedence over the settings. An invalid value
/// is an error: ignoring it would run the loop without a limit.
fn max_spend(settings: Option<&Settings>) -> std::io::Result<Option<Usd>> {
    match var::text(var::MAX_SPEND_USD) {
        Some(text) => {
            let invalid = |error| std::io::Error::other(format!("{}: {error}", var::MAX_SPEND_USD));
            text.parse().map(Some).map_err(invalid)
        }
        None => Ok(settings.and_then(|settings| settings.max_spend_usd)),
    }
}

/// Returns a value from the environment, else from the settings, else its default.
fn setting(name: &str, settings: Option<&Settings>, of: impl Fn(&Settings) -> &String) -> String {
    var::text(name).unwrap_or_else(|| {
        settings.map_or_else(|| of(&Settings::default()).clone(), |settings| of(settings).clone())
    })
}

fn milliseconds(name: &str) -> Option<Duration> {
    var::text(name)?.parse().ok().map(Duration::from_millis)
}

/// Returns the environment for child processes, without the marker's key. Prepends the directory of this
/// executable to `PATH` for the commands of the plugins, and exports its path for their hooks, so that both
/// use this version.
pub fn environment() -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> =
        std::env::vars_os().filter(|(name, _)| name != var::FAILURE_SECRET).collect();
    prepare_for_assistant(&mut env);
    let program = std::env::current_exe().ok();
    let program_dir = program.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    // A directory with a colon cannot be part of PATH; then the children keep the inherited value.
    let path = std::env::join_paths(program_dir.into_iter().chain(std::env::split_paths(&path)));
    if let Ok(path) = path {
        env.insert("PATH".into(), path);
    }
    if let Some(program) = program {
        env.insert(var::PROGRAM.into(), program.into());
    }
    env
}
