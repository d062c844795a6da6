//! Pull requests of loops: find, create and update.

use std::path::Path;
use std::sync::LazyLock;

use loopgate_api::ids::BranchName;
use regex::Regex;
use serde::Deserialize;

use super::{CodeHost, CodeHostError, time};

/// URL and number of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PullRequest {
    /// URL of the web page.
    pub url: String,
    pub number: u64,
}

/// A pull request to create.
#[derive(Debug, Clone)]
pub struct NewPullRequest<'a> {
    pub title: &'a str,
    /// Text in Markdown. Passed on standard input, because a temporary file could be replaced before it is
    /// read.
    pub body: &'a str,
    /// Base branch, into which the pull request is to be merged.
    pub base: &'a BranchName,
    /// Head branch, as pushed.
    pub head: &'a BranchName,
    /// Label, which is left out if the repository does not define it.
    pub label: &'a str,
}

/// Part of the message of `gh pr create` and `gh pr edit` about a label that the repository does not define.
const UNKNOWN_LABEL: &str = "could not add label";

/// An entry of `gh pr list`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestEntry {
    #[serde(flatten)]
    pull: PullRequest,
    is_cross_repository: bool,
    /// `null` when the account was deleted.
    head_repository_owner: Option<HeadOwner>,
}

#[derive(Deserialize)]
struct HeadOwner {
    login: String,
}

/// Number of pull requests that a lookup reads: those of all forks with a branch of the same name.
const LIST_LIMIT: &str = "100";
const LIST_FIELDS: &str = "url,number,isCrossRepository,headRepositoryOwner";

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"https?://[^\s]+/pull/([0-9]+)").ok());

/// Returns the pull requests whose URLs appear in a text, in order.
pub(super) fn pull_requests_in(printed: &str) -> impl Iterator<Item = PullRequest> {
    URL.iter().flat_map(|pattern| pattern.captures_iter(printed)).filter_map(|found| {
        let number = found.get(1)?.as_str().parse().ok()?;
        Some(PullRequest { url: found.get(0)?.as_str().to_owned(), number })
    })
}

/// Returns the last pull request whose URL appears in a text.
#[must_use]
pub fn parse_pull_request(printed: &str) -> Option<PullRequest> {
    pull_requests_in(printed).last()
}

impl CodeHost {
    /// Returns the open pull request of a pushed branch.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the host cannot be reached.
    pub async fn pr_view(
        &self,
        directory: &Path,
        branch: &BranchName,
    ) -> Result<Option<PullRequest>, CodeHostError> {
        self.open_pull_of(directory, branch.as_str()).await
    }

    /// As [`CodeHost::pr_view`], for a branch of the user, whose name may contain any character.
    pub(super) async fn open_pull_of(
        &self,
        directory: &Path,
        branch: &str,
    ) -> Result<Option<PullRequest>, CodeHostError> {
        // Not `gh pr view <branch>`, which finds a fork's branch only by the name of its owner, and also returns
        // pull requests that are closed.
        let args = ["pr", "list", "--state", "open", "--limit", LIST_LIMIT, "--json", LIST_FIELDS];
        let base = self.base_options(directory).await?;
        let args: Vec<&str> =
            args.into_iter().chain(["--head", branch]).chain(base.iter().map(String::as_str)).collect();
        let output = self.output(directory, &args, time::VIEW).await?;
        if !output.status.success() {
            return Err(CodeHostError::failed(&output));
        }
        let listed: Vec<PullRequestEntry> =
            serde_json::from_slice(&output.stdout).map_err(|_| CodeHostError::Unreadable)?;
        // Any user can propose a branch of this name from a fork. The owner of the base repository is not compared: it
        // may have been renamed.
        let remotes = self.remotes(directory).await?;
        let is_own = |listed: &PullRequestEntry| match (remotes.head_owner(), &listed.head_repository_owner) {
            (Some(owner), Some(head)) => head.login.eq_ignore_ascii_case(owner),
            (Some(_), None) => false,
            (None, _) => !listed.is_cross_repository,
        };
        Ok(listed.into_iter().find(is_own).map(|listed| listed.pull))
    }

    /// Creates a pull request and returns its URL and number.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], also when the output contains no URL.
    pub async fn pr_create(
        &self,
        directory: &Path,
        new: &NewPullRequest<'_>,
    ) -> Result<PullRequest, CodeHostError> {
        let mut args = vec!["pr", "create", "--title", new.title, "--body-file", "-"];
        args.extend(["--base", new.base.as_str()]);
        let remotes = self.remotes(directory).await?;
        let (head, base) = (remotes.head(new.head.as_str()), self.base_options(directory).await?);
        args.extend(["--head", &head]);
        args.extend(base.iter().map(String::as_str));
        let labelled = [args.as_slice(), &["--label", new.label]].concat();
        let output = match self.change_with(directory, &labelled, new.body.into(), time::CREATE).await {
            // The program looks the label up before it creates anything.
            Err(CodeHostError::Failed { printed, .. }) if printed.contains(UNKNOWN_LABEL) => {
                self.change_with(directory, &args, new.body.into(), time::CREATE).await?
            }
            output => output?,
        };
        parse_pull_request(&output.stdout_text()).ok_or(CodeHostError::Unreadable)
    }

    /// Adds a label to a pull request.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], also when the repository has no such label.
    pub async fn pr_add_label(
        &self,
        directory: &Path,
        number: u64,
        label: &str,
    ) -> Result<(), CodeHostError> {
        let number = number.to_string();
        let base = self.base_options(directory).await?;
        let mut args = vec!["pr", "edit", &number, "--add-label", label];
        args.extend(base.iter().map(String::as_str));
        self.change(directory, &args, time::EDIT).await.map(drop)
    }

    /// Returns the text of a pull request.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the pull request does not exist.
    pub async fn pr_body(&self, directory: &Path, number: u64) -> Result<String, CodeHostError> {
        #[derive(Deserialize)]
        struct PullRequestBody {
            body: String,
        }
        let number = number.to_string();
        let base = self.base_options(directory).await?;
        let mut args = vec!["pr", "view", &number, "--json", "body"];
        args.extend(base.iter().map(String::as_str));
        let output = self.output(directory, &args, time::VIEW).await?;
        if !output.status.success() {
            return Err(CodeHostError::failed(&output));
        }
        let body: PullRequestBody =
            serde_json::from_slice(&output.stdout).map_err(|_| CodeHostError::Unreadable)?;
        Ok(body.body)
    }

    /// Replaces the text of a pull request.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the pull request does not exist.
    pub async fn pr_edit_body(&self, directory: &Path, number: u64, body: &str) -> Result<(), CodeHostError> {
        let number = number.to_string();
        let base = self.base_options(directory).await?;
        let mut args = vec!["pr", "edit", &number, "--body-file", "-"];
        args.extend(base.iter().map(String::as_str));
        self.change_with(directory, &args, body.into(), time::EDIT).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn url_is_parsed_from_program_output() {
        let printed = "Warning: 1 uncommitted change\nhttps://github.com/acme/widget/pull/17\n";
        let found = parse_pull_request(printed).unwrap();
        assert_eq!((found.url.as_str(), found.number), ("https://github.com/acme/widget/pull/17", 17));
        assert_eq!(parse_pull_request("https://github.com/acme/widget/pull/new"), None);
        assert_eq!(parse_pull_request("https://x/pull/99999999999999999999999"), None);
        let both = "See https://h/docs\nhttps://h/a/b/pull/new\nhttps://h/a/b/pull/7\nhttps://h/a/b/pull/9\n";
        assert_eq!(pull_requests_in(both).map(|pull| pull.number).collect::<Vec<_>>(), [7, 9]);
    }

    proptest! {
        #[test]
        fn number_is_parsed_from_any_text(before in "[^:]*", number: u64, after in "([^0-9].*)?") {
            let printed = format!("{before}\nhttps://github.com/a/b/pull/{number}{after}");
            prop_assume!(!after.contains("/pull/"));
            prop_assert_eq!(parse_pull_request(&printed).map(|found| found.number), Some(number));
        }
    }
}
