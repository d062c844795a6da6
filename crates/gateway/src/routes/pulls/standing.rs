//! `GET /api/gateway/git/pr/standing`: state, checks, reviews and permitted actions of a pull request.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::pull_request::PullRequestStanding;
use utoipa_axum::routes;

use super::clone::pull_in_query;
use super::comments::http_error;
use crate::app::App;
use crate::approval::Source;
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::route::Endpoint;

/// Return the standing of a pull request
///
/// Cached for a few seconds, unless `refresh` is `true`. The control plane receives the state of a pull request that one
/// of this machine's loops opened.
#[utoipa::path(get, path = "/api/gateway/git/pr/standing", operation_id = "pull_request_standing", tag = "pull requests",
    params(
        ("owner" = String, Query, description = "Owner of the repository", example = "acme"),
        ("repo" = String, Query, description = "Name of the repository", example = "shop"),
        ("number" = String, Query, description = "Number of the pull request", example = "1"),
        ("refresh" = Option<String>, Query, description = "`true` to read it again", example = "true"),
    ),
    responses(
        (status = 200, body = PullRequestStanding, description = "The standing"),
        (status = 400, body = ErrorBody, description = "A parameter is missing or invalid", example = json!(ErrorBody::missing_field("owner, repo, and number are required"))),
        (status = 401, body = ErrorBody, description = "The code-host program is not signed in", example = json!(ErrorBody::new(401, "GitHub CLI not authenticated").with("reason", "auth"))),
        (status = 404, body = ErrorBody, description = "The pull request does not exist", example = json!(ErrorBody::new(404, "PR #42 not found").with("reason", "not_found"))),
        (status = 503, body = ErrorBody, description = "The code host is temporarily unavailable; `reason` contains the cause", example = json!(ErrorBody::new(503, "API rate limit exceeded").with("reason", "rate_limit"))),
    ))]
async fn standing(State(app): State<App>, query: QueryMembers) -> JsonResult<PullRequestStanding> {
    let missing = || HttpError::missing_field("owner, repo, and number are required");
    let (repository, number) = pull_in_query(&query).ok_or_else(missing)??;
    if query.get("refresh") == Some("true") {
        app.code_host.forget_standing(&repository, number).await;
    }
    let standing = app.code_host.pull_request_standing(&repository, number).await;
    let standing = standing.map_err(|error| http_error(error, number))?;
    if let Some(runtime) = &app.runtime {
        runtime.pull_requests.observe(&repository, number, &standing);
    }
    Ok(Json(standing))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(standing), &[Source::OwnerAndName])
}
