//! JSON representations of the code host's objects in its two APIs, GraphQL and REST.
//!
//! Commits, files and hashes are read from the bare repositories each time an object is requested.

use serde_json::{Value, json};

use super::state::{
    HostedCheck, HostedComment, HostedInlineComment, HostedPull, HostedRepository, HostedReview, Label,
    PullState,
};
use crate::git::{Commit, FileChange, GitRemotes};

pub(super) fn repository_url(full_name: &str) -> String {
    format!("https://github.com/{full_name}")
}

pub(super) fn pull_url(full_name: &str, number: u64) -> String {
    format!("{}/pull/{number}", repository_url(full_name))
}

/// Data of a pull request that comes from git. Empty when its branch does not exist.
#[derive(Debug, Default)]
pub(super) struct GitFacts {
    pub(super) head_sha: String,
    pub(super) base_sha: String,
    pub(super) commits: Vec<Commit>,
    pub(super) files: Vec<FileChange>,
    /// Whether an open pull request conflicts with its base branch.
    pub(super) has_conflicts: bool,
    /// Whether the base branch has commits that the head of an open pull request does not contain.
    pub(super) is_behind: bool,
}

impl GitFacts {
    pub(super) fn read(remotes: &GitRemotes, full_name: &str, pull: &HostedPull) -> Self {
        let sha = |full_name: &str, branch: &str| {
            remotes.branches(full_name).unwrap_or_default().remove(branch).unwrap_or_default()
        };
        let head = pull.head_ref(remotes, full_name).unwrap_or_else(|_| pull.head.clone());
        let is_open = pull.state == PullState::Open;
        let is_behind =
            is_open && remotes.commits(full_name, &head, &pull.base).is_ok_and(|new| !new.is_empty());
        Self {
            head_sha: sha(pull.head_repository.as_deref().unwrap_or(full_name), &pull.head),
            base_sha: sha(full_name, &pull.base),
            commits: remotes.commits(full_name, pull.base_ref(), &head).unwrap_or_default(),
            files: remotes.changes(full_name, pull.base_ref(), &head).unwrap_or_default(),
            has_conflicts: is_behind && !remotes.merges_cleanly(full_name, &pull.base, &head),
            is_behind,
        }
    }

    fn sum(&self, count: impl Fn(&FileChange) -> u64) -> u64 {
        self.files.iter().map(count).sum()
    }
}

/// Representations of the GraphQL API.
pub(super) mod graphql {
    use super::{
        Commit, FileChange, GitFacts, HostedCheck, HostedComment, HostedInlineComment, HostedPull,
        HostedRepository, HostedReview, Label, PullState, Value, json, pull_url, repository_url,
    };

    pub(in super::super) fn user(login: &str) -> Value {
        json!({"__typename": "User", "id": format!("U:{login}"), "login": login, "name": login,
               "email": format!("{login}@example.com"), "url": format!("https://github.com/{login}"),
               "avatarUrl": format!("https://github.com/{login}.png")})
    }

    fn owner_of(full_name: &str) -> Value {
        let login = full_name.split('/').next().unwrap_or_default();
        json!({"__typename": "Organization", "id": format!("O:{login}"), "login": login, "name": login})
    }

    pub(in super::super) fn label(full_name: &str, label: &Label) -> Value {
        json!({"__typename": "Label", "id": format!("LA:{full_name}:{}", label.name), "name": label.name,
               "description": label.description, "color": label.color,
               "url": format!("{}/labels/{}", repository_url(full_name), label.name)})
    }

    /// All members of a repository except its pull requests.
    pub(in super::super) fn repository(full_name: &str, repository: &HostedRepository) -> Value {
        let name = full_name.split('/').nth(1).unwrap_or_default();
        json!({
            "__typename": "Repository", "id": format!("R:{full_name}"), "name": name,
            "nameWithOwner": full_name, "owner": owner_of(full_name),
            "description": repository.description, "url": repository_url(full_name),
            "sshUrl": format!("git@github.com:{full_name}.git"),
            "isPrivate": repository.private, "isFork": false, "isArchived": false, "parent": null,
            "visibility": if repository.private { "PRIVATE" } else { "PUBLIC" },
            "hasIssuesEnabled": true, "hasWikiEnabled": false, "hasProjectsEnabled": false,
            "viewerPermission": if repository.read_only { "READ" } else { "ADMIN" },
            "viewerCanPush": !repository.read_only, "viewerDefaultMergeMethod": "MERGE",
            "defaultBranchRef": {"name": repository.default_branch},
            "mergeCommitAllowed": true, "rebaseMergeAllowed": true, "squashMergeAllowed": true,
            "labels": repository.labels.iter().map(|l| label(full_name, l)).collect::<Vec<_>>(),
            "assignableUsers": [], "milestones": [], "projects": [], "projectsV2": [], "issues": [],
            "pullRequestTemplates": [], "issueTemplates": [],
        })
    }

    pub(in super::super) fn pull(
        full_name: &str,
        repository: &HostedRepository,
        pull: &HostedPull,
        viewer: &str,
        git: &GitFacts,
    ) -> Value {
        let closed = pull.state != PullState::Open;
        let merged = pull.state == PullState::Merged;
        let url = pull_url(full_name, pull.number);
        let labels: Vec<Value> = repository
            .labels
            .iter()
            .filter(|label| pull.labels.contains(&label.name))
            .map(|item| label(full_name, item))
            .collect();
        let reviews: Vec<Value> = pull.reviews.iter().map(|r| review(&url, viewer, pull, r, git)).collect();
        let comments: Vec<Value> = pull.comments.iter().map(|c| comment(&url, viewer, c)).collect();
        let head_name = pull.head_repository.as_deref().unwrap_or(full_name);
        let head_repository = self::repository(head_name, repository);
        let mut object = json!({
            "__typename": "PullRequest", "id": pull_id(full_name, pull.number), "number": pull.number,
            "title": pull.title, "body": pull.body, "state": pull.state.as_str(), "url": url,
            "isDraft": pull.draft, "closed": closed, "merged": merged, "author": user(&pull.author),
            "authorAssociation": "OWNER", "createdAt": pull.created_at, "updatedAt": pull.updated_at,
            "closedAt": if closed { json!(pull.updated_at) } else { Value::Null },
            "mergedAt": if merged { json!(pull.updated_at) } else { Value::Null },
            "mergedBy": if merged { user(viewer) } else { Value::Null },
            "baseRefName": pull.base, "headRefName": pull.head,
            "isCrossRepository": pull.head_repository.is_some(),
            "baseRefOid": git.base_sha, "headRefOid": git.head_sha,
            "headRepository": head_repository, "headRepositoryOwner": owner_of(head_name),
            "baseRepository": self::repository(full_name, repository), "maintainerCanModify": true,
            "mergeable": mergeable(pull, git), "mergeStateStatus": merge_state(repository, pull, git),
            "viewerCanUpdateBranch": git.is_behind && !repository.read_only,
            "additions": git.sum(|f| f.additions), "deletions": git.sum(|f| f.deletions),
            "changedFiles": git.files.len(),
        });
        let lists = json!({
            "commits": commits(pull, git),
            "files": git.files.iter().map(file).collect::<Vec<_>>(),
            "labels": labels, "assignees": [], "reviewRequests": [], "reactionGroups": [],
            "projectCards": [], "projectItems": [], "closingIssuesReferences": [],
            "latestReviews": reviews, "reviews": reviews, "comments": comments,
            "reviewThreads": threads(&url, viewer, pull), "reviewDecision": decision(repository, pull),
        });
        if let (Some(object), Value::Object(lists)) = (object.as_object_mut(), lists) {
            object.extend(lists);
        }
        object
    }

    pub(in super::super) fn pull_id(full_name: &str, number: u64) -> String {
        format!("PR:{full_name}:{number}")
    }

    fn mergeable(pull: &HostedPull, git: &GitFacts) -> &'static str {
        match (pull.state, git.has_conflicts) {
            (PullState::Open, true) => "CONFLICTING",
            (PullState::Open, false) => "MERGEABLE",
            _ => "UNKNOWN",
        }
    }

    fn merge_state(repository: &HostedRepository, pull: &HostedPull, git: &GitFacts) -> &'static str {
        let has_failed =
            |check: &HostedCheck| check.conclusion.as_deref().is_none_or(|text| text != "SUCCESS");
        if pull.state != PullState::Open {
            "UNKNOWN"
        } else if pull.draft {
            "DRAFT"
        } else if git.has_conflicts {
            "DIRTY"
        } else if !is_approved(repository, pull) {
            "BLOCKED"
        } else if pull.checks.iter().any(has_failed) {
            "UNSTABLE"
        } else {
            "CLEAN"
        }
    }

    /// Returns whether the rules of the base branch permit a merge.
    pub(in super::super) fn is_approved(repository: &HostedRepository, pull: &HostedPull) -> bool {
        !repository.requires_approval || decision(repository, pull) == "APPROVED"
    }

    /// Returns the commits, of which the last one has the checks.
    fn commits(pull: &HostedPull, git: &GitFacts) -> Vec<Value> {
        let mut commits: Vec<Value> = git.commits.iter().map(commit).collect();
        if let Some(head) = commits.last_mut().filter(|_| !pull.checks.is_empty()) {
            let checks: Vec<Value> = pull.checks.iter().map(check).collect();
            head["commit"]["statusCheckRollup"] = json!({"contexts": checks});
        }
        commits
    }

    fn check(check: &HostedCheck) -> Value {
        let status = if check.conclusion.is_some() { "COMPLETED" } else { "IN_PROGRESS" };
        json!({"__typename": "CheckRun", "name": check.name, "status": status, "conclusion": check.conclusion,
               "detailsUrl": format!("https://ci.example/{}", check.name), "startedAt": null, "completedAt": null,
               "checkSuite": null})
    }

    fn commit(commit: &Commit) -> Value {
        let body = commit.message.split_once('\n').map_or("", |(_, body)| body.trim());
        let person = json!({"name": commit.author, "email": commit.email, "user": null});
        json!({"commit": {
            "oid": commit.sha, "abbreviatedOid": commit.sha.get(..7), "messageHeadline": commit.subject,
            "message": commit.message, "messageBody": body, "committedDate": commit.date,
            "authoredDate": commit.date, "author": person, "authors": [person],
            "statusCheckRollup": null}})
    }

    fn file(file: &FileChange) -> Value {
        json!({"path": file.path, "additions": file.additions, "deletions": file.deletions,
               "changeType": file.status.to_ascii_uppercase()})
    }

    pub(in super::super) fn comment(pull_url: &str, viewer: &str, comment: &HostedComment) -> Value {
        json!({
            "__typename": "IssueComment", "id": format!("IC_{}", comment.id), "databaseId": comment.id,
            "author": user(&comment.author), "authorAssociation": "MEMBER", "body": comment.body,
            "createdAt": comment.created_at, "updatedAt": comment.created_at, "includesCreatedEdit": false,
            "isMinimized": false, "minimizedReason": "", "reactionGroups": [],
            "url": format!("{pull_url}#issuecomment-{}", comment.id),
            "viewerDidAuthor": comment.author == viewer})
    }

    fn review(
        pull_url: &str,
        viewer: &str,
        pull: &HostedPull,
        review: &HostedReview,
        git: &GitFacts,
    ) -> Value {
        let inline: Vec<Value> = pull
            .inline
            .iter()
            .filter(|comment| comment.review == Some(review.id))
            .map(|comment| self::inline(pull_url, viewer, comment))
            .collect();
        json!({
            "__typename": "PullRequestReview", "id": format!("PRR_{}", review.id), "databaseId": review.id,
            "author": user(&review.author), "authorAssociation": "MEMBER", "body": review.body,
            "state": review.state, "submittedAt": review.submitted_at, "createdAt": review.submitted_at,
            "commit": {"oid": git.head_sha}, "viewerDidAuthor": review.author == viewer, "reactionGroups": [], "comments": inline,
            "url": format!("{pull_url}#pullrequestreview-{}", review.id)})
    }

    fn inline(pull_url: &str, viewer: &str, comment: &HostedInlineComment) -> Value {
        let reply_to = comment.in_reply_to.map(|id| json!({"id": format!("PRRC_{id}"), "databaseId": id}));
        json!({
            "__typename": "PullRequestReviewComment", "id": format!("PRRC_{}", comment.id),
            "databaseId": comment.id, "author": user(&comment.author), "body": comment.body,
            "path": comment.path, "line": comment.line, "originalLine": comment.line, "replyTo": reply_to,
            "createdAt": comment.created_at, "updatedAt": comment.created_at, "outdated": false,
            "viewerDidAuthor": comment.author == viewer,
            "url": format!("{pull_url}#discussion_r{}", comment.id)})
    }

    fn threads(pull_url: &str, viewer: &str, pull: &HostedPull) -> Vec<Value> {
        let roots = pull.inline.iter().filter(|comment| comment.in_reply_to.is_none());
        roots
            .map(|root| {
                let comments: Vec<Value> = pull
                    .inline
                    .iter()
                    .filter(|comment| comment.id == root.id || comment.in_reply_to == Some(root.id))
                    .map(|comment| inline(pull_url, viewer, comment))
                    .collect();
                json!({"__typename": "PullRequestReviewThread", "id": format!("PRRT_{}", root.id),
                       "isResolved": pull.resolved.contains(&root.id), "isOutdated": pull.outdated.contains(&root.id), "path": root.path, "line": root.line,
                       "comments": comments})
            })
            .collect()
    }

    /// Returns the review decision. Per author the last approval or rejection counts; later comments do not
    /// revoke it.
    fn decision(repository: &HostedRepository, pull: &HostedPull) -> Value {
        let mut latest = std::collections::BTreeMap::new();
        // Oldest first, so that a later review replaces the author's earlier one.
        for review in pull.reviews.iter().filter(|review| review.state != "COMMENTED") {
            latest.insert(&review.author, review.state.as_str());
        }
        let has_verdict = |state: &str| latest.values().any(|latest| *latest == state);
        if has_verdict("CHANGES_REQUESTED") {
            json!("CHANGES_REQUESTED")
        } else if has_verdict("APPROVED") {
            json!("APPROVED")
        } else if repository.requires_approval {
            json!("REVIEW_REQUIRED")
        } else {
            Value::Null
        }
    }
}

/// Representations of the REST API.
pub(super) mod rest {
    use super::{
        FileChange, GitFacts, HostedComment, HostedInlineComment, HostedPull, HostedRepository, HostedReview,
        Label, PullState, Value, json, pull_url, repository_url,
    };

    pub(in super::super) fn user(login: &str) -> Value {
        json!({"login": login, "id": 1, "node_id": format!("U:{login}"), "type": "User", "name": login,
               "email": format!("{login}@example.com"), "html_url": format!("https://github.com/{login}"),
               "avatar_url": format!("https://github.com/{login}.png")})
    }

    pub(in super::super) fn repository(full_name: &str, repository: &HostedRepository) -> Value {
        let (owner, name) = full_name.split_once('/').unwrap_or((full_name, ""));
        json!({"id": 1, "node_id": format!("R:{full_name}"), "name": name, "full_name": full_name,
               "private": repository.private, "description": repository.description,
               "default_branch": repository.default_branch, "owner": user(owner),
               "html_url": repository_url(full_name), "clone_url": format!("https://github.com/{full_name}.git"),
               "ssh_url": format!("git@github.com:{full_name}.git"), "fork": false, "archived": false,
               "permissions": {"admin": !repository.read_only, "push": !repository.read_only, "pull": true}})
    }

    pub(in super::super) fn pull(full_name: &str, pull: &HostedPull, git: &GitFacts) -> Value {
        let owner = full_name.split('/').next().unwrap_or_default();
        let end = |branch: &str, sha: &str| {
            json!({"ref": branch, "sha": sha, "label": format!("{owner}:{branch}"),
                   "repo": {"full_name": full_name}})
        };
        let merged = pull.state == PullState::Merged;
        json!({"number": pull.number, "id": pull.number, "title": pull.title, "body": pull.body,
               "state": if pull.state == PullState::Open { "open" } else { "closed" },
               "draft": pull.draft, "merged": merged,
               "merged_at": if merged { json!(pull.updated_at) } else { Value::Null },
               "html_url": pull_url(full_name, pull.number), "user": user(&pull.author),
               "head": end(&pull.head, &git.head_sha), "base": end(&pull.base, &git.base_sha),
               "labels": pull.labels.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
               "created_at": pull.created_at, "updated_at": pull.updated_at,
               "commits": git.commits.len(), "changed_files": git.files.len(),
               "additions": git.sum(|f| f.additions), "deletions": git.sum(|f| f.deletions)})
    }

    pub(in super::super) fn file(file: &FileChange) -> Value {
        let mut row = json!({"filename": file.path, "status": file.status, "additions": file.additions,
                             "deletions": file.deletions, "changes": file.additions + file.deletions});
        if let Some(previous) = &file.previous {
            row["previous_filename"] = json!(previous);
        }
        row
    }

    pub(in super::super) fn label(label: &Label) -> Value {
        json!({"name": label.name, "description": label.description, "color": label.color})
    }

    pub(in super::super) fn comment(pull_url: &str, comment: &HostedComment) -> Value {
        json!({"id": comment.id, "node_id": format!("IC_{}", comment.id), "body": comment.body,
               "user": user(&comment.author), "created_at": comment.created_at,
               "updated_at": comment.created_at,
               "html_url": format!("{pull_url}#issuecomment-{}", comment.id)})
    }

    pub(in super::super) fn review(pull_url: &str, review: &HostedReview) -> Value {
        json!({"id": review.id, "node_id": format!("PRR_{}", review.id), "state": review.state,
               "body": review.body, "user": user(&review.author), "submitted_at": review.submitted_at,
               "html_url": format!("{pull_url}#pullrequestreview-{}", review.id)})
    }

    pub(in super::super) fn inline(pull_url: &str, comment: &HostedInlineComment) -> Value {
        json!({"id": comment.id, "node_id": format!("PRRC_{}", comment.id), "body": comment.body,
               "path": comment.path, "line": comment.line, "original_line": comment.line,
               "in_reply_to_id": comment.in_reply_to, "pull_request_review_id": comment.review,
               "user": user(&comment.author), "created_at": comment.created_at,
               "updated_at": comment.created_at,
               "html_url": format!("{pull_url}#discussion_r{}", comment.id)})
    }
}
