//! Settings: one TOML file that users edit, cached in memory.
//!
//! Command-line flags and environment variables override the file and are never written to it. An update
//! rewrites only the keys that changed, so comments and order are preserved.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loopgate_api::ids::is_option_value;
use loopgate_api::operation::{OperationId, RiskTier};
use loopgate_api::provider::ProviderId;
use loopgate_api::usd::Usd;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::watch;
use toml_edit::DocumentMut;

use crate::notify::Notify;
use crate::path_resolution::expand_home;
use crate::program::{Program, ProgramPath};
use crate::{files, normalize_origin};

/// Name of the settings file in the data directory.
pub const SETTINGS_FILE: &str = "settings.toml";

/// User-configurable settings. Missing members have defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The directory that paths of requests must be in. Without it no path is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_base_directory: Option<PathBuf>,
    /// Whether the user completed the set-up manually.
    pub onboarding_completed: bool,
    /// Origin of the API of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_origin: Option<String>,
    /// Origin of the relay; defaults to that of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relay_origin: Option<String>,
    /// Origin of the web app; defaults to that of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_app_origin: Option<String>,
    /// Whether loopback origins are rejected.
    pub prod_origins_only: bool,
    /// Whether the desktop connects to the control plane.
    pub cloud_connection_enabled: bool,
    /// Whether commands of the control plane are rejected temporarily.
    pub cloud_commands_paused: bool,
    /// Whether commands of the control plane must be signed by an authorized browser key.
    pub command_signing_required: bool,
    /// Operations up to this risk tier need no approval.
    pub default_approval_tier: RiskTier,
    /// Thresholds for single operations, which override the default tier.
    pub auto_approval_rules: BTreeMap<OperationId, RiskTier>,
    /// Paths of the external programs; without an entry the program is searched on `PATH`.
    pub binary_paths: BTreeMap<Program, ProgramPath>,
    /// Additional agents, by id; the assistant and the reviewer need no entry.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<ProviderId, AgentProgram>,
    /// Preferred port of the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// File with the gateway token for an external executor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_token_file: Option<PathBuf>,
    /// Format of log lines; text when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_format: Option<LogFormat>,
    /// Maximum number of concurrent loops; unlimited when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loops: Option<u32>,
    /// Megabytes of memory that must be free to start another loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_free_memory_mb: Option<u64>,
    /// Whether deliveries exclude files that look like secrets, dependencies or build output.
    pub hold_back_files: bool,
    /// Whether loops wait for the end of the assistant's usage and rate limits instead of failing.
    pub wait_for_limits: bool,
    /// Model of the assistant in loops that plan or implement, as its `--model` accepts it.
    pub loop_model: String,
    /// Reasoning effort of the assistant in these loops, as its `--effort` accepts it.
    pub loop_effort: String,
    /// Spending limit of a loop in US dollars; absent or 0 means unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_spend_usd: Option<Usd>,
    /// Whether learnings are extracted from chats and provided to loops.
    pub learnings_enabled: bool,
    /// Hours that a loop of the control plane waits for its owner's approval.
    pub loop_approval_hours: u32,
    /// Timeout in seconds of one run of a repository's tests at the end of a loop.
    pub test_time_limit_seconds: u32,
    /// Seconds without any activity after which a git command that writes, or a hook of it, is terminated; depends on the
    /// command when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_idle_limit_seconds: Option<NonZeroU32>,
    /// How long worktrees of finished loops are retained.
    pub worktree_retention: WorktreeRetention,
    /// Notifications about loops and approvals.
    pub notify: Notify,
}

/// Program of an agent that speaks the Agent Client Protocol on standard input and output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProgram {
    /// Absolute path, or name on `PATH`.
    pub program: String,
    /// Arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Whether the agent may work in repositories that the user does not trust, because it runs nothing that
    /// a repository contains.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_repository: bool,
}

/// Number of days that the worktree of a finished loop is retained; `None` means forever. A worktree with
/// work that exists nowhere else is retained regardless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeRetention {
    /// After a loop that completed.
    #[serde(rename = "completed_days", with = "days")]
    pub completed: Option<u32>,
    /// After any other terminal status, or when the loop is unknown.
    #[serde(rename = "other_days", with = "days")]
    pub other: Option<u32>,
}

impl Default for WorktreeRetention {
    fn default() -> Self {
        Self { completed: Some(14), other: Some(30) }
    }
}

/// Serializes a number of days, or `"forever"` for `None`.
mod days {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    const FOREVER: &str = "forever";

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Days {
        Count(u32),
        Text(String),
    }

    #[expect(clippy::ref_option, reason = "required by serde")]
    pub fn serialize<S: Serializer>(days: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        days.map_or_else(|| Days::Text(FOREVER.to_owned()), Days::Count).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
        match Days::deserialize(deserializer) {
            Ok(Days::Count(days)) => Ok(Some(days)),
            Ok(Days::Text(text)) if text == FOREVER => Ok(None),
            _ => Err(D::Error::custom("expected a number of days, or \"forever\"")),
        }
    }
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One readable line per event.
    Text,
    /// One JSON object per line.
    Json,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sandbox_base_directory: None,
            onboarding_completed: false,
            api_origin: None,
            relay_origin: None,
            web_app_origin: None,
            prod_origins_only: false,
            cloud_connection_enabled: true,
            cloud_commands_paused: false,
            command_signing_required: false,
            default_approval_tier: RiskTier::High,
            auto_approval_rules: BTreeMap::new(),
            agents: BTreeMap::new(),
            binary_paths: BTreeMap::new(),
            port: None,
            gateway_token_file: None,
            log_format: None,
            max_loops: None,
            min_free_memory_mb: None,
            hold_back_files: true,
            wait_for_limits: true,
            loop_model: "claude-opus-4-6".to_owned(),
            loop_effort: "high".to_owned(),
            max_spend_usd: None,
            learnings_enabled: true,
            loop_approval_hours: 24,
            test_time_limit_seconds: 1800,
            git_idle_limit_seconds: None,
            worktree_retention: WorktreeRetention::default(),
            notify: Notify::default(),
        }
    }
}

impl Settings {
    /// Returns whether the set-up is complete: marked as such, or with a sandbox and an API key.
    #[must_use]
    pub fn setup_complete(&self, has_api_key: bool) -> bool {
        self.onboarding_completed || (self.sandbox_base_directory.is_some() && has_api_key)
    }

    /// Returns the directory of Loopgate's own files inside the sandbox.
    #[must_use]
    pub fn orchestrator_dir(&self) -> Option<PathBuf> {
        self.sandbox_base_directory.as_ref().map(|base| base.join(loopgate_api::names::STATE_DIR))
    }

    fn normalized(mut self) -> Result<Self, SettingsError> {
        for (value, subject) in [
            (&mut self.api_origin, "API origin"),
            (&mut self.relay_origin, "Relay origin"),
            (&mut self.web_app_origin, "Web app origin"),
        ] {
            if let Some(text) = value {
                *text = normalize_origin(text, subject).map_err(|e| SettingsError::Invalid(e.to_string()))?;
            }
        }
        if let Some(base) = &mut self.sandbox_base_directory {
            let expanded = expand_home(&*base);
            if !expanded.is_absolute() {
                return Err(SettingsError::Invalid(format!(
                    "Sandbox base directory must be an absolute path, not \"{}\"",
                    base.display()
                )));
            }
            *base = expanded;
        }
        if let Some(file) = &mut self.gateway_token_file {
            let expanded = expand_home(&*file);
            if !expanded.is_absolute() {
                return Err(SettingsError::Invalid(format!(
                    "gateway_token_file must be an absolute path, not \"{}\"",
                    file.display()
                )));
            }
            *file = expanded;
        }
        for (value, name) in [(&self.loop_model, "loop_model"), (&self.loop_effort, "loop_effort")] {
            // Passed to the assistant as the value of an option.
            if !is_option_value(value) {
                return Err(SettingsError::Invalid(format!("{name} must be a single word, not \"{value}\"")));
            }
        }
        self.notify = self.notify.normalized().map_err(SettingsError::Invalid)?;
        Ok(self)
    }
}

/// Values that override the file for the lifetime of the process.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Value of `--sandbox`, absolute or with a leading `~`.
    pub sandbox_base_directory: Option<PathBuf>,
    /// Value of `--api-origin`, a URL.
    pub api_origin: Option<String>,
    /// Origin of the relay, a URL.
    pub relay_origin: Option<String>,
    /// Value of `--web-origin`, a URL.
    pub web_app_origin: Option<String>,
    /// Whether loopback origins are rejected.
    pub prod_origins_only: Option<bool>,
    /// Value of `--max-loops`, a number of loops.
    pub max_loops: Option<u32>,
    /// Value of `--min-free-memory`, in megabytes.
    pub min_free_memory_mb: Option<u64>,
    /// Value of `--wait-for-limits`, a Boolean.
    pub wait_for_limits: Option<bool>,
    /// Value of `--loop-model`, a model of the assistant.
    pub loop_model: Option<String>,
    /// Value of `--loop-effort`, an effort of the assistant.
    pub loop_effort: Option<String>,
    /// Value of `--max-spend-usd`, in US dollars.
    pub max_spend_usd: Option<Usd>,
    /// Value of `--notify-desktop`, a Boolean.
    pub notify_desktop: Option<bool>,
    /// Value of `--notify-command`, a program without arguments.
    pub notify_command: Option<String>,
}

/// Why settings cannot be read or written.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file is not valid TOML, or has an unknown key or a value of the wrong type.
    #[error("{} cannot be read as settings: {message}", path.display())]
    Malformed {
        /// Path of the settings file.
        path: PathBuf,
        /// Message of the parser, with the line.
        message: String,
    },
    /// A value violates its constraint; contains the message.
    #[error("{0}")]
    Invalid(String),
    /// The file system returned an error.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// Path of the settings file.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
}

/// Settings of the process, shared by all of its parts.
#[derive(Debug)]
pub struct SettingsStore {
    path: PathBuf,
    overrides: Overrides,
    /// Settings of the file without overrides. The lock serializes updates.
    stored: Mutex<Settings>,
    effective: watch::Sender<Arc<Settings>>,
}

impl SettingsStore {
    /// Reads the file. A missing file yields the defaults.
    ///
    /// # Errors
    /// Fails with [`SettingsError`] when the file cannot be read or is malformed, or when an override is
    /// invalid.
    pub fn open(path: &Path, overrides: Overrides) -> Result<Self, SettingsError> {
        let stored = match std::fs::read_to_string(path) {
            Ok(text) => parse(path, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Settings::default(),
            Err(source) => return Err(SettingsError::Io { path: path.to_owned(), source }),
        };
        let effective = Arc::new(overlay(&stored, &overrides)?);
        Ok(Self {
            path: path.to_owned(),
            overrides,
            stored: Mutex::new(stored),
            effective: watch::Sender::new(effective),
        })
    }

    /// Returns the effective settings. Cheap: clones an `Arc`.
    #[must_use]
    pub fn get(&self) -> Arc<Settings> {
        self.effective.borrow().clone()
    }

    /// Returns a receiver that is notified of every change.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Arc<Settings>> {
        self.effective.subscribe()
    }

    /// Changes the file and then the effective settings. Blocks on disk I/O.
    ///
    /// # Errors
    /// Fails with [`SettingsError`] when a value is invalid or the file cannot be written; nothing changes.
    pub fn update(&self, change: impl FnOnce(&mut Settings)) -> Result<(), SettingsError> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = stored.clone();
        change(&mut next);
        let next = next.normalized()?;
        let effective = overlay(&next, &self.overrides)?;
        // Write before publishing: settings in use must survive a restart.
        self.write_back(&next)?;
        *stored = next;
        self.effective.send_replace(Arc::new(effective));
        Ok(())
    }

    fn write_back(&self, next: &Settings) -> Result<(), SettingsError> {
        let malformed = |message: String| SettingsError::Malformed { path: self.path.clone(), message };
        // Read again, because the user may have edited the file since it was loaded. A missing file counts as
        // empty.
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            // An unreadable file must not be replaced by an empty one.
            Err(source) => return Err(SettingsError::Io { path: self.path.clone(), source }),
        };
        let mut document: DocumentMut =
            text.parse().map_err(|e: toml_edit::TomlError| malformed(e.to_string()))?;
        let before: Settings = toml_edit::de::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        let to_document =
            |settings| toml_edit::ser::to_document(settings).map_err(|e| malformed(e.to_string()));
        let (before, after) = (to_document(&before)?, to_document(next)?);
        for (key, _) in before.iter().filter(|(key, _)| !after.contains_key(key)) {
            document.remove(key);
        }
        for (key, item) in after.iter() {
            // Keep the user's formatting of values that do not change.
            if before.get(key).map(ToString::to_string) != Some(item.to_string()) {
                document[key] = item.clone();
            }
        }
        files::write_private(&self.path, document.to_string().as_bytes())
            .map_err(|source| SettingsError::Io { path: self.path.clone(), source })
    }
}

fn parse(path: &Path, text: &str) -> Result<Settings, SettingsError> {
    let settings: Settings = toml_edit::de::from_str(text)
        .map_err(|e| SettingsError::Malformed { path: path.to_owned(), message: e.to_string() })?;
    settings.normalized().map_err(|error| match error {
        SettingsError::Invalid(message) => SettingsError::Malformed { path: path.to_owned(), message },
        other => other,
    })
}

fn overlay(stored: &Settings, overrides: &Overrides) -> Result<Settings, SettingsError> {
    let mut settings = stored.clone();
    let overrides = overrides.clone();
    settings.sandbox_base_directory = overrides.sandbox_base_directory.or(settings.sandbox_base_directory);
    settings.api_origin = overrides.api_origin.or(settings.api_origin);
    // These defaults are not stored, so they follow a later change of the API origin.
    settings.web_app_origin =
        overrides.web_app_origin.or(settings.web_app_origin).or_else(|| settings.api_origin.clone());
    settings.relay_origin =
        overrides.relay_origin.or(settings.relay_origin).or_else(|| settings.api_origin.clone());
    settings.max_loops = overrides.max_loops.or(settings.max_loops);
    settings.min_free_memory_mb = overrides.min_free_memory_mb.or(settings.min_free_memory_mb);
    settings.wait_for_limits = overrides.wait_for_limits.unwrap_or(settings.wait_for_limits);
    settings.loop_model = overrides.loop_model.unwrap_or(settings.loop_model);
    settings.loop_effort = overrides.loop_effort.unwrap_or(settings.loop_effort);
    settings.max_spend_usd = overrides.max_spend_usd.or(settings.max_spend_usd);
    settings.notify.desktop = overrides.notify_desktop.unwrap_or(settings.notify.desktop);
    settings.notify.command =
        overrides.notify_command.map_or(settings.notify.command, |program| vec![program]);
    settings.prod_origins_only = overrides.prod_origins_only.unwrap_or(settings.prod_origins_only);
    settings.normalized()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_file_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        let store = SettingsStore::open(&path, Overrides::default()).unwrap();
        let invalid = b"max_loops = 2 # \xff\n";
        std::fs::write(&path, invalid).unwrap();
        let result = store.update(|settings| settings.max_loops = Some(3));
        assert!(matches!(result, Err(SettingsError::Io { .. })), "{result:?}");
        assert_eq!(std::fs::read(&path).unwrap(), invalid);
        assert_eq!(store.get().max_loops, None, "a change that is not stored is not used");
    }

    #[test]
    fn loop_model_must_be_a_single_word() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        for value in ["", "two words", "--dangerous"] {
            std::fs::write(&path, format!("loop_model = \"{value}\"\n")).unwrap();
            let error = SettingsStore::open(&path, Overrides::default()).unwrap_err();
            assert!(error.to_string().contains("loop_model must be a single word"), "{error}");
        }
        let overrides = Overrides { loop_model: Some("opus".into()), ..Overrides::default() };
        std::fs::write(&path, "loop_effort = \"max\"\n").unwrap();
        let settings = SettingsStore::open(&path, overrides).unwrap().get();
        assert_eq!((settings.loop_model.as_str(), settings.loop_effort.as_str()), ("opus", "max"));
    }

    #[test]
    fn user_comments_survive_an_update() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        std::fs::write(&path, "# mine\napi_origin = \"https://api.example.test/\" # why\n").unwrap();
        let store = SettingsStore::open(&path, Overrides::default()).unwrap();
        assert_eq!(store.get().api_origin.as_deref(), Some("https://api.example.test"));
        let git = ProgramPath::new("/opt/git".into(), "/opt/real/git".into());
        let gh = ProgramPath::Plain("/opt/gh".into());
        store.update(|s| s.binary_paths.extend([(Program::Git, git), (Program::CodeHost, gh)])).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("# mine"), "{text}");
        let again = SettingsStore::open(&path, Overrides::default()).unwrap();
        assert_eq!(again.get(), store.get());
        store.update(|s| s.binary_paths.clear()).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains("/opt/git"));
    }

    #[test]
    fn override_takes_precedence_and_is_not_saved() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        let overrides =
            Overrides { sandbox_base_directory: Some("/srv/code".into()), ..Overrides::default() };
        let store = SettingsStore::open(&path, overrides).unwrap();
        store.update(|s| s.onboarding_completed = true).unwrap();
        assert!(store.get().setup_complete(false));
        assert!(!std::fs::read_to_string(&path).unwrap().contains("/srv/code"));
    }

    #[test]
    fn retention_is_a_number_of_days_or_forever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        std::fs::write(
            &path,
            "[worktree_retention]\ncompleted_days = 0 # at once\nother_days = \"forever\"\n",
        )
        .unwrap();
        let store = SettingsStore::open(&path, Overrides::default()).unwrap();
        let retention = store.get().worktree_retention;
        assert_eq!(retention, WorktreeRetention { completed: Some(0), other: None });
        store.update(|s| s.onboarding_completed = true).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("# at once") && text.contains("\"forever\""), "{text}");
        std::fs::write(&path, "[worktree_retention]\nother_days = \"soon\"\n").unwrap();
        let error = SettingsStore::open(&path, Overrides::default()).unwrap_err().to_string();
        assert!(error.contains("forever"), "{error}");
    }

    #[test]
    fn parse_error_names_the_unknown_key() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        std::fs::write(&path, "sandbx = 1\n").unwrap();
        let error = SettingsStore::open(&path, Overrides::default()).unwrap_err().to_string();
        assert!(error.contains("sandbx"), "{error}");
    }
}
