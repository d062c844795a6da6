//! Pull requests: finding, making and changing one.

use std::path::Path;
use std::sync::LazyLock;

use loopgate_api::ids::BranchName;
use regex::Regex;
use serde::Deserialize;

use super::{CodeHost, CodeHostError, time};

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PullRequest {
    /// Its page.
    pub url: String,
    /// Its number in the repository.
    pub number: u64,
}

/// A pull request to be made.
#[derive(Debug, Clone)]
pub struct NewPullRequest<'a> {
    /// Title.
    pub title: &'a str,
    /// Text, which the program gets as its standard input: a file could be changed before it is read.
    pub body: &'a str,
    /// Branch that it asks to change.
    pub base: &'a BranchName,
    /// Branch with the work; the one that is checked out when absent.
    pub head: Option<&'a BranchName>,
}

/// A pull request with its state.
#[derive(Deserialize)]
struct PullRequestView {
    #[serde(flatten)]
    pull: PullRequest,
    state: Option<String>,
}

static PAGE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"https?://[^\s]+/pull/([0-9]+)").ok());

/// The pull requests whose pages are named in what was printed, in that order.
pub(super) fn named_in(printed: &str) -> impl Iterator<Item = PullRequest> {
    PAGE.iter().flat_map(|page| page.captures_iter(printed)).filter_map(|found| {
        let number = found.get(1)?.as_str().parse().ok()?;
        Some(PullRequest { url: found.get(0)?.as_str().to_owned(), number })
    })
}

/// Finds a pull request in what was printed; the last one counts.
#[must_use]
pub fn parse_pull_request(printed: &str) -> Option<PullRequest> {
    named_in(printed).last()
}

impl CodeHost {
    /// The open pull request of a branch.
    ///
    /// # Errors
    /// [`CodeHostError`]
    pub async fn pr_view(
        &self,
        directory: &Path,
        branch: &BranchName,
    ) -> Result<Option<PullRequest>, CodeHostError> {
        let args = ["pr", "view", "--json", "url,number,state", branch.as_str()];
        let output = self.output(directory, &args, time::VIEW).await?;
        if !output.status.success() {
            let nothing = output.stderr_text().to_lowercase().contains("no pull requests found");
            return if nothing { Ok(None) } else { Err(CodeHostError::failed(&output)) };
        }
        let viewed: PullRequestView =
            serde_json::from_slice(&output.stdout).map_err(|_| CodeHostError::Unreadable)?;
        // A branch may have only a request that was merged or closed before.
        let open = viewed.state.is_none_or(|state| state.eq_ignore_ascii_case("open"));
        Ok(open.then_some(viewed.pull))
    }

    /// Makes a pull request.
    ///
    /// # Errors
    /// [`CodeHostError`], also when the answer names no pull request.
    pub async fn pr_create(
        &self,
        directory: &Path,
        new: &NewPullRequest<'_>,
    ) -> Result<PullRequest, CodeHostError> {
        let mut args = vec!["pr", "create", "--title", new.title, "--body-file", "-"];
        args.extend(["--base", new.base.as_str()]);
        if let Some(head) = new.head {
            args.extend(["--head", head.as_str()]);
        }
        let output = self.change_with(directory, &args, new.body.into(), time::CREATE).await?;
        parse_pull_request(&output.stdout_text()).ok_or(CodeHostError::Unreadable)
    }

    /// Puts a label on a pull request. Callers treat a failure as harmless: the label may not exist.
    ///
    /// # Errors
    /// [`CodeHostError`]
    pub async fn pr_add_label(
        &self,
        directory: &Path,
        number: u64,
        label: &str,
    ) -> Result<(), CodeHostError> {
        let args = ["pr", "edit", &number.to_string(), "--add-label", label];
        self.change(directory, &args, time::EDIT).await.map(drop)
    }

    /// The text of a pull request.
    ///
    /// # Errors
    /// [`CodeHostError`]
    pub async fn pr_body(&self, directory: &Path, number: u64) -> Result<String, CodeHostError> {
        #[derive(Deserialize)]
        struct PullRequestBody {
            body: String,
        }
        let args = ["pr", "view", &number.to_string(), "--json", "body"];
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
    /// [`CodeHostError`]
    pub async fn pr_edit_body(&self, directory: &Path, number: u64, body: &str) -> Result<(), CodeHostError> {
        let args = ["pr", "edit", &number.to_string(), "--body-file", "-"];
        self.change_with(directory, &args, body.into(), time::EDIT).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn page_is_found_in_what_is_printed() {
        let printed = "Warning: 1 uncommitted change\nhttps://github.com/acme/widget/pull/17\n";
        let found = parse_pull_request(printed).unwrap();
        assert_eq!((found.url.as_str(), found.number), ("https://github.com/acme/widget/pull/17", 17));
        assert_eq!(parse_pull_request("https://github.com/acme/widget/pull/new"), None);
        assert_eq!(parse_pull_request("https://x/pull/99999999999999999999999"), None);
        let both = "See https://h/docs\nhttps://h/a/b/pull/new\nhttps://h/a/b/pull/7\nhttps://h/a/b/pull/9\n";
        assert_eq!(named_in(both).map(|pull| pull.number).collect::<Vec<_>>(), [7, 9]);
    }

    proptest! {
        #[test]
        fn any_number_in_any_text_is_read(before in "[^:]*", number: u64, after in "([^0-9].*)?") {
            let printed = format!("{before}\nhttps://github.com/a/b/pull/{number}{after}");
            prop_assume!(!after.contains("/pull/"));
            prop_assert_eq!(parse_pull_request(&printed).map(|found| found.number), Some(number));
        }
    }
}
