//! `POST /api/gateway/reviewer/review-extract/{ticketId}`: extracts findings from the log of a review.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::provider::ProviderId;
use loopgate_api::review::ReviewFinding;
use loopgate_review::{ReviewDirectory, StructuredOutput, findings_in, interpret_findings, review_text};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{locate, unwrap_body};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::agents::{agents_of, parse_provider};

const PATH: &str = "/api/gateway/reviewer/review-extract/{ticketId}";

/// The review whose log is parsed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "sessionId": "8c0c", "provider": "reviewer"}))]
struct ExtractFindings {
    /// Path of the repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Session of the review; required, but not used to select the log.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    session_id: Option<String>,
    /// Provider whose log is read first. Without it, or when it has no log, the assistant's and then the
    /// reviewer's log is read.
    #[serde(default, deserialize_with = "lenient::any")]
    provider: Option<ProviderId>,
    /// Whether the provider interprets its own log when the format is not recognized.
    #[serde(default, deserialize_with = "lenient::any")]
    interpret: Option<bool>,
}

/// Findings in the log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"findings": [{"severity": "high", "priority": "P1", "file": "src/cart.rs", "line": 12, "message": "The sum overflows\nLarge carts wrap around.", "commented": false}]}))]
pub(crate) struct ExtractedFindings {
    findings: Vec<ReviewFinding>,
}

/// Extract findings from the log of a review
///
/// Reads the last fenced `json` array, or the reviewer's list of comments. Findings with a `confidence` below
/// 0.5 are omitted. With `interpret`, a log that contains neither is submitted to the provider that wrote it.
#[utoipa::path(post, path = "/api/gateway/reviewer/review-extract/{ticketId}", operation_id = "extract_findings", tag = "reviewer",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "SHOP-7")),
    request_body = ExtractFindings,
    responses(
        (status = 200, body = ExtractedFindings, description = "The findings; empty when there is no log"),
        (status = 400, body = ErrorBody, description = "A required member is missing",
            example = json!(ErrorBody::missing_field("repoPath and sessionId are required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox",
            example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The provider failed, or its answer is invalid",
            example = json!(ErrorBody::new(500, "Failed to extract findings: the provider failed: exit code 1"))),
    ))]
async fn extract(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    body: Result<JsonBody<ExtractFindings>, HttpError>,
) -> JsonResult<ExtractedFindings> {
    let body = unwrap_body(body)?;
    let (Some(repo), Some(_)) = (body.repo_path, body.session_id) else {
        return Err(HttpError::missing_field("repoPath and sessionId are required"));
    };
    let read = {
        let app = app.clone();
        spawn_blocking(move || {
            let (_, worktree) = locate(&app, &repo, &ticket)?;
            let directory = ReviewDirectory::of(&app.sandbox, worktree.as_path())?;
            // The id becomes part of a file name, so unregistered providers are ignored.
            let requested = body.provider.filter(|provider| parse_provider(&app, provider.as_str()).is_ok());
            let mut providers = requested.into_iter().chain([ProviderId::ASSISTANT, ProviderId::REVIEWER]);
            let review = providers.find_map(|provider| {
                // An unreadable log must not hide the log of the other provider.
                let text = review_text(&directory, &provider).inspect_err(|error| {
                    tracing::warn!(%error, "failed to read review log");
                });
                text.ok().filter(|text| !text.trim().is_empty()).map(|text| (provider, text))
            });
            Ok::<_, HttpError>((worktree, review))
        })
    };
    let (worktree, review) = read.await??;
    let Some((provider, text)) = review else {
        return Ok(Json(ExtractedFindings { findings: Vec::new() }));
    };
    let findings = match findings_in(&text, worktree.canonical()) {
        Some(findings) => findings,
        None if body.interpret == Some(true) => {
            let agents = agents_of(&app, PATH)?;
            let provider = agents.providers.get(&provider);
            let provider = provider.ok_or_else(|| HttpError::bad_request("unsupported provider"))?;
            let output = StructuredOutput::new(agents.runs.clone(), provider, worktree.clone());
            let interpreted = interpret_findings(&text, worktree.canonical(), &output).await;
            interpreted.map_err(|error| HttpError::operation("Failed to extract findings", &error))?
        }
        None => Vec::new(),
    };
    Ok(Json(ExtractedFindings { findings }))
}

pub(crate) fn endpoint() -> Endpoint {
    let sources = &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))];
    Endpoint::new(routes!(extract), sources)
}
