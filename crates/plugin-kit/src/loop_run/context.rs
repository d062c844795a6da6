//! What a run of the driver works with: places, programs, limits, and the environment of its children.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::usd::Usd;
use loopgate_home::{Overrides, Settings, SettingsStore};
use secrecy::SecretString;

use crate::plugins::{Plugins, is_plugin};
use crate::variables as var;

/// Tools that an unattended run may use without asking.
const TOOLS: &str = "Agent,Bash,Edit,Read,SendMessage,Skill,TaskCreate,TaskGet,TaskList,TaskOutput,TaskStop,\
    TaskUpdate,WebFetch,WebSearch,Write,\
    mcp__playwright__browser_navigate,mcp__playwright__browser_snapshot,mcp__playwright__browser_take_screenshot,\
    mcp__playwright__browser_click,mcp__playwright__browser_type,mcp__playwright__browser_evaluate";
/// Tools of a review or a fix.
const REVIEW_TOOLS: &str = "Agent,Bash,Edit,Read,SendMessage,Skill,TaskCreate,TaskList,TaskUpdate,Write";
/// Model of the loop.
const MODEL: &str = "claude-opus-4-6";
/// Longest iteration, when the environment sets no other.
const ITERATION_LIMIT: Duration = Duration::from_hours(4);
/// Pause before the next iteration.
const PAUSE: Duration = Duration::from_secs(1);
/// Where the assistant keeps installed plugins of ours, below the home directory.
const PLUGIN_CACHE: &str = ".claude/plugins/cache/loopgate";

/// Variables that tell the assistant that it runs inside another one; a loop never does.
const OF_A_PARENT_SESSION: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", var::ASSISTANT_SESSION];

/// Facts that do not change during a run.
#[derive(Debug)]
pub struct RunContext {
    /// Directory that the assistant runs in.
    pub project_root: PathBuf,
    /// Executable of the assistant.
    pub assistant: OsString,
    /// Folders of the plugins that the assistant loads for this run.
    pub plugin_dirs: Vec<PathBuf>,
    /// The plugin for reviews is there, loaded or installed.
    pub can_review: bool,
    /// Whose settings the assistant follows; `None` leaves it to the assistant. The instructions of
    /// the project count in any case.
    pub setting_sources: Option<String>,
    /// Key of the failure marker; no child ever gets it.
    pub secret: Option<SecretString>,
    /// Tools that an iteration may use without asking, joined by commas.
    pub tools: String,
    /// Time limit of an iteration.
    pub iteration_limit: Duration,
    /// Pause between iterations.
    pub pause: Duration,
    /// Limits of the assistant's account are waited out.
    pub wait_for_limits: bool,
    /// What a new loop may spend, where its options do not say.
    pub max_spend: Option<Usd>,
    /// Timing events in the newer form.
    pub perf_v2: bool,
    /// Review cycles after the loop.
    pub review_cycles: u32,
    /// Environment of every child.
    pub env: BTreeMap<OsString, OsString>,
}

impl RunContext {
    /// Reads the environment of the process. `more_tools` join those that every iteration may use.
    ///
    /// # Errors
    /// When the current directory is gone, or the spending limit is no amount.
    pub fn from_environment(more_tools: Option<&str>) -> std::io::Result<Self> {
        let plugin_dirs = plugin_dirs();
        let settings = settings();
        let can_review =
            plugin_dirs.iter().any(|dir| dir.ends_with("code-review")) || is_installed("code-review");
        Ok(Self {
            project_root: std::env::current_dir()?,
            assistant: assistant(),
            plugin_dirs,
            can_review,
            setting_sources: var::text(var::SETTING_SOURCES),
            secret: var::text(var::FAILURE_SECRET).map(SecretString::from),
            tools: [Some(TOOLS), more_tools].into_iter().flatten().collect::<Vec<_>>().join(","),
            iteration_limit: milliseconds(var::ITERATION_TIMEOUT_MS).unwrap_or(ITERATION_LIMIT),
            pause: pause(),
            wait_for_limits: waits_for_limits(settings.as_ref()),
            max_spend: max_spend(settings.as_ref())?,
            perf_v2: var::text(var::PERF_V2).as_deref() == Some("1"),
            review_cycles: var::text(var::REVIEW_CYCLES).and_then(|n| n.parse().ok()).unwrap_or(2),
            env: environment(),
        })
    }

    /// Sets a variable for every child that comes.
    pub fn export(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.env.insert(name.into(), value.as_ref().to_owned());
    }

    /// Arguments of an iteration, which may go on with a session. `dirs` are directories outside the project
    /// that it may work in, `budget` is what it may spend.
    #[must_use]
    pub fn iteration_args(
        &self,
        dirs: &[PathBuf],
        budget: Option<Usd>,
        session: Option<&str>,
        prompt: &str,
    ) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec![format!("--allowed-tools={}", self.tools).into()];
        args.extend(["--model", MODEL, "--effort", "high"].map(OsString::from));
        args.extend(run_args(budget, session));
        self.finish_args(args, dirs, prompt)
    }

    /// Arguments of a review or a fix; its model is left to the assistant.
    #[must_use]
    pub fn review_args(&self, budget: Option<Usd>, session: Option<&str>, prompt: &str) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec![format!("--allowed-tools={REVIEW_TOOLS}").into()];
        args.extend(run_args(budget, session));
        self.finish_args(args, &[], prompt)
    }

    fn finish_args(&self, mut args: Vec<OsString>, dirs: &[PathBuf], prompt: &str) -> Vec<OsString> {
        args.extend(["--output-format", "stream-json", "--verbose"].map(OsString::from));
        if let Some(sources) = &self.setting_sources {
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

/// Session and budget of one run.
fn run_args(budget: Option<Usd>, session: Option<&str>) -> impl Iterator<Item = OsString> {
    let session = session.into_iter().flat_map(|id| ["--resume".into(), id.into()]);
    let budget = budget.into_iter().flat_map(|usd| ["--max-budget-usd".into(), usd.to_string().into()]);
    session.chain(budget)
}

/// The plugin that was handed in, and those that are beside it. When none was, and the user has
/// installed none, our own copy.
fn plugin_dirs() -> Vec<PathBuf> {
    let given = var::text(var::PLUGIN_DIR).map(PathBuf::from).or_else(|| {
        let data_dir = (!is_installed("code")).then(loopgate_home::default_data_dir)?.ok()?;
        Plugins::unpack(&data_dir).ok()?.dir("code")
    });
    let Some(given) = given else { return Vec::new() };
    let review = given.parent().map(|parent| parent.join("code-review")).filter(|dir| is_plugin(dir));
    std::iter::once(given).chain(review).collect()
}

fn is_installed(plugin: &str) -> bool {
    let home = std::env::home_dir().unwrap_or_default();
    std::fs::read_dir(home.join(PLUGIN_CACHE).join(plugin))
        .into_iter()
        .flatten()
        .flatten()
        .any(|version| is_plugin(&version.path()))
}

/// The settings file; one that cannot be read changes nothing.
pub(super) fn settings() -> Option<Settings> {
    let dir = loopgate_home::default_data_dir().ok()?;
    let store = SettingsStore::open(&dir.join("settings.toml"), Overrides::default()).ok()?;
    Some(store.get().as_ref().clone())
}

/// The assistant's program.
pub(super) fn assistant() -> OsString {
    std::env::var_os(var::ASSISTANT_BIN).filter(|path| !path.is_empty()).unwrap_or_else(|| "claude".into())
}

/// The pause before the next iteration.
pub(super) fn pause() -> Duration {
    milliseconds(var::ITERATION_PAUSE_MS).unwrap_or(PAUSE)
}

/// What the variable says, else the settings.
pub(super) fn waits_for_limits(settings: Option<&Settings>) -> bool {
    match var::text(var::WAIT_FOR_LIMITS) {
        Some(text) => text != "false",
        None => settings.is_none_or(|settings| settings.wait_for_limits),
    }
}

/// What the variable says, else the settings. A limit that cannot be read must not be taken for none.
fn max_spend(settings: Option<&Settings>) -> std::io::Result<Option<Usd>> {
    match var::text(var::MAX_SPEND_USD) {
        Some(text) => {
            let invalid = |error| std::io::Error::other(format!("{}: {error}", var::MAX_SPEND_USD));
            text.parse().map(Some).map_err(invalid)
        }
        None => Ok(settings.and_then(|settings| settings.max_spend_usd)),
    }
}

fn milliseconds(name: &str) -> Option<Duration> {
    var::text(name)?.parse().ok().map(Duration::from_millis)
}

/// The process's environment without the marker's key. This program is first on the path for the commands of
/// the plugins, and named by its path for their hooks.
pub(super) fn environment() -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> = std::env::vars_os()
        .filter(|(name, _)| name != var::FAILURE_SECRET && OF_A_PARENT_SESSION.iter().all(|of| name != of))
        .collect();
    let program = std::env::current_exe().ok();
    let own = program.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path)));
    if let Ok(path) = path {
        env.insert("PATH".into(), path);
    }
    if let Some(program) = program {
        env.insert(var::PROGRAM.into(), program.into());
    }
    env
}
