//! What a loop came to, held against what was expected.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::testbed::Testbed;
use serde_json::Value;

use crate::case::ExpectedEnd;

/// What a loop came to.
pub struct Outcome {
    /// The loop, as the control plane tells it.
    pub ended: Value,
    /// Everything that it said.
    pub events: String,
    pub pull_requests: usize,
    /// Files of the pull requests.
    delivered: Vec<String>,
    /// Whether the worktree is there, and on what.
    worktree: String,
}

impl Outcome {
    /// Looks at the loop, the code host and the worktree.
    pub fn of(
        testbed: &Testbed,
        repository: &str,
        worktree: Option<&Path>,
        ended: Value,
        events: String,
    ) -> Result<Self> {
        let mut delivered = Vec::new();
        let pulls = testbed.host.pull_requests(repository);
        for pull in &pulls {
            delivered.extend(pull.files()?.into_iter().map(|file| file.path));
        }
        let worktree = match worktree.filter(|path| path.exists()) {
            None => "no worktree".to_owned(),
            Some(path) => {
                let branch = git(path, &["branch", "--show-current"]).unwrap_or_default();
                let changes = git(path, &["status", "--porcelain"]).unwrap_or_default().lines().count();
                format!("worktree on {:?} with {changes} changes", branch.trim())
            }
        };
        Ok(Self { ended, events, pull_requests: pulls.len(), delivered, worktree })
    }

    /// Holds it against what was expected.
    pub fn check(
        &self,
        expected: &ExpectedEnd,
        testbed: &Testbed,
        repository: &str,
        clone: &Path,
    ) -> Result<()> {
        let status = self.ended["status"].as_str().context("a status")?;
        ensure!(status == expected.status, "it ends {status}, not {}: {self}", expected.status);
        let said = format!("{}\n{}", self.ended, self.events);
        for text in &expected.says {
            ensure!(said.contains(text), "nothing says {text:?}: {self}");
        }
        ensure!(
            self.pull_requests == expected.pull_requests,
            "{} pull requests, not {}: {self}",
            self.pull_requests,
            expected.pull_requests
        );
        for file in &expected.delivered {
            ensure!(self.delivered.iter().any(|path| path == file), "{file} is not delivered: {self}");
        }
        let bare = testbed.remotes.bare(repository);
        for file in &expected.held_back {
            let pushed = git(&bare, &["log", "--all", "--format=%h", "--", file])?;
            ensure!(pushed.is_empty(), "{file} was pushed in {}", pushed.trim());
        }
        for file in &expected.kept {
            ensure!(is_kept(testbed, clone, file)?, "{file} is lost: {self}");
        }
        for (path, text) in &expected.holds {
            let found = std::fs::read_to_string(testbed.sandbox().join(path)).unwrap_or_default();
            ensure!(found.contains(text), "{path} holds {found:?}: {self}");
        }
        Ok(())
    }
}

/// Whether a file is in a directory of the sandbox, or in a commit that a ref holds.
fn is_kept(testbed: &Testbed, clone: &Path, file: &str) -> Result<bool> {
    let places = std::fs::read_dir(testbed.sandbox())?.flatten();
    if places.map(|place| place.path()).any(|place| place != clone && place.join(file).exists()) {
        return Ok(true);
    }
    Ok(!git(clone, &["log", "--all", "--format=%h", "--", file])?.is_empty())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            |value: &Value| value.as_str().unwrap_or_default().lines().next().unwrap_or_default().to_owned();
        write!(f, "{}", text(&self.ended["status"]))?;
        let error = &self.ended["error"];
        if error.is_object() {
            write!(f, ", {}: {}", text(&error["code"]), text(&error["message"]))?;
        }
        write!(f, "; {} pull requests, {}", self.pull_requests, self.worktree)
    }
}
