//! `POST /api/gateway/git/pr/merge` and `git/pr/update-branch`: merge a pull request, and update its branch.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::pull_request::MergeMethod;
use loopgate_tools::code_host::{DisplayedPull, PullChangeError, PullNumber};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::report_changes;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

/// The pull request to merge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoFullName": "acme/shop", "prNumber": 1, "headSha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "method": "squash"}))]
struct MergePullRequest {
    #[serde(flatten)]
    displayed: DisplayedPullRequest,
    /// How the commits are added to the base branch.
    #[schema(value_type = MergeMethod, required)]
    #[serde(default, deserialize_with = "lenient::any")]
    method: Option<MergeMethod>,
}

/// A pull request, as the user has seen it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoFullName": "acme/shop", "prNumber": 1, "headSha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}))]
struct DisplayedPullRequest {
    /// Full name of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_full_name: Option<String>,
    /// Number of the pull request.
    #[schema(value_type = u64, required)]
    #[serde(default, deserialize_with = "lenient::positive")]
    pr_number: Option<u64>,
    /// Full hash of the head commit that the user has seen. The request is refused when it is no longer the head.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    head_sha: Option<String>,
}

impl DisplayedPullRequest {
    fn parse(self) -> Result<DisplayedPull, HttpError> {
        let missing = HttpError::missing_field;
        let repository = self.repo_full_name.ok_or_else(|| missing("repoFullName is required"))?;
        let number = self.pr_number.and_then(PullNumber::new);
        let head = self.head_sha.ok_or_else(|| missing("headSha is required"))?;
        let is_hash = matches!(head.len(), 40 | 64) && head.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return Err(HttpError::bad_request("headSha must be the full hash of a commit"));
        }
        Ok(DisplayedPull {
            repository: repository
                .parse()
                .map_err(|_| HttpError::bad_request("repoFullName must be <owner>/<repository>"))?,
            number: number.ok_or_else(|| missing("prNumber is required"))?,
            head,
        })
    }
}

/// The change of a pull request was accepted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
pub(crate) struct PullRequestChanged {
    success: bool,
}

/// Merge a pull request
#[utoipa::path(post, path = "/api/gateway/git/pr/merge", operation_id = "merge_pull_request", tag = "pull requests",
    request_body = MergePullRequest,
    responses(
        (status = 200, body = PullRequestChanged, description = "The pull request is merged"),
        (status = 400, body = ErrorBody, description = "A required member is missing or invalid", example = json!(ErrorBody::missing_field("headSha is required"))),
        (status = 409, body = ErrorBody, description = "The pull request has a newer head commit", example = json!(ErrorBody::new(409, HEAD_MOVED))),
        (status = 422, body = ErrorBody, description = "The code host refused it, with its reason", example = json!(ErrorBody::new(422, "Pull Request is not mergeable"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Network error. Check your connection."))),
    ))]
async fn merge(
    State(app): State<App>,
    JsonBody(body): JsonBody<MergePullRequest>,
) -> JsonResult<PullRequestChanged> {
    let pull = body.displayed.parse()?;
    let method = "method must be 'merge', 'squash' or 'rebase'";
    let method = body.method.ok_or_else(|| HttpError::missing_field(method))?;
    app.code_host.merge_pull_request(&pull, method).await?;
    Ok(changed(&app))
}

/// Update the branch of a pull request
///
/// Merges the base branch into the head branch, at the code host. It may complete this after the response.
#[utoipa::path(post, path = "/api/gateway/git/pr/update-branch", operation_id = "update_pull_request_branch", tag = "pull requests",
    request_body = DisplayedPullRequest,
    responses(
        (status = 200, body = PullRequestChanged, description = "The branch is being updated"),
        (status = 400, body = ErrorBody, description = "A required member is missing or invalid", example = json!(ErrorBody::missing_field("headSha is required"))),
        (status = 409, body = ErrorBody, description = "The pull request has a newer head commit", example = json!(ErrorBody::new(409, HEAD_MOVED))),
        (status = 422, body = ErrorBody, description = "The code host refused it, with its reason", example = json!(ErrorBody::new(422, "merge conflict between base and head"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Network error. Check your connection."))),
    ))]
async fn update_branch(
    State(app): State<App>,
    JsonBody(body): JsonBody<DisplayedPullRequest>,
) -> JsonResult<PullRequestChanged> {
    app.code_host.update_pull_branch(&body.parse()?).await?;
    Ok(changed(&app))
}

const HEAD_MOVED: &str = "The pull request has new commits. Read them, then repeat the request.";

fn changed(app: &App) -> Json<PullRequestChanged> {
    report_changes(app);
    Json(PullRequestChanged { success: true })
}

impl From<PullChangeError> for HttpError {
    fn from(error: PullChangeError) -> Self {
        match error {
            PullChangeError::HeadMoved => Self::new(StatusCode::CONFLICT, HEAD_MOVED).with_code("head_moved"),
            PullChangeError::Refused(reason) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, reason).with_code("refused_by_code_host")
            }
            PullChangeError::Failed(error) => error.into(),
        }
    }
}

pub(crate) fn merge_endpoint() -> Endpoint {
    Endpoint::new(routes!(merge), &[Source::Name(At::Body("repoFullName"))])
        .with_action_members(&["prNumber", "method"])
}

pub(crate) fn update_branch_endpoint() -> Endpoint {
    Endpoint::new(routes!(update_branch), &[Source::Name(At::Body("repoFullName"))])
        .with_action_members(&["prNumber"])
}
