//! State of the code host: users, repositories, pull requests, comments and reviews.
//!
//! Plain data with the few rules that the code host enforces. Branches and commits are not stored here but
//! read from the bare repositories.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::git::{GitRemotes, git};

/// Status of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PullState {
    Open,
    /// Closed without being merged.
    Closed,
    Merged,
}

impl PullState {
    /// Returns the name in the GraphQL API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Closed => "CLOSED",
            Self::Merged => "MERGED",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    pub name: String,
    pub description: String,
    /// Color as six hexadecimal digits.
    pub color: String,
}

/// A comment on a pull request as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedComment {
    /// Id, unique within the host.
    pub id: u64,
    pub author: String,
    pub body: String,
    pub created_at: String,
}

/// A review of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedReview {
    /// Id, unique within the host.
    pub id: u64,
    pub author: String,
    /// `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED` or `DISMISSED`.
    pub state: String,
    /// Markdown text; may be empty.
    pub body: String,
    pub submitted_at: String,
}

/// A comment on a line of a pull request's diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedInlineComment {
    /// Id, unique within the host.
    pub id: u64,
    /// Id of the review that contains it.
    pub review: Option<u64>,
    /// Id of the first comment of its thread; `None` for the first one.
    pub in_reply_to: Option<u64>,
    pub author: String,
    pub body: String,
    pub path: String,
    /// Line in the new version; `None` for the whole file.
    pub line: Option<u64>,
    pub created_at: String,
}

/// A check run of the head commit of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedCheck {
    pub name: String,
    /// `SUCCESS`, `FAILURE`, …; `None` while it runs.
    pub conclusion: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedPull {
    /// Number within its repository, starting at 1.
    pub number: u64,
    pub title: String,
    pub body: String,
    pub author: String,
    pub state: PullState,
    pub draft: bool,
    /// Branch that it is merged into.
    pub base: String,
    /// Branch with the proposed commits.
    pub head: String,
    /// The fork with this branch; `None` for a branch of the repository itself.
    #[serde(default)]
    pub head_repository: Option<String>,
    pub labels: Vec<String>,
    /// Comments on the pull request, oldest first.
    pub comments: Vec<HostedComment>,
    pub reviews: Vec<HostedReview>,
    /// Comments on lines of the diff, oldest first.
    pub inline: Vec<HostedInlineComment>,
    /// Ids of the first comments of resolved threads.
    #[serde(default)]
    pub resolved: Vec<u64>,
    /// Ids of the first comments of threads whose lines a later commit changed.
    #[serde(default)]
    pub outdated: Vec<u64>,
    /// Checks of the head commit, whichever it is.
    #[serde(default)]
    pub checks: Vec<HostedCheck>,
    /// Commit of the base branch before the merge, when the host merged it: afterwards the branch contains the head.
    #[serde(default)]
    pub merged_into: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

impl HostedPull {
    /// Returns the base of the proposed commits: a branch, or a commit after the merge.
    pub(super) fn base_ref(&self) -> &str {
        self.merged_into.as_deref().unwrap_or(&self.base)
    }

    /// Returns a ref of the base repository with the proposed commits. Those of a fork are fetched, as the real host does
    /// it.
    pub(super) fn head_ref(&self, remotes: &GitRemotes, full_name: &str) -> anyhow::Result<String> {
        let Some(fork) = &self.head_repository else { return Ok(self.head.clone()) };
        let head = format!("refs/pull/{}/head", self.number);
        let refspec = format!("+refs/heads/{}:{head}", self.head);
        let fork = remotes.bare(fork);
        git(&remotes.bare(full_name), &["fetch", "--quiet", &fork.to_string_lossy(), &refspec])?;
        Ok(head)
    }
}

/// A repository's metadata and pull requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedRepository {
    /// Default base of pull requests.
    pub default_branch: String,
    pub description: String,
    pub private: bool,
    pub labels: Vec<Label>,
    /// Whether the authenticated user can only read the repository.
    #[serde(default)]
    pub read_only: bool,
    /// Whether an approval is required before a merge.
    #[serde(default)]
    pub requires_approval: bool,
    /// Pull requests, oldest first.
    pub pulls: Vec<HostedPull>,
}

/// Complete state of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    /// Login of the authenticated user.
    pub viewer: String,
    /// Repositories by full name.
    pub repositories: BTreeMap<String, HostedRepository>,
    /// Highest id of a comment, review or inline comment.
    pub last_id: u64,
    /// Timestamp of the newest comment or review, in Unix seconds.
    #[serde(default)]
    pub last_timestamp: i64,
    /// Renamed repositories: maps the old full name to the new one.
    #[serde(default)]
    pub moved: BTreeMap<String, String>,
}

impl HostState {
    pub(super) fn new(viewer: &str) -> Self {
        Self {
            viewer: viewer.to_owned(),
            repositories: BTreeMap::new(),
            last_id: 100,
            last_timestamp: 0,
            moved: BTreeMap::new(),
        }
    }

    /// Returns a timestamp that is later than that of every earlier comment or review. Timestamps have a
    /// resolution of one second, and clients sort by them.
    fn next_timestamp(&mut self) -> String {
        let now = jiff::Timestamp::now();
        self.last_timestamp = now.as_second().max(self.last_timestamp + 1);
        jiff::Timestamp::from_second(self.last_timestamp).unwrap_or(now).to_string()
    }

    pub(super) const fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn pull(&self, full_name: &str, number: u64) -> Option<&HostedPull> {
        self.repositories.get(full_name)?.pulls.iter().find(|pull| pull.number == number)
    }

    pub(super) fn pull_mut(&mut self, full_name: &str, number: u64) -> Option<&mut HostedPull> {
        let pull = self.repositories.get_mut(full_name)?.pulls.iter_mut().find(|p| p.number == number)?;
        // Every mutable access counts as an update, which clients use to detect changes.
        pull.updated_at = now();
        Some(pull)
    }

    /// Opens a pull request. Fails with GitHub's error message.
    pub(super) fn open_pull(&mut self, full_name: &str, new: NewPull) -> Result<u64, String> {
        let author = self.viewer.clone();
        let repository = self
            .repositories
            .get_mut(full_name)
            .ok_or_else(|| format!("Could not resolve to a Repository with the name '{full_name}'."))?;
        let is_duplicate = |pull: &&HostedPull| {
            pull.state == PullState::Open
                && pull.head == new.head
                && pull.head_repository == new.head_repository
                && pull.base == new.base
        };
        if repository.pulls.iter().any(|pull| is_duplicate(&pull)) {
            let owner = full_name.split('/').next().unwrap_or_default();
            return Err(format!("A pull request already exists for {owner}:{}.", new.head));
        }
        let number = repository.pulls.len() as u64 + 1;
        let now = now();
        repository.pulls.push(HostedPull {
            number,
            title: new.title,
            body: new.body,
            author,
            state: PullState::Open,
            draft: new.draft,
            base: new.base,
            head: new.head,
            head_repository: new.head_repository,
            labels: Vec::new(),
            comments: Vec::new(),
            reviews: Vec::new(),
            inline: Vec::new(),
            resolved: Vec::new(),
            outdated: Vec::new(),
            checks: Vec::new(),
            merged_into: None,
            created_at: now.clone(),
            updated_at: now,
        });
        Ok(number)
    }

    pub(super) fn comment(&mut self, full_name: &str, number: u64, author: &str, body: &str) -> Option<u64> {
        let (id, created_at) = (self.next_id(), self.next_timestamp());
        let comment = HostedComment { id, author: author.to_owned(), body: body.to_owned(), created_at };
        self.pull_mut(full_name, number)?.comments.push(comment);
        Some(id)
    }

    pub(super) fn review(
        &mut self,
        full_name: &str,
        number: u64,
        author: &str,
        state: &str,
        body: &str,
    ) -> Option<u64> {
        let (id, submitted_at) = (self.next_id(), self.next_timestamp());
        let review = HostedReview {
            id,
            author: author.to_owned(),
            state: state.to_owned(),
            body: body.to_owned(),
            submitted_at,
        };
        self.pull_mut(full_name, number)?.reviews.push(review);
        Some(id)
    }

    pub(super) fn inline(&mut self, full_name: &str, number: u64, new: NewInline) -> Option<u64> {
        let (id, created_at) = (self.next_id(), self.next_timestamp());
        let pull = self.pull_mut(full_name, number)?;
        // As on GitHub, a reply to a reply belongs to the thread of the first comment.
        let root = match new.in_reply_to {
            Some(parent) => {
                let parent = pull.inline.iter().find(|comment| comment.id == parent)?;
                Some(parent.in_reply_to.unwrap_or(parent.id))
            }
            None => None,
        };
        let first = root.and_then(|root| pull.inline.iter().find(|comment| comment.id == root));
        // A reply is displayed at the position of its thread.
        let (path, line) = first.map_or((new.path, new.line), |first| (first.path.clone(), first.line));
        pull.inline.push(HostedInlineComment {
            id,
            review: new.review,
            in_reply_to: root,
            author: new.author,
            body: new.body,
            path,
            line,
            created_at,
        });
        Some(id)
    }

    pub(super) fn add_labels(&mut self, full_name: &str, number: u64, names: &[String]) -> Option<()> {
        let pull = self.pull_mut(full_name, number)?;
        for name in names {
            if !pull.labels.contains(name) {
                pull.labels.push(name.clone());
            }
        }
        Some(())
    }
}

/// Attributes of a pull request to open.
#[derive(Debug, Default)]
pub(super) struct NewPull {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) base: String,
    pub(super) head: String,
    pub(super) head_repository: Option<String>,
    pub(super) draft: bool,
}

/// Attributes of a comment on a line.
#[derive(Debug, Default)]
pub(super) struct NewInline {
    pub(super) author: String,
    pub(super) body: String,
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) review: Option<u64>,
    pub(super) in_reply_to: Option<u64>,
}

/// Returns the current time with a resolution of one second, as GitHub does.
pub(super) fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}
