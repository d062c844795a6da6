//! Compares the result of a loop with the expected one.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::testbed::Testbed;
use serde_json::Value;

use crate::case::ExpectedEnd;

/// Result of a loop.
pub struct Outcome {
    /// The finished loop, as the control plane returns it.
    pub finished: Value,
    /// All events of the loop as JSON.
    pub events: String,
    pub pull_requests: usize,
    /// Files in the pull requests.
    delivered: Vec<String>,
    /// Description of the worktree's branch and changes.
    worktree: String,
}

impl Outcome {
    /// Collects the result from the loop, the code host and the worktree.
    pub fn of(
        testbed: &Testbed,
        expected: &ExpectedEnd,
        worktree: Option<&Path>,
        finished: Value,
        events: String,
    ) -> Result<Self> {
        let mut delivered = Vec::new();
        let pulls = testbed.host.pull_requests(expected.base_repository);
        for pull in &pulls {
            let head = pull.head_repository.as_deref();
            ensure!(head == expected.head_repository, "the branch of the pull request is in {head:?}");
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
        Ok(Self { finished, events, pull_requests: pulls.len(), delivered, worktree })
    }

    /// Compares the result with the expected one.
    pub fn check(&self, expected: &ExpectedEnd, testbed: &Testbed, clone: &Path) -> Result<()> {
        let status = self.finished["status"].as_str().context("the loop has no status")?;
        ensure!(status == expected.status, "the status is {status}, expected {}: {self}", expected.status);
        let messages = format!("{}\n{}", self.finished, self.events);
        for text in &expected.messages {
            ensure!(messages.contains(text), "no message contains {text:?}: {self}");
        }
        for text in &expected.absent_messages {
            ensure!(!messages.contains(text), "a message contains {text:?}: {self}");
        }
        ensure!(
            self.pull_requests == expected.pull_requests,
            "{} pull requests, expected {}: {self}",
            self.pull_requests,
            expected.pull_requests
        );
        for file in &expected.delivered {
            ensure!(self.delivered.iter().any(|path| path == file), "{file} is not delivered: {self}");
        }
        let bare = testbed.remotes.bare(expected.base_repository);
        for file in &expected.withheld {
            let pushed = git(&bare, &["log", "--all", "--format=%h", "--", file])?;
            ensure!(pushed.is_empty(), "{file} was pushed in {}", pushed.trim());
        }
        for file in &expected.preserved {
            ensure!(is_preserved(testbed, clone, file)?, "{file} is lost: {self}");
        }
        for (path, text) in &expected.file_contents {
            let content = std::fs::read_to_string(testbed.sandbox().join(path)).unwrap_or_default();
            ensure!(content.contains(text), "{path} contains {content:?}, expected {text:?}: {self}");
        }
        Ok(())
    }
}

/// Returns whether a file exists in a directory of the sandbox or in a commit that is reachable from a ref.
fn is_preserved(testbed: &Testbed, clone: &Path, file: &str) -> Result<bool> {
    let entries = std::fs::read_dir(testbed.sandbox())?.flatten();
    if entries.map(|entry| entry.path()).any(|path| path != clone && path.join(file).exists()) {
        return Ok(true);
    }
    Ok(!git(clone, &["log", "--all", "--format=%h", "--", file])?.is_empty())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            |value: &Value| value.as_str().unwrap_or_default().lines().next().unwrap_or_default().to_owned();
        write!(f, "{}", text(&self.finished["status"]))?;
        let error = &self.finished["error"];
        if error.is_object() {
            write!(f, ", {}: {}", text(&error["code"]), text(&error["message"]))?;
        }
        write!(f, "; {} pull requests, {}", self.pull_requests, self.worktree)
    }
}
