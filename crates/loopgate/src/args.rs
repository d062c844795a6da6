//! Arguments shared by several sub-commands.

use std::path::PathBuf;

use clap::Args;
use loopgate_api::usd::Usd;
use loopgate_home::{DataDirError, LogFormat, default_data_dir};

/// Selects a Loopgate installation on this machine.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct HomeArgs {
    /// Data directory with settings, keys, loop records and logs. Must be an absolute path.
    #[arg(long, env = "LOOPGATE_HOME", value_name = "DIR", global = true)]
    home: Option<PathBuf>,
}

impl HomeArgs {
    /// Returns the data directory given by flag, environment variable or platform default.
    ///
    /// # Errors
    /// Fails with [`DataDirError`] when the platform defines no home directory.
    pub fn data_dir(&self) -> Result<PathBuf, DataDirError> {
        self.home.clone().map_or_else(default_data_dir, Ok)
    }
}

/// Settings of every service command. A flag overrides its environment variable, which overrides
/// `settings.toml` in the data directory.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct CommonArgs {
    #[command(flatten)]
    pub home: HomeArgs,
    /// Format of log lines: `text` (for reading) or `json` (one object per line).
    #[arg(long, env = "LOOPGATE_LOG_FORMAT", value_parser = log_format, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Settings of the desktop, as flags and environment variables.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct DesktopArgs {
    /// Directory that contains all repositories and worktrees. Loopgate works only inside it.
    #[arg(long, env = "LOOPGATE_SANDBOX", value_name = "DIR")]
    pub sandbox: Option<PathBuf>,
    /// Use the sandbox without confirmation, even if it contains your home directory.
    #[arg(long)]
    pub yes: bool,
    /// File with the gateway token, for an executor in another process. Read if it exists, otherwise created
    /// with permissions for you only. Default: the token is kept in memory.
    #[arg(long, env = "LOOPGATE_GATEWAY_TOKEN_FILE", value_name = "FILE")]
    pub gateway_token_file: Option<PathBuf>,
    /// Port of the gateway; 0 picks any free port. Default: the first free port of 19432 to 19435.
    #[arg(long, env = "LOOPGATE_PORT", value_name = "PORT")]
    pub port: Option<u16>,
    /// Maximum number of concurrent loops; further loops are queued. Default: no limit.
    #[arg(long, env = "LOOPGATE_MAX_LOOPS", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_loops: Option<u32>,
    /// Free memory in megabytes that is required to start another loop. A single loop always starts.
    #[arg(long, env = "LOOPGATE_MIN_FREE_MEMORY_MB", value_name = "MB")]
    pub min_free_memory: Option<u64>,
    /// Whether loops wait until usage and rate limits of the assistant reset, instead of failing.
    #[arg(long, env = "LOOPGATE_WAIT_FOR_LIMITS", value_name = "BOOL")]
    pub wait_for_limits: Option<bool>,
    /// Model of the assistant in loops, for example opus. Default: claude-opus-4-6.
    #[arg(long, env = "LOOPGATE_LOOP_MODEL", value_name = "MODEL")]
    pub loop_model: Option<String>,
    /// Reasoning effort of the assistant in loops. Default: high.
    #[arg(long, env = "LOOPGATE_LOOP_EFFORT", value_name = "EFFORT")]
    pub loop_effort: Option<String>,
    /// Spending limit of a loop in US dollars; 0 means no limit. Default: no limit.
    #[arg(long, env = "LOOPGATE_MAX_SPEND_USD", value_name = "AMOUNT")]
    pub max_spend_usd: Option<Usd>,
    /// Whether to show a desktop notification when a loop finishes, or when a loop or a request waits for
    /// you.
    #[arg(long, env = "LOOPGATE_NOTIFY_DESKTOP", value_name = "BOOL")]
    pub notify_desktop: Option<bool>,
    /// Program to run when a loop finishes, or when a loop or a request waits for you; docs/notifications.md
    /// describes its input.
    #[arg(long, env = "LOOPGATE_NOTIFY_COMMAND", value_name = "PROGRAM")]
    pub notify_command: Option<String>,
    /// Origin of the control plane's API, for example https://loopgate.example.com.
    #[arg(long, env = "LOOPGATE_AUTH_API_ORIGIN", value_name = "URL")]
    pub api_origin: Option<String>,
    /// Origin of the web app. Default: the origin of the API.
    #[arg(long, env = "LOOPGATE_WEB_APP_ORIGIN", value_name = "URL")]
    pub web_origin: Option<String>,
}

impl DesktopArgs {
    /// Returns the flags whose settings were given on the command line or by an environment variable.
    pub fn explicit_flags(&self) -> Vec<&'static str> {
        let all = [
            ("--sandbox", self.sandbox.is_some()),
            ("--gateway-token-file", self.gateway_token_file.is_some()),
            ("--port", self.port.is_some()),
            ("--max-loops", self.max_loops.is_some()),
            ("--min-free-memory", self.min_free_memory.is_some()),
            ("--wait-for-limits", self.wait_for_limits.is_some()),
            ("--loop-model", self.loop_model.is_some()),
            ("--loop-effort", self.loop_effort.is_some()),
            ("--max-spend-usd", self.max_spend_usd.is_some()),
            ("--notify-desktop", self.notify_desktop.is_some()),
            ("--notify-command", self.notify_command.is_some()),
            ("--api-origin", self.api_origin.is_some()),
            ("--web-origin", self.web_origin.is_some()),
        ];
        all.into_iter().filter_map(|(flag, is_set)| is_set.then_some(flag)).collect()
    }
}

fn log_format(value: &str) -> Result<LogFormat, String> {
    // The same values as `log_format` in settings.toml.
    match value {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("expected `text` or `json`".to_owned()),
    }
}
