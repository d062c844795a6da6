//! Where the pinned npm programs of the tests and of the demo are installed.
//!
//! They live outside the clone, in a folder named after the lock file beside this crate, so that
//! clones share them and a changed pin gets a folder of its own. This crate only finds them;
//! `cargo xtask programs` installs them. No dependencies: xtask compiles in seconds.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

/// The npm manifest that is installed.
pub const MANIFEST: &str = include_str!("../package.json");
/// Its lock file.
pub const LOCK: &str = include_str!("../package-lock.json");
/// The program of the OpenID provider, an ES module for Node.
pub const OPENID_PROVIDER: &str = include_str!("../openid-provider.mjs");
/// Names a folder with `node_modules` to use instead of the shared one.
pub const FOLDER_VARIABLE: &str = "LOOPGATE_TEST_PROGRAMS";

/// A pinned program that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    program: String,
    looked_at: PathBuf,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the pinned `{}` is not at {}; run `cargo xtask programs` to install it (npm, about 900 MB)",
            self.program,
            self.looked_at.display()
        )
    }
}

impl std::error::Error for Missing {}

/// The folder that holds `node_modules`: the one of [`FOLDER_VARIABLE`], else
/// `<cache>/loopgate/programs/<hash of the lock file>`.
#[must_use]
pub fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        return PathBuf::from(folder);
    }
    let mut hasher = DefaultHasher::new();
    LOCK.hash(&mut hasher);
    cache().join("programs").join(format!("{:016x}", hasher.finish()))
}

/// `$XDG_CACHE_HOME/loopgate` or `~/.cache/loopgate`.
#[must_use]
pub fn cache() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME")
        .or_else(|| Some(set("HOME")?.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("loopgate")
}

/// The executable of the pinned assistant.
///
/// # Errors
/// When it is not installed; the text says how to install it.
pub fn assistant() -> Result<PathBuf, Missing> {
    find("claude", ".bin/claude")
}

/// The executable of the pinned reviewer.
///
/// # Errors
/// When it is not installed; the text says how to install it.
pub fn reviewer() -> Result<PathBuf, Missing> {
    find("codex", ".bin/codex")
}

/// The executable of the pinned agent that speaks the Agent Client Protocol.
///
/// # Errors
/// When it is not installed; the text says how to install it.
pub fn acp_agent() -> Result<PathBuf, Missing> {
    find("opencode", "opencode-linux-x64/bin/opencode")
}

/// The folder in which the OpenID provider of the tests finds its library.
///
/// # Errors
/// When it is not installed; the text says how to install it.
pub fn openid_provider() -> Result<PathBuf, Missing> {
    find("oidc-provider", "oidc-provider").map(|_| folder().join("node_modules"))
}

fn find(program: &str, below: &str) -> Result<PathBuf, Missing> {
    let path = folder().join("node_modules").join(below);
    if path.exists() { Ok(path) } else { Err(Missing { program: program.to_owned(), looked_at: path }) }
}
