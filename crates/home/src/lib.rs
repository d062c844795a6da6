#![doc = include_str!("../README.md")]

mod assistant_limits;
mod authorized_keys;
mod clones;
mod credentials;
mod data_dir;
pub mod disk;
mod environment_files;
mod file_versions;
pub mod files;
mod git_config;
mod installed_plugins;
mod json_file;
mod notify;
mod origin;
mod path_resolution;
mod program;
mod project_files;
mod remotes;
mod remove_tree;
mod repos;
mod repository;
mod repository_summary;
mod sandbox;
pub mod secret_file;
mod sessions;
mod settings;
mod trust;
pub mod untrusted;
mod vault;
mod watches;

pub use assistant_limits::{AssistantLimit, AssistantLimits, Probe};
pub use authorized_keys::{AuthorizedKeys, BrowserKey, KeyDecisionError, KeySource};
pub use credentials::{API_KEY_VARIABLES, ApiKey, Credentials, Provenance};
pub use data_dir::{DataDir, DataDirError, default_data_dir};
pub use environment_files::copy_environment_files;
pub use file_versions::FileVersions;
pub use git_config::{ConfigEntry, GitConfigError, parse_config_line, parse_config_list, parse_git_config};
pub use installed_plugins::newest_version_with;
pub use json_file::{JsonFile, JsonFileError};
pub use notify::Notify;
pub use origin::{InvalidOrigin, normalize_origin};
pub use path_resolution::{expand_home, is_taken_in_other_case, leads_through};
pub use program::{Program, ProgramPath};
pub use project_files::ProjectFiles;
pub use remotes::{RemoteRepository, Remotes};
pub use remove_tree::remove_tree;
pub use repos::{AddRepoError, Repos, ReposError, ReposFile};
pub use repository::{Repository, RepositoryError, RepositoryHandles, origin_of_clone};
pub use repository_summary::RepositorySummary;
pub use sandbox::{
    AccessDenied, DirEntry, Directory, EntryKind, Sandbox, SandboxedPath, canonical_path, escaped_via_symlink,
};
pub use sessions::{Session, SessionNote, Sessions};
pub use settings::{
    AgentProgram, LogFormat, Overrides, SETTINGS_FILE, Settings, SettingsError, SettingsStore,
    WorktreeRetention,
};
pub use trust::{TrustStore, TrustedRepository, trust_command};
pub use watches::{EventKind, EventsLost, WatchEvent, WatchId, WatchLimits, WatchMask, Watches};
