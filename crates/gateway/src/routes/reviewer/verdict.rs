//! `POST /api/gateway/reviewer/review-verdict/{ticketId}`: requests the verdict of the provider that reviewed
//! a change.

use axum::Json;
use axum::extract::State;
use http::Method;
use loopgate_api::error::ErrorBody;
use loopgate_api::review::Verdict;
use loopgate_review::ReviewDirectory;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{argument, existing_worktree, reviews_of, unwrap_body};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::agents_of;

const PATH: &str = "/api/gateway/reviewer/review-verdict/{ticketId}";
const REQUIRED: &str = "repoPath, sessionId, and provider are required";

/// The review whose verdict is requested.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "sessionId": "8c0c", "provider": "reviewer"}))]
struct AskVerdict {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Session of the review, which is resumed.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    session_id: Option<String>,
    /// Provider of the review.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
}

/// The verdict on a change, if any.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"verdict": {"verdict": "approve", "reason": "The fix is needed and complete."}}))]
struct VerdictBody {
    /// Null when the provider's answer contains no valid verdict.
    #[schema(required = true)]
    verdict: Option<Verdict>,
    /// Reason for which the provider did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Request the verdict on a change
///
/// Resumes the session of the review and responds when the provider has answered, within 10 minutes.
/// Concurrent requests for the same session share one answer. The verdict is then part of the status of the
/// review.
#[utoipa::path(post, path = "/api/gateway/reviewer/review-verdict/{ticketId}", operation_id = "review_verdict", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "pr-7")),
    request_body = AskVerdict,
    responses(
        (status = 200, body = VerdictBody, description = "The verdict, or the reason for which there is none"),
        (status = 400, body = ErrorBody, description = "A required member is missing, or the provider is unknown",
            example = json!({"error": "repoPath, sessionId, and provider are required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree", example = json!(ErrorBody::new(404, "Work directory not found"))),
        (status = 500, body = ErrorBody, description = "The provider cannot be started",
            example = json!(ErrorBody::new(500, "Failed to ask for a verdict: no space left"))),
    ))]
async fn verdict(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    body: Result<JsonBody<AskVerdict>, HttpError>,
) -> JsonResult<VerdictBody> {
    let body = unwrap_body(body)?;
    let agents = agents_of(&app, PATH)?;
    let provider = body.provider.and_then(|name| agents.providers.by_name(&name));
    let (Some(repo), Some(session), Some(provider)) =
        // The session id is passed to the provider's program, where a leading `-` would be an option.
        (body.repo_path, argument("sessionId", body.session_id)?, provider)
    else {
        return Err(HttpError::missing_field(REQUIRED));
    };
    // The assistant stores sessions per working directory, so resuming one requires the worktree of the
    // review.
    let directory = {
        let app = app.clone();
        spawn_blocking(move || {
            let worktree = existing_worktree(&app, &repo, &ticket)?;
            Ok::<_, HttpError>(ReviewDirectory::of(&app.sandbox, worktree.as_path())?)
        })
        .await??
    };
    let answer = reviews_of(&app, &Method::POST, PATH)?.verdict(&directory, provider, session).await;
    let answer = answer.map_err(|error| HttpError::operation("Failed to ask for a verdict", &error))?;
    Ok(Json(VerdictBody { verdict: answer.verdict, error: answer.error }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(verdict),
        &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))],
    )
}
