//! `GET /api/gateway/git/branches`: branches and worktrees of a repository, in pages.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::git::{Branch, Branches, ListedWorktree};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::response::path_text;
use crate::route::Endpoint;
use crate::routes::directory::existing_directory;

/// Largest page, and the page of a request without `limit`. A repository can have tens of thousands of branches,
/// and a relayed response must fit one message of the link.
const MAX_PAGE: usize = 1000;

/// A page of a repository's branches, and its worktrees.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"defaultBranch": "main", "worktrees": [{"path": "/home/sam/src/worktrees/shop-AB-1", "branch": "feature/AB-1", "ticketId": "AB-1"}], "branches": [{"name": "main", "isRemote": false, "lastCommitDate": "2030-01-02T09:00:00+01:00"}, {"name": "dark-theme", "isRemote": true, "lastCommitDate": "2030-01-01T17:30:00+01:00"}]}))]
pub(crate) struct BranchesAnswer {
    /// Default branch of `origin`, or the current branch when it is unknown, or `main`.
    default_branch: String,
    /// All worktrees except the requested directory.
    worktrees: Vec<WorktreeAnswer>,
    /// Default branch first, then by date of the last commit, newest first.
    branches: Vec<BranchAnswer>,
    /// Number of branches that match the filter, on all pages; absent when all are on this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// `offset` of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

/// The requested part of a listing.
#[derive(Debug, Clone)]
struct Page {
    /// Part of a branch's name, in lower case; empty for all branches.
    filter: String,
    offset: usize,
    limit: usize,
}

impl Page {
    fn of(query: &QueryMembers) -> Result<Self, HttpError> {
        let number = |name: &str, default: usize| match query.get(name).filter(|text| !text.is_empty()) {
            None => Some(default),
            Some(text) => text.parse().ok(),
        };
        let limit = number("limit", MAX_PAGE).filter(|limit| (1..=MAX_PAGE).contains(limit));
        Ok(Self {
            filter: query.get("filter").unwrap_or_default().to_lowercase(),
            offset: number("offset", 0)
                .ok_or_else(|| HttpError::bad_request("offset must be a non-negative number"))?,
            limit: limit.ok_or_else(|| HttpError::bad_request("limit must be from 1 to 1000"))?,
        })
    }

    fn select(&self, Branches { worktrees, listing }: Branches) -> BranchesAnswer {
        let mut total = 0;
        let mut branches = Vec::new();
        for branch in &listing.branches {
            // Most requests have no filter, and lower-casing allocates.
            if !self.filter.is_empty() && !branch.name.to_lowercase().contains(&self.filter) {
                continue;
            }
            if total >= self.offset && branches.len() < self.limit {
                branches.push(BranchAnswer::from(branch));
            }
            total += 1;
        }
        let next_offset = self.offset.saturating_add(branches.len());
        BranchesAnswer {
            default_branch: listing.default.clone(),
            worktrees: worktrees.into_iter().map(WorktreeAnswer::from).collect(),
            total: (branches.len() < total).then_some(total),
            branches,
            next_offset: (next_offset < total).then_some(next_offset),
        }
    }
}

/// A worktree of the repository.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorktreeAnswer {
    path: String,
    /// Branch of the worktree; empty when HEAD is detached.
    branch: String,
    /// Ticket id in the worktree's name; null when there is none.
    #[schema(required)]
    ticket_id: Option<String>,
}

/// A local or remote-tracking branch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchAnswer {
    /// Name without `origin/`. Branches of other remotes keep the prefix.
    name: String,
    /// Whether the branch exists only at `origin`.
    is_remote: bool,
    /// Date of the last commit, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_commit_date: Option<String>,
}

/// List branches and worktrees
///
/// Returns at most 1,000 branches. `nextOffset` of the response is the `offset` of the next page.
#[utoipa::path(get, path = "/api/gateway/git/branches", operation_id = "git_branches", tag = "git",
    params(
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
        ("filter" = Option<String>, Query, description = "Only branches whose name contains this text, regardless of case", example = "topic"),
        ("offset" = Option<String>, Query, description = "Number of branches to skip; 0 when absent", example = "1000"),
        ("limit" = Option<String>, Query, description = "Largest number of branches, 1 to 1000; 1000 when absent", example = "100"),
    ),
    responses(
        (status = 200, body = BranchesAnswer, description = "The branches and worktrees; empty when the directory is not a repository"),
        (status = 400, body = ErrorBody, description = "Repository path missing", example = json!(ErrorBody::missing_field("repo parameter is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "Repository not found: ~/src/gone"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "git for-each-ref took longer than 10 s"))),
    ))]
async fn branches(State(app): State<App>, query: QueryMembers) -> JsonResult<BranchesAnswer> {
    let path = query.required("repo", "repo parameter is required")?;
    let page = Page::of(&query)?;
    let repository = existing_directory(&app, path, |path| {
        HttpError::not_found(format!("Repository not found: {}", path.display()))
    });
    let repository = repository.await?;
    // Cached, because listing the refs of a large repository takes seconds.
    let listed = app.git_cache.branches(repository.canonical()).await;
    let listed = listed.map_err(|error| HttpError::failed(error.to_string()))?;
    Ok(Json(page.select(listed)))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(branches), &[Source::Path(At::Query("repo"))])
}

impl From<ListedWorktree> for WorktreeAnswer {
    fn from(worktree: ListedWorktree) -> Self {
        Self { path: path_text(&worktree.path), branch: worktree.branch, ticket_id: worktree.ticket }
    }
}

impl From<&Branch> for BranchAnswer {
    fn from(branch: &Branch) -> Self {
        Self {
            name: branch.name.clone(),
            is_remote: branch.remote,
            last_commit_date: branch.last_commit.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::extract::FromRequestParts as _;
    use futures_util::FutureExt as _;
    use loopgate_tools::git::{BranchListing, parse_refs};

    use super::*;

    fn branches(count: usize) -> Branches {
        // The format of `git for-each-ref` that the parser expects.
        let line = |nth| format!("refs/heads/Topic/{nth}\0\0 \x001900000000\x002030-03-17T17:46:40+00:00\n");
        let printed: String = (0..count).map(line).collect();
        let mut listing = BranchListing::default();
        listing.branches = parse_refs(printed.as_bytes(), "origin").branches;
        assert_eq!(listing.branches.len(), count);
        Branches { worktrees: Vec::new(), listing: Arc::new(listing) }
    }

    fn names(answer: &BranchesAnswer) -> Vec<&str> {
        answer.branches.iter().map(|branch| branch.name.as_str()).collect()
    }

    fn page(query: &str) -> Result<Page, HttpError> {
        let (mut parts, ()) = http::Request::get(format!("/?{query}")).body(()).unwrap().into_parts();
        let Ok(members) = QueryMembers::from_request_parts(&mut parts, &()).now_or_never().unwrap();
        Page::of(&members)
    }

    #[test]
    fn pages_contain_each_branch_once() {
        let listed = branches(30_000);
        let (mut seen, mut offset) = (Vec::new(), Some(0));
        while let Some(at) = offset {
            let answer = page(&format!("offset={at}")).unwrap().select(listed.clone());
            assert_eq!((answer.total, answer.branches.len()), (Some(30_000), 1000));
            assert!(serde_json::to_vec(&answer).unwrap().len() < 200_000);
            seen.extend(names(&answer).into_iter().map(str::to_owned));
            offset = answer.next_offset;
        }
        assert!(seen.iter().eq(listed.listing.branches.iter().map(|branch| &branch.name)));
    }

    #[test]
    fn filter_matches_part_of_the_name() {
        let answer = page("filter=topic/29999&limit=5").unwrap().select(branches(30_000));
        assert_eq!((names(&answer), answer.total, answer.next_offset), (vec!["Topic/29999"], None, None));
        let answer = page("filter=C/2999&limit=2&offset=1").unwrap().select(branches(30_000));
        assert_eq!(names(&answer), ["Topic/29990", "Topic/29991"]);
        assert_eq!((answer.total, answer.next_offset), (Some(11), Some(3)));
        let answer = page("offset=99999999999").unwrap().select(branches(3));
        assert_eq!((names(&answer).len(), answer.total, answer.next_offset), (0, Some(3), None));
    }

    #[test]
    fn invalid_pages_are_rejected() {
        for query in ["limit=0", "limit=1001", "limit=x", "offset=-1", "offset=x"] {
            assert!(page(query).is_err(), "{query}");
        }
        assert_eq!(page("limit=&offset=").unwrap().limit, MAX_PAGE);
    }
}
