//! What this desktop keeps for itself: its directories, settings, identity, keys and the list of
//! its repositories, and the sandbox around the paths that come from outside.
//!
//! Everything here lies on the local disk and belongs to one user. Nothing here starts a program
//! or speaks to the network.

mod credentials;
mod data_dir;
pub mod files;
mod origin;
mod program;
mod repos;
mod sandbox;
mod settings;
mod vault;

pub use credentials::{ApiKey, Credentials, Provenance};
pub use data_dir::{DataDir, DataDirError, default_data_dir};
pub use origin::{InvalidOrigin, normalize_origin};
pub use program::Program;
pub use repos::{AddRepoError, Repos, ReposError, ReposFile, default_branch_of, origin_of};
pub use sandbox::{Denied, Directory, Entry, Kind, Sandbox, SandboxedPath, expand_home, led_away};
pub use settings::{LogFormat, Overrides, Settings, SettingsError, SettingsStore};
