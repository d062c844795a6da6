//! Outcome of the delivery of one repository, and the location that it was delivered from.

use std::path::{Path, PathBuf};

use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::ids::{BranchName, RepoFullName};
use loopgate_api::redact;
use loopgate_home::Remotes;

use super::result_file;
use crate::jobs::{DeliveryPath, DeliveryStatus};

// Body of the pull request, in the work directory; assistants may leave one in the worktree.
pub(super) const PR_BODY: &str = "pr-body.md";
pub(super) const NO_CHANGES: &str = "no_changes";

/// Outcome of the delivery of one repository, or of all repositories of a loop.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeliveryOutcome {
    pub status: DeliveryStatus,
    pub path: DeliveryPath,
    pub reason: Option<String>,
    /// No tokens were used and nothing changed: the assistant never ran.
    pub no_work: bool,
    pub result: Option<ExecutionResult>,
    /// Whether the work of at least one repository was not delivered.
    pub incomplete: bool,
    /// Whether files were excluded from the delivery.
    pub held_back: bool,
    /// Branches, with their repositories, that had been pushed when the user cancelled the loop.
    pub pushed: Vec<String>,
    /// Why the reported completion of the loop contradicts the delivery.
    pub contradiction: Option<String>,
}

impl DeliveryOutcome {
    pub fn new(status: DeliveryStatus, path: DeliveryPath) -> Self {
        Self {
            status,
            path,
            reason: None,
            no_work: false,
            result: None,
            incomplete: status == DeliveryStatus::Error,
            held_back: false,
            pushed: Vec::new(),
            contradiction: None,
        }
    }

    /// Returns the result entries if at least one of them has a pull request.
    pub fn pull_requests(&self) -> Option<&[ResultEntry]> {
        let results = self.result.as_ref()?.results.as_slice();
        results.iter().any(|entry| matches!(entry, ResultEntry::Success(_))).then_some(results)
    }

    pub fn with_reason(mut self, reason: impl AsRef<str>) -> Self {
        self.reason = Some(redact::message(reason.as_ref()));
        self
    }

    pub fn with_result(mut self, result: ExecutionResult) -> Self {
        self.result = Some(result);
        self
    }
}

/// Location and base of the work to deliver.
#[derive(Debug, Clone)]
pub(super) struct DeliveryContext {
    pub directory: PathBuf,
    pub work_dir: PathBuf,
    pub full_name: String,
    pub remotes: Remotes,
    pub base: BranchName,
    /// Full ref or commit of the base branch that the work is compared with.
    pub base_revision: String,
}

impl DeliveryContext {
    /// Returns the repository in which the pull request is opened, or an empty name when it is not known.
    pub fn pull_request_repository(&self) -> &str {
        self.remotes.parent_repository().map_or(&self.full_name, RepoFullName::as_str)
    }
}

/// Writes the result into the work directory. A failure makes the outcome an error, because a retry without
/// the file would deliver the work again.
pub(super) async fn store_result(work_dir: &Path, delivered: DeliveryOutcome) -> DeliveryOutcome {
    let Some(result) = delivered.result.clone().filter(|_| !delivered.no_work) else {
        return delivered;
    };
    let directory = work_dir.to_owned();
    match tokio::task::spawn_blocking(move || result_file::write(&directory, &result)).await {
        Ok(Ok(())) => delivered,
        Ok(Err(error)) => DeliveryOutcome { status: DeliveryStatus::Error, incomplete: true, ..delivered }
            .with_reason(error.to_string()),
        Err(error) => DeliveryOutcome { status: DeliveryStatus::Error, incomplete: true, ..delivered }
            .with_reason(error.to_string()),
    }
}

pub(super) fn git_failed(reason: &str) -> DeliveryOutcome {
    DeliveryOutcome::new(DeliveryStatus::Error, DeliveryPath::GitFallback).with_reason(reason)
}
