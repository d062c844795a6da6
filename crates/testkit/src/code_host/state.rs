//! What the code host keeps: users, repositories, pull requests and what was said on them.
//!
//! Plain data and the few rules that the code host enforces. Branches and commits are not kept
//! here; they are read from the bare repositories when somebody asks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where a pull request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PullState {
    /// Waits for a decision.
    Open,
    /// Turned down.
    Closed,
    /// Its commits are in the base branch.
    Merged,
}

impl PullState {
    /// As the code host's GraphQL names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Closed => "CLOSED",
            Self::Merged => "MERGED",
        }
    }
}

/// A label of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
    /// Six hex digits.
    pub color: String,
}

/// A comment in the conversation of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedComment {
    /// Number, unique on the whole host.
    pub id: u64,
    /// Login.
    pub author: String,
    /// Markdown.
    pub body: String,
    /// RFC 3339.
    pub created_at: String,
}

/// A verdict on a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedReview {
    /// Number, unique on the whole host.
    pub id: u64,
    /// Login.
    pub author: String,
    /// `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED` or `DISMISSED`.
    pub state: String,
    /// Markdown; may be empty.
    pub body: String,
    /// RFC 3339.
    pub submitted_at: String,
}

/// A comment on a line of a pull request's diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedInlineComment {
    /// Number, unique on the whole host.
    pub id: u64,
    /// The review that it belongs to.
    pub review: Option<u64>,
    /// The comment that began its thread.
    pub in_reply_to: Option<u64>,
    /// Login.
    pub author: String,
    /// Markdown.
    pub body: String,
    /// File.
    pub path: String,
    /// Line in the newer version; `None` for the whole file.
    pub line: Option<u64>,
    /// RFC 3339.
    pub created_at: String,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedPull {
    /// Number within its repository, from 1.
    pub number: u64,
    /// Title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Login.
    pub author: String,
    /// Its status.
    pub state: PullState,
    /// Whether it is marked as unfinished.
    pub draft: bool,
    /// Branch that it goes into.
    pub base: String,
    /// Branch that it brings.
    pub head: String,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// Its conversation, oldest first.
    pub comments: Vec<HostedComment>,
    /// Verdicts, oldest first.
    pub reviews: Vec<HostedReview>,
    /// Comments on lines, oldest first.
    pub inline: Vec<HostedInlineComment>,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
}

/// A repository as the code host knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostedRepository {
    /// Branch that pull requests go into when nothing else is said.
    pub default_branch: String,
    /// One line about it.
    pub description: String,
    /// Whether only members see it.
    pub private: bool,
    /// Its labels.
    pub labels: Vec<Label>,
    /// Its pull requests, oldest first.
    pub pulls: Vec<HostedPull>,
}

/// Everything on the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    /// Login of the person whose token is used.
    pub viewer: String,
    /// By full name.
    pub repositories: BTreeMap<String, HostedRepository>,
    /// Highest number given to a comment, review or inline comment.
    pub last_id: u64,
    /// When something was said last; seconds since 1970.
    #[serde(default)]
    pub last_said: i64,
    /// Repositories that have another name now: the old one and the new one.
    #[serde(default)]
    pub moved: BTreeMap<String, String>,
}

impl HostState {
    pub(super) fn new(viewer: &str) -> Self {
        Self {
            viewer: viewer.to_owned(),
            repositories: BTreeMap::new(),
            last_id: 100,
            last_said: 0,
            moved: BTreeMap::new(),
        }
    }

    /// A moment of its own for each thing that is said, so that all have an order.
    fn moment(&mut self) -> String {
        let now = jiff::Timestamp::now();
        self.last_said = now.as_second().max(self.last_said + 1);
        jiff::Timestamp::from_second(self.last_said).unwrap_or(now).to_string()
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
        pull.updated_at = now();
        Some(pull)
    }

    /// Opens a pull request, or says in the host's words why not.
    pub(super) fn open_pull(&mut self, full_name: &str, new: NewPull) -> Result<u64, String> {
        let author = self.viewer.clone();
        let repository = self
            .repositories
            .get_mut(full_name)
            .ok_or_else(|| format!("Could not resolve to a Repository with the name '{full_name}'."))?;
        let same = |pull: &&HostedPull| {
            pull.state == PullState::Open && pull.head == new.head && pull.base == new.base
        };
        if repository.pulls.iter().any(|pull| same(&pull)) {
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
            labels: Vec::new(),
            comments: Vec::new(),
            reviews: Vec::new(),
            inline: Vec::new(),
            created_at: now.clone(),
            updated_at: now,
        });
        Ok(number)
    }

    pub(super) fn comment(&mut self, full_name: &str, number: u64, author: &str, body: &str) -> Option<u64> {
        let (id, created_at) = (self.next_id(), self.moment());
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
        let (id, submitted_at) = (self.next_id(), self.moment());
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
        let (id, created_at) = (self.next_id(), self.moment());
        let pull = self.pull_mut(full_name, number)?;
        let root = match new.in_reply_to {
            Some(parent) => {
                let parent = pull.inline.iter().find(|comment| comment.id == parent)?;
                Some(parent.in_reply_to.unwrap_or(parent.id))
            }
            None => None,
        };
        let first = root.and_then(|root| pull.inline.iter().find(|comment| comment.id == root));
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

/// What it takes to open a pull request.
#[derive(Debug, Default)]
pub(super) struct NewPull {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) base: String,
    pub(super) head: String,
    pub(super) draft: bool,
}

/// What it takes to comment on a line.
#[derive(Debug, Default)]
pub(super) struct NewInline {
    pub(super) author: String,
    pub(super) body: String,
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) review: Option<u64>,
    pub(super) in_reply_to: Option<u64>,
}

/// The time as the code host writes it: to the second.
pub(super) fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}
