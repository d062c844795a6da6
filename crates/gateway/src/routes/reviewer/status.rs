//! `/api/gateway/reviewer/status/{ticketId}`: the status of a ticket's review.

use axum::Json;
use axum::extract::State;
use http::Method;
use loopgate_api::error::ErrorBody;
use loopgate_api::provider::ProviderId;
use loopgate_api::review::Verdict;
use loopgate_review::{ReviewConfig, ReviewDirectory, ReviewReport, ReviewStatus};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{locate, providers_of, review_directory, reviews_of};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{QueryMembers, TicketPath};
use crate::response::path_text;
use crate::route::Endpoint;
use crate::routes::orchestrator::sessions::SuccessResponse;

const PATH: &str = "/api/gateway/reviewer/status/{ticketId}";

/// Query that selects a review.
#[derive(IntoParams)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
#[into_params(parameter_in = Query)]
pub(super) struct ReviewQuery {
    /// Path of the repository
    #[param(example = "~/src/shop")]
    repo: String,
    /// Provider of the review
    #[param(required = false, example = "reviewer")]
    provider: String,
}

/// Status of a review.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"hasReview": true, "worktreeDir": "/home/sam/src/worktrees/shop-pr-7", "status": "completed", "processRunning": false, "pid": 4242, "provider": "reviewer", "startedAt": "2030-01-01T00:00:00.000Z", "completedAt": "2030-01-01T00:04:00.000Z", "exitCode": 0, "config": {"model": "gpt-5.3-codex", "reasoningEffort": "medium", "reviewMode": "base", "baseBranch": "main"}, "log": "No findings.", "logSize": 12}))]
struct ReviewStatusAnswer {
    /// Whether a review was started.
    has_review: bool,
    /// Path of the ticket's worktree.
    worktree_dir: String,
    /// The review, or the reason for which there is none.
    #[serde(flatten)]
    review: ReviewOrReason,
}

/// A review, or the reason for which there is none.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum ReviewOrReason {
    /// A review was started.
    Review(Box<ReviewAnswer>),
    /// No review was started.
    Reason {
        /// Reason for which there is no review.
        message: &'static str,
    },
}

/// A review that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReviewAnswer {
    /// Status of the review.
    status: ReviewStatus,
    /// Whether the provider's program is running.
    process_running: bool,
    /// Pid of the provider's program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Provider of the review.
    provider: ProviderId,
    /// Session id of the provider's program.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// Time of the start, ISO 8601.
    started_at: String,
    /// Time of the end, ISO 8601; absent while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    /// Exit code of the program; absent while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Parameters with which the review was started.
    config: ReviewConfig,
    /// Verdict on the change; absent until it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// End of the text in the log.
    log: String,
    /// Size of the whole log in bytes.
    log_size: u64,
}

impl From<ReviewReport> for ReviewAnswer {
    fn from(ReviewReport { state, is_running, log, log_size }: ReviewReport) -> Self {
        Self {
            status: state.status,
            process_running: is_running,
            pid: state.pid,
            provider: state.provider,
            session_id: state.session_id,
            started_at: state.started_at,
            completed_at: state.completed_at,
            exit_code: state.exit_code,
            config: state.config,
            verdict: state.verdict,
            log,
            log_size,
        }
    }
}

/// Report the status of a ticket's review
#[utoipa::path(get, path = "/api/gateway/reviewer/status/{ticketId}", operation_id = "review_status", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "pr-7"), ReviewQuery),
    responses(
        (status = 200, body = ReviewStatusAnswer, description = "The review, or the reason for which there is none"),
        (status = 400, body = ErrorBody, description = "Repository path missing",
            example = json!({"error": "repo query parameter is required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The state of the review cannot be read",
            example = json!(ErrorBody::new(500, "Failed to read status: it is no such document"))),
    ))]
async fn read(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<ReviewStatusAnswer> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let reviews = reviews_of(&app, &Method::GET, PATH)?.clone();
    // Unlike on the other routes, an unknown provider is ignored here.
    let providers = providers_of(&app, &query).unwrap_or(vec![ProviderId::ASSISTANT, ProviderId::REVIEWER]);
    let status = spawn_blocking(move || {
        let (_, worktree) = locate(&app, &repo, &ticket)?;
        let answer = |has_review, review| ReviewStatusAnswer {
            has_review,
            worktree_dir: path_text(worktree.as_path()),
            review,
        };
        let none = |message| answer(false, ReviewOrReason::Reason { message });
        if !worktree.canonical().is_dir() {
            return Ok(none("Worktree not found"));
        }
        let directory = ReviewDirectory::of(&app.sandbox, worktree.as_path())?;
        // Only one review is reported: without `provider`, the assistant's takes precedence.
        for provider in providers {
            let report = reviews.report(&directory, &provider);
            let report = report.map_err(|error| HttpError::operation("Failed to read status", &error))?;
            if let Some(report) = report {
                return Ok(answer(true, ReviewOrReason::Review(Box::new(report.into()))));
            }
        }
        Ok(none("No review has been started"))
    });
    status.await?.map(Json)
}

/// Delete the reviews of a ticket
///
/// A running review continues, but is no longer recorded.
#[utoipa::path(delete, path = "/api/gateway/reviewer/status/{ticketId}", operation_id = "forget_review", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "pr-7"), ReviewQuery),
    responses(
        (status = 200, body = SuccessResponse, description = "Deleted, or nothing was stored"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or unknown provider",
            example = json!({"error": "ticketId and repo are required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
    ))]
async fn forget(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<SuccessResponse> {
    let repo = query.required("repo", "ticketId and repo are required")?.to_owned();
    let providers = providers_of(&app, &query)?;
    let removed = spawn_blocking(move || {
        let directory = review_directory(&app, &repo, &ticket)?;
        for provider in providers {
            let removed = directory.remove_review(&provider);
            removed.map_err(|error| HttpError::operation("Failed to remove the review", &error))?;
        }
        Ok::<_, HttpError>(())
    });
    removed.await??;
    Ok(SuccessResponse::YES)
}

pub(crate) fn read_endpoint() -> Endpoint {
    Endpoint::new(routes!(read), &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))])
}

pub(crate) fn forget_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(forget),
        &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))],
    )
}
