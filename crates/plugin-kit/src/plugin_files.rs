//! `loopgate plugins …`: installs our plugins for the user's assistant, and finds files of installed ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use loopgate_tools::process::{Command, Limits};
use regex::Regex;
use serde_json::Value;

use crate::config_env::{self, ConfigEnv};
use crate::console::print_result;
use crate::plugins::{Plugins, is_copy};
use crate::variables as var;

/// Name of our marketplace.
const MARKETPLACE: &str = "loopgate";
/// The assistant's registry of installed plugins, relative to the home directory.
const REGISTRY: &str = ".claude/plugins/installed_plugins.json";
/// Directory of our marketplace in the assistant's plugin cache, relative to the home directory.
const CACHE: &str = ".claude/plugins/cache/loopgate";
/// Time limit of a call of the assistant; an installation may download files.
const CALL_LIMIT: Duration = Duration::from_mins(2);
/// Upper bound of the assistant's output in bytes.
const OUTPUT_CAP: usize = 1024 * 1024;
/// Settings of a loop that `plugins env` prints.
const SETTINGS: [&str; 5] =
    [var::WORKDIR, var::PLUGIN_ROOT, var::PRD_FILE, var::PLAN_FILE, var::MAX_ITERATIONS];

/// Installs our plugins, and finds files of installed ones.
#[derive(Debug, clap::Subcommand)]
pub enum PluginsCommand {
    /// Install our plugins for the user, or update them
    Install(InstallArgs),
    /// Print paths of files in the newest version of each installed plugin
    Find(FindArgs),
    /// Print the settings of the loop in the work directory
    Env(EnvArgs),
}

/// Arguments of `plugins install`.
#[derive(Debug, clap::Args)]
pub struct InstallArgs {
    /// Names of the plugins [default: all plugins of Loopgate]
    names: Vec<String>,
}

/// Arguments of `plugins find`.
#[derive(Debug, clap::Args)]
pub struct FindArgs {
    /// File name, or the end of a path with a slash; `*` matches any characters except a slash
    #[arg(required_unless_present = "list_plugins")]
    pattern: Option<String>,
    /// Search only this plugin
    #[arg(long, short)]
    plugin: Option<String>,
    /// Print all matching files instead of the first one
    #[arg(long, short)]
    all: bool,
    /// Print each plugin with the directory of its newest version
    #[arg(long, short)]
    list_plugins: bool,
    /// Directory of the installed plugins [default: that of the assistant]
    #[arg(long)]
    cache_dir: Option<PathBuf>,
}

/// Arguments of `plugins env`.
#[derive(Debug, clap::Args)]
pub struct EnvArgs {
    /// Work directory of the loop
    #[arg(env = "LOOPGATE_WORKDIR", default_value = ".")]
    workdir: PathBuf,
}

impl PluginsCommand {
    /// Runs the command. Exits with 0, or with 1 and the reason on standard error. Creates an async runtime,
    /// so it must not be called from within one.
    #[must_use]
    pub fn run(self) -> ExitCode {
        print_result(match self {
            Self::Install(args) => args.install(),
            Self::Find(args) => args.find(),
            Self::Env(args) => args.env(),
        })
    }
}

impl InstallArgs {
    fn install(&self) -> Result<String, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| format!("Error: cannot start: {error}"))?.block_on(self.install_all())
    }

    async fn install_all(&self) -> Result<String, String> {
        let data_dir = loopgate_home::default_data_dir().map_err(|error| format!("Error: {error}"))?;
        let plugins = Plugins::unpack(&data_dir)
            .map_err(|error| format!("Error: cannot unpack the plugins: {error}"))?;
        let names = if self.names.is_empty() { plugins.names() } else { self.names.clone() };
        if let Some(unknown) = names.iter().find(|name| plugins.dir(name).is_none()) {
            return Err(format!(
                "Error: unknown plugin {unknown}; available plugins: {}",
                plugins.names().join(", ")
            ));
        }
        let marketplace = plugins.marketplace().display().to_string();
        // Repeated for each version, because the directory of the plugins differs.
        run_assistant(&["plugin", "marketplace", "add", &marketplace]).await?;
        let mut lines = Vec::new();
        for name in names {
            let reference = format!("{name}@{MARKETPLACE}");
            let original = plugins.root().join(&name);
            let is_installed = || installed_dirs(&reference).iter().any(|dir| is_copy(&original, dir));
            run_assistant(&["plugin", "install", &reference, "--scope", "user"]).await?;
            if !is_installed() {
                // The assistant neither installs nor updates a version that it has already, even if its files have
                // changed since.
                run_assistant(&["plugin", "uninstall", &reference, "--scope", "user"]).await?;
                run_assistant(&["plugin", "install", &reference, "--scope", "user"]).await?;
            }
            if !is_installed() {
                return Err(format!(
                    "Error: the assistant reports {reference} as installed, but its files differ from those of this \
                     program. Run `claude plugin list` to see where it is installed from."
                ));
            }
            lines.push(format!("{reference} is installed"));
        }
        Ok(lines.join("\n"))
    }
}

/// Returns the directories of a plugin that is installed for the user.
fn installed_dirs(reference: &str) -> Vec<PathBuf> {
    let registry = std::env::home_dir().unwrap_or_default().join(REGISTRY);
    // The file belongs to another program, which may change its format.
    let registry: Value =
        std::fs::read(registry).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let entries = registry["plugins"][reference].as_array().into_iter().flatten();
    let of_user = entries.filter(|entry| entry["scope"].as_str().is_none_or(|scope| scope == "user"));
    of_user.filter_map(|entry| entry["installPath"].as_str()).map(PathBuf::from).collect()
}

/// Calls the assistant. Its output is the error message when it fails.
async fn run_assistant(args: &[&str]) -> Result<(), String> {
    let assistant = var::text(var::ASSISTANT_BIN).unwrap_or_else(|| "claude".to_owned());
    let limits = Limits { grace: Duration::from_secs(1), ..Limits::time(CALL_LIMIT).output(OUTPUT_CAP) };
    let output =
        Command::new(assistant).args(args).run(limits).await.map_err(|error| format!("Error: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let message = format!("{}\n{}", output.stdout_text(), output.stderr_text());
    Err(format!("Error: the assistant failed to run `{}`: {}", args.join(" "), message.trim()))
}

impl FindArgs {
    fn find(&self) -> Result<String, String> {
        let cache =
            self.cache_dir.clone().unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(CACHE));
        let plugins = newest_versions(&cache, self.plugin.as_deref());
        if self.list_plugins {
            let lines: Vec<String> =
                plugins.iter().map(|(name, dir)| format!("{name} {}", dir.display())).collect();
            return Ok(lines.join("\n"));
        }
        let pattern = self.pattern.as_deref().unwrap_or_default();
        let file_regex = regex_of(pattern)?;
        let mut matches = Vec::new();
        for dir in plugins.values() {
            files_below(dir, &mut |path| {
                let relative = path.strip_prefix(dir).unwrap_or(path).to_string_lossy().into_owned();
                if file_regex.is_match(&relative) {
                    matches.push(path.display().to_string());
                }
            });
        }
        matches.sort();
        matches.truncate(if self.all { matches.len() } else { 1 });
        if matches.is_empty() { Err(format!("File not found: {pattern}")) } else { Ok(matches.join("\n")) }
    }
}

/// Returns the directory of the newest version of each plugin.
fn newest_versions(cache: &Path, only: Option<&str>) -> BTreeMap<String, PathBuf> {
    directories(cache)
        .filter(|(name, _)| only.is_none_or(|only| only == name))
        .filter_map(|(name, plugin)| {
            let versions = directories(&plugin).filter(|(version, _)| is_version(version));
            // Compared by numbers: 1.10.0 is newer than 1.9.3.
            let (_, newest) = versions.max_by_key(|(version, _)| numbers(version))?;
            Some((name, newest))
        })
        .collect()
}

fn directories(dir: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .filter(|path| path.is_dir())
        .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)))
}

/// Returns whether a name starts with digits and a dot.
fn is_version(name: &str) -> bool {
    name.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('.')
        && name.starts_with(|c: char| c.is_ascii_digit())
}

fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

fn regex_of(pattern: &str) -> Result<Regex, String> {
    let text = regex::escape(pattern.trim_start_matches('/')).replace("\\*", "[^/]*");
    Regex::new(&format!("(?:^|/){text}$")).map_err(|error| format!("Error: invalid pattern: {error}"))
}

fn files_below(dir: &Path, each: &mut impl FnMut(&Path)) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), each),
            Ok(kind) if kind.is_file() => each(&entry.path()),
            _ => {}
        }
    }
}

impl EnvArgs {
    fn env(&self) -> Result<String, String> {
        let path = config_env::path(&self.workdir);
        if !path.is_file() {
            return Err(format!("Error: Config file not found at {}", path.display()));
        }
        let config =
            ConfigEnv::load(&self.workdir).map_err(|error| format!("Error: {}: {error}", path.display()))?;
        let value = |name: &str| config.get(name).unwrap_or_default().to_owned();
        let mut lines: Vec<String> = SETTINGS.iter().map(|name| format!("{name}={}", value(name))).collect();
        lines.push(format!("PLAN_SCHEMA_PATH={}/schemas/plan-schema.json", value(var::PLUGIN_ROOT)));
        lines.push(format!("PLAN_FILE_PATH={}/plan.json", value(var::WORKDIR)));
        Ok(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(cache: &Path, pattern: &str, all: bool) -> Result<String, String> {
        let args = FindArgs {
            pattern: Some(pattern.to_owned()),
            plugin: None,
            all,
            list_plugins: false,
            cache_dir: Some(cache.to_owned()),
        };
        args.find()
    }

    #[test]
    fn find_searches_the_newest_version_of_each_plugin() {
        let cache = tempfile::tempdir().unwrap();
        for file in [
            "code/1.9.3/scripts/run.sh",
            "code/1.10.0/scripts/run.sh",
            "code/notes/scripts/run.sh",
            "judges/2.0.0/other/run.sh",
        ] {
            let path = cache.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let at = |file: &str| cache.path().join(file).display().to_string();
        let (code, judges) = (at("code/1.10.0/scripts/run.sh"), at("judges/2.0.0/other/run.sh"));
        assert_eq!(find(cache.path(), "run.sh", true), Ok(format!("{code}\n{judges}")));
        assert_eq!(find(cache.path(), "scripts/run.sh", true), Ok(code.clone()));
        assert_eq!(find(cache.path(), "r*.sh", false), Ok(code));
        assert_eq!(find(cache.path(), "un.sh", false), Err("File not found: un.sh".to_owned()));
    }
}
