//! Settings: one TOML file that people edit, read into memory and kept there.
//!
//! What a flag or a variable says is over the file and is never written to it. Writing back
//! touches only the keys that changed, so comments and order survive.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

/// What a person can set. Missing members have their defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The one directory that paths from outside must be in; none means that nothing is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_base_directory: Option<PathBuf>,
    /// Whether set-up was finished by hand.
    pub onboarding_completed: bool,
    /// Origin of the control plane's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_origin: Option<String>,
    /// Origin of the relay; the API's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relay_origin: Option<String>,
    /// Origin of the web app; the API's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_app_origin: Option<String>,
    /// Whether loopback origins are refused.
    pub prod_origins_only: bool,
    /// Whether the desktop connects to its control plane.
    pub cloud_connection_enabled: bool,
    /// Whether commands of the control plane are refused for now.
    pub cloud_commands_paused: bool,
    /// Whether commands of the control plane must be signed by an authorized browser key.
    pub command_signing_required: bool,
    /// Operations up to this tier pass without asking.
    pub default_approval_tier: RiskTier,
    /// Thresholds an operation.
    pub auto_approval_rules: BTreeMap<OperationId, RiskTier>,
    /// Paths of the five programs, where the ones on PATH are not meant.
    pub binary_paths: BTreeMap<Program, ProgramPath>,
    /// Further agents that answer beside the assistant and the reviewer, by their ids.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<ProviderId, AgentProgram>,
    /// Preferred port of the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// File that holds the gateway token for an external executor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_token_file: Option<PathBuf>,
    /// How log lines are written; text when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_format: Option<LogFormat>,
    /// How many loops may run at once; none means as many as are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_loops: Option<u32>,
    /// Megabytes of memory that must be free for a further loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_free_memory_mb: Option<u64>,
    /// Whether deliveries leave out what looks like secrets, dependencies and build output.
    pub hold_back_files: bool,
    /// Whether loops wait for the end of the assistant's usage and rate limits, instead of failing.
    pub wait_for_limits: bool,
    /// US dollars that a loop may spend; none or 0 means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_spend_usd: Option<Usd>,
    /// Whether chats are learned from, and loops are given what was learned.
    pub learnings_enabled: bool,
    /// Hours that a loop of the control plane waits for its owner's approval.
    pub loop_approval_hours: u32,
    /// Seconds that one run of a repository's tests may take at the end of a loop.
    pub test_time_limit_seconds: u32,
    /// How long worktrees of loops are kept.
    pub worktree_retention: WorktreeRetention,
    /// Notifications about loops.
    pub notify: Notify,
}

/// The program of an agent that speaks the Agent Client Protocol on its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProgram {
    /// Its absolute path, or its name on the PATH.
    pub program: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Whether it may work in repositories that the person does not trust, because it starts nothing that a
    /// repository brings along.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_repository: bool,
}

/// How many days the worktree of an ended loop is kept; `None` keeps it for ever. One with work
/// that is nowhere else stays whatever this says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeRetention {
    /// After a loop that did its work.
    #[serde(rename = "completed_days", with = "days")]
    pub completed: Option<u32>,
    /// After any other end, or when the loop is unknown.
    #[serde(rename = "other_days", with = "days")]
    pub other: Option<u32>,
}

impl Default for WorktreeRetention {
    fn default() -> Self {
        Self { completed: Some(14), other: Some(30) }
    }
}

/// A number of days, or `"forever"`.
mod days {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    const FOREVER: &str = "forever";

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Days {
        Count(u32),
        Word(String),
    }

    #[expect(clippy::ref_option, reason = "the signature that serde asks for")]
    pub fn serialize<S: Serializer>(days: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        days.map_or_else(|| Days::Word(FOREVER.to_owned()), Days::Count).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
        match Days::deserialize(deserializer) {
            Ok(Days::Count(days)) => Ok(Some(days)),
            Ok(Days::Word(word)) if word == FOREVER => Ok(None),
            _ => Err(D::Error::custom("expected a number of days, or \"forever\"")),
        }
    }
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One readable line an entry.
    Text,
    /// One JSON object a line.
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
            max_spend_usd: None,
            learnings_enabled: true,
            loop_approval_hours: 24,
            test_time_limit_seconds: 1800,
            worktree_retention: WorktreeRetention::default(),
            notify: Notify::default(),
        }
    }
}

impl Settings {
    /// Whether set-up is complete: said so by hand, or a sandbox and an API key are there.
    #[must_use]
    pub fn setup_complete(&self, has_api_key: bool) -> bool {
        self.onboarding_completed || (self.sandbox_base_directory.is_some() && has_api_key)
    }

    /// The directory of the desktop's own files inside the sandbox.
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
            let expanded = expand_home(&base.to_string_lossy());
            if !expanded.is_absolute() {
                return Err(SettingsError::Invalid(format!(
                    "Sandbox base directory must be an absolute path, not \"{}\"",
                    base.display()
                )));
            }
            *base = expanded;
        }
        if let Some(file) = &mut self.gateway_token_file {
            let expanded = expand_home(&file.to_string_lossy());
            if !expanded.is_absolute() {
                return Err(SettingsError::Invalid(format!(
                    "gateway_token_file must be an absolute path, not \"{}\"",
                    file.display()
                )));
            }
            *file = expanded;
        }
        self.notify = self.notify.normalized().map_err(SettingsError::Invalid)?;
        Ok(self)
    }
}

/// Values that are over the file for the life of the process.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--sandbox`.
    pub sandbox_base_directory: Option<PathBuf>,
    /// `--api-origin`.
    pub api_origin: Option<String>,
    /// The relay's origin.
    pub relay_origin: Option<String>,
    /// `--web-origin`.
    pub web_app_origin: Option<String>,
    /// Production origins only.
    pub prod_origins_only: Option<bool>,
    /// `--max-loops`.
    pub max_loops: Option<u32>,
    /// `--min-free-memory`.
    pub min_free_memory_mb: Option<u64>,
    /// `--wait-for-limits`.
    pub wait_for_limits: Option<bool>,
    /// `--max-spend-usd`.
    pub max_spend_usd: Option<Usd>,
    /// `--notify-desktop`.
    pub notify_desktop: Option<bool>,
    /// `--notify-command`.
    pub notify_command: Option<String>,
}

/// Why settings cannot be read or written.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file is no TOML of the right shape.
    #[error("{} cannot be read as settings: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What the parser said, with the line.
        message: String,
    },
    /// A value breaks its rule.
    #[error("{0}")]
    Invalid(String),
    /// The file system refused.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The settings of the process, shared by every room.
#[derive(Debug)]
pub struct SettingsStore {
    path: PathBuf,
    overrides: Overrides,
    /// What the file says, without overrides; the lock makes updates one at a time.
    stored: Mutex<Settings>,
    effective: watch::Sender<Arc<Settings>>,
}

impl SettingsStore {
    /// Reads the file; a missing one gives the defaults.
    ///
    /// # Errors
    /// See [`SettingsError`].
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

    /// The settings in force. Cheap: a reference to what is in memory.
    #[must_use]
    pub fn get(&self) -> Arc<Settings> {
        self.effective.borrow().clone()
    }

    /// Tells of every change.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Arc<Settings>> {
        self.effective.subscribe()
    }

    /// Changes the file and then what is in force. Blocks on the disk.
    ///
    /// # Errors
    /// See [`SettingsError`]; nothing has changed then.
    pub fn update(&self, change: impl FnOnce(&mut Settings)) -> Result<(), SettingsError> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = stored.clone();
        change(&mut next);
        let next = next.normalized()?;
        let effective = overlay(&next, &self.overrides)?;
        self.write_back(&next)?;
        *stored = next;
        self.effective.send_replace(Arc::new(effective));
        Ok(())
    }

    fn write_back(&self, next: &Settings) -> Result<(), SettingsError> {
        let malformed = |message: String| SettingsError::Malformed { path: self.path.clone(), message };
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let mut document: DocumentMut =
            text.parse().map_err(|e: toml_edit::TomlError| malformed(e.to_string()))?;
        let before: Settings = toml_edit::de::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        let written = |settings| toml_edit::ser::to_document(settings).map_err(|e| malformed(e.to_string()));
        let (before, wanted) = (written(&before)?, written(next)?);
        for (key, _) in before.iter().filter(|(key, _)| !wanted.contains_key(key)) {
            document.remove(key);
        }
        for (key, item) in wanted.iter() {
            // How a person wrote a value that stays is left alone.
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
    let over = overrides.clone();
    settings.sandbox_base_directory = over.sandbox_base_directory.or(settings.sandbox_base_directory);
    settings.api_origin = over.api_origin.or(settings.api_origin);
    settings.web_app_origin =
        over.web_app_origin.or(settings.web_app_origin).or_else(|| settings.api_origin.clone());
    settings.relay_origin =
        over.relay_origin.or(settings.relay_origin).or_else(|| settings.api_origin.clone());
    settings.max_loops = over.max_loops.or(settings.max_loops);
    settings.min_free_memory_mb = over.min_free_memory_mb.or(settings.min_free_memory_mb);
    settings.wait_for_limits = over.wait_for_limits.unwrap_or(settings.wait_for_limits);
    settings.max_spend_usd = over.max_spend_usd.or(settings.max_spend_usd);
    settings.notify.desktop = over.notify_desktop.unwrap_or(settings.notify.desktop);
    settings.notify.command = over.notify_command.map_or(settings.notify.command, |program| vec![program]);
    settings.prod_origins_only = over.prod_origins_only.unwrap_or(settings.prod_origins_only);
    settings.normalized()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_people_survive_an_update() {
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
    fn flag_overrides_the_file_and_is_not_saved() {
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
        let kept = store.get().worktree_retention;
        assert_eq!(kept, WorktreeRetention { completed: Some(0), other: None });
        store.update(|s| s.onboarding_completed = true).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("# at once") && text.contains("\"forever\""), "{text}");
        std::fs::write(&path, "[worktree_retention]\nother_days = \"soon\"\n").unwrap();
        let error = SettingsStore::open(&path, Overrides::default()).unwrap_err().to_string();
        assert!(error.contains("forever"), "{error}");
    }

    #[test]
    fn parse_error_names_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.toml");
        std::fs::write(&path, "sandbx = 1\n").unwrap();
        let error = SettingsStore::open(&path, Overrides::default()).unwrap_err().to_string();
        assert!(error.contains("sandbx"), "{error}");
    }
}
