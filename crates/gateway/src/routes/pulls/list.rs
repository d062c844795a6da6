//! `GET /api/gateway/git/pr/list`: the newest pull requests of a clone's origin.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use loopgate_tools::code_host::{ListState, Listed};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{clone_at, failed, origin_of};
use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::extract::QueryMembers;
use crate::router::Route;

/// Pull requests, the newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullRequestList {
    /// At most 50.
    prs: Vec<ListedPullRequest>,
    /// Whether there are more.
    has_more: bool,
    /// Whether there are more.
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
    /// Login; `unknown` when the account is gone.
    author: String,
    /// `OPEN` or `MERGED`.
    state: String,
    /// ISO 8601.
    created_at: String,
    head_ref_name: String,
}

/// What is beyond the list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageInfo {
    has_next_page: bool,
    /// Always null: there is no way to ask for more.
    #[schema(required)]
    end_cursor: Option<String>,
}

/// List pull requests
#[utoipa::path(get, path = "/api/gateway/git/pr/list", operation_id = "list_pull_requests", tag = "pull requests",
    params(
        ("repo" = String, Query, description = "Path of the clone"),
        ("state" = Option<String>, Query, description = "`open`, which is the default, or `merged`"),
    ),
    responses(
        (status = 200, body = PullRequestList, description = "The newest ones"),
        (status = 400, body = ErrorBody, description = "No path, or another state"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No such directory"),
        (status = 500, body = ErrorBody, description = "The code host said no"),
    ))]
async fn list(State(app): State<App>, query: QueryMembers) -> Answer<PullRequestList> {
    let path = query.required("repo", "Missing 'repo' query parameter")?;
    let state = match query.get("state").unwrap_or_default() {
        "" | "open" => ListState::Open,
        "merged" => ListState::Merged,
        _ => return Err(Failure::bad_request("state must be 'open' or 'merged'")),
    };
    let clone = clone_at(&app, path).await?;
    let origin = origin_of(&app, clone.canonical()).await;
    let origin = origin.ok_or_else(|| failed("Repository not found or no access."))?;
    let listed = app.code_host.list_pull_requests(&origin, state).await;
    let (listed, more) = listed.map_err(|error| {
        tracing::warn!(%error, "pull requests were not listed");
        failed(error.sentence())
    })?;
    Ok(Json(PullRequestList {
        prs: listed.into_iter().map(ListedPullRequest::from).collect(),
        has_more: more,
        truncated: more,
        page_info: PageInfo { has_next_page: more, end_cursor: None },
    }))
}

pub(crate) fn route() -> Route {
    Route::new(routes!(list), OperationId::GitPr)
}

impl From<Listed> for ListedPullRequest {
    fn from(listed: Listed) -> Self {
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
