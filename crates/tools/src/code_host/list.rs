//! The list of a repository's pull requests.

use loopgate_api::ids::RepoFullName;
use serde::Deserialize;

use super::{CodeHost, CodeHostError};

/// Maximum number of pull requests in a list.
pub const MAX_LISTED: usize = 50;

/// The state by which pull requests are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListState {
    /// Open pull requests, including drafts.
    Open,
    Merged,
}

/// An entry in the list of pull requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestSummary {
    pub number: u64,
    pub title: String,
    /// URL of its web page.
    pub url: String,
    /// Login of the author; `unknown` when the account was deleted.
    pub author: String,
    /// State of the pull request: `OPEN` or `MERGED`.
    pub state: String,
    /// Time of its creation, ISO 8601.
    pub created_at: String,
    /// Name of the head branch.
    pub head: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestRow {
    number: u64,
    title: String,
    url: String,
    author: Option<super::comments::Author>,
    state: String,
    created_at: String,
    head_ref_name: String,
}

impl CodeHost {
    /// Returns the newest pull requests, up to [`MAX_LISTED`], and whether there are more.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the repository does not exist.
    pub async fn list_pull_requests(
        &self,
        repository: &RepoFullName,
        state: ListState,
    ) -> Result<(Vec<PullRequestSummary>, bool), CodeHostError> {
        let state = match state {
            ListState::Open => "open",
            ListState::Merged => "merged",
        };
        // One more than is listed, to detect whether there are more.
        let limit = (MAX_LISTED + 1).to_string();
        let fields = "number,title,url,author,state,createdAt,headRefName";
        let args = ["pr", "list", "-R", repository.as_str(), "--state", state, "--limit", &limit];
        let args: Vec<&str> = args.into_iter().chain(["--json", fields]).collect();
        parse(&self.query(&args).await?.stdout)
    }
}

fn parse(printed: &[u8]) -> Result<(Vec<PullRequestSummary>, bool), CodeHostError> {
    let rows: Vec<PullRequestRow> = serde_json::from_slice(printed).map_err(|_| CodeHostError::Unreadable)?;
    let more = rows.len() > MAX_LISTED;
    Ok((rows.into_iter().take(MAX_LISTED).map(PullRequestSummary::from).collect(), more))
}

impl From<PullRequestRow> for PullRequestSummary {
    fn from(row: PullRequestRow) -> Self {
        Self {
            number: row.number,
            title: row.title,
            url: row.url,
            author: super::comments::login(row.author).unwrap_or_else(|| "unknown".to_owned()),
            state: row.state.to_uppercase(),
            created_at: row.created_at,
            head: row.head_ref_name,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn first_fifty_are_listed() {
        let row = |number: usize| {
            let author = if number == 1 { json!(null) } else { json!({"login": "octo-dev"}) };
            json!({"number": number, "title": "T", "url": "u", "author": author, "state": "open",
                   "createdAt": "2030-05-01T10:00:00Z", "headRefName": "h"})
        };
        let list = |count: usize| {
            let rows: Vec<_> = (1..=count).map(row).collect();
            parse(json!(rows).to_string().as_bytes()).unwrap()
        };
        let (rows, more) = list(50);
        assert_eq!((rows.len(), more), (50, false));
        assert_eq!((rows[0].author.as_str(), rows[1].author.as_str()), ("unknown", "octo-dev"));
        assert_eq!(rows[0].state, "OPEN");
        let (rows, more) = list(51);
        assert_eq!((rows.len(), more), (50, true));
        assert!(parse(b"[{}]").is_err() && parse(b"").is_err());
    }
}
