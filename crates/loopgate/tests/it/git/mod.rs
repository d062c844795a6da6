//! Routes for local repositories, with the real git.

mod actions;
mod branches;
mod cleanup;
mod comparisons;
mod diff;
mod disconnects;
mod failures;
mod lookup;
mod odd_repositories;
mod removal;
mod status;
mod symlink_swaps;
mod user_configuration;

use std::path::Path;

use anyhow::Result;
use loopgate_testkit::home::find_program;
use serde_json::{Value, json};

use crate::test_gateway::{Answer, TestGateway};

/// Sends an action for a repository, with further members.
async fn act(local: &TestGateway, repository: &Path, action: &str, members: Value) -> Result<Answer> {
    let mut body = json!({"action": action, "repoPath": repository});
    if let (Some(body), Value::Object(members)) = (body.as_object_mut(), members) {
        body.extend(members);
    }
    local.post("git", body).await
}

/// Returns the successful response of `status`.
pub async fn status(local: &TestGateway, repository: &Path) -> Result<Value> {
    act(local, repository, "status", json!({})).await?.ok()
}

/// Installs a `git` that runs a script for one sub-command, and the real git for all others. The script may
/// end the program by `exit`.
pub fn instead_of(local: &TestGateway, command: &str, script: &str) -> Result<()> {
    let real = find_program("git")?;
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = {command} ]; then\n{script}\nfi\nexec '{}' \"$@\"\n",
        real.display()
    );
    local.home.script("git", &text).map(drop)
}
