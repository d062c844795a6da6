//! Merging a pull request, and updating its branch from the base branch.

use std::sync::LazyLock;

use loopgate_api::ids::RepoFullName;
use loopgate_api::pull_request::MergeMethod;
use loopgate_api::redact;
use regex::Regex;
use thiserror::Error;

use super::{CodeHost, CodeHostError, PullNumber, limits, succeeded, time};

/// A pull request, and the head commit that the user has seen.
#[derive(Debug, Clone)]
pub struct DisplayedPull {
    pub repository: RepoFullName,
    pub number: PullNumber,
    /// Full hash.
    pub head: String,
}

/// An error of a change of a pull request.
#[derive(Debug, Error)]
pub enum PullChangeError {
    /// The pull request has another head commit than the one that the user has seen.
    #[error("the head of the pull request has changed")]
    HeadMoved,
    /// The code host refused the change; with its reason, without credentials.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Failed(#[from] CodeHostError),
}

impl CodeHost {
    /// Merges a pull request whose head is unchanged. Runs to completion even when the future is dropped.
    ///
    /// # Errors
    /// Fails with [`PullChangeError`]; the pull request is then not merged.
    pub async fn merge_pull_request(
        &self,
        pull: &DisplayedPull,
        method: MergeMethod,
    ) -> Result<(), PullChangeError> {
        let method = format!("merge_method={}", method.as_str());
        self.put(pull, "merge", &["-f", &method, "-f", &format!("sha={}", pull.head)]).await
    }

    /// Merges the base branch of a pull request into its unchanged head branch. The code host may complete this after
    /// its response. Runs to completion even when the future is dropped.
    ///
    /// # Errors
    /// Fails with [`PullChangeError`]; the branch is then not updated.
    pub async fn update_pull_branch(&self, pull: &DisplayedPull) -> Result<(), PullChangeError> {
        self.put(pull, "update-branch", &["-f", &format!("expected_head_sha={}", pull.head)]).await
    }

    // The REST API: it reports a moved head by its status, which the sub-commands of the program do not pass on.
    async fn put(&self, pull: &DisplayedPull, action: &str, fields: &[&str]) -> Result<(), PullChangeError> {
        let path = format!("repos/{}/pulls/{}/{action}", pull.repository, pull.number);
        let command = self.command().await.args(["api", "--method", "PUT", &path]).args(fields);
        let output = command.run_to_completion(limits(time::WRITE)).await.map_err(CodeHostError::from)?;
        // Also after a failure: an unknown outcome may be a success.
        self.forget_standing(&pull.repository, pull.number).await;
        succeeded(output).map(drop).map_err(PullChangeError::from_program)
    }
}

static HTTP_ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^gh: (.*) \(HTTP ([0-9]{3})\)\r?$").ok());

impl PullChangeError {
    /// Interprets the message of the program, such as `gh: Head branch was modified. […] (HTTP 409)`.
    fn from_program(error: CodeHostError) -> Self {
        let CodeHostError::Failed { printed, .. } = &error else { return error.into() };
        let found = HTTP_ERROR.as_ref().and_then(|pattern| pattern.captures(printed));
        let Some((_, [message, status])) = found.map(|found| found.extract()) else { return error.into() };
        match status {
            "409" => Self::HeadMoved,
            // `update-branch` reports it as a failed validation.
            "422" if message.to_lowercase().contains("expected head sha") => Self::HeadMoved,
            "405" | "422" => Self::Refused(redact::message(message)),
            _ => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(printed: &str) -> PullChangeError {
        PullChangeError::from_program(CodeHostError::Failed { code: 1, printed: printed.to_owned() })
    }

    #[test]
    fn moved_head_is_distinguished_from_other_refusals() {
        for printed in [
            "gh: Head branch was modified. Review and try the merge again. (HTTP 409)",
            "gh: expected head sha didn\u{2019}t match current head ref. (HTTP 422)",
        ] {
            assert!(matches!(read(printed), PullChangeError::HeadMoved), "{printed}");
        }
        for (printed, reason) in [
            ("gh: Pull Request is not mergeable (HTTP 405)", "Pull Request is not mergeable"),
            (
                "gh: Squash merges are not allowed on this repository. (HTTP 405)",
                "Squash merges are not allowed on this repository.",
            ),
            (
                "gh: There are no new commits on the base branch. (HTTP 422)",
                "There are no new commits on the base branch.",
            ),
        ] {
            assert!(matches!(read(printed), PullChangeError::Refused(text) if text == reason), "{printed}");
        }
        for printed in ["gh: Bad credentials (HTTP 401)", "gh: Not Found (HTTP 404)", "gh: (HTTP 409", "boom"]
        {
            assert!(matches!(read(printed), PullChangeError::Failed(_)), "{printed}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_output_does_not_panic(printed in "(gh: )?.{0,60}( \\(HTTP [0-9]{3}\\))?") {
            let _ = read(&printed).to_string();
        }
    }
}
