//! Locates the pinned npm programs of the tests and of the demo.
//!
//! They are installed outside of the clone, in a folder named by a hash of the lock file: clones share it,
//! and a changed lock file gets a new folder. This crate only finds them; `cargo xtask programs` installs
//! them. It has no dependencies, so that xtask compiles in seconds.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

/// Content of the npm manifest.
pub const MANIFEST: &str = include_str!("../package.json");
/// Content of the manifest's lock file.
pub const LOCK: &str = include_str!("../package-lock.json");
/// Source of the OpenID provider, an ES module for Node.
pub const OPENID_PROVIDER: &str = include_str!("../openid-provider.mjs");
/// Environment variable with a folder that contains `node_modules`, instead of the shared one.
pub const FOLDER_VARIABLE: &str = "LOOPGATE_TEST_PROGRAMS";
/// Path of the assistant below the folder.
pub const ASSISTANT: &str = "node_modules/.bin/claude";
/// Path of the reviewer below the folder.
pub const REVIEWER: &str = "node_modules/.bin/codex";
/// Path of the agent of the Agent Client Protocol below the folder.
pub const ACP_AGENT: &str = "node_modules/opencode-linux-x64/bin/opencode";

/// Error for a pinned program that is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    program: String,
    expected_path: PathBuf,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the pinned `{}` is not installed at {}; run `cargo xtask programs` to install it (npm, about 900 MB)",
            self.program,
            self.expected_path.display()
        )
    }
}

impl std::error::Error for Missing {}

/// Returns the folder that contains `node_modules`: that of [`FOLDER_VARIABLE`], or
/// `<cache>/loopgate/programs/<hash of the lock file>`.
#[must_use]
pub fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        return PathBuf::from(folder);
    }
    // DefaultHasher::new has fixed keys, so that the hash is the same in each process. A new Rust release may
    // change the algorithm; the programs are then installed once more.
    let mut hasher = DefaultHasher::new();
    LOCK.hash(&mut hasher);
    cache().join("programs").join(format!("{:016x}", hasher.finish()))
}

/// Returns `$XDG_CACHE_HOME/loopgate` or `~/.cache/loopgate`.
#[must_use]
pub fn cache() -> PathBuf {
    // The XDG specification treats an empty variable like an unset one.
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("XDG_CACHE_HOME")
        .or_else(|| Some(variable("HOME")?.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("loopgate")
}

/// Returns the path of the pinned assistant. Fails when it is not installed; the message contains the install
/// command.
pub fn assistant() -> Result<PathBuf, Missing> {
    find("claude", ASSISTANT)
}

/// Returns the path of the pinned reviewer. Fails when it is not installed; the message contains the install
/// command.
pub fn reviewer() -> Result<PathBuf, Missing> {
    find("codex", REVIEWER)
}

/// Returns the path of the pinned agent of the Agent Client Protocol. Fails when it is not installed; the
/// message contains the install command.
pub fn acp_agent() -> Result<PathBuf, Missing> {
    find("opencode", ACP_AGENT)
}

/// Returns the `node_modules` folder with the library of the OpenID provider. Fails when it is not installed;
/// the message contains the install command.
pub fn openid_provider() -> Result<PathBuf, Missing> {
    find("oidc-provider", "node_modules/oidc-provider").map(|_| folder().join("node_modules"))
}

fn find(program: &str, below: &str) -> Result<PathBuf, Missing> {
    let path = folder().join(below);
    if path.exists() { Ok(path) } else { Err(Missing { program: program.to_owned(), expected_path: path }) }
}
