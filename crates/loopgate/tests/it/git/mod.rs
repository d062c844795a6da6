//! The routes that work on local git repositories, with the real git.

mod actions;
mod branches;
mod caller;
mod cleanup;
mod comparisons;
mod diff;
mod failures;
mod lookup;
mod normal_work;
mod odd_repositories;
mod removal;
mod status;
mod swapped;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::local::{Answer, Local};

/// Asks for an action in a repository, with further members.
async fn act(local: &Local, repository: &Path, action: &str, more: Value) -> Result<Answer> {
    let mut body = json!({"action": action, "repoPath": repository});
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    local.post("git", body).await
}

/// The answer to `status`, which must be one.
pub async fn status(local: &Local, repository: &Path) -> Result<Value> {
    act(local, repository, "status", json!({})).await?.ok()
}

/// The git that the tests' own is.
pub fn real_git() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").context("a search path")?;
    let found = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    found.context("git is installed")
}

/// Puts a git before the real one that does this for a sub-command, and else what the real one does.
pub fn instead_of(local: &Local, command: &str, script: &str) -> Result<()> {
    let real = real_git()?;
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = {command} ]; then\n{script}\nfi\nexec '{}' \"$@\"\n",
        real.display()
    );
    local.home.script("git", &text).map(drop)
}
