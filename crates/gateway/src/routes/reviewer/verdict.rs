//! `POST /api/gateway/reviewer/review-verdict/{ticketId}`: what the one who reviewed makes of the change.

use axum::Json;
use axum::extract::State;
use http::Method;
use loopgate_api::error::ErrorBody;
use loopgate_api::review::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{argument, body_of, existing_worktree, reviews_of};
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

/// Whose review is asked about.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "sessionId": "8c0c", "provider": "reviewer"}))]
struct AskVerdict {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Session of the review, which goes on.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    session_id: Option<String>,
    /// Who reviewed.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    provider: Option<String>,
}

/// A verdict, if there is one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"verdict": {"verdict": "approve", "reason": "The fix is needed and complete."}}))]
struct VerdictBody {
    /// Null when the answer holds no valid one.
    #[schema(required = true)]
    verdict: Option<Verdict>,
    /// Why the provider gave no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Ask for the verdict on a change
///
/// Goes on in the session of the review, and answers when the provider has: within 10 minutes. A question that is under
/// way in that session is joined.
#[utoipa::path(post, path = "/api/gateway/reviewer/review-verdict/{ticketId}", operation_id = "review_verdict", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Ticket", example = "pr-7")),
    request_body = AskVerdict,
    responses(
        (status = 200, body = VerdictBody, description = "The verdict, or why there is none"),
        (status = 400, body = ErrorBody, description = "A member is missing, or the provider is unknown",
            example = json!({"error": "repoPath, sessionId, and provider are required", "code": "missing_field"})),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The ticket has no worktree", example = json!(ErrorBody::new(404, "Work directory not found"))),
        (status = 500, body = ErrorBody, description = "The provider cannot be asked",
            example = json!(ErrorBody::new(500, "Failed to ask for a verdict: no space left"))),
    ))]
async fn verdict(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    body: Result<JsonBody<AskVerdict>, HttpError>,
) -> JsonResult<VerdictBody> {
    let body = body_of(body)?;
    let agents = agents_of(&app, PATH)?;
    let provider = body.provider.and_then(|name| agents.providers.named(&name));
    let (Some(repo), Some(session), Some(provider)) =
        (body.repo_path, argument("sessionId", body.session_id)?, provider)
    else {
        return Err(HttpError::missing_field(REQUIRED));
    };
    let worktree = {
        let app = app.clone();
        spawn_blocking(move || existing_worktree(&app, &repo, &ticket)).await??
    };
    let answer = reviews_of(&app, &Method::POST, PATH)?.verdict(worktree, provider, session).await;
    let answer = answer.map_err(|error| HttpError::operation("Failed to ask for a verdict", &error))?;
    Ok(Json(VerdictBody { verdict: answer.verdict, error: answer.error }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(verdict),
        &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))],
    )
}
