//! `GET /api/gateway/git/pr/reviews`: the review states of a pull request.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::code_host::{GraphQlError, ReviewerVerdict, ReviewerVerdicts};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::clone::pull_in_query;
use crate::app::App;
use crate::approval::Source;
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::route::Endpoint;

/// Reviews of a pull request, with totals.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"reviewDecision": "APPROVED", "reviews": [{"author": "octo-dev", "state": "APPROVED", "submittedAt": "2030-01-02T08:45:00Z"}], "approvalCount": 1, "changesRequestedCount": 0}))]
pub(crate) struct PullRequestReviews {
    /// Review decision of the code host: `APPROVED`, `CHANGES_REQUESTED`, `REVIEW_REQUIRED` or null.
    #[schema(required)]
    review_decision: Option<String>,
    /// Latest review of each author.
    reviews: Vec<PullRequestReview>,
    /// Number of authors whose latest verdict is an approval. A later comment does not revoke it.
    approval_count: usize,
    /// Number of authors whose latest verdict requests changes.
    changes_requested_count: usize,
}

/// A review of a pull request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullRequestReview {
    author: String,
    /// State: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `PENDING` or `DISMISSED`.
    state: String,
    /// Time of submission, ISO 8601; null for a pending review.
    #[schema(required)]
    submitted_at: Option<String>,
}

/// List the reviews of a pull request
#[utoipa::path(get, path = "/api/gateway/git/pr/reviews", operation_id = "pull_request_reviews", tag = "pull requests",
    params(
        ("owner" = String, Query, description = "Owner of the repository", example = "acme"),
        ("repo" = String, Query, description = "Name of the repository", example = "shop"),
        ("number" = String, Query, description = "Number of the pull request", example = "1"),
    ),
    responses(
        (status = 200, body = PullRequestReviews, description = "The reviews"),
        (status = 400, body = ErrorBody, description = "A parameter is missing or invalid", example = json!(ErrorBody::missing_field("owner, repo, and number are required"))),
        (status = 404, body = ErrorBody, description = "The pull request does not exist", example = json!(ErrorBody::new(404, "PR #42 not found"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "API rate limit exceeded"))),
    ))]
async fn reviews(State(app): State<App>, query: QueryMembers) -> JsonResult<PullRequestReviews> {
    let missing = || HttpError::missing_field("owner, repo, and number are required");
    let (repository, number) = pull_in_query(&query).ok_or_else(missing)??;
    match app.code_host.pull_request_reviews(&repository, number).await {
        Ok(reviews) => Ok(Json(reviews.into())),
        Err(GraphQlError::NotFound) => Err(HttpError::not_found(format!("PR #{number} not found"))),
        Err(error) => Err(HttpError::failed(error.to_string())),
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(reviews), &[Source::OwnerAndName])
}

impl From<ReviewerVerdicts> for PullRequestReviews {
    fn from(reviews: ReviewerVerdicts) -> Self {
        Self {
            review_decision: reviews.decision,
            reviews: reviews.latest.into_iter().map(PullRequestReview::from).collect(),
            approval_count: reviews.approvals,
            changes_requested_count: reviews.changes_requested,
        }
    }
}

impl From<ReviewerVerdict> for PullRequestReview {
    fn from(review: ReviewerVerdict) -> Self {
        Self { author: review.author, state: review.state, submitted_at: review.submitted_at }
    }
}
