//! `GET /api/gateway/git/pr/list`: the newest pull requests of a clone's origin.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::code_host::{ListState, PullRequestSummary};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::clone::LocalClone;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::route::Endpoint;

/// Pull requests, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"prs": [{"number": 42, "title": "Add a dark theme", "url": "https://github.com/acme/shop/pull/42", "author": "octo-dev", "state": "OPEN", "createdAt": "2030-01-02T08:00:00Z", "headRefName": "dark-theme"}], "hasMore": false, "truncated": false, "pageInfo": {"hasNextPage": false, "endCursor": null}}))]
pub(crate) struct PullRequestList {
    /// The newest pull requests, at most 50.
    prs: Vec<ListedPullRequest>,
    /// Whether the code host has more pull requests.
    has_more: bool,
    /// Same as `hasMore`; for clients that read only this member.
    truncated: bool,
    page_info: PageInfo,
}

/// A pull request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedPullRequest {
    number: u64,
    title: String,
    url: String,
    /// Login of the author; `unknown` for a deleted account.
    author: String,
    /// State: `OPEN` or `MERGED`.
    state: String,
    /// Time of creation, ISO 8601.
    created_at: String,
    head_ref_name: String,
}

/// Pagination of the list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageInfo {
    has_next_page: bool,
    /// Always null: further pages cannot be requested.
    #[schema(required)]
    end_cursor: Option<String>,
}

/// List pull requests
#[utoipa::path(get, path = "/api/gateway/git/pr/list", operation_id = "list_pull_requests", tag = "pull requests",
    params(
        ("repo" = String, Query, description = "Path of the clone", example = "~/src/shop"),
        ("state" = Option<String>, Query, description = "`open` (default) or `merged`", example = "open"),
    ),
    responses(
        (status = 200, body = PullRequestList, description = "The newest pull requests"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or invalid state", example = json!(ErrorBody::new(400, "state must be 'open' or 'merged'"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Repository not found or no access."))),
    ))]
async fn list(State(app): State<App>, query: QueryMembers) -> JsonResult<PullRequestList> {
    let path = query.required("repo", "Missing 'repo' query parameter")?;
    let state = match query.get("state").unwrap_or_default() {
        "" | "open" => ListState::Open,
        "merged" => ListState::Merged,
        _ => return Err(HttpError::bad_request("state must be 'open' or 'merged'")),
    };
    let clone = LocalClone::open(&app, path).await?;
    let repository = clone.repository("Repository not found or no access.")?;
    let (listed, more) = app.code_host.list_pull_requests(&repository, state).await?;
    Ok(Json(PullRequestList {
        prs: listed.into_iter().map(ListedPullRequest::from).collect(),
        has_more: more,
        truncated: more,
        page_info: PageInfo { has_next_page: more, end_cursor: None },
    }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[Source::Path(At::Query("repo"))])
}

impl From<PullRequestSummary> for ListedPullRequest {
    fn from(listed: PullRequestSummary) -> Self {
        Self {
            number: listed.number,
            title: listed.title,
            url: listed.url,
            author: listed.author,
            state: listed.state,
            created_at: listed.created_at,
            head_ref_name: listed.head,
        }
    }
}
