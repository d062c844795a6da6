//! Arguments that several sub-commands share.

use std::path::PathBuf;

use clap::Args;
use loopgate_api::usd::Usd;
use loopgate_home::{DataDirError, LogFormat, default_data_dir};

/// Which Loopgate of this machine is meant.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct HomeArgs {
    /// Data directory: settings, keys, records of loops, logs. An absolute path.
    #[arg(long, env = "LOOPGATE_HOME", value_name = "DIR", global = true)]
    home: Option<PathBuf>,
}

impl HomeArgs {
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
pub struct CommonArgs {
    #[command(flatten)]
    pub home: HomeArgs,
    /// How log lines are written: `text`, one readable line an entry, or `json`, one object a line.
    #[arg(long, env = "LOOPGATE_LOG_FORMAT", value_parser = log_format, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Settings of the desktop half.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct DesktopArgs {
    /// The one directory that repositories and worktrees must be in.
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
    /// Whether loops wait for the end of the assistant's usage and rate limits, instead of failing.
    #[arg(long, env = "LOOPGATE_WAIT_FOR_LIMITS", value_name = "BOOL")]
    pub wait_for_limits: Option<bool>,
    /// US dollars that a loop may spend; 0 is no limit. Default: no limit.
    #[arg(long, env = "LOOPGATE_MAX_SPEND_USD", value_name = "AMOUNT")]
    pub max_spend_usd: Option<Usd>,
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
            ("--wait-for-limits", self.wait_for_limits.is_some()),
            ("--max-spend-usd", self.max_spend_usd.is_some()),
            ("--notify-desktop", self.notify_desktop.is_some()),
            ("--notify-command", self.notify_command.is_some()),
            ("--api-origin", self.api_origin.is_some()),
            ("--web-origin", self.web_origin.is_some()),
        ];
        all.into_iter().filter_map(|(flag, is_given)| is_given.then_some(flag)).collect()
    }
}

/// The words of the settings file.
fn log_format(word: &str) -> Result<LogFormat, String> {
    match word {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("it is text or json".to_owned()),
    }
}
