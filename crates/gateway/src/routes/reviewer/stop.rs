//! `/api/gateway/reviewer/stop/{ticketId}`: cancels the review of a ticket.

use axum::Json;
use axum::extract::State;
use http::Method;
use loopgate_api::error::ErrorBody;
use loopgate_api::provider::ProviderId;
use loopgate_review::{StopReviewError, StopReviewOutcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::status::ReviewQuery;
use super::{providers_of, review_directory, reviews_of};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::route::Endpoint;

const PATH: &str = "/api/gateway/reviewer/stop/{ticketId}";

/// The review to cancel.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"repo": "~/src/shop", "provider": "reviewer"}))]
struct StopBody {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo: Option<String>,
    /// Provider of the review: `reviewer` when it is missing or unknown.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
}

/// Result of a cancellation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"stopped": true, "pid": 4242}))]
struct StopAnswer {
    /// Whether the program is being terminated or had already exited.
    stopped: bool,
    /// Pid of the provider's program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Reason for which nothing was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Files that were removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"deleted": ["reviewer-review-reviewer.json", "reviewer-review-reviewer.log"]}))]
struct DiscardAnswer {
    /// Names of the removed files.
    deleted: Vec<String>,
}

/// Cancel the review of a ticket
///
/// Terminates the provider's program and its descendants, if Loopgate started it.
#[utoipa::path(post, path = "/api/gateway/reviewer/stop/{ticketId}", operation_id = "stop_review", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "pr-7")),
    request_body = StopBody,
    responses(
        (status = 200, body = StopAnswer, description = "The review is being cancelled, or was not running"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or no pid is recorded",
            example = json!({"error": "repo is required in body", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox, or the process was not started by Loopgate",
            example = json!({"error": "process not managed by this gateway", "code": "process_not_managed"})),
        (status = 404, body = ErrorBody, description = "No review is recorded", example = json!(ErrorBody::new(404, "No review found"))),
        (status = 500, body = ErrorBody, description = "The state of the review cannot be read or written",
            example = json!(ErrorBody::new(500, "Failed to stop review: no space left"))),
    ))]
async fn stop(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    JsonBody(body): JsonBody<StopBody>,
) -> JsonResult<StopAnswer> {
    let repo = body.repo.ok_or_else(|| HttpError::missing_field("repo is required in body"))?;
    let reviews = reviews_of(&app, &Method::POST, PATH)?.clone();
    let provider = body.provider.and_then(|name| crate::routes::agents::parse_provider(&app, &name).ok());
    let directory = spawn_blocking(move || review_directory(&app, &repo, &ticket)).await??;
    let stopped = reviews.stop(directory, provider.unwrap_or(ProviderId::REVIEWER)).await;
    let stopped = stopped.map_err(|error| match &error {
        StopReviewError::NotFound => HttpError::not_found(error.to_string()),
        StopReviewError::NoPid => HttpError::bad_request(error.to_string()),
        StopReviewError::NotManaged => HttpError::process_not_managed(),
        StopReviewError::File(_) | StopReviewError::Io(_) => HttpError::failed(error.to_string()),
    })?;
    Ok(Json(match stopped {
        StopReviewOutcome::Stopped(pid) => StopAnswer { stopped: true, pid: Some(pid), message: None },
        StopReviewOutcome::NotRunning(status) => {
            let message = format!("Review is not running (status: {})", status.as_str());
            StopAnswer { stopped: false, pid: None, message: Some(message) }
        }
    }))
}

/// Cancel the reviews of a ticket and delete them
#[utoipa::path(delete, path = "/api/gateway/reviewer/stop/{ticketId}", operation_id = "discard_review", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "pr-7"), ReviewQuery),
    responses(
        (status = 200, body = DiscardAnswer, description = "The removed files"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or unknown provider",
            example = json!({"error": "repo query param is required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "A file cannot be removed",
            example = json!(ErrorBody::new(500, "Failed to remove the review: read-only file system"))),
    ))]
async fn discard(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<DiscardAnswer> {
    let repo = query.required("repo", "repo query param is required")?.to_owned();
    let providers = providers_of(&app, &query)?;
    let reviews = reviews_of(&app, &Method::DELETE, PATH)?.clone();
    let directory = spawn_blocking(move || review_directory(&app, &repo, &ticket)).await??;
    let mut deleted = Vec::new();
    for provider in providers {
        // Stops a running review before its files are removed; otherwise it would write them again.
        let discarded = reviews.discard(directory.clone(), provider).await;
        let discarded =
            discarded.map_err(|error| HttpError::operation("Failed to remove the review", &error))?;
        deleted.extend(discarded);
    }
    Ok(Json(DiscardAnswer { deleted }))
}

pub(crate) fn stop_endpoint() -> Endpoint {
    Endpoint::new(routes!(stop), &[Source::Path(At::Body("repo")), Source::Ticket(At::Segment("ticketId"))])
}

pub(crate) fn discard_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(discard),
        &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))],
    )
}
