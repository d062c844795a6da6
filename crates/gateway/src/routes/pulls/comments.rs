//! `GET /api/gateway/git/pr/comments`: what was said about a pull request, newest first.

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
use super::clone::{NamedClone, named_pull};
use super::comment::PullRequestComment;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::response::encode_component;
use crate::route::Endpoint;

/// Bytes that the answer's members beside the comments, and their names, take at most.
const FRAME: usize = 2048;

/// What was said about a pull request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"branchId": "acme%2Fshop::dark-theme", "state": "populated", "comments": [{"id": "PRRC_kwDOA1", "providerNodeId": "PRRC_kwDOA1", "providerCommentId": "1001", "kind": "review", "threadId": "PRRT_kwDOA7", "inReplyToId": null, "path": "styles.css", "line": 12, "resolved": false, "author": {"login": "octo-dev", "displayName": null, "avatarUrl": null, "profileUrl": null}, "body": "Why this colour?", "createdAt": "2030-01-02T08:30:00Z", "updatedAt": null, "providerUrl": "https://github.com/acme/shop/pull/42#discussion_r1001", "stale": false, "bodyTruncated": false}], "budget": {"maxComments": 100, "pageSize": 100, "maxBodyBytes": 16384, "maxResponseBytes": 524288, "providerTruncated": false, "responseTruncated": false, "omittedComments": 0, "bodyTruncatedCount": 0}, "providerProofedAt": "2030-01-02T09:00:00.000Z", "stale": false, "mixedProjection": false, "prNumber": 42, "prUrl": "https://github.com/acme/shop/pull/42"}))]
pub(crate) struct PullRequestComments {
    /// Repository and branch, each percent-encoded, with `::` between.
    branch_id: String,
    /// `synced_empty`, `populated` or `over_limit_truncated`.
    state: &'static str,
    /// Newest first.
    comments: Vec<PullRequestComment>,
    budget: Budget,
    /// When the code host was asked; ISO 8601.
    provider_proofed_at: String,
    stale: bool,
    mixed_projection: bool,
    pr_number: u32,
    pr_url: String,
}

/// The pull request that is asked about.
struct CommentsTarget {
    repository: RepoFullName,
    number: PullNumber,
    branch_id: String,
    local: bool,
}

/// List what was said about a pull request
///
/// With `owner`, `repo` (a name), `number` and `branchId`, or with `repo` (the path of a clone) and
/// `pr`.
#[utoipa::path(get, path = "/api/gateway/git/pr/comments", operation_id = "pull_request_comments", tag = "pull requests",
    params(
        ("owner" = Option<String>, Query, description = "Owner of the repository", example = "acme"),
        ("repo" = String, Query, description = "Name of the repository, or path of a clone", example = "shop"),
        ("number" = Option<String>, Query, description = "Number of the pull request", example = "1"),
        ("branchId" = Option<String>, Query, description = "Branch that the caller takes it for", example = "acme%2Fshop::dark-theme"),
        ("pr" = Option<String>, Query, description = "Number of the pull request, beside a path", example = "1"),
    ),
    responses(
        (status = 200, body = PullRequestComments, description = "Newest first"),
        (status = 400, body = ErrorBody, description = "Something is missing or no name or number", example = json!(ErrorBody::missing_field("owner, repo, number, and branchId are required"))),
        (status = 401, body = ErrorBody, description = "The code-host program is not logged in", example = json!(ErrorBody::new(401, "GitHub CLI not authenticated").with("reason", "auth"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox, or the branch of another repository", example = json!(ErrorBody::new(403, "branch scope does not match pull request").with("reason", "forbidden_mismatch"))),
        (status = 404, body = ErrorBody, description = "No such directory or pull request", example = json!(ErrorBody::new(404, "PR #42 not found").with("reason", "not_found"))),
        (status = 500, body = ErrorBody, description = "The clone does not come from the code host", example = json!(ErrorBody::new(500, "Repository not found or no access."))),
        (status = 503, body = ErrorBody, description = "The code host gives no answer now; `reason` tells why", example = json!(ErrorBody::new(503, "API rate limit exceeded").with("reason", "rate_limit"))),
    ))]
async fn comments(State(app): State<App>, query: QueryMembers) -> JsonResult<PullRequestComments> {
    let scoped = ["owner", "number", "branchId"].iter().any(|name| query.get(name).is_some());
    let subject = if scoped { named_subject(&query)? } else { local_subject(&app, &query).await? };
    let said = app.code_host.pull_request_comments(&subject.repository, subject.number).await;
    let conversation = said.map_err(|error| refused(error, subject.number))?;
    let page = format!("https://github.com/{}/pull/{}", subject.repository, subject.number);
    let pr_url = conversation.url.clone().unwrap_or(page);
    let frame = FRAME + subject.branch_id.len() + pr_url.len();
    let CommentSelection { comments, budget, state } =
        budget::fit(conversation, frame, |comment| PullRequestComment::new(comment, subject.local));
    Ok(Json(PullRequestComments {
        branch_id: subject.branch_id,
        state,
        comments,
        budget,
        provider_proofed_at: loopgate_api::time::now_iso(),
        stale: false,
        mixed_projection: false,
        pr_number: subject.number.get(),
        pr_url,
    }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(comments), &[Source::Path(At::Query("repo")), Source::OwnerAndName])
}

const MISSING: &str = "owner, repo, number, and branchId are required";

/// A pull request by the names of owner and repository.
fn named_subject(query: &QueryMembers) -> Result<CommentsTarget, HttpError> {
    let branch_id = query.required("branchId", MISSING)?.to_owned();
    let (repository, number) = named_pull(query).ok_or_else(|| HttpError::missing_field(MISSING))??;
    if !is_branch_of(&branch_id, &repository) {
        let refused = HttpError::forbidden("branch scope does not match pull request");
        return Err(refused.with("reason", "forbidden_mismatch"));
    }
    Ok(CommentsTarget { repository, number, branch_id, local: false })
}

/// Whether a branch id names a branch of this repository.
fn is_branch_of(branch_id: &str, repository: &RepoFullName) -> bool {
    let Some((encoded, branch)) = branch_id.split_once("::") else { return false };
    let name = percent_decode_str(encoded).decode_utf8().ok().and_then(|name| name.parse().ok());
    !branch.is_empty() && name.is_some_and(|name: RepoFullName| name.same_as(repository))
}

/// A pull request of a clone's origin.
async fn local_subject(app: &App, query: &QueryMembers) -> Result<CommentsTarget, HttpError> {
    let path = query.required("repo", MISSING)?;
    let number = query.required("pr", MISSING)?;
    let number: PullNumber = number.parse().map_err(|_| HttpError::bad_request("Invalid repo or pr"))?;
    let clone = NamedClone::at(app, path).await?;
    let repository = clone.repository("Repository not found or no access.")?;
    let branch = app.git.current_branch(&clone.directory).await.ok().flatten();
    let branch = branch.unwrap_or_else(|| format!("pr-{number}"));
    let branch_id = branch_id(repository.as_str(), &branch);
    Ok(CommentsTarget { repository, number, branch_id, local: true })
}

fn branch_id(repository: &str, branch: &str) -> String {
    format!("{}::{}", encode_component(repository), encode_component(branch))
}

/// The failure, with the `reason` that clients act on.
fn refused(error: GraphQlError, number: PullNumber) -> HttpError {
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
    fn branch_belongs_to_its_repository() {
        let repository: RepoFullName = "acme/widget".parse().unwrap();
        assert_eq!(branch_id("acme/widget", "feature/gear(1)'s"), "acme%2Fwidget::feature%2Fgear(1)'s");
        assert!(is_branch_of("acme%2Fwidget::feature%2Fgear", &repository));
        assert!(is_branch_of("Acme%2FWidget::x", &repository), "the code host ignores case");
        for other in ["acme%2Fother::x", "local::x", "acme%2Fwidget::", "acme%2Fwidget", "", "%ff::x"] {
            assert!(!is_branch_of(other, &repository), "{other}");
        }
    }

    #[test]
    fn every_refusal_has_a_code() {
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
            let failure = refused(error, number);
            assert_eq!((failure.status.as_u16(), &failure.body.details["reason"]), (status, &reason.into()));
        }
    }

    proptest! {
        #[test]
        fn any_branch_has_an_id_of_its_own(branch in ".{1,40}") {
            let id = branch_id("acme/widget", &branch);
            let (_, encoded) = id.split_once("::").unwrap();
            prop_assert!(is_branch_of(&id, &"acme/widget".parse().unwrap()));
            prop_assert_eq!(percent_decode_str(encoded).decode_utf8().unwrap(), branch);
        }
    }
}
