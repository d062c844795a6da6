//! The command line: its help is the manual.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use loopgate_home::{DataDirError, LogFormat, default_data_dir};

use loopgate_plugin_kit::hook::HookCommand;
use loopgate_plugin_kit::perf_summary::PerfCommand;
use loopgate_plugin_kit::plan::PlanCommand;

use crate::commands;

/// Runs AI coding loops on your own machine.
///
/// Loopgate turns the coding assistant on your command line (`claude`), a second tool that reviews
/// (`codex`), your code host's command line (`gh`) and your repositories into dependable loops: a
/// plan that you can judge, then an implementation in a worktree of its own, committed, pushed and
/// opened as a pull request.
///
/// Start everything on this machine with `loopgate up` and open the page that it names.
#[derive(Debug, Parser)]
#[command(
    name = "loopgate",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything on this machine: web app, control plane, gateway and runtime.
    Up(commands::up::Up),
    /// Run the desktop half alone: the gateway on loopback and the runtime behind it.
    Gateway(commands::gateway::Gateway),
    /// Run the control plane and the web app alone.
    ControlPlane(commands::control_plane::ControlPlane),
    /// List what waits for your decision, and decide.
    #[cfg(unix)]
    Approvals(commands::approvals::Approvals),
    /// Show the loops that run, and those that wait for a place.
    #[cfg(unix)]
    Status(commands::status::Status),
    /// Show what was asked of the gateway lately.
    #[cfg(unix)]
    Activity(commands::activity::Activity),
    /// List the worktrees that loops left, and clean them up.
    #[cfg(unix)]
    Worktrees(commands::worktrees::Worktrees),
    /// Look at what a repository brings along to be run, and let it.
    #[cfg(unix)]
    Trust(commands::trust::Trust),
    /// Pack what is known of a loop into one file for a report.
    #[cfg(unix)]
    SupportBundle(commands::support_bundle::SupportBundle),
    /// Drive one loop in the current directory; the assistant's plugins use it.
    #[command(subcommand)]
    Loop(commands::plugins::LoopCommand),
    /// Check and change a plan; the assistant's plugins use it.
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Answer a hook of the assistant.
    #[command(subcommand, hide = true)]
    Hook(HookCommand),
    /// Make the assistant's event stream readable.
    #[command(subcommand, hide = true)]
    Stream(commands::plugins::StreamCommand),
    /// Sum up where the time of a loop went.
    #[command(subcommand, hide = true)]
    Perf(PerfCommand),
    /// Supervise one process of a loop.
    #[command(hide = true)]
    Shim(commands::shim::Shim),
    /// Print the description of an interface as OpenAPI JSON.
    #[command(hide = true)]
    Openapi(commands::openapi::Openapi),
}

impl Cli {
    /// Runs the chosen sub-command.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Up(command) => command.run(),
            Command::Gateway(command) => command.run(),
            Command::ControlPlane(command) => command.run(),
            #[cfg(unix)]
            Command::Approvals(command) => command.run(),
            #[cfg(unix)]
            Command::Status(command) => command.run(),
            #[cfg(unix)]
            Command::Activity(command) => command.run(),
            #[cfg(unix)]
            Command::Worktrees(command) => command.run(),
            #[cfg(unix)]
            Command::Trust(command) => command.run(),
            #[cfg(unix)]
            Command::SupportBundle(command) => command.run(),
            Command::Loop(command) => Ok(command.run()),
            Command::Plan(command) => Ok(command.run()),
            Command::Hook(command) => Ok(command.run()),
            Command::Stream(command) => Ok(command.run()),
            Command::Perf(command) => Ok(command.run()),
            Command::Shim(command) => command.run(),
            Command::Openapi(command) => command.run(),
        }
    }
}

/// Which Loopgate of this machine is meant.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct Home {
    /// Data directory: settings, keys, records of loops, logs. An absolute path.
    #[arg(long, env = "LOOPGATE_HOME", value_name = "DIR", global = true)]
    home: Option<PathBuf>,
}

impl Home {
    /// The data directory of flag, environment or platform.
    ///
    /// # Errors
    /// The platform names none.
    pub fn data_dir(&self) -> Result<PathBuf, DataDirError> {
        self.home.clone().map_or_else(default_data_dir, Ok)
    }
}

/// Settings that every service command takes. A flag wins over its variable, the variable over
/// the settings file (`settings.toml` in the data directory).
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct Common {
    #[command(flatten)]
    pub home: Home,
    /// How log lines are written: `text`, one readable line an entry, or `json`, one object a line.
    #[arg(long, env = "LOOPGATE_LOG_FORMAT", value_parser = log_format, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Settings of the desktop half.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct DesktopArgs {
    /// The one directory that repositories and worktrees must lie in.
    #[arg(long, env = "LOOPGATE_SANDBOX", value_name = "DIR")]
    pub sandbox: Option<PathBuf>,
    /// Take the sandbox without asking, also your home directory or one above it.
    #[arg(long)]
    pub yes: bool,
    /// File with the gateway token, for an executor outside this process. It is read when it
    /// exists, else made for its owner alone. Without it the token stays in memory.
    #[arg(long, env = "LOOPGATE_GATEWAY_TOKEN_FILE", value_name = "FILE")]
    pub gateway_token_file: Option<PathBuf>,
    /// Port of the gateway; 0 takes any. Default: 19432, then 19433 to 19435.
    #[arg(long, env = "LOOPGATE_PORT", value_name = "PORT")]
    pub port: Option<u16>,
    /// How many loops run at once; the others wait in order. Default: as many as are asked for.
    #[arg(long, env = "LOOPGATE_MAX_LOOPS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_loops: Option<u32>,
    /// Megabytes of memory that must be free before a further loop starts. One may always run.
    #[arg(long, env = "LOOPGATE_MIN_FREE_MEMORY_MB", value_name = "MB")]
    pub min_free_memory: Option<u64>,
    /// Whether the desktop shows a notification when a loop has ended, or it or a request waits for
    /// you.
    #[arg(long, env = "LOOPGATE_NOTIFY_DESKTOP", value_name = "BOOL")]
    pub notify_desktop: Option<bool>,
    /// Program that is run when a loop has ended, or it or a request waits for you;
    /// docs/notifications.md says what it is told.
    #[arg(long, env = "LOOPGATE_NOTIFY_COMMAND", value_name = "PROGRAM")]
    pub notify_command: Option<String>,
    /// Origin of the control plane's API, for example https://loopgate.example.com.
    #[arg(long, env = "LOOPGATE_AUTH_API_ORIGIN", value_name = "URL")]
    pub api_origin: Option<String>,
    /// Origin of the web app. Default: the API's.
    #[arg(long, env = "LOOPGATE_WEB_APP_ORIGIN", value_name = "URL")]
    pub web_origin: Option<String>,
}

impl DesktopArgs {
    /// The settings that were given by flag or variable.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--sandbox", self.sandbox.is_some()),
            ("--gateway-token-file", self.gateway_token_file.is_some()),
            ("--port", self.port.is_some()),
            ("--max-loops", self.max_loops.is_some()),
            ("--min-free-memory", self.min_free_memory.is_some()),
            ("--notify-desktop", self.notify_desktop.is_some()),
            ("--notify-command", self.notify_command.is_some()),
            ("--api-origin", self.api_origin.is_some()),
            ("--web-origin", self.web_origin.is_some()),
        ];
        all.into_iter().filter_map(|(flag, is_given)| is_given.then_some(flag)).collect()
    }
}

/// The variable that an error of the command line is about, when no flag gave the wrong value.
pub fn variable_of(error: &clap::Error, words: impl Iterator<Item = String>) -> Option<String> {
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else { return None };
    let flag = argument.split_whitespace().next()?;
    let words: Vec<String> = words.skip(1).collect();
    if words.iter().any(|word| word.split('=').next() == Some(flag)) {
        return None;
    }
    let program = Cli::command();
    let command = words.iter().find_map(|word| program.find_subcommand(word))?;
    let argument = command.get_arguments().find(|known| known.get_long() == flag.strip_prefix("--"))?;
    let variable = argument.get_env()?.to_str()?;
    std::env::var_os(variable).is_some().then(|| variable.to_owned())
}

/// The words of the settings file.
fn log_format(word: &str) -> Result<LogFormat, String> {
    match word {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("it is text or json".to_owned()),
    }
}
