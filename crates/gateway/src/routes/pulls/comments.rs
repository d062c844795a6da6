//! `GET /api/gateway/git/pr/comments`: the comments of a pull request, newest first.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::RepoFullName;
use loopgate_tools::code_host::{GraphQlError, PullNumber};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::budget::{self, Budget, CommentSelection};
use super::clone::{LocalClone, pull_in_query};
use super::comment::PullRequestComment;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::response::encode_component;
use crate::route::Endpoint;

/// Upper bound, in bytes, of the response without its comments, branch id and URL.
const FRAME: usize = 2048;

/// Comments of a pull request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"branchId": "acme%2Fshop::dark-theme", "state": "populated", "comments": [{"id": "PRRC_kwDOA1", "providerNodeId": "PRRC_kwDOA1", "providerCommentId": "1001", "kind": "review", "threadId": "PRRT_kwDOA7", "inReplyToId": null, "path": "styles.css", "line": 12, "resolved": false, "author": {"login": "octo-dev", "displayName": null, "avatarUrl": null, "profileUrl": null}, "body": "Why this colour?", "createdAt": "2030-01-02T08:30:00Z", "updatedAt": null, "providerUrl": "https://github.com/acme/shop/pull/42#discussion_r1001", "stale": false, "bodyTruncated": false}], "budget": {"maxComments": 100, "pageSize": 100, "maxBodyBytes": 16384, "maxResponseBytes": 524288, "providerTruncated": false, "responseTruncated": false, "omittedComments": 0, "bodyTruncatedCount": 0}, "providerProofedAt": "2030-01-02T09:00:00.000Z", "stale": false, "mixedProjection": false, "prNumber": 42, "prUrl": "https://github.com/acme/shop/pull/42"}))]
pub(crate) struct PullRequestComments {
    /// Repository and branch, each percent-encoded, separated by `::`.
    branch_id: String,
    /// State: `synced_empty`, `populated` or `over_limit_truncated`.
    state: &'static str,
    /// Comments, newest first.
    comments: Vec<PullRequestComment>,
    budget: Budget,
    /// Time of the request to the code host, ISO 8601.
    provider_proofed_at: String,
    stale: bool,
    mixed_projection: bool,
    pr_number: u32,
    pr_url: String,
}

/// The pull request of a request.
struct CommentsTarget {
    repository: RepoFullName,
    number: PullNumber,
    branch_id: String,
    local: bool,
}

/// List the comments of a pull request
///
/// Accepts either `owner`, `repo` (name), `number` and `branchId`, or `repo` (path of a clone) and `pr`.
#[utoipa::path(get, path = "/api/gateway/git/pr/comments", operation_id = "pull_request_comments", tag = "pull requests",
    params(
        ("owner" = Option<String>, Query, description = "Owner of the repository", example = "acme"),
        ("repo" = String, Query, description = "Name of the repository, or path of a clone", example = "shop"),
        ("number" = Option<String>, Query, description = "Number of the pull request", example = "1"),
        ("branchId" = Option<String>, Query, description = "Branch id under which the caller shows the pull request", example = "acme%2Fshop::dark-theme"),
        ("pr" = Option<String>, Query, description = "Number of the pull request, with the path of a clone", example = "1"),
    ),
    responses(
        (status = 200, body = PullRequestComments, description = "The comments, newest first"),
        (status = 400, body = ErrorBody, description = "A parameter is missing or invalid", example = json!(ErrorBody::missing_field("owner, repo, number, and branchId are required"))),
        (status = 401, body = ErrorBody, description = "The code-host program is not signed in", example = json!(ErrorBody::new(401, "GitHub CLI not authenticated").with("reason", "auth"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox, or the branch id belongs to another repository", example = json!(ErrorBody::new(403, "branch scope does not match pull request").with("reason", "forbidden_mismatch"))),
        (status = 404, body = ErrorBody, description = "The directory or the pull request does not exist", example = json!(ErrorBody::new(404, "PR #42 not found").with("reason", "not_found"))),
        (status = 500, body = ErrorBody, description = "The clone's `origin` is not at the code host", example = json!(ErrorBody::new(500, "Repository not found or no access."))),
        (status = 503, body = ErrorBody, description = "The code host is temporarily unavailable; `reason` contains the cause", example = json!(ErrorBody::new(503, "API rate limit exceeded").with("reason", "rate_limit"))),
    ))]
async fn comments(State(app): State<App>, query: QueryMembers) -> JsonResult<PullRequestComments> {
    // `repo` is a name in one form and a path in the other; any of these parameters selects the first form.
    let scoped = ["owner", "number", "branchId"].iter().any(|name| query.get(name).is_some());
    let target = if scoped { target_in_query(&query)? } else { local_target(&app, &query).await? };
    let conversation = app.code_host.pull_request_comments(&target.repository, target.number).await;
    let conversation = conversation.map_err(|error| http_error(error, target.number))?;
    let default_url = format!("https://github.com/{}/pull/{}", target.repository, target.number);
    let pr_url = conversation.url.clone().unwrap_or(default_url);
    let frame = FRAME + target.branch_id.len() + pr_url.len();
    let CommentSelection { comments, budget, state } =
        budget::fit(conversation, frame, |comment| PullRequestComment::new(comment, target.local));
    Ok(Json(PullRequestComments {
        branch_id: target.branch_id,
        state,
        comments,
        budget,
        provider_proofed_at: loopgate_api::time::now_iso(),
        stale: false,
        mixed_projection: false,
        pr_number: target.number.get(),
        pr_url,
    }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(comments), &[Source::Path(At::Query("repo")), Source::OwnerAndName])
}

const MISSING: &str = "owner, repo, number, and branchId are required";

/// Parses a pull request that is identified by owner and repository name.
fn target_in_query(query: &QueryMembers) -> Result<CommentsTarget, HttpError> {
    let branch_id = query.required("branchId", MISSING)?.to_owned();
    let (repository, number) = pull_in_query(query).ok_or_else(|| HttpError::missing_field(MISSING))??;
    // A mismatched pair would return the comments of one repository under the branch id of another.
    if !is_branch_of(&branch_id, &repository) {
        let forbidden = HttpError::forbidden("branch scope does not match pull request");
        return Err(forbidden.with("reason", "forbidden_mismatch"));
    }
    Ok(CommentsTarget { repository, number, branch_id, local: false })
}

/// Returns whether a branch id belongs to this repository.
fn is_branch_of(branch_id: &str, repository: &RepoFullName) -> bool {
    let Some((encoded, branch)) = branch_id.split_once("::") else { return false };
    let name = percent_decode_str(encoded).decode_utf8().ok().and_then(|name| name.parse().ok());
    !branch.is_empty() && name.is_some_and(|name: RepoFullName| name.same_as(repository))
}

/// Resolves a pull request of a clone's origin.
async fn local_target(app: &App, query: &QueryMembers) -> Result<CommentsTarget, HttpError> {
    let path = query.required("repo", MISSING)?;
    let number = query.required("pr", MISSING)?;
    let number: PullNumber = number.parse().map_err(|_| HttpError::bad_request("Invalid repo or pr"))?;
    let clone = LocalClone::open(app, path).await?;
    let repository = clone.repository("Repository not found or no access.")?;
    let branch = app.git.current_branch(&clone.directory).await.ok().flatten();
    // A detached HEAD has no branch; the number keeps the id unique.
    let branch = branch.unwrap_or_else(|| format!("pr-{number}"));
    let branch_id = branch_id(repository.as_str(), &branch);
    Ok(CommentsTarget { repository, number, branch_id, local: true })
}

fn branch_id(repository: &str, branch: &str) -> String {
    format!("{}::{}", encode_component(repository), encode_component(branch))
}

/// Maps an error to its status and to the `reason` on which clients act.
pub(super) fn http_error(error: GraphQlError, number: PullNumber) -> HttpError {
    let unavailable = StatusCode::SERVICE_UNAVAILABLE;
    let (status, reason) = match error {
        GraphQlError::NotFound => {
            let text = format!("PR #{number} not found");
            return HttpError::not_found(text).with("reason", "not_found");
        }
        GraphQlError::NotLoggedIn => (StatusCode::UNAUTHORIZED, "auth"),
        GraphQlError::RateLimited => (unavailable, "rate_limit"),
        GraphQlError::SecondaryLimited => (unavailable, "secondary_limit"),
        GraphQlError::TimedOut => (unavailable, "timeout"),
        GraphQlError::Unreadable | GraphQlError::Forbidden | GraphQlError::Unavailable => {
            (unavailable, "provider_unavailable")
        }
    };
    HttpError::new(status, error.to_string()).with("reason", reason)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn branch_id_matches_only_its_repository() {
        let repository: RepoFullName = "acme/widget".parse().unwrap();
        assert_eq!(branch_id("acme/widget", "feature/gear(1)'s"), "acme%2Fwidget::feature%2Fgear(1)'s");
        assert!(is_branch_of("acme%2Fwidget::feature%2Fgear", &repository));
        assert!(is_branch_of("Acme%2FWidget::x", &repository), "the code host ignores case");
        for other in ["acme%2Fother::x", "local::x", "acme%2Fwidget::", "acme%2Fwidget", "", "%ff::x"] {
            assert!(!is_branch_of(other, &repository), "{other}");
        }
    }

    #[test]
    fn every_error_has_a_status_and_a_reason() {
        let number = PullNumber::new(42).unwrap();
        for (error, status, reason) in [
            (GraphQlError::NotFound, 404, "not_found"),
            (GraphQlError::NotLoggedIn, 401, "auth"),
            (GraphQlError::RateLimited, 503, "rate_limit"),
            (GraphQlError::SecondaryLimited, 503, "secondary_limit"),
            (GraphQlError::TimedOut, 503, "timeout"),
            (GraphQlError::Unreadable, 503, "provider_unavailable"),
            (GraphQlError::Forbidden, 503, "provider_unavailable"),
            (GraphQlError::Unavailable, 503, "provider_unavailable"),
        ] {
            let failure = http_error(error, number);
            assert_eq!((failure.status.as_u16(), &failure.body.details["reason"]), (status, &reason.into()));
        }
    }

    proptest! {
        #[test]
        fn branch_id_round_trips(branch in ".{1,40}") {
            let id = branch_id("acme/widget", &branch);
            let (_, encoded) = id.split_once("::").unwrap();
            prop_assert!(is_branch_of(&id, &"acme/widget".parse().unwrap()));
            prop_assert_eq!(percent_decode_str(encoded).decode_utf8().unwrap(), branch);
        }
    }
}
