//! What became of the work of one repository, and where that lay.

use std::path::{Path, PathBuf};

use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::ids::BranchName;
use loopgate_api::redact;

use super::result_file;
use crate::jobs::{DeliveryPath, DeliveryStatus};

/// Scratch text of a pull request that an assistant may leave.
pub(super) const PR_BODY: &str = "pr-body.md";
pub(super) const NO_CHANGES: &str = "no_changes";

/// What became of the work.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeliveryOutcome {
    pub status: DeliveryStatus,
    pub path: DeliveryPath,
    pub reason: Option<String>,
    /// The assistant's account could not be used for the commit.
    pub auth_challenge: Option<String>,
    /// No token was used and nothing is there: the loop never worked.
    pub nothing_was_done: bool,
    pub result: Option<ExecutionResult>,
    /// Whether the work of some repository was not delivered.
    pub incomplete: bool,
    /// Whether files were left out.
    pub held_back: bool,
}

impl DeliveryOutcome {
    pub fn new(status: DeliveryStatus, path: DeliveryPath) -> Self {
        Self {
            status,
            path,
            reason: None,
            auth_challenge: None,
            nothing_was_done: false,
            result: None,
            incomplete: status == DeliveryStatus::Error,
            held_back: false,
        }
    }

    /// Its entries, when one of them tells of a pull request.
    pub fn pull_requests(&self) -> Option<&[ResultEntry]> {
        let results = self.result.as_ref()?.results.as_slice();
        results.iter().any(|entry| matches!(entry, ResultEntry::Success(_))).then_some(results)
    }

    pub fn because(mut self, reason: impl AsRef<str>) -> Self {
        self.reason = Some(redact::message(reason.as_ref()));
        self
    }

    pub fn with(mut self, result: ExecutionResult) -> Self {
        self.result = Some(result);
        self
    }
}

/// Where the work lies and where it goes.
#[derive(Debug, Clone)]
pub(super) struct DeliveryContext {
    pub directory: PathBuf,
    pub work_dir: PathBuf,
    pub full_name: String,
    pub base: BranchName,
    /// Full ref or commit that the work is compared with.
    pub base_revision: String,
}

/// A result that cannot be stored is an error: without it the next try would deliver again.
pub(super) async fn stored(work_dir: &Path, delivered: DeliveryOutcome) -> DeliveryOutcome {
    let Some(result) = delivered.result.clone().filter(|_| !delivered.nothing_was_done) else {
        return delivered;
    };
    let directory = work_dir.to_owned();
    match tokio::task::spawn_blocking(move || result_file::write(&directory, &result)).await {
        Ok(Ok(())) => delivered,
        Ok(Err(error)) => DeliveryOutcome { status: DeliveryStatus::Error, incomplete: true, ..delivered }
            .because(error.to_string()),
        Err(error) => DeliveryOutcome { status: DeliveryStatus::Error, incomplete: true, ..delivered }
            .because(error.to_string()),
    }
}

pub(super) fn git_failed(reason: &str) -> DeliveryOutcome {
    DeliveryOutcome::new(DeliveryStatus::Error, DeliveryPath::GitFallback).because(reason)
}
